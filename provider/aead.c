/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead.c - ciphers that authenticate. A context is one of libcrypto's default
 * provider, which has every parameter and TLS's records, and beside it the key for
 * the kernel's session. aead_text.c takes a text in one piece out of its hands.
 */
#include <config.h>

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

/* Is there something of a message under way that libcrypto has not had? */
static bool lacks(const struct aead_ctx *ctx)
{
	return ctx->state == AEAD_TEXT || ctx->has_len;
}

/* The text that is kept stays with the one context it belongs to. */
static void *aead_dupctx(void *vctx)
{
	struct aead_ctx *ctx = vctx, *copy;
	EVP_CIPHER_CTX *soft;

	if (lacks(ctx) && !aead_text_settle(ctx))
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
	if (lacks(ctx) && !aead_text_settle(ctx))
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

/* Takes the IV as the kernel does; false if that has none of this length. */
static bool take_iv(struct aead_ctx *ctx, const unsigned char *iv, size_t len)
{
	bool ccm = ctx->kind->mode == EVP_CIPH_CCM_MODE;

	if (ccm ? len < 7 || len > 13 : len != 12)
		return false;
	memset(ctx->iv, 0, sizeof(ctx->iv));
	if (ccm)
		ctx->iv[0] = (unsigned char)(14 - len);
	memcpy(ctx->iv + ccm, iv, len);
	ctx->iv_len = ccm ? 16 : 12;
	return true;
}

/* Where the message stands after an init with these. */
static void begin(struct aead_ctx *ctx, bool new_key, const unsigned char *iv,
		  size_t iv_len)
{
	if (iv) {
		ctx->state = take_iv(ctx, iv, iv_len) ? AEAD_FRESH : AEAD_SOFT;
		ctx->aad_len = 0;
	} else if (new_key && ctx->state == AEAD_FRESH && ctx->aad_len) {
		ctx->state = AEAD_SOFT;
	}
}

/* The message under way, for another that begins. */
static void abandon(struct aead_ctx *ctx)
{
	if (ctx->state == AEAD_TEXT) {
		aead_text_forget(ctx);
		ctx->state = AEAD_SOFT;
	}
	ctx->has_len = false;
}

static int init(struct aead_ctx *ctx, const unsigned char *key, size_t key_len,
		const unsigned char *iv, size_t iv_len,
		const OSSL_PARAM params[], bool encrypt)
{
	if (!ciphers_check_key(ctx->prov, ctx->kind, key, key_len))
		return 0;
	if (iv)
		abandon(ctx);
	if (lacks(ctx) && !aead_text_settle(ctx))
		return 0;
	if (!EVP_CipherInit_ex2(ctx->soft, NULL, key, iv, encrypt, params))
		return 0;
	if (key && !cipher_key_change(&ctx->key, ctx->prov, ctx->kind, key))
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

static int aead_update(void *vctx, unsigned char *out, size_t *out_len,
		       size_t size, const unsigned char *in, size_t len)
{
	struct aead_ctx *ctx = vctx;
	int n = 0;

	if (!ciphers_check_room(ctx->prov, ctx->kind, len, size) ||
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
		ctx->has_len = false;
		ctx->has_tag &= !ctx->encrypt;
		*out_len = 0;
		return 1;
	}
	if (!aead_text_settle(ctx) || !EVP_CipherFinal_ex(ctx->soft, out, &n))
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

	if (!ciphers_check_room(ctx->prov, ctx->kind, len, size) ||
	    !aead_text_settle(ctx))
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

#define FUNCTIONS(c_name, ...) CIPHERS_FUNCTIONS(aead, c_name)
AEADS(FUNCTIONS)
