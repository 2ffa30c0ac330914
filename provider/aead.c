/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead.c - ciphers that authenticate. A context is one of libcrypto's default
 * provider, which has every parameter and TLS's records, and beside it the key for
 * the kernel's session. aead_text.c takes a text in one piece out of its hands.
 */
#include <config.h>

#include <limits.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "aead.h"
#include "aead_text.h"
#include "ciphers.h"
#include "error.h"
#include "provider.h"

/* ---- Contexts ----------------------------------------------------------- */

static void aead_freectx(void *vctx)
{
	struct aead_ctx *ctx = vctx;

	if (!ctx)
		return;
	EVP_CIPHER_CTX_free(ctx->soft);
	cipher_key_put(ctx->key);
	OPENSSL_clear_free(ctx->text, ctx->text_size);
	OPENSSL_clear_free(ctx, sizeof(*ctx));
}

static struct aead_ctx *bare_ctx(const struct provider *prov,
				 const struct cipher_kind *kind)
{
	struct aead_ctx *ctx = OPENSSL_zalloc(sizeof(*ctx));

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

static void *aead_newctx(const struct provider *prov, enum cipher_id id)
{
	const struct cipher_kind *kind = &cipher_kinds[id];
	EVP_CIPHER *soft = ciphers_soft(prov, kind);
	struct aead_ctx *ctx = soft ? bare_ctx(prov, kind) : NULL;

	if (!ctx || EVP_CipherInit_ex2(ctx->soft, soft, NULL, NULL, 1, NULL))
		return ctx;
	aead_freectx(ctx);
	return NULL;
}

/* The text that is kept stays with the one context it belongs to. */
static void *aead_dupctx(void *vctx)
{
	struct aead_ctx *ctx = vctx, *copy;
	EVP_CIPHER_CTX *soft;

	if (ctx->state == AEAD_TEXT && !aead_text_settle(ctx))
		return NULL;
	copy = bare_ctx(ctx->prov, ctx->kind);
	if (!copy)
		return NULL;
	soft = copy->soft;
	*copy = *ctx;
	copy->soft = soft;
	copy->text = NULL;
	copy->text_size = 0;
	copy->key = cipher_key_get(ctx->key);
	if (EVP_CIPHER_CTX_copy(soft, ctx->soft))
		return copy;
	aead_freectx(copy);
	return NULL;
}

/* ---- Parameters --------------------------------------------------------- */

/* A tag of another length is one that the key's session does not make. */
static void note_tag(struct aead_ctx *ctx, const OSSL_PARAM *p)
{
	ctx->has_tag = p->data && p->data_size == AEAD_TAG_LEN;
	if (ctx->has_tag)
		memcpy(ctx->tag, p->data, AEAD_TAG_LEN);
}

/* An IV that is not init's, or one of another length, is libcrypto's affair. */
static void note_params(struct aead_ctx *ctx, const OSSL_PARAM params[])
{
	const OSSL_PARAM *p;

	for (p = params; p && p->key; p++) {
		if (!strcmp(p->key, OSSL_CIPHER_PARAM_AEAD_TAG))
			note_tag(ctx, p);
		else if (!strcmp(p->key,
				 OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED) ||
			 !strcmp(p->key,
				 OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV) ||
			 ctx->state != AEAD_ENDED)
			ctx->state = AEAD_SOFT;
	}
}

static int aead_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
	struct aead_ctx *ctx = vctx;

	if (!params)
		return 1;
	if (ctx->state == AEAD_TEXT && !aead_text_settle(ctx))
		return 0;
	if (!EVP_CIPHER_CTX_set_params(ctx->soft, params))
		return 0;
	note_params(ctx, params);
	return 1;
}

static int get_param(struct aead_ctx *ctx, OSSL_PARAM *p)
{
	OSSL_PARAM one[2] = { *p, OSSL_PARAM_construct_end() };
	bool is_tag = !strcmp(p->key, OSSL_CIPHER_PARAM_AEAD_TAG);

	if (is_tag && ctx->state == AEAD_ENDED && ctx->encrypt)
		return p->data_size && p->data_size <= AEAD_TAG_LEN &&
		       OSSL_PARAM_set_octet_string(p, ctx->tag, p->data_size);
	if (!strcmp(p->key, OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN)) {
		if (!aead_text_settle(ctx))
			return 0;
		ctx->state = AEAD_SOFT;
	}
	if (!EVP_CIPHER_CTX_get_params(ctx->soft, one))
		return 0;
	p->return_size = one[0].return_size;
	return 1;
}

static int aead_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
	OSSL_PARAM *p;

	for (p = params; p && p->key; p++)
		if (!get_param(vctx, p))
			return 0;
	return 1;
}

/* ---- Messages ----------------------------------------------------------- */

static int take_key(struct aead_ctx *ctx, const unsigned char *bytes)
{
	if (ctx->key && cipher_key_is(ctx->key, bytes))
		return 1;
	cipher_key_put(ctx->key);
	ctx->key = cipher_key_new(ctx->prov, ctx->kind, bytes);
	return !!ctx->key;
}

static int check_key(const struct aead_ctx *ctx, const void *key, size_t len)
{
	if (!key || len == ctx->kind->key_len)
		return 1;
	error_raise(ctx->prov, R_KEY_LENGTH,
		    "init %s: key of %zu bytes, not %u", ctx->kind->kernel, len,
		    ctx->kind->key_len);
	return 0;
}

/* Where the message stands after an init with these. */
static void begin(struct aead_ctx *ctx, bool new_key, const unsigned char *iv,
		  size_t iv_len)
{
	if (iv) {
		ctx->state = AEAD_SOFT;
		ctx->aad_len = 0;
		if (iv_len != AEAD_IV_LEN)
			return;
		memmove(ctx->iv, iv, AEAD_IV_LEN);
		ctx->state = AEAD_FRESH;
	} else if (new_key && ctx->state == AEAD_FRESH && ctx->aad_len) {
		ctx->state = AEAD_SOFT;
	}
}

static int init(struct aead_ctx *ctx, const unsigned char *key, size_t key_len,
		const unsigned char *iv, size_t iv_len,
		const OSSL_PARAM params[], bool encrypt)
{
	if (!check_key(ctx, key, key_len))
		return 0;
	if (iv && ctx->state == AEAD_TEXT) {
		aead_text_forget(ctx);
		ctx->state = AEAD_SOFT;
	}
	if (ctx->state == AEAD_TEXT && !aead_text_settle(ctx))
		return 0;
	if (!EVP_CipherInit_ex2(ctx->soft, NULL, key, iv, encrypt, params))
		return 0;
	if (key && !take_key(ctx, key))
		return 0;
	ctx->encrypt = encrypt;
	begin(ctx, key, iv, iv_len);
	note_params(ctx, params);
	return 1;
}

static int aead_einit(void *ctx, const unsigned char *key, size_t key_len,
		      const unsigned char *iv, size_t iv_len,
		      const OSSL_PARAM params[])
{
	return init(ctx, key, key_len, iv, iv_len, params, true);
}

static int aead_dinit(void *ctx, const unsigned char *key, size_t key_len,
		      const unsigned char *iv, size_t iv_len,
		      const OSSL_PARAM params[])
{
	return init(ctx, key, key_len, iv, iv_len, params, false);
}

/* Lengths come from EVP's int. */
static int fits(const struct aead_ctx *ctx, size_t len, size_t size)
{
	if (len <= size && len <= INT_MAX)
		return 1;
	error_raise(ctx->prov, R_OUTPUT_TOO_SMALL,
		    "update %s: %zu bytes to %zu", ctx->kind->kernel, len,
		    size);
	return 0;
}

static int aead_update(void *vctx, unsigned char *out, size_t *out_len,
		       size_t size, const unsigned char *in, size_t len)
{
	struct aead_ctx *ctx = vctx;
	int n = 0;

	if (!fits(ctx, len, size) ||
	    !aead_text_update(ctx, out, &n, in, (int)len))
		return 0;
	*out_len = (size_t)n;
	return 1;
}

static int aead_final(void *vctx, unsigned char *out, size_t *out_len,
		      size_t size)
{
	struct aead_ctx *ctx = vctx;
	int n = 0;

	(void)size;
	if (ctx->state == AEAD_ENDED) {
		error_raise(ctx->prov, R_NO_IV,
			    "final %s: no IV since the last",
			    ctx->kind->kernel);
		return 0;
	}
	if (ctx->state == AEAD_TEXT) {
		aead_text_forget(ctx);
		ctx->state = AEAD_ENDED;
		ctx->has_tag &= !ctx->encrypt;
		*out_len = 0;
		return 1;
	}
	ctx->state = AEAD_SOFT;
	if (!EVP_CipherFinal_ex(ctx->soft, out, &n))
		return 0;
	*out_len = (size_t)n;
	return 1;
}

/* EVP_Cipher(), by which libssl puts TLS's records through. */
static int aead_cipher(void *vctx, unsigned char *out, size_t *out_len,
		       size_t size, const unsigned char *in, size_t len)
{
	struct aead_ctx *ctx = vctx;
	int n;

	if (!fits(ctx, len, size) || !aead_text_settle(ctx))
		return 0;
	if (ctx->state == AEAD_ENDED) {
		error_raise(ctx->prov, R_NO_IV, "%s: no IV since final",
			    ctx->kind->kernel);
		return 0;
	}
	n = EVP_Cipher(ctx->soft, out, in, (unsigned)len);
	*out_len = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

/* ---- Functions ---------------------------------------------------------- */

/* These functions are not told which cipher they are for: each has its own. */
#define FUNCTIONS(c_name, ...)                                               \
	static void *c_name##_newctx(void *provctx)                          \
	{                                                                    \
		return aead_newctx(provctx, CIPHER_ID_##c_name);             \
	}                                                                    \
	static int c_name##_get_params(OSSL_PARAM params[])                  \
	{                                                                    \
		return ciphers_get_params(params, CIPHER_ID_##c_name);       \
	}                                                                    \
	static const OSSL_PARAM *c_name##_gettable_ctx(void *c, void *p)     \
	{                                                                    \
		(void)c;                                                     \
		return ciphers_gettable_ctx(p, CIPHER_ID_##c_name);          \
	}                                                                    \
	static const OSSL_PARAM *c_name##_settable_ctx(void *c, void *p)     \
	{                                                                    \
		(void)c;                                                     \
		return ciphers_settable_ctx(p, CIPHER_ID_##c_name);          \
	}                                                                    \
	const OSSL_DISPATCH aead_##c_name##_functions[] = {                  \
		CIPHER_DISPATCH(NEWCTX, c_name##_newctx),                    \
		CIPHER_DISPATCH(FREECTX, aead_freectx),                      \
		CIPHER_DISPATCH(DUPCTX, aead_dupctx),                        \
		CIPHER_DISPATCH(ENCRYPT_INIT, aead_einit),                   \
		CIPHER_DISPATCH(DECRYPT_INIT, aead_dinit),                   \
		CIPHER_DISPATCH(UPDATE, aead_update),                        \
		CIPHER_DISPATCH(FINAL, aead_final),                          \
		CIPHER_DISPATCH(CIPHER, aead_cipher),                        \
		CIPHER_DISPATCH(GET_PARAMS, c_name##_get_params),            \
		CIPHER_DISPATCH(GETTABLE_PARAMS, ciphers_gettable_params),   \
		CIPHER_DISPATCH(GET_CTX_PARAMS, aead_get_ctx_params),        \
		CIPHER_DISPATCH(GETTABLE_CTX_PARAMS, c_name##_gettable_ctx), \
		CIPHER_DISPATCH(SET_CTX_PARAMS, aead_set_ctx_params),        \
		CIPHER_DISPATCH(SETTABLE_CTX_PARAMS, c_name##_settable_ctx), \
		{ 0, NULL },                                                 \
	};
AEADS(FUNCTIONS)
