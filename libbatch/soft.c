/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.c - owns the library context, which lives while something fetched from it
 * is held, so that unloading the library leaves nothing behind; and sends an op to
 * the code for its type.
 */
#include <errno.h>
#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "op.h"
#include "pieces.h"
#include "soft.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OSSL_LIB_CTX *libctx; /* under lock, as the two below */
static OSSL_PROVIDER *provider;
static unsigned users;

void soft_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

void soft_after_fork(bool in_child)
{
	(void)in_child;
	pthread_mutex_unlock(&lock);
}

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

/* ---- What an algorithm needs --------------------------------------------- */

static EVP_RAND_CTX *new_random(const char *name, EVP_RAND_CTX *parent)
{
	EVP_RAND *random = EVP_RAND_fetch(libctx, name, NULL);
	EVP_RAND_CTX *ctx = random ? EVP_RAND_CTX_new(random, parent) : NULL;

	EVP_RAND_free(random);
	return ctx;
}

/*
 * A generator of our own. RAND_bytes_ex() would leave one with each thread, and
 * threads end when they like: also after the library context.
 */
static bool fetch_random(struct soft *soft, const uint8_t *seed, size_t len)
{
	char cipher[] = "AES-256-CTR";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher,
						 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_RAND_CTX *source = new_random("SEED-SRC", NULL);

	if (source && EVP_RAND_instantiate(source, 0, 0, NULL, 0, NULL))
		soft->random = new_random(soft->alg->fetch, source);
	/* The generator holds its source. */
	EVP_RAND_CTX_free(source);
	return soft->random && EVP_RAND_enable_locking(soft->random) &&
	       EVP_RAND_instantiate(soft->random, 256, 0, seed, len, params);
}

static bool fetch_cipher(struct soft *soft, const uint8_t *key, size_t key_len)
{
	const struct afb_algorithm *alg = soft->alg;
	struct key_parts parts;
	char name[32];

	if (key_split(&parts, alg, key, key_len))
		return false;
	snprintf(
		name, sizeof(name), alg->fetch,
		(unsigned)(parts.cipher_len * 8 / (alg->keys ? alg->keys : 1)));
	soft->cipher = EVP_CIPHER_fetch(libctx, name, NULL);
	return soft->cipher && (size_t)EVP_CIPHER_get_key_length(
				       soft->cipher) == parts.cipher_len;
}

static bool fetch_hash(struct soft *soft)
{
	const struct afb_algorithm *alg = soft->alg;

	if (alg->form == AFB_FORM_SAME)
		soft->md = EVP_MD_fetch(libctx, alg->fetch, NULL);
	else
		soft->mac = EVP_MAC_fetch(libctx, alg->mac, NULL);
	return soft->md || soft->mac;
}

static bool fetch(struct soft *soft, const uint8_t *key, size_t key_len)
{
	if (soft->alg->type == AFB_RNG)
		return fetch_random(soft, key, key_len);
	if (soft->alg->type == AFB_HASH)
		return fetch_hash(soft);
	if (soft->alg->form == AFB_FORM_AUTHENC) {
		soft->mac = EVP_MAC_fetch(libctx, "HMAC", NULL);
		if (!soft->mac)
			return false;
	}
	return fetch_cipher(soft, key, key_len);
}

static void release(struct soft *soft)
{
	EVP_MD_free(soft->md);
	EVP_MAC_free(soft->mac);
	EVP_CIPHER_free(soft->cipher);
	EVP_RAND_CTX_free(soft->random);
	free(soft);
}

int soft_open(struct soft **opened, const struct afb_algorithm *alg,
	      const uint8_t *key, size_t key_len)
{
	struct soft *soft = calloc(1, sizeof(*soft));
	int ret = 0;

	if (!soft)
		return -ENOMEM;
	soft->alg = alg;
	pthread_mutex_lock(&lock);
	if (!libctx_get()) {
		ret = -ENOMEM;
		release(soft);
	} else if (!fetch(soft, key, key_len)) {
		ret = -ENOENT;
		release(soft);
		libctx_put();
	}
	pthread_mutex_unlock(&lock);
	if (!ret)
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

/* Most bytes of a copy that are kept for the next op. */
#define KEPT_MAX (1UL << 20)

/* ---- Ops ------------------------------------------------------------------ */

/* What is left in the contexts belongs to the library context. */
static void hold(struct soft_scratch *scratch)
{
	if (scratch->holds)
		return;
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
	scratch->holds = true;
}

void soft_scratch_free(struct soft_scratch *scratch)
{
	soft_stream_free(&scratch->stream);
	EVP_CIPHER_CTX_free(scratch->cipher);
	OPENSSL_free(scratch->data);
	if (scratch->holds) {
		pthread_mutex_lock(&lock);
		libctx_put();
		pthread_mutex_unlock(&lock);
	}
	*scratch = (struct soft_scratch){ 0 };
}

static int run_hash(struct soft_scratch *scratch, const struct soft *soft,
		    const struct afb_op *op)
{
	struct soft_stream *stream = &scratch->stream;
	unsigned i;
	int ret;

	ret = soft_stream_init(stream, soft, op->session->key,
			       op->session->key_len);
	for (i = 0; i < op->in_cnt && !ret; i++)
		ret = soft_stream_update(stream, op->in[i].iov_base,
					 op->in[i].iov_len);
	if (!ret)
		ret = soft_stream_final(stream, op->out[0].iov_base);
	if (soft->mac)
		soft_stream_free(stream);
	return ret;
}

static int run_random(const struct soft *soft, const struct afb_op *op)
{
	unsigned i;

	for (i = 0; i < op->out_cnt; i++)
		if (op->out[i].iov_len &&
		    !EVP_RAND_generate(soft->random, op->out[i].iov_base,
				       op->out[i].iov_len, 0, 0, NULL, 0))
			return -EIO;
	return 0;
}

static int run_in_copy(struct soft_scratch *scratch, const struct soft *soft,
		       const struct afb_op *op, uint8_t *data, size_t len)
{
	int ret;

	pieces_gather(data, op->in, 0, len);
	if (soft->alg->type == AFB_SKCIPHER)
		ret = soft_cipher_run(scratch->cipher, soft, op, data, len);
	else if (soft->alg->form == AFB_FORM_AUTHENC)
		ret = soft_authenc_run(scratch, soft, op, data);
	else
		ret = soft_aead_run(scratch->cipher, soft, op, data);
	if (ret)
		return ret;
	if (soft->alg->type == AFB_AEAD)
		data += op->aad_len;
	pieces_scatter(op->out, data, op_result_size(op));
	return 0;
}

static void drop_data(struct soft_scratch *scratch)
{
	OPENSSL_free(scratch->data);
	scratch->data = NULL;
	scratch->size = 0;
}

/* Room for @size bytes, kept from op to op. */
static int reserve(struct soft_scratch *scratch, size_t size)
{
	if (scratch->size >= size)
		return 0;
	drop_data(scratch);
	scratch->data = OPENSSL_malloc(size);
	scratch->size = scratch->data ? size : 0;
	return scratch->data ? 0 : -ENOMEM;
}

/*
 * In one buffer: the result may go where the input is, and goes to the caller
 * only when the whole of it is right.
 */
static int run_cipher(struct soft_scratch *scratch, const struct soft *soft,
		      const struct afb_op *op)
{
	size_t len = pieces_bytes(op->in, op->in_cnt);
	size_t size = len + op->session->tag_len + EVP_MAX_BLOCK_LENGTH;
	int ret;

	/* libcrypto counts a cipher's bytes in an int. */
	if (len > INT_MAX - EVP_MAX_BLOCK_LENGTH)
		return -EMSGSIZE;
	if (!scratch->cipher)
		scratch->cipher = EVP_CIPHER_CTX_new();
	if (!scratch->cipher || reserve(scratch, size))
		return -ENOMEM;
	ret = run_in_copy(scratch, soft, op, scratch->data, len);
	OPENSSL_cleanse(scratch->data, size);
	if (size > KEPT_MAX)
		drop_data(scratch);
	EVP_CIPHER_CTX_reset(scratch->cipher);
	return ret;
}

int soft_run(struct soft_scratch *scratch, const struct soft *soft,
	     const struct afb_op *op)
{
	hold(scratch);
	if (soft->random)
		return run_random(soft, op);
	if (soft->alg->type == AFB_HASH)
		return run_hash(scratch, soft, op);
	return run_cipher(scratch, soft, op);
}
