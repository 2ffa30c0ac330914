/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - what a provider tells of itself: its name and version, the back end that
 * serves, and the process's counters.
 */
#ifndef STATUS_H
#define STATUS_H

#include <openssl/core.h>

/* OSSL_FUNC_PROVIDER_GETTABLE_PARAMS and OSSL_FUNC_PROVIDER_GET_PARAMS. Any thread. */
const OSSL_PARAM *status_gettable(void *provctx);
int status_get(void *provctx, OSSL_PARAM params[]);

#endif
