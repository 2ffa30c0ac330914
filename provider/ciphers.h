/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ciphers.h - the ciphers of a provider context, with and without authentication.
 */
#ifndef CIPHERS_H
#define CIPHERS_H

#include <stdatomic.h>
#include <stdint.h>

#include <openssl/core.h>

#include "algorithms.h"
#include "cipher_kinds.h"
#include "queues.h"
#include "soft_lib.h"

struct provider;

/* What a provider context has. */
struct ciphers {
	const struct afb_algorithm *rows[CIPHER_COUNT]; /* by cipher_id */
	struct soft_lib lib;
	_Atomic(EVP_CIPHER *) soft[CIPHER_COUNT]; /* NULL until the first use */
	struct queues queues;
	_Atomic(uint64_t) soft_only; /* the kernel has not, by cipher_id too */
	_Atomic(uint64_t) told;	     /* by debug, a bit for each cipher_id */
	OSSL_ALGORITHM algorithms[CIPHER_COUNT + 1];
	_Atomic(OSSL_ALGORITHM *) offered; /* NULL until asked for */
};

_Static_assert(CIPHER_COUNT <= 64, "a bit for each");

/* Makes prov->ciphers. Returns 1, or 0 with an error raised. */
int ciphers_start(struct provider *prov);

/* Frees it; no context may be left. */
void ciphers_stop(struct provider *prov);

/* For OSSL_OP_CIPHER. Lives until ciphers_stop(). */
const OSSL_ALGORITHM *ciphers_algorithms(const struct provider *prov);

/* libcrypto's own, or NULL with an error raised. */
EVP_CIPHER *ciphers_soft(const struct provider *prov,
			 const struct cipher_kind *kind);

/* A cipher's constants; the core asks without any context, even before newctx. */
const OSSL_PARAM *ciphers_gettable_params(void *provctx);
int ciphers_get_params(OSSL_PARAM params[], enum cipher_id id);

/* What can be read from and set in a context: libcrypto's. */
const OSSL_PARAM *ciphers_gettable_ctx(void *provctx, enum cipher_id id);
const OSSL_PARAM *ciphers_settable_ctx(void *provctx, enum cipher_id id);

/* An entry of a table of functions. */
#define CIPHER_DISPATCH(function, pointer)                             \
	{                                                              \
		OSSL_FUNC_CIPHER_##function, (void (*)(void))(pointer) \
	}

#endif
