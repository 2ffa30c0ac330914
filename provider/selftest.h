/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.h - a known answer from the kernel before an algorithm of it is used.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "afalgbatch.h"
#include "algorithms.h"

struct provider;

/*
 * The back end for @alg: the user's choice, or AFB_BACKEND_SOFT where the kernel
 * computes it wrongly, which the first caller in the process is told by debug.
 * Any thread.
 */
enum afb_backend selftest_backend(const struct provider *prov,
				  const struct afb_algorithm *alg);

#endif
