/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher.c - OSSL_OP_CIPHER. A context is one of libcrypto's default provider, which
 * has every parameter, and beside it the key for the kernel's session. What is asked
 * goes to libcrypto; cipher_text.c takes the long texts out of its hands.
 */
#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "cipher.h"
#include "cipher_text.h"
#include "error.h"
#include "offered.h"
#include "provider.h"

/* ---- Contexts ----------------------------------------------------------- */

EVP_CIPHER *cipher_soft(const struct provider *prov,
			const struct cipher_kind *kind)
{
	_Atomic(EVP_CIPHER *) *place = &prov->ciphers->soft[kind->id];
	EVP_CIPHER *soft = atomic_load(place), *mine;
	OSSL_LIB_CTX *lib;
	char name[32] = "";

	if (soft)
		return soft;
	lib = soft_lib_get(prov, &prov->ciphers->lib);
	strncat(name, kind->names, strcspn(kind->names, ":"));
	mine = lib ? EVP_CIPHER_fetch(lib, name, NULL) : NULL;
	if (!mine) {
		error_raise(prov, R_OPEN, "open %s in libcrypto", name);
		return NULL;
	}
	if (atomic_compare_exchange_strong(place, &soft, mine))
		return mine;
	EVP_CIPHER_free(mine);
	return soft;
}

static void cipher_freectx(void *vctx)
{
	struct cipher_ctx *ctx = vctx;

	if (!ctx)
		return;
	EVP_CIPHER_CTX_free(ctx->soft);
	cipher_key_put(ctx->key);
	OPENSSL_clear_free(ctx, sizeof(*ctx));
}

static struct cipher_ctx *bare_ctx(const struct provider *prov,
				   const struct cipher_kind *kind)
{
	struct cipher_ctx *ctx = OPENSSL_zalloc(sizeof(*ctx));

	if (ctx)
		ctx->soft = EVP_CIPHER_CTX_new();
	if (ctx && ctx->soft) {
		ctx->prov = prov;
		ctx->kind = kind;
		return ctx;
	}
	OPENSSL_free(ctx);
	error_raise(prov, ERR_R_MALLOC_FAILURE, "open %s", kind->kernel);
	return NULL;
}

static void *cipher_newctx(const struct provider *prov, enum cipher_id id)
{
	const struct cipher_kind *kind = &cipher_kinds[id];
	EVP_CIPHER *soft = cipher_soft(prov, kind);
	struct cipher_ctx *ctx = soft ? bare_ctx(prov, kind) : NULL;

	if (!ctx || EVP_CipherInit_ex2(ctx->soft, soft, NULL, NULL, 1, NULL))
		return ctx;
	cipher_freectx(ctx);
	return NULL;
}

static void *cipher_dupctx(void *vctx)
{
	const struct cipher_ctx *ctx = vctx;
	struct cipher_ctx *copy = bare_ctx(ctx->prov, ctx->kind);
	EVP_CIPHER_CTX *soft;

	if (!copy)
		return NULL;
	soft = copy->soft;
	*copy = *ctx;
	copy->soft = soft;
	copy->key = cipher_key_get(ctx->key);
	if (EVP_CIPHER_CTX_copy(soft, ctx->soft))
		return copy;
	cipher_freectx(copy);
	return NULL;
}

/* ---- Messages ----------------------------------------------------------- */

static int check_lengths(const struct cipher_ctx *ctx, const void *key,
			 size_t key_len, const void *iv, size_t iv_len)
{
	const struct cipher_kind *kind = ctx->kind;

	if (key && key_len != kind->key_len) {
		error_raise(ctx->prov, R_KEY_LENGTH,
			    "init %s: key of %zu bytes, not %u", kind->kernel,
			    key_len, kind->key_len);
		return 0;
	}
	/* ECB's is passed over, as by the default provider. */
	if (iv && kind->iv_len && iv_len != kind->iv_len) {
		error_raise(ctx->prov, R_IV_LENGTH,
			    "init %s: IV of %zu bytes, not %u", kind->kernel,
			    iv_len, kind->iv_len);
		return 0;
	}
	return 1;
}

static int take_key(struct cipher_ctx *ctx, const unsigned char *bytes)
{
	if (ctx->key && cipher_key_is(ctx->key, bytes))
		return 1;
	cipher_key_put(ctx->key);
	ctx->key = cipher_key_new(ctx->prov, ctx->kind, bytes);
	return !!ctx->key;
}

/*
 * A key is for the direction that it was given for: libcrypto goes on with the same
 * round keys in the other, whatever comes of it, and so does a context of ours.
 */
static void turn(struct cipher_ctx *ctx, bool encrypt)
{
	if (encrypt == ctx->encrypt)
		return;
	cipher_key_put(ctx->key);
	ctx->key = NULL;
	ctx->encrypt = encrypt;
}

/* CBC begins again with the last IV that it was given (as since OpenSSL 1.1). */
static const unsigned char *iv_to_begin(const struct cipher_ctx *ctx,
					const unsigned char *iv)
{
	bool again = ctx->moved && ctx->kind->mode == EVP_CIPH_CBC_MODE;

	return !iv && again ? ctx->iv : iv;
}

static void note_tls(struct cipher_ctx *ctx, const OSSL_PARAM params[])
{
	const OSSL_PARAM *p;
	unsigned version;

	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_TLS_VERSION);
	if (p && OSSL_PARAM_get_uint(p, &version))
		ctx->tls = version;
}

static int init(struct cipher_ctx *ctx, const unsigned char *key,
		size_t key_len, const unsigned char *iv, size_t iv_len,
		const OSSL_PARAM params[], bool encrypt)
{
	if (!check_lengths(ctx, key, key_len, iv, iv_len))
		return 0;
	iv = iv_to_begin(ctx, iv);
	if (!EVP_CipherInit_ex2(ctx->soft, NULL, key, iv, encrypt, params))
		return 0;
	turn(ctx, encrypt);
	if (key && !take_key(ctx, key))
		return 0;
	if (iv) {
		memmove(ctx->iv, iv, ctx->kind->iv_len);
		ctx->has_iv = true;
		ctx->moved = false;
	}
	ctx->held_len = 0;
	note_tls(ctx, params);
	return 1;
}

static int cipher_einit(void *ctx, const unsigned char *key, size_t key_len,
			const unsigned char *iv, size_t iv_len,
			const OSSL_PARAM params[])
{
	return init(ctx, key, key_len, iv, iv_len, params, true);
}

static int cipher_dinit(void *ctx, const unsigned char *key, size_t key_len,
			const unsigned char *iv, size_t iv_len,
			const OSSL_PARAM params[])
{
	return init(ctx, key, key_len, iv, iv_len, params, false);
}

/* Lengths come from EVP's int. */
static int fits(const struct cipher_ctx *ctx, size_t len, size_t size)
{
	if (len <= size && len <= INT_MAX)
		return 1;
	error_raise(ctx->prov, R_OUTPUT_TOO_SMALL,
		    "update %s: %zu bytes to %zu", ctx->kind->kernel, len,
		    size);
	return 0;
}

static int cipher_update(void *vctx, unsigned char *out, size_t *out_len,
			 size_t size, const unsigned char *in, size_t len)
{
	struct cipher_ctx *ctx = vctx;
	int n = 0;

	if (!fits(ctx, len, size) ||
	    !cipher_text_update(ctx, out, &n, in, (int)len))
		return 0;
	*out_len = (size_t)n;
	return 1;
}

static int cipher_final(void *vctx, unsigned char *out, size_t *out_len,
			size_t size)
{
	struct cipher_ctx *ctx = vctx;
	int n = 0;

	(void)size;
	if (!EVP_CipherFinal_ex(ctx->soft, out, &n))
		return 0;
	ctx->held_len = 0;
	*out_len = (size_t)n;
	return 1;
}

static int cipher_cipher(void *vctx, unsigned char *out, size_t *out_len,
			 size_t size, const unsigned char *in, size_t len)
{
	struct cipher_ctx *ctx = vctx;
	int n = 0;

	if (!fits(ctx, len, size) ||
	    !cipher_text_raw(ctx, out, &n, in, (int)len))
		return 0;
	*out_len = (size_t)n;
	return 1;
}

/* ---- Parameters --------------------------------------------------------- */

static const OSSL_PARAM *cipher_gettable_params(void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CTS, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, NULL),
		OSSL_PARAM_END,
	};

	(void)provctx;
	return gettable;
}

static int set_size(OSSL_PARAM params[], const char *name, size_t size)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, name);

	return !p || OSSL_PARAM_set_size_t(p, size);
}

static int set_flag(OSSL_PARAM params[], const char *name, int flag)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, name);

	return !p || OSSL_PARAM_set_int(p, flag);
}

/* The core calls this without any context, even before the first newctx. */
static int cipher_get_params(OSSL_PARAM params[], enum cipher_id id)
{
	const struct cipher_kind *kind = &cipher_kinds[id];
	OSSL_PARAM *p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);

	return (!p || OSSL_PARAM_set_uint(p, kind->mode)) &&
	       set_size(params, OSSL_CIPHER_PARAM_KEYLEN, kind->key_len) &&
	       set_size(params, OSSL_CIPHER_PARAM_IVLEN, kind->iv_len) &&
	       set_size(params, OSSL_CIPHER_PARAM_BLOCK_SIZE,
			kind->block_size) &&
	       set_flag(params, OSSL_CIPHER_PARAM_AEAD, 0) &&
	       set_flag(params, OSSL_CIPHER_PARAM_CUSTOM_IV,
			kind->mode == EVP_CIPH_XTS_MODE) &&
	       set_flag(params, OSSL_CIPHER_PARAM_CTS, 0) &&
	       set_flag(params, OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, 0) &&
	       set_flag(params, OSSL_CIPHER_PARAM_HAS_RAND_KEY,
			kind->block_size == 8);
}

static const OSSL_PARAM *gettable_ctx(void *vctx, void *provctx,
				      enum cipher_id id)
{
	EVP_CIPHER *soft = cipher_soft(provctx, &cipher_kinds[id]);

	(void)vctx;
	return soft ? EVP_CIPHER_gettable_ctx_params(soft) : NULL;
}

static const OSSL_PARAM *settable_ctx(void *vctx, void *provctx,
				      enum cipher_id id)
{
	EVP_CIPHER *soft = cipher_soft(provctx, &cipher_kinds[id]);

	(void)vctx;
	return soft ? EVP_CIPHER_settable_ctx_params(soft) : NULL;
}

/* All is libcrypto's, but for the IV of init where the kernel has gone on. */
static int cipher_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
	struct cipher_ctx *ctx = vctx;
	OSSL_PARAM *p;

	if (!EVP_CIPHER_CTX_get_params(ctx->soft, params))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IV);
	if (!p || !ctx->moved)
		return 1;
	return OSSL_PARAM_set_octet_ptr(p, ctx->iv, ctx->kind->iv_len) ||
	       OSSL_PARAM_set_octet_string(p, ctx->iv, ctx->kind->iv_len);
}

static int cipher_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
	struct cipher_ctx *ctx = vctx;

	if (!params)
		return 1;
	if (!EVP_CIPHER_CTX_set_params(ctx->soft, params))
		return 0;
	note_tls(ctx, params);
	return 1;
}

/* ---- The table ---------------------------------------------------------- */

#define DISPATCH(function, pointer)                                    \
	{                                                              \
		OSSL_FUNC_CIPHER_##function, (void (*)(void))(pointer) \
	}

/* These functions are not told which cipher they are for: each has its own. */
#define FUNCTIONS(c_name, ...)                                           \
	static void *c_name##_newctx(void *provctx)                      \
	{                                                                \
		return cipher_newctx(provctx, CIPHER_ID_##c_name);       \
	}                                                                \
	static int c_name##_get_params(OSSL_PARAM params[])              \
	{                                                                \
		return cipher_get_params(params, CIPHER_ID_##c_name);    \
	}                                                                \
	static const OSSL_PARAM *c_name##_gettable_ctx(void *c, void *p) \
	{                                                                \
		return gettable_ctx(c, p, CIPHER_ID_##c_name);           \
	}                                                                \
	static const OSSL_PARAM *c_name##_settable_ctx(void *c, void *p) \
	{                                                                \
		return settable_ctx(c, p, CIPHER_ID_##c_name);           \
	}                                                                \
	static const OSSL_DISPATCH c_name##_functions[] = {              \
		DISPATCH(NEWCTX, c_name##_newctx),                       \
		DISPATCH(FREECTX, cipher_freectx),                       \
		DISPATCH(DUPCTX, cipher_dupctx),                         \
		DISPATCH(ENCRYPT_INIT, cipher_einit),                    \
		DISPATCH(DECRYPT_INIT, cipher_dinit),                    \
		DISPATCH(UPDATE, cipher_update),                         \
		DISPATCH(FINAL, cipher_final),                           \
		DISPATCH(CIPHER, cipher_cipher),                         \
		DISPATCH(GET_PARAMS, c_name##_get_params),               \
		DISPATCH(GETTABLE_PARAMS, cipher_gettable_params),       \
		DISPATCH(GET_CTX_PARAMS, cipher_get_ctx_params),         \
		DISPATCH(GETTABLE_CTX_PARAMS, c_name##_gettable_ctx),    \
		DISPATCH(SET_CTX_PARAMS, cipher_set_ctx_params),         \
		DISPATCH(SETTABLE_CTX_PARAMS, c_name##_settable_ctx),    \
		{ 0, NULL },                                             \
	};
CIPHERS(FUNCTIONS)

#define KIND(c_name, names, kernel, mode, key_len, block_size, iv_len) \
	[CIPHER_ID_##c_name] = { CIPHER_ID_##c_name,                   \
				 names,                                \
				 kernel,                               \
				 mode,                                 \
				 key_len,                              \
				 block_size,                           \
				 iv_len,                               \
				 c_name##_functions },
const struct cipher_kind cipher_kinds[CIPHER_COUNT] = { CIPHERS(KIND) };

int cipher_start(struct provider *prov)
{
	struct ciphers *ciphers = calloc(1, sizeof(*ciphers));
	unsigned id;

	if (!ciphers) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "ciphers");
		return 0;
	}
	for (id = 0; id < CIPHER_COUNT; id++) {
		ciphers->rows[id] = afb_algorithm_find(AFB_SKCIPHER,
						       cipher_kinds[id].kernel);
		ciphers->algorithms[id] = (OSSL_ALGORITHM){
			.algorithm_names = cipher_kinds[id].names,
			.property_definition = "provider=" PROVIDER_NAME,
			.implementation = cipher_kinds[id].functions,
			.algorithm_description = cipher_kinds[id].kernel,
		};
	}
	prov->ciphers = ciphers;
	return 1;
}

void cipher_stop(struct provider *prov)
{
	struct ciphers *ciphers = prov->ciphers;
	unsigned id;

	queues_drop(&ciphers->queues);
	for (id = 0; id < CIPHER_COUNT; id++)
		EVP_CIPHER_free(atomic_load(&ciphers->soft[id]));
	soft_lib_drop(&ciphers->lib);
	free(atomic_load(&ciphers->offered));
	free(ciphers);
	prov->ciphers = NULL;
}

const OSSL_ALGORITHM *cipher_algorithms(const struct provider *prov)
{
	struct ciphers *ciphers = prov->ciphers;
	OSSL_ALGORITHM *offered = atomic_load(&ciphers->offered), *mine;

	if (prov->settings.backend == AFB_BACKEND_SOFT)
		return ciphers->algorithms;
	if (offered)
		return offered;
	mine = calloc(CIPHER_COUNT + 1, sizeof(*mine));
	if (!mine)
		return ciphers->algorithms;
	offered_of(AFB_SKCIPHER, mine, ciphers->algorithms);
	if (atomic_compare_exchange_strong(&ciphers->offered, &offered, mine))
		return mine;
	free(mine);
	return offered;
}
