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

#include <openssl/crypto.h>

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

int aead_text_settle(struct aead_ctx *ctx)
{
	int n, ret = 1;

	if (ctx->state == AEAD_TEXT) {
		ctx->streams = true;
		ret = EVP_CipherUpdate(ctx->soft, ctx->text, &n, ctx->text,
				       (int)ctx->text_len);
		aead_text_forget(ctx);
	}
	if (ctx->state != AEAD_ENDED)
		ctx->state = AEAD_SOFT;
	return ret;
}

/* NULL where libcrypto does such a text. */
static struct afb_session *session_for(const struct aead_ctx *ctx, size_t len)
{
	size_t all = ctx->aad_len + len + AEAD_TAG_LEN;

	if (ctx->state != AEAD_FRESH || !ctx->key || ctx->streams ||
	    (!ctx->encrypt && !ctx->has_tag) ||
	    len < ctx->prov->settings.threshold || !len || all > AFB_CIPHER_MAX)
		return NULL;
	return cipher_key_session(ctx->key);
}

/* Overlapping, and not the same. */
static bool is_askew(const unsigned char *out, const unsigned char *in,
		     size_t len)
{
	return out != in && out < in + len && in < out + len;
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
		.iv_len = AEAD_IV_LEN,
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

static int update_aad(struct aead_ctx *ctx, int *out_len,
		      const unsigned char *in, int len)
{
	if (ctx->state == AEAD_FRESH && len > 0 &&
	    (size_t)len <= AEAD_AAD_MAX - ctx->aad_len) {
		memcpy(ctx->aad + ctx->aad_len, in, (size_t)len);
		ctx->aad_len += (size_t)len;
	} else if (!aead_text_settle(ctx)) {
		return 0;
	}
	return EVP_CipherUpdate(ctx->soft, NULL, out_len, in, len);
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
		return update_aad(ctx, out_len, in, len);
	session = in && len > 0 ? session_for(ctx, (size_t)len) : NULL;
	if (session && !is_askew(out, in, (size_t)len) &&
	    run(ctx, session, out, in, (size_t)len)) {
		ctx->state = AEAD_TEXT;
		*out_len = len;
		return 1;
	}
	return aead_text_settle(ctx) &&
	       EVP_CipherUpdate(ctx->soft, out, out_len, in, len);
}
