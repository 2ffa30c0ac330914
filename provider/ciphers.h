/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ciphers.h - the ciphers of a provider context, with and without authentication.
 */
#ifndef CIPHERS_H
#define CIPHERS_H

#include <stdatomic.h>
#include <stdbool.h>
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

/* Whether a key is as long as it has to be; a key of NULL is. 0: error raised. */
int ciphers_check_key(const struct provider *prov,
		      const struct cipher_kind *kind, const void *key,
		      size_t len);

/* Whether a text has room for its result, and EVP's int for it. 0: error raised. */
int ciphers_check_room(const struct provider *prov,
		       const struct cipher_kind *kind, size_t len, size_t size);

/* Whether output and input overlap, and are not the same: the kernel is no help. */
bool ciphers_askew(const unsigned char *out, const unsigned char *in,
		   size_t len);

#define CIPHERS_ENTRY(function, pointer)                               \
	{                                                              \
		OSSL_FUNC_CIPHER_##function, (void (*)(void))(pointer) \
	}

/*
 * The table of functions of a cipher. Some are not told which cipher they are for:
 * each has its own. The others are those of its kin.
 */
#define CIPHERS_FUNCTIONS(kin, c_name)                                     \
	static void *c_name##_newctx(void *provctx)                        \
	{                                                                  \
		return kin##_newctx(provctx, CIPHER_ID_##c_name);          \
	}                                                                  \
	static int c_name##_get_params(OSSL_PARAM params[])                \
	{                                                                  \
		return ciphers_get_params(params, CIPHER_ID_##c_name);     \
	}                                                                  \
	static const OSSL_PARAM *c_name##_gettable_ctx(void *c, void *p)   \
	{                                                                  \
		(void)c;                                                   \
		return ciphers_gettable_ctx(p, CIPHER_ID_##c_name);        \
	}                                                                  \
	static const OSSL_PARAM *c_name##_settable_ctx(void *c, void *p)   \
	{                                                                  \
		(void)c;                                                   \
		return ciphers_settable_ctx(p, CIPHER_ID_##c_name);        \
	}                                                                  \
	const OSSL_DISPATCH kin##_##c_name##_functions[] = {               \
		CIPHERS_ENTRY(NEWCTX, c_name##_newctx),                    \
		CIPHERS_ENTRY(FREECTX, kin##_freectx),                     \
		CIPHERS_ENTRY(DUPCTX, kin##_dupctx),                       \
		CIPHERS_ENTRY(ENCRYPT_INIT, kin##_einit),                  \
		CIPHERS_ENTRY(DECRYPT_INIT, kin##_dinit),                  \
		CIPHERS_ENTRY(UPDATE, kin##_update),                       \
		CIPHERS_ENTRY(FINAL, kin##_final),                         \
		CIPHERS_ENTRY(CIPHER, kin##_cipher),                       \
		CIPHERS_ENTRY(GET_PARAMS, c_name##_get_params),            \
		CIPHERS_ENTRY(GETTABLE_PARAMS, ciphers_gettable_params),   \
		CIPHERS_ENTRY(GET_CTX_PARAMS, kin##_get_ctx_params),       \
		CIPHERS_ENTRY(GETTABLE_CTX_PARAMS, c_name##_gettable_ctx), \
		CIPHERS_ENTRY(SET_CTX_PARAMS, kin##_set_ctx_params),       \
		CIPHERS_ENTRY(SETTABLE_CTX_PARAMS, c_name##_settable_ctx), \
		{ 0, NULL },                                               \
	};

#endif
