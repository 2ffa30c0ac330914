/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.c - owns the library context, which lives while something fetched from it
 * is held, so that unloading the library leaves nothing behind.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "op.h"
#include "soft.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OSSL_LIB_CTX *libctx; /* under lock, as the two below */
static OSSL_PROVIDER *provider;
static unsigned users;

static void libctx_put(void)
{
	if (--users)
		return;
	OSSL_PROVIDER_unload(provider);
	OSSL_LIB_CTX_free(libctx);
	provider = NULL;
	libctx = NULL;
}

static OSSL_LIB_CTX *libctx_get(void)
{
	if (users++)
		return libctx;
	libctx = OSSL_LIB_CTX_new();
	if (libctx)
		provider = OSSL_PROVIDER_load(libctx, "default");
	if (provider)
		return libctx;
	OSSL_LIB_CTX_free(libctx);
	libctx = NULL;
	users = 0;
	return NULL;
}

static bool fetch(struct soft *soft, const struct afb_algorithm *alg,
		  size_t key_len)
{
	char name[32];

	if (alg->type == AFB_HASH) {
		/* A key would make it an HMAC, which the table lacks. */
		if (!key_len)
			soft->md = EVP_MD_fetch(libctx, alg->fetch, NULL);
		return soft->md;
	}
	snprintf(name, sizeof(name), alg->fetch,
		 (unsigned)(key_len * 8 / (alg->keys ? alg->keys : 1)));
	soft->cipher = EVP_CIPHER_fetch(libctx, name, NULL);
	return soft->cipher &&
	       (size_t)EVP_CIPHER_get_key_length(soft->cipher) == key_len;
}

static void release(struct soft *soft)
{
	EVP_MD_free(soft->md);
	EVP_CIPHER_free(soft->cipher);
	free(soft);
}

int soft_open(struct soft **opened, const struct afb_algorithm *alg,
	      size_t key_len)
{
	struct soft *soft = calloc(1, sizeof(*soft));
	int ret = 0;

	if (!soft)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	if (!libctx_get()) {
		ret = -ENOMEM;
	} else if (!fetch(soft, alg, key_len)) {
		ret = -ENOENT;
		libctx_put();
	}
	pthread_mutex_unlock(&lock);
	if (ret)
		release(soft);
	else
		*opened = soft;
	return ret;
}

void soft_close(struct soft *soft)
{
	if (!soft)
		return;
	pthread_mutex_lock(&lock);
	release(soft);
	libctx_put();
	pthread_mutex_unlock(&lock);
}

void soft_scratch_free(struct soft_scratch *scratch)
{
	EVP_MD_CTX_free(scratch->md);
	EVP_CIPHER_CTX_free(scratch->cipher);
}

static int run_digest(EVP_MD_CTX *ctx, const EVP_MD *md,
		      const struct afb_op *op)
{
	unsigned i;

	if (!EVP_DigestInit_ex2(ctx, md, NULL))
		return -EIO;
	for (i = 0; i < op->in_cnt; i++)
		if (!EVP_DigestUpdate(ctx, op->in[i].iov_base,
				      op->in[i].iov_len))
			return -EIO;
	return EVP_DigestFinal_ex(ctx, op->out[0].iov_base, NULL) ? 0 : -EIO;
}

static bool begin_cipher(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher,
			 const struct afb_op *op, uint8_t *tag)
{
	const struct afb_session *session = op->session;
	bool decrypt_aead = session->type == AFB_AEAD &&
			    op->kind == AFB_DECRYPT;

	return EVP_CipherInit_ex2(ctx, cipher, session->key, op->iv,
				  op->kind == AFB_ENCRYPT, NULL) &&
	       EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	       (!decrypt_aead ||
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
				    session->tag_len, tag));
}

/*
 * In one buffer, [AAD][text][tag]: the result takes the text's place, and goes
 * to the caller only when the tag has been found right.
 */
static int run_cipher(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher,
		      const struct afb_op *op, uint8_t *data)
{
	bool aead = op->session->type == AFB_AEAD;
	size_t text_len = op_text_size(op);
	uint8_t *text = data + op->aad_len, *tag = text + text_len;
	int len = 0, more = 0;

	if (!begin_cipher(ctx, cipher, op, tag) ||
	    (op->aad_len &&
	     !EVP_CipherUpdate(ctx, NULL, &len, data, op->aad_len)))
		return -EINVAL;
	len = 0;
	if (text_len && !EVP_CipherUpdate(ctx, text, &len, text, text_len))
		return -EINVAL;
	if (!EVP_CipherFinal_ex(ctx, text + len, &more))
		return aead ? -EBADMSG : -EINVAL;
	if (aead && op->kind == AFB_ENCRYPT &&
	    !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
				 op->session->tag_len, tag))
		return -EINVAL;
	op_scatter(op->out, text, op_result_size(op));
	return 0;
}

static int run_cipher_in_copy(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher,
			      const struct afb_op *op)
{
	size_t bytes = op_bytes(op->in, op->in_cnt);
	size_t size = bytes + op->session->tag_len + EVP_MAX_BLOCK_LENGTH;
	uint8_t *data = OPENSSL_malloc(size);
	int ret;

	if (!data)
		return -ENOMEM;
	op_gather(data, op->in, 0, bytes);
	ret = run_cipher(ctx, cipher, op, data);
	OPENSSL_clear_free(data, size);
	EVP_CIPHER_CTX_reset(ctx);
	return ret;
}

int soft_run(struct soft_scratch *scratch, const struct soft *soft,
	     const struct afb_op *op)
{
	if (soft->md) {
		if (!scratch->md)
			scratch->md = EVP_MD_CTX_new();
		return scratch->md ? run_digest(scratch->md, soft->md, op) :
				     -ENOMEM;
	}
	if (!scratch->cipher)
		scratch->cipher = EVP_CIPHER_CTX_new();
	return scratch->cipher ? run_cipher_in_copy(scratch->cipher,
						    soft->cipher, op) :
				 -ENOMEM;
}
