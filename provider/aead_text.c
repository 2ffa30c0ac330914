/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead_text.c - nothing tells whether an update is a message's last. So the kernel
 * does the first one as if it were, and the text is kept: if another update follows
 * after all, libcrypto, which has had the AAD meanwhile, goes through it once more,
 * and the context's later messages are libcrypto's from the beginning.
 *
 * A tag that the kernel does not find right is libcrypto's to refuse as well: it puts
 * the text out and fails at the end, as programs of the default provider know it.
 */
#include <config.h>

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "aead_text.h"
#include "ciphers.h"
#include "error.h"
#include "provider.h"

void aead_text_forget(struct aead_ctx *ctx)
{
	OPENSSL_cleanse(ctx->text, ctx->text_len);
	ctx->text_len = 0;
}

static int keep(struct aead_ctx *ctx, const unsigned char *in, size_t len)
{
	if (len > ctx->text_size) {
		OPENSSL_free(ctx->text);
		ctx->text = OPENSSL_malloc(len);
		ctx->text_size = ctx->text ? len : 0;
		if (!ctx->text)
			return 0;
	}
	memcpy(ctx->text, in, len);
	ctx->text_len = len;
	return 1;
}

/*
 * libcrypto's CCM would keep a length that it has been told until it has done a text
 * (ccm_cipher_internal() in OpenSSL 3.0), whatever IV came meanwhile. So it is told
 * only when the text is to be its own.
 */
static int tell_lengths(struct aead_ctx *ctx)
{
	int n;

	if (!ctx->has_len)
		return 1;
	ctx->has_len = false;
	if (!EVP_CipherUpdate(ctx->soft, NULL, &n, NULL, ctx->len))
		return 0;
	return !ctx->aad_len || EVP_CipherUpdate(ctx->soft, NULL, &n, ctx->aad,
						 (int)ctx->aad_len);
}

int aead_text_settle(struct aead_ctx *ctx)
{
	int n, ret = 1;

	if (ctx->state == AEAD_ENDED)
		return 1;
	if (ctx->state != AEAD_SOFT)
		ret = tell_lengths(ctx);
	if (ctx->state == AEAD_TEXT) {
		ctx->streams = true;
		ret = ret && EVP_CipherUpdate(ctx->soft, ctx->text, &n,
					      ctx->text, (int)ctx->text_len);
		aead_text_forget(ctx);
	}
	ctx->state = AEAD_SOFT;
	return ret;
}

/* CCM's tag is as long as was said before init; the others' always are. */
static bool has_whole_tag(const struct aead_ctx *ctx)
{
	size_t len = 0;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN,
					    &len),
		OSSL_PARAM_construct_end(),
	};

	if (!ctx->encrypt)
		return ctx->has_tag;
	return ctx->kind->mode != EVP_CIPH_CCM_MODE ||
	       (EVP_CIPHER_CTX_get_params(ctx->soft, params) &&
		len == AEAD_TAG_LEN);
}

/* NULL where libcrypto does such a text. */
static struct afb_session *session_for(const struct aead_ctx *ctx, size_t len)
{
	size_t all = ctx->aad_len + len + AEAD_TAG_LEN;

	if (ctx->state != AEAD_FRESH || !ctx->key || ctx->streams ||
	    (ctx->has_len && len != (size_t)ctx->len) ||
	    len < ctx->prov->settings.threshold || !len ||
	    all > AFB_CIPHER_MAX || !has_whole_tag(ctx))
		return NULL;
	return cipher_key_session(ctx->key);
}

/* Whether the kernel did it: all of the message, if this was all of its text. */
static bool run(struct aead_ctx *ctx, struct afb_session *session,
		unsigned char *out, const unsigned char *in, size_t len)
{
	struct iovec from[3] = { { ctx->aad, ctx->aad_len },
				 { (void *)in, len },
				 { ctx->tag, AEAD_TAG_LEN } };
	struct iovec to[2] = { { out, len }, { ctx->tag, AEAD_TAG_LEN } };
	struct afb_op op = {
		.session = session,
		.in = from,
		.in_cnt = ctx->encrypt ? 2 : 3,
		.out = to,
		.out_cnt = ctx->encrypt ? 2 : 1,
		.kind = ctx->encrypt ? AFB_ENCRYPT : AFB_DECRYPT,
		.iv = ctx->iv,
		.iv_len = ctx->iv_len,
		.aad_len = ctx->aad_len,
	};
	ssize_t want = (ssize_t)(len + (ctx->encrypt ? AEAD_TAG_LEN : 0));

	if (!keep(ctx, in, len))
		return false;
	if (queues_run(ctx->prov, &ctx->prov->ciphers->queues, &op) == want)
		return true;
	aead_text_forget(ctx);
	return false;
}

static bool add_aad(struct aead_ctx *ctx, const unsigned char *in, int len)
{
	if (!in || len <= 0 || (size_t)len > AEAD_AAD_MAX - ctx->aad_len)
		return false;
	memcpy(ctx->aad + ctx->aad_len, in, (size_t)len);
	ctx->aad_len += (size_t)len;
	return true;
}

/* Of GCM and ChaCha20-Poly1305: libcrypto has the AAD at once, as it comes. */
static int update_aad(struct aead_ctx *ctx, int *out_len,
		      const unsigned char *in, int len)
{
	if ((ctx->state != AEAD_FRESH || !add_aad(ctx, in, len)) &&
	    !aead_text_settle(ctx))
		return 0;
	return EVP_CipherUpdate(ctx->soft, NULL, out_len, in, len);
}

/* Of CCM: first the length of the text, without input; then the AAD, once. */
static int update_aad_ccm(struct aead_ctx *ctx, int *out_len,
			  const unsigned char *in, int len)
{
	bool fresh = ctx->state == AEAD_FRESH && !ctx->aad_len;

	*out_len = len;
	if (fresh && !in && len > 0) {
		ctx->has_len = true;
		ctx->len = len;
		return 1;
	}
	if (fresh && ctx->has_len && add_aad(ctx, in, len))
		return 1;
	return aead_text_settle(ctx) &&
	       EVP_CipherUpdate(ctx->soft, NULL, out_len, in, len);
}

int aead_text_update(struct aead_ctx *ctx, unsigned char *out, int *out_len,
		     const unsigned char *in, int len)
{
	struct afb_session *session;

	if (ctx->state == AEAD_ENDED) {
		error_raise(ctx->prov, R_NO_IV, "update %s: no IV since final",
			    ctx->kind->kernel);
		return 0;
	}
	if (!out)
		return ctx->kind->mode == EVP_CIPH_CCM_MODE ?
			       update_aad_ccm(ctx, out_len, in, len) :
			       update_aad(ctx, out_len, in, len);
	session = in && len > 0 ? session_for(ctx, (size_t)len) : NULL;
	if (session && !ciphers_askew(out, in, (size_t)len) &&
	    run(ctx, session, out, in, (size_t)len)) {
		ctx->state = AEAD_TEXT;
		*out_len = len;
		return 1;
	}
	return aead_text_settle(ctx) &&
	       EVP_CipherUpdate(ctx->soft, out, out_len, in, len);
}
