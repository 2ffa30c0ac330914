/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_authenc.c - crypto/authenc.c's AEADs by libcrypto: the text is encrypted,
 * then AAD and ciphertext go through HMAC, whose first bytes are the tag. The IV
 * is hashed only where the caller has it in the AAD, as IPsec does.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>

#include "op.h"
#include "soft.h"

static int run_mac(struct soft_scratch *scratch, const struct soft *soft,
		   const struct key_parts *key, const uint8_t *data, size_t len,
		   uint8_t *mac)
{
	struct soft_stream *stream = &scratch->stream;
	int ret = soft_stream_init(stream, soft, key->auth, key->auth_len);

	if (!ret)
		ret = soft_stream_update(stream, data, len);
	if (!ret)
		ret = soft_stream_final(stream, mac);
	soft_stream_free(stream);
	return ret;
}

int soft_authenc_run(struct soft_scratch *scratch, const struct soft *soft,
		     const struct afb_op *op, uint8_t *data)
{
	size_t text_len = op_text_size(op), tag_len = op->session->tag_len;
	uint8_t *text = data + op->aad_len, *tag = text + text_len;
	uint8_t mac[AFB_DIGEST_MAX];
	struct key_parts key;
	int ret;

	ret = key_split(&key, soft->alg, op->session->key,
			op->session->key_len);
	if (!ret && op->kind == AFB_ENCRYPT)
		ret = soft_cipher_text(scratch->cipher, soft, &key, op, text,
				       text_len);
	if (!ret)
		ret = run_mac(scratch, soft, &key, data, tag - data, mac);
	if (ret)
		return ret;
	if (op->kind == AFB_ENCRYPT) {
		memcpy(tag, mac, tag_len);
		return 0;
	}
	if (CRYPTO_memcmp(tag, mac, tag_len))
		return -EBADMSG;
	return soft_cipher_text(scratch->cipher, soft, &key, op, text,
				text_len);
}
