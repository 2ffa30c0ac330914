/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_stream.c - digests and MACs by libcrypto, in pieces: what a stream goes on
 * with, and what an op of one piece or many runs through at once.
 */
#include <errno.h>
#include <openssl/core_names.h>
#include <stdio.h>

#include "soft.h"

/* Which digest or cipher the MAC is made of, if any. */
static bool set_inside(EVP_MAC_CTX *mac, const struct afb_algorithm *alg,
		       size_t key_len)
{
	const char *parameter = OSSL_MAC_PARAM_DIGEST;
	const char *inside = alg->fetch;
	OSSL_PARAM params[2];
	char name[32];

	if (alg->form == AFB_FORM_MAC && !inside)
		return true;
	if (alg->form == AFB_FORM_AUTHENC) {
		inside = alg->mac;
	} else if (alg->key_min) {
		/* A key of fixed lengths is that of a cipher. */
		parameter = OSSL_MAC_PARAM_CIPHER;
	}
	snprintf(name, sizeof(name), inside, (unsigned)key_len * 8);
	params[0] = OSSL_PARAM_construct_utf8_string(parameter, name, 0);
	params[1] = OSSL_PARAM_construct_end();
	return EVP_MAC_CTX_set_params(mac, params);
}

static int init_mac(struct soft_stream *stream, const struct soft *soft,
		    const uint8_t *key, size_t key_len)
{
	/* A new context: the old one has the last key. */
	EVP_MAC_CTX_free(stream->mac);
	stream->mac = EVP_MAC_CTX_new(soft->mac);
	if (!stream->mac)
		return -ENOMEM;
	/* No pointer would stand for the key of before. */
	if (!key)
		key = (const uint8_t *)"";
	return set_inside(stream->mac, soft->alg, key_len) &&
			       EVP_MAC_init(stream->mac, key, key_len, NULL) ?
		       0 :
		       -EIO;
}

int soft_stream_init(struct soft_stream *stream, const struct soft *soft,
		     const uint8_t *key, size_t key_len)
{
	stream->soft = soft;
	if (soft->mac)
		return init_mac(stream, soft, key, key_len);
	if (!stream->md)
		stream->md = EVP_MD_CTX_new();
	if (!stream->md)
		return -ENOMEM;
	return EVP_DigestInit_ex2(stream->md, soft->md, NULL) ? 0 : -EIO;
}

int soft_stream_update(struct soft_stream *stream, const void *data, size_t len)
{
	int done;

	if (!len)
		return 0;
	if (stream->soft->mac)
		done = EVP_MAC_update(stream->mac, data, len);
	else
		done = EVP_DigestUpdate(stream->md, data, len);
	return done ? 0 : -EIO;
}

int soft_stream_final(struct soft_stream *stream, void *result)
{
	size_t size;
	int done;

	if (stream->soft->mac)
		done = EVP_MAC_final(stream->mac, result, &size,
				     EVP_MAC_CTX_get_mac_size(stream->mac));
	else
		done = EVP_DigestFinal_ex(stream->md, result, NULL);
	return done ? 0 : -EIO;
}

int soft_stream_copy(struct soft_stream *copy, const struct soft_stream *stream)
{
	copy->soft = stream->soft;
	if (stream->soft->mac) {
		EVP_MAC_CTX_free(copy->mac);
		copy->mac = EVP_MAC_CTX_dup(stream->mac);
		return copy->mac ? 0 : -ENOMEM;
	}
	if (!copy->md)
		copy->md = EVP_MD_CTX_new();
	return copy->md && EVP_MD_CTX_copy_ex(copy->md, stream->md) ? 0 :
								      -ENOMEM;
}

void soft_stream_free(struct soft_stream *stream)
{
	EVP_MD_CTX_free(stream->md);
	EVP_MAC_CTX_free(stream->mac);
	*stream = (struct soft_stream){ 0 };
}
