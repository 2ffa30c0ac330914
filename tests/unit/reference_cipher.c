/* SPDX-License-Identifier: Apache-2.0 */
/* reference_cipher.c - see reference_cipher.h. */
#include <criterion/criterion.h>
#include <linux/rtnetlink.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "reference_cipher.h"

#define ROOM (192 << 10)
#define NAME 64
#define PATTERN (NAME + 16)

/* ---- libcrypto's parts --------------------------------------------------- */

static EVP_CIPHER *fetch(const char *pattern, size_t key_len)
{
	char name[64];

	snprintf(name, sizeof(name), pattern, (unsigned)key_len * 8);
	return EVP_CIPHER_fetch(NULL, name, "provider=default");
}

static bool crypt(const char *pattern, const uint8_t *key, size_t key_len,
		  const uint8_t *iv, const uint8_t *from, size_t len,
		  uint8_t *to)
{
	EVP_CIPHER *cipher = fetch(pattern, key_len);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int done = 0, more = 0;

	if (cipher) {
		cr_assert(EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL));
		cr_assert(EVP_CIPHER_CTX_set_padding(ctx, 0));
		cr_assert(!len || EVP_EncryptUpdate(ctx, to, &done, from, len));
		cr_assert(EVP_EncryptFinal_ex(ctx, to + done, &more));
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
	return cipher;
}

struct seal {
	const char *pattern;
	const uint8_t *key;
	size_t key_len;
	const uint8_t *nonce;
	size_t nonce_len;
	struct bytes aad, plain;
	size_t tag_len;
};

static bool seal(const struct seal *s, uint8_t *to)
{
	EVP_CIPHER *cipher = fetch(s->pattern, s->key_len);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	bool ccm = strstr(s->pattern, "CCM");
	uint8_t none[1];
	int len;

	if (cipher) {
		cr_assert(EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL));
		cr_assert(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN,
					      s->nonce_len, NULL));
		cr_assert(!ccm ||
			  EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
					      s->tag_len, NULL));
		cr_assert(
			EVP_EncryptInit_ex2(ctx, NULL, s->key, s->nonce, NULL));
		cr_assert(!ccm || EVP_EncryptUpdate(ctx, NULL, &len, NULL,
						    s->plain.len));
		if (s->aad.len)
			cr_assert(EVP_EncryptUpdate(ctx, NULL, &len,
						    s->aad.data, s->aad.len));
		cr_assert(EVP_EncryptUpdate(ctx, to, &len,
					    s->plain.len ? s->plain.data : none,
					    s->plain.len));
		cr_assert(ccm || EVP_EncryptFinal_ex(ctx, to + len, &len));
		cr_assert(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
					      s->tag_len, to + s->plain.len));
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
	return cipher;
}

static size_t mac(const char *kind, const char *inside, const uint8_t *key,
		  size_t key_len, const uint8_t *data, size_t len, uint8_t *to)
{
	size_t size = 0;

	/* libcrypto takes a NULL key for none, and none is an error. */
	cr_assert(EVP_Q_mac(NULL, kind, "provider=default", inside, NULL,
			    key ? key : (const uint8_t *)"", key_len, data, len,
			    to, AFB_DIGEST_MAX, &size));
	return size;
}

/* ---- What the kernel makes of them --------------------------------------- */

/* The part of "outer(inner)" that is inside, in @to; false for another outer. */
static bool inside(char *to, const char *name, const char *outer)
{
	size_t len = strlen(outer), end = strlen(name) - 1;

	if (strncmp(name, outer, len) || name[len] != '(' || name[end] != ')')
		return false;
	cr_assert_lt(end, (size_t)NAME);
	memcpy(to, name + len + 1, end - len - 1);
	to[end - len - 1] = '\0';
	return true;
}

static const char *digest_name(const char *kernel)
{
	return strcmp(kernel, "rmd160") ? kernel : "RIPEMD-160";
}

static bool encrypt_hash(struct known *known)
{
	char part[NAME], cipher[PATTERN + 8];
	unsigned size;
	EVP_MD *md;

	if (inside(part, known->algorithm, "hmac")) {
		known->cipher.len = mac("HMAC", digest_name(part),
					known->key.data, known->key.len,
					known->plain.data, known->plain.len,
					known->cipher.data);
		return true;
	}
	if (inside(part, known->algorithm, "cmac")) {
		snprintf(cipher, sizeof(cipher), "%s-%u-CBC", part,
			 (unsigned)known->key.len * 8);
		known->cipher.len = mac("CMAC", cipher, known->key.data,
					known->key.len, known->plain.data,
					known->plain.len, known->cipher.data);
		return true;
	}
	if (!strcmp(known->algorithm, "poly1305")) {
		known->cipher.len = mac("POLY1305", NULL, known->key.data,
					known->key.len, known->plain.data,
					known->plain.len, known->cipher.data);
		return true;
	}
	md = EVP_MD_fetch(NULL, digest_name(known->algorithm),
			  "provider=default");
	if (!md)
		return false;
	cr_assert(EVP_Digest(known->plain.data, known->plain.len,
			     known->cipher.data, &size, md, NULL));
	known->cipher.len = size;
	EVP_MD_free(md);
	return true;
}

/* RFC 3962: padded with zeros, the last two blocks change places, and cut. */
static bool encrypt_stolen(struct known *known, const char *pattern)
{
	size_t len = known->plain.len, padded = (len + 15) / 16 * 16;
	static uint8_t text[ROOM];
	uint8_t last[16];

	cr_assert_leq(padded, sizeof(text));
	memset(text, 0, padded);
	memcpy(text, known->plain.data, len);
	if (!crypt(pattern, known->key.data, known->key.len, known->iv.data,
		   text, padded, text))
		return false;
	if (len > 16) {
		memcpy(last, text + padded - 16, 16);
		memcpy(text + padded - 16, text + padded - 32, 16);
		memcpy(text + padded - 32, last, 16);
	}
	memcpy(known->cipher.data, text, len);
	return true;
}

/* Block by block: the counter has 32 bits and never carries. */
static bool encrypt_chacha(struct known *known)
{
	uint8_t iv[16], zeros[64] = { 0 }, stream[64];
	size_t at, i;
	int k;

	memcpy(iv, known->iv.data, 16);
	for (at = 0; at < known->plain.len; at += 64) {
		if (!crypt("ChaCha20", known->key.data, 32, iv, zeros, 64,
			   stream))
			return false;
		for (i = at; i < at + 64 && i < known->plain.len; i++)
			known->cipher.data[i] = known->plain.data[i] ^
						stream[i - at];
		for (k = 0; k < 4 && !++iv[k]; k++)
			;
	}
	return true;
}

static bool encrypt_rfc3686(struct known *known)
{
	size_t key_len = known->key.len - 4;
	uint8_t block[16] = { 0 };

	memcpy(block, known->key.data + key_len, 4);
	memcpy(block + 4, known->iv.data, 8);
	block[15] = 1;
	return crypt("AES-%u-CTR", known->key.data, key_len, block,
		     known->plain.data, known->plain.len, known->cipher.data);
}

static bool encrypt_skcipher(struct known *known)
{
	static const char *const modes[] = { "ecb", "cbc", "ctr",
					     "ofb", "cfb", "xts" };
	char part[NAME], pattern[PATTERN];
	size_t key_len = known->key.len;
	unsigned i;

	known->cipher.len = known->plain.len;
	if (!strcmp(known->algorithm, "chacha20"))
		return encrypt_chacha(known);
	if (inside(part, known->algorithm, "rfc3686"))
		return encrypt_rfc3686(known);
	if (inside(pattern, known->algorithm, "cts") &&
	    inside(part, pattern, "cbc")) {
		snprintf(pattern, sizeof(pattern), "%s-%%u-CBC", part);
		return encrypt_stolen(known, pattern);
	}
	for (i = 0; i < 6; i++)
		if (inside(part, known->algorithm, modes[i]))
			break;
	cr_assert_lt(i, 6U, "no reference for %s", known->algorithm);
	if (!strcmp(part, "des3_ede"))
		snprintf(pattern, sizeof(pattern), "DES-EDE3-%s", modes[i]);
	else if (!strcmp(part, "sm4"))
		snprintf(pattern, sizeof(pattern), "SM4-%s", modes[i]);
	else
		snprintf(pattern, sizeof(pattern), "%s-%%u-%s", part, modes[i]);
	if (i == 5)
		key_len /= 2;
	return crypt(pattern, known->key.data, key_len, known->iv.data,
		     known->plain.data, known->plain.len, known->cipher.data);
}

static bool encrypt_authenc(struct known *known, const char *hash)
{
	size_t len = known->plain.len, aad_len = known->aad.len, cipher_len;
	const uint8_t *key = known->key.data + 8;
	uint8_t digest[AFB_DIGEST_MAX];
	static uint8_t data[ROOM];

	cr_assert_leq(aad_len + len, sizeof(data));
	cipher_len = known->key.data[7];
	key += known->key.len - 8 - cipher_len;
	memcpy(data, known->aad.data, aad_len);
	if (!crypt("AES-%u-CBC", key, cipher_len, known->iv.data,
		   known->plain.data, len, data + aad_len))
		return false;
	mac("HMAC", hash, known->key.data + 8, known->key.len - 8 - cipher_len,
	    data, aad_len + len, digest);
	memcpy(known->cipher.data, data + aad_len, len);
	memcpy(known->cipher.data + len, digest, known->tag_len);
	return true;
}

/* The nonce's first bytes are the key's last, and its others the IV. */
static void take_salt(struct seal *seal, const struct known *known,
		      uint8_t *nonce, size_t salt_len)
{
	seal->key_len -= salt_len;
	memcpy(nonce, known->key.data + seal->key_len, salt_len);
	memcpy(nonce + salt_len, known->iv.data, known->iv.len);
	seal->nonce = nonce;
	seal->nonce_len = salt_len + known->iv.len;
}

/* RFC 4543: what would be encrypted is AAD, and stays as it is. */
static bool encrypt_rfc4543(struct known *known, struct seal *s)
{
	static uint8_t all[ROOM];

	cr_assert_leq(known->aad.len + known->plain.len, sizeof(all));
	memcpy(all, known->aad.data, known->aad.len);
	memcpy(all + known->aad.len, known->plain.data, known->plain.len);
	s->pattern = "AES-%u-GCM";
	s->aad = (struct bytes){ all, known->aad.len + known->plain.len };
	s->plain.len = 0;
	memcpy(known->cipher.data, known->plain.data, known->plain.len);
	return seal(s, known->cipher.data + known->plain.len);
}

static bool encrypt_aead(struct known *known)
{
	struct seal s = { "ChaCha20-Poly1305", known->key.data, known->key.len,
			  known->iv.data,      known->iv.len,	known->aad,
			  known->plain,	       known->tag_len };
	const char *name = known->algorithm;
	char part[NAME], pattern[PATTERN];
	uint8_t nonce[16];

	known->cipher.len = known->plain.len + known->tag_len;
	if (inside(part, name, "authenc")) {
		*strchr(part + 5, ')') = '\0';
		return encrypt_authenc(known, part + 5);
	}
	if (!strcmp(name, "rfc7539(chacha20,poly1305)"))
		return seal(&s, known->cipher.data);
	if (inside(part, name, "gcm") || inside(part, name, "ccm")) {
		snprintf(pattern, sizeof(pattern), "%s-%%u-%s", part,
			 name[0] == 'g' ? "GCM" : "CCM");
		s.pattern = pattern;
		if (name[0] == 'c') {
			s.nonce = known->iv.data + 1;
			s.nonce_len = 14 - known->iv.data[0];
		}
		return seal(&s, known->cipher.data);
	}
	take_salt(&s, known, nonce, inside(part, name, "rfc4309") ? 3 : 4);
	if (inside(part, name, "rfc4543"))
		return encrypt_rfc4543(known, &s);
	s.aad.len -= 8;
	if (inside(part, name, "rfc4106"))
		s.pattern = "AES-%u-GCM";
	else if (inside(part, name, "rfc4309"))
		s.pattern = "AES-%u-CCM";
	else
		cr_assert_str_eq(name, "rfc7539esp(chacha20,poly1305)");
	return seal(&s, known->cipher.data);
}

bool reference_encrypt(struct known *known)
{
	switch (known->type) {
	case AFB_HASH:
		return encrypt_hash(known);
	case AFB_SKCIPHER:
		return encrypt_skcipher(known);
	case AFB_AEAD:
		return encrypt_aead(known);
	case AFB_RNG:
		break;
	}
	return false;
}

size_t reference_authenc_key(uint8_t *to, const struct bytes *mac_key,
			     const struct bytes *cipher_key)
{
	/* CRYPTO_AUTHENC_KEYA_PARAM */
	struct rtattr attribute = { .rta_len = RTA_LENGTH(4), .rta_type = 1 };

	memcpy(to, &attribute, sizeof(attribute));
	memset(to + 4, 0, 3);
	to[7] = cipher_key->len;
	memcpy(to + 8, mac_key->data, mac_key->len);
	memcpy(to + 8 + mac_key->len, cipher_key->data, cipher_key->len);
	return 8 + mac_key->len + cipher_key->len;
}
