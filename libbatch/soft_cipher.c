/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_cipher.c - skciphers by libcrypto, with the IV in the form the kernel's
 * algorithm takes. Works in place, in memory of the library's own.
 */
#include <errno.h>
#include <openssl/core_names.h>
#include <string.h>

#include "op.h"
#include "soft.h"

#define CHACHA_BLOCK ((uint64_t)64)

static bool begin(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		  const struct key_parts *key, const uint8_t *iv, bool encrypt)
{
	char cs3[] = OSSL_CIPHER_CTS_MODE_CS3;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_end(),
				OSSL_PARAM_construct_end() };

	if (soft->alg->form == AFB_FORM_CS3)
		params[0] = OSSL_PARAM_construct_utf8_string(
			OSSL_CIPHER_PARAM_CTS_MODE, cs3, 0);
	return EVP_CipherInit_ex2(ctx, soft->cipher, key->cipher, iv, encrypt,
				  params) &&
	       EVP_CIPHER_CTX_set_padding(ctx, 0);
}

static int crypt(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		 const struct key_parts *key, const uint8_t *iv, bool encrypt,
		 uint8_t *text, size_t len)
{
	int done = 0, more = 0;

	if (!begin(ctx, soft, key, iv, encrypt) ||
	    !EVP_CipherUpdate(ctx, text, &done, text, len) ||
	    !EVP_CipherFinal_ex(ctx, text + done, &more))
		return -EINVAL;
	return 0;
}

/*
 * The kernel's counter has 32 bits and begins again at 0 (lib/crypto/chacha.c);
 * libcrypto's carries into the nonce.
 */
static int crypt_chacha(EVP_CIPHER_CTX *ctx, const struct soft *soft,
			const struct key_parts *key, const struct afb_op *op,
			uint8_t *text, size_t len)
{
	uint8_t iv[16];
	uint32_t counter;
	uint64_t left;
	int ret;

	memcpy(iv, op->iv, sizeof(iv));
	counter = iv[0] | iv[1] << 8 | iv[2] << 16 | (uint32_t)iv[3] << 24;
	left = ((UINT64_C(1) << 32) - counter) * CHACHA_BLOCK;
	if (len <= left)
		return crypt(ctx, soft, key, iv, true, text, len);
	ret = crypt(ctx, soft, key, iv, true, text, left);
	memset(iv, 0, 4);
	return ret ? ret :
		     crypt(ctx, soft, key, iv, true, text + left, len - left);
}

int soft_cipher_text(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		     const struct key_parts *key, const struct afb_op *op,
		     uint8_t *text, size_t len)
{
	static const uint8_t one[4] = { 0, 0, 0, 1 };
	const struct afb_algorithm *alg = soft->alg;
	uint8_t block[16];

	if (!len)
		return 0;
	if (alg->form == AFB_FORM_CHACHA)
		return crypt_chacha(ctx, soft, key, op, text, len);
	if (alg->form != AFB_FORM_COUNTER)
		return crypt(ctx, soft, key, op->iv, op->kind == AFB_ENCRYPT,
			     text, len);
	memcpy(block, key->salt, 4);
	memcpy(block + 4, op->iv, 8);
	memcpy(block + 12, one, 4);
	return crypt(ctx, soft, key, block, true, text, len);
}

int soft_cipher_run(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		    const struct afb_op *op, uint8_t *data, size_t len)
{
	struct key_parts key;
	int ret;

	ret = key_split(&key, soft->alg, op->session->key,
			op->session->key_len);
	return ret ? ret : soft_cipher_text(ctx, soft, &key, op, data, len);
}
