/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - digests of every shape while a call fails: what may come back is
 * the right digest, or an error that afalgbatch.h names for that place.
 */
#ifndef TEST_WORKLOAD_H
#define TEST_WORKLOAD_H

#include <stddef.h>

#include "inject.h"

/* Once, before the first run: the data and the right digests, by libcrypto. */
void workload_prepare(void);

/*
 * Opens, uses and closes sessions, queues and streams with @fault (its nth can
 * be 0 for none). True if all is well; else @why says what is not.
 */
bool workload_run(const struct fault *fault, char *why, size_t size);

#endif
