/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher_text.c - libcrypto's context is the one with the state. Of a long text the
 * kernel does the whole blocks in the middle, under the IV that this context has come
 * to, and it then begins again with the IV behind them: so padding, partial blocks and
 * every parameter are libcrypto's own, however a text is cut.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "cipher_text.h"
#include "ciphers.h"
#include "error.h"
#include "provider.h"

/* The longest block of our ciphers. */
#define BLOCK_MAX 16

/* Keeps the last of what libcrypto will have taken in. */
static void hold(struct cipher_ctx *ctx, const unsigned char *in, size_t len)
{
	size_t size = ctx->kind->block_size, kept;

	if (len >= size) {
		memcpy(ctx->held, in + len - size, size);
		return;
	}
	/* The newest byte is always the last in the array's first block. */
	kept = size - len;
	memmove(ctx->held, ctx->held + len, kept);
	memcpy(ctx->held + kept, in, len);
}

static int soft_update(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		       const unsigned char *in, int len)
{
	bool holds = ctx->kind->block_size > 1 && !ctx->tls && in && len > 0;

	if (holds)
		hold(ctx, in, (size_t)len);
	if (!EVP_CipherUpdate(ctx->soft, out, out_len, in, len))
		return 0;
	if (holds)
		ctx->held_len += (size_t)len - (size_t)*out_len;
	return 1;
}

/* What libcrypto holds back until it knows whether padding ends it. */
static size_t kept_back(const struct cipher_ctx *ctx)
{
	unsigned padding = 0;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &padding),
		OSSL_PARAM_construct_end(),
	};

	if (ctx->encrypt || !EVP_CIPHER_CTX_get_params(ctx->soft, params))
		return 0;
	return padding ? 1 : 0;
}

/* NULL where libcrypto does such a text. */
static struct afb_session *session_for(const struct cipher_ctx *ctx, size_t len)
{
	if (!ctx->key || ctx->tls || len < BLOCK_MAX ||
	    len < ctx->prov->settings.threshold)
		return NULL;
	return cipher_key_session(ctx->key);
}

/*
 * @pieces are whole blocks, @len bytes together. @iv is as long as the cipher's, and
 * becomes the next.
 */
static int run(const struct cipher_ctx *ctx, struct afb_session *session,
	       const struct iovec pieces[2], unsigned char *out, size_t len,
	       unsigned char *iv)
{
	struct iovec to = { out, len };
	struct afb_op op = {
		.session = session,
		.in = pieces,
		.in_cnt = 2,
		.out = &to,
		.out_cnt = 1,
		.kind = ctx->encrypt ? AFB_ENCRYPT : AFB_DECRYPT,
		.iv = iv,
		.iv_len = ctx->kind->iv_len,
	};
	ssize_t ret;

	if (ctx->kind->mode != EVP_CIPH_XTS_MODE)
		op.next_iv = iv;
	ret = queues_run(ctx->prov, &ctx->prov->ciphers->queues, &op);
	if (ret == (ssize_t)len)
		return 1;
	error_raise_errno(ctx->prov, R_UPDATE, "update", ctx->kind->kernel,
			  ret < 0 ? (int)ret : -EIO);
	return 0;
}

/* The blocks that libcrypto would do next, done without it. */
static int run_blocks(struct cipher_ctx *ctx, struct afb_session *session,
		      const struct iovec pieces[2], unsigned char *out,
		      size_t len)
{
	unsigned char iv[EVP_MAX_IV_LENGTH] = { 0 };
	size_t iv_len = ctx->kind->iv_len;

	if (iv_len && !EVP_CIPHER_CTX_get_updated_iv(ctx->soft, iv, iv_len))
		return 0;
	if (!run(ctx, session, pieces, out, len, iv))
		return 0;
	ctx->moved = true;
	ctx->held_len = 0;
	return EVP_CipherInit_ex2(ctx->soft, NULL, NULL, iv_len ? iv : NULL,
				  ctx->encrypt, NULL);
}

/* Of ECB and CBC: what libcrypto holds comes first. */
static int update_blocks(struct cipher_ctx *ctx, unsigned char *out,
			 int *out_len, const unsigned char *in, int len)
{
	size_t held = ctx->held_len, size = ctx->kind->block_size;
	size_t text = held + (size_t)len - kept_back(ctx);
	unsigned char first[BLOCK_MAX];
	struct afb_session *session = session_for(ctx, text);
	struct iovec pieces[2];
	int rest_len, ret;

	text -= text % size;
	if (!session || (held ? out < in + len && in < out + text :
				ciphers_askew(out, in, text)))
		return soft_update(ctx, out, out_len, in, len);
	memcpy(first, ctx->held + size - held, held);
	pieces[0] = (struct iovec){ first, held };
	pieces[1] = (struct iovec){ (void *)in, text - held };
	ret = run_blocks(ctx, session, pieces, out, text) &&
	      soft_update(ctx, out + text, &rest_len, in + (text - held),
			  len - (int)(text - held));
	OPENSSL_cleanse(first, sizeof(first));
	if (ret)
		*out_len = (int)text + rest_len;
	return ret;
}

/* Of CTR: what is left of a block's key stream is libcrypto's to use up. */
static int update_stream(struct cipher_ctx *ctx, unsigned char *out,
			 int *out_len, const unsigned char *in, int len)
{
	size_t size = ctx->kind->iv_len;
	size_t used = (size_t)EVP_CIPHER_CTX_get_num(ctx->soft);
	size_t first = (size - used) % size, text;
	struct afb_session *session;
	struct iovec pieces[2] = { { NULL, 0 } };
	int n;

	session = (size_t)len > first ? session_for(ctx, (size_t)len - first) :
					NULL;
	if (!session || ciphers_askew(out, in, (size_t)len))
		return soft_update(ctx, out, out_len, in, len);
	text = ((size_t)len - first) / size * size;
	if (first && !soft_update(ctx, out, &n, in, (int)first))
		return 0;
	pieces[1] = (struct iovec){ (void *)(in + first), text };
	if (!run_blocks(ctx, session, pieces, out + first, text))
		return 0;
	first += text;
	if (len > (int)first &&
	    !soft_update(ctx, out + first, &n, in + first, len - (int)first))
		return 0;
	*out_len = len;
	return 1;
}

/* Of XTS: a data unit, which has no next IV. A longer one is no request's. */
static int update_unit(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		       const unsigned char *in, int len)
{
	struct iovec pieces[2] = { { NULL, 0 }, { (void *)in, (size_t)len } };
	struct afb_session *session = NULL;

	if (ctx->has_iv && (size_t)len <= AFB_CIPHER_MAX)
		session = session_for(ctx, (size_t)len);
	if (!session || ciphers_askew(out, in, (size_t)len))
		return soft_update(ctx, out, out_len, in, len);
	*out_len = len;
	return run(ctx, session, pieces, out, (size_t)len, ctx->iv);
}

int cipher_text_update(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		       const unsigned char *in, int len)
{
	/* Where the result could be longer than an int tells, EVP refuses it. */
	if (!in || !out || len <= 0 || len > INT_MAX - 2 * BLOCK_MAX)
		return soft_update(ctx, out, out_len, in, len);
	switch (ctx->kind->mode) {
	case EVP_CIPH_XTS_MODE:
		return update_unit(ctx, out, out_len, in, len);
	case EVP_CIPH_CTR_MODE:
		return update_stream(ctx, out, out_len, in, len);
	}
	return update_blocks(ctx, out, out_len, in, len);
}

int cipher_text_raw(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		    const unsigned char *in, int len)
{
	size_t size = ctx->kind->block_size;
	struct iovec pieces[2] = { { NULL, 0 }, { (void *)in, (size_t)len } };
	struct afb_session *session;

	if (in && out && len > 0 && size == 1)
		return cipher_text_update(ctx, out, out_len, in, len);
	session = in && out && len > 0 && !ctx->held_len &&
				  (size_t)len % size == 0 ?
			  session_for(ctx, (size_t)len) :
			  NULL;
	if (session && !ciphers_askew(out, in, (size_t)len)) {
		*out_len = len;
		return run_blocks(ctx, session, pieces, out, (size_t)len);
	}
	*out_len = EVP_Cipher(ctx->soft, out, in, (unsigned)len);
	return *out_len >= 0;
}
