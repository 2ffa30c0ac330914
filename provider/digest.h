/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - the digests of a provider context.
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <openssl/core.h>

struct provider;

/* Makes prov->digests. Returns 1, or 0 with an error raised. */
int digest_start(struct provider *prov);

/* Frees it and closes the sessions; no context may be left. */
void digest_stop(struct provider *prov);

/* For OSSL_OP_DIGEST. Lives until digest_stop(). */
const OSSL_ALGORITHM *digest_algorithms(const struct provider *prov);

#endif
