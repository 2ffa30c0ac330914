/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher.c - ciphers without authentication. A context is one of libcrypto's default provider, which
 * has every parameter, and beside it the key for the kernel's session. What is asked
 * goes to libcrypto; cipher_text.c takes the long texts out of its hands.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "cipher.h"
#include "cipher_text.h"
#include "ciphers.h"
#include "error.h"
#include "provider.h"

/* ---- Contexts ----------------------------------------------------------- */

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
	EVP_CIPHER *soft = ciphers_soft(prov, kind);
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

/* ECB's is passed over, as by the default provider. */
static int check_iv(const struct cipher_ctx *ctx, const void *iv, size_t len)
{
	const struct cipher_kind *kind = ctx->kind;

	if (!iv || !kind->iv_len || len == kind->iv_len)
		return 1;
	error_raise(ctx->prov, R_IV_LENGTH, "init %s: IV of %zu bytes, not %u",
		    kind->kernel, len, kind->iv_len);
	return 0;
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
	if (!ciphers_check_key(ctx->prov, ctx->kind, key, key_len) ||
	    !check_iv(ctx, iv, iv_len))
		return 0;
	iv = iv_to_begin(ctx, iv);
	if (!EVP_CipherInit_ex2(ctx->soft, NULL, key, iv, encrypt, params))
		return 0;
	turn(ctx, encrypt);
	if (key && !cipher_key_change(&ctx->key, ctx->prov, ctx->kind, key))
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

static int cipher_update(void *vctx, unsigned char *out, size_t *out_len,
			 size_t size, const unsigned char *in, size_t len)
{
	struct cipher_ctx *ctx = vctx;
	int n = 0;

	if (!ciphers_check_room(ctx->prov, ctx->kind, len, size) ||
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

	if (!ciphers_check_room(ctx->prov, ctx->kind, len, size) ||
	    !cipher_text_raw(ctx, out, &n, in, (int)len))
		return 0;
	*out_len = (size_t)n;
	return 1;
}

/* ---- Parameters --------------------------------------------------------- */

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

/* ---- Functions ---------------------------------------------------------- */

#define FUNCTIONS(c_name, ...) CIPHERS_FUNCTIONS(cipher, c_name)
CIPHERS(FUNCTIONS)
