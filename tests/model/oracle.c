/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - see oracle.h. */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define HASH(name, fetch) \
	.type = AFB_HASH, .kernel = name, .libcrypto = fetch, .block = 1
#define CIPHER(name, fetch, key, iv)                              \
	.type = AFB_SKCIPHER, .kernel = name, .libcrypto = fetch, \
	.key_len = key, .iv_len = iv
#define AEAD(name, fetch, key, iv)                                            \
	.type = AFB_AEAD, .kernel = name, .libcrypto = fetch, .key_len = key, \
	.iv_len = iv, .block = 1

/* By bit, the tag lengths that both the kernel and libcrypto have. */
#define TAG(bytes) (1U << (bytes))
#define GCM_TAGS \
	(TAG(4) | TAG(8) | TAG(12) | TAG(13) | TAG(14) | TAG(15) | TAG(16))
#define CCM_TAGS \
	(TAG(4) | TAG(6) | TAG(8) | TAG(10) | TAG(12) | TAG(14) | TAG(16))

const struct algorithm algorithms[] = {
	{ HASH("md5", "MD5") },
	{ HASH("sha1", "SHA1") },
	{ HASH("sha224", "SHA2-224") },
	{ HASH("sha256", "SHA2-256") },
	{ HASH("sha384", "SHA2-384") },
	{ HASH("sha512", "SHA2-512") },
	{ HASH("sha3-224", "SHA3-224"), .optional = true },
	{ HASH("sha3-256", "SHA3-256"), .optional = true },
	{ HASH("sha3-384", "SHA3-384"), .optional = true },
	{ HASH("sha3-512", "SHA3-512"), .optional = true },
	{ HASH("hmac(md5)", "MD5"), .mac = "HMAC", .optional = true },
	{ HASH("hmac(sha1)", "SHA1"), .mac = "HMAC", .optional = true },
	{ HASH("hmac(sha256)", "SHA2-256"), .mac = "HMAC", .optional = true },
	{ HASH("hmac(sha512)", "SHA2-512"), .mac = "HMAC", .optional = true },
	{ HASH("cmac(aes)", "AES-128-CBC"), .mac = "CMAC", .key_len = 16,
	  .optional = true },
	{ HASH("cmac(aes)", "AES-256-CBC"), .mac = "CMAC", .key_len = 32,
	  .optional = true },
	{ CIPHER("ecb(aes)", "AES-128-ECB", 16, 0), .block = 16 },
	{ CIPHER("cbc(aes)", "AES-128-CBC", 16, 16), .block = 16,
	  .mode = MODE_CBC },
	{ CIPHER("cbc(aes)", "AES-256-CBC", 32, 16), .block = 16,
	  .mode = MODE_CBC },
	{ CIPHER("ctr(aes)", "AES-192-CTR", 24, 16), .block = 1,
	  .mode = MODE_CTR },
	{ CIPHER("ctr(aes)", "AES-256-CTR", 32, 16), .block = 1,
	  .mode = MODE_CTR },
	{ CIPHER("xts(aes)", "AES-128-XTS", 32, 16), .block = 1, .min = 16 },
	{ CIPHER("xts(aes)", "AES-256-XTS", 64, 16), .block = 1, .min = 16 },
	{ CIPHER("cbc(des3_ede)", "DES-EDE3-CBC", 24, 8), .block = 8,
	  .mode = MODE_CBC, .optional = true },
	{ CIPHER("cbc(camellia)", "CAMELLIA-128-CBC", 16, 16), .block = 16,
	  .mode = MODE_CBC, .optional = true },
	{ AEAD("gcm(aes)", "AES-128-GCM", 16, 12), .tags = GCM_TAGS },
	{ AEAD("gcm(aes)", "AES-256-GCM", 32, 12), .tags = GCM_TAGS },
	{ AEAD("rfc7539(chacha20,poly1305)", "ChaCha20-Poly1305", 32, 12),
	  .tags = TAG(16) },
	{ AEAD("ccm(aes)", "AES-128-CCM", 16, 16), .tags = CCM_TAGS,
	  .mode = MODE_CCM, .optional = true },
	/* A driver that really works while the caller goes on. */
	{ AEAD("pcrypt(generic-gcm-aesni)", "AES-128-GCM", 16, 12),
	  .tags = GCM_TAGS, .optional = true },
};

enum { ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0]) };
const unsigned algorithm_count = ALGORITHMS;

static OSSL_LIB_CTX *libctx;
static OSSL_PROVIDER *provider;
static EVP_MD *digests[ALGORITHMS];
static EVP_CIPHER *ciphers[ALGORITHMS];
static EVP_MAC *macs[ALGORITHMS];

/* The oracle is libcrypto: where it fails, nothing can be said at all. */
static void must(bool good, const struct algorithm *alg)
{
	if (good)
		return;
	printf("Bail out! the default provider failed at %s\n", alg->libcrypto);
	exit(1);
}

static bool fetch(unsigned i)
{
	const struct algorithm *alg = &algorithms[i];

	if (alg->mac)
		return (macs[i] = EVP_MAC_fetch(libctx, alg->mac, NULL));
	if (alg->type == AFB_HASH)
		return (digests[i] =
				EVP_MD_fetch(libctx, alg->libcrypto, NULL));
	return (ciphers[i] = EVP_CIPHER_fetch(libctx, alg->libcrypto, NULL));
}

bool oracle_open(void)
{
	unsigned i;

	libctx = OSSL_LIB_CTX_new();
	provider = libctx ? OSSL_PROVIDER_load(libctx, "default") : NULL;
	if (!provider)
		return false;
	for (i = 0; i < ALGORITHMS; i++) {
		if (!fetch(i)) {
			fprintf(stderr, "libcrypto lacks %s\n",
				algorithms[i].libcrypto);
			return false;
		}
	}
	return true;
}

void oracle_close(void)
{
	unsigned i;

	for (i = 0; i < ALGORITHMS; i++) {
		EVP_MD_free(digests[i]);
		EVP_CIPHER_free(ciphers[i]);
		EVP_MAC_free(macs[i]);
	}
	OSSL_PROVIDER_unload(provider);
	OSSL_LIB_CTX_free(libctx);
}

static size_t mac(const struct keyed *keyed, const void *data, size_t len,
		  uint8_t *digest)
{
	const struct algorithm *alg = keyed->alg;
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(macs[alg - algorithms]);
	const char *name = strcmp(alg->mac, "HMAC") ? OSSL_MAC_PARAM_CIPHER :
						      OSSL_MAC_PARAM_DIGEST;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(
					name, (char *)alg->libcrypto, 0),
				OSSL_PARAM_construct_end() };
	size_t size = 0;

	must(ctx && EVP_MAC_init(ctx, keyed->key, keyed->key_len, params) &&
		     EVP_MAC_update(ctx, data, len) &&
		     EVP_MAC_final(ctx, digest, &size, AFB_DIGEST_MAX),
	     alg);
	EVP_MAC_CTX_free(ctx);
	return size;
}

size_t oracle_digest(const struct keyed *keyed, const void *data, size_t len,
		     uint8_t digest[AFB_DIGEST_MAX])
{
	const struct algorithm *alg = keyed->alg;
	unsigned size = 0;

	if (alg->mac)
		return mac(keyed, data, len, digest);
	must(EVP_Digest(data, len, digest, &size, digests[alg - algorithms],
			NULL),
	     alg);
	return size;
}

/* CCM wants to know every length before it begins, and a nonce without frame. */
static void begin(EVP_CIPHER_CTX *ctx, const struct keyed *keyed,
		  const uint8_t *iv, size_t len)
{
	const struct algorithm *alg = keyed->alg;
	bool ccm = alg->mode == MODE_CCM;
	int nonce_len = ccm ? 14 - iv[0] : 0, ignored;

	must(EVP_EncryptInit_ex2(ctx, ciphers[alg - algorithms], NULL, NULL,
				 NULL),
	     alg);
	if (ccm)
		must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN,
					 nonce_len, NULL) &&
			     EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
						 keyed->tag_len, NULL),
		     alg);
	must(EVP_EncryptInit_ex2(ctx, NULL, keyed->key, iv + ccm, NULL), alg);
	if (ccm)
		must(EVP_EncryptUpdate(ctx, NULL, &ignored, NULL, len), alg);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
}

void oracle_encrypt(const struct keyed *keyed, const uint8_t *iv,
		    const uint8_t *aad, size_t aad_len, const uint8_t *text,
		    size_t len, uint8_t *out)
{
	const struct algorithm *alg = keyed->alg;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int done = 0, more = 0;

	must(ctx, alg);
	begin(ctx, keyed, iv, len);
	if (aad_len)
		must(EVP_EncryptUpdate(ctx, NULL, &done, aad, aad_len), alg);
	done = 0;
	/* CCM makes its tag in the update, of no bytes too. */
	if (len || alg->mode == MODE_CCM)
		must(EVP_EncryptUpdate(ctx, out, &done, text, len), alg);
	must(EVP_EncryptFinal_ex(ctx, out + done, &more), alg);
	if (alg->type == AFB_AEAD)
		must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
					 keyed->tag_len, out + len),
		     alg);
	EVP_CIPHER_CTX_free(ctx);
}

void oracle_next_iv(const struct keyed *keyed, const uint8_t *iv,
		    const uint8_t *cipher_text, size_t len, uint8_t *next)
{
	size_t iv_len = keyed->alg->iv_len, blocks = (len + 15) / 16, i;

	memcpy(next, iv, iv_len);
	if (keyed->alg->mode == MODE_CBC && len)
		memcpy(next, cipher_text + len - iv_len, iv_len);
	if (keyed->alg->mode != MODE_CTR)
		return;
	for (i = iv_len; i-- && blocks; blocks >>= 8) {
		blocks += next[i];
		next[i] = blocks;
	}
}
