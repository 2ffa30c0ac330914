/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithms.c - the table itself. Digests' names and OIDs are those of OpenSSL 3.0's
 * default provider; tests/unit/provider_names.c holds them against it. Lengths of
 * keys and tags are the kernel's; tests/unit/soft_kernel.c holds them against it.
 */
#include <limits.h>
#include <string.h>

#include "algorithms.h"

#define HMAC(name, digest, size, block)                               \
	{ AFB_HASH, "hmac(" name ")", digest, .form = AFB_FORM_MAC,   \
	  .mac = "HMAC", .digest_size = size, .block_size = block,    \
	  .key_max = INT_MAX, .key_step = 1 }

#define KEY(min, max, step) .key_min = min, .key_max = max, .key_step = step
#define KEY_AES KEY(16, 32, 8)

/* ecb, cbc and ctr of a cipher with blocks of 16 bytes. */
#define BLOCK_CIPHER(name, cipher, ...)                             \
	{ AFB_SKCIPHER, "ecb(" name ")", cipher "-ECB",             \
	  .block_size = 16, __VA_ARGS__ },                          \
	{ AFB_SKCIPHER, "cbc(" name ")", cipher "-CBC",             \
	  .block_size = 16, .iv_len = 16, __VA_ARGS__ },            \
	{ AFB_SKCIPHER, "ctr(" name ")", cipher "-CTR",             \
	  .block_size = 1, .iv_len = 16, __VA_ARGS__ }

#define TAG(bytes) (1ULL << ((bytes) - 1))
#define TAGS_UP_TO(bytes) (TAG(bytes) | (TAG(bytes) - 1))
#define TAGS_GCM (TAG(4) | TAG(8) | TAG(12) | TAG(13) | TAG(14) | TAG(15) | \
		  TAG(16))
#define TAGS_CCM (TAG(4) | TAG(6) | TAG(8) | TAG(10) | TAG(12) | TAG(14) | \
		  TAG(16))
#define TAGS_ESP (TAG(8) | TAG(12) | TAG(16))

/* The AAD of ESP: SPI, sequence number of 4 or 8 bytes, IV. */
#define AAD_ESP .aad_min = 16, .aad_step = 4, .aad_max = 20

#define GCM(cipher, name, key)                                          \
	{ AFB_AEAD, "gcm(" cipher ")", name, .block_size = 1,           \
	  .iv_len = 12, key, .tags = TAGS_GCM }
#define CCM(cipher, name, key)                                          \
	{ AFB_AEAD, "ccm(" cipher ")", name, .form = AFB_FORM_CCM,      \
	  .block_size = 1, .iv_len = 16, key, .tags = TAGS_CCM }

/* The tag can be cut anywhere: crypto/authenc.c lets the digest's size do. */
#define AUTHENC(hash, digest, size)                                     \
	{ AFB_AEAD, "authenc(hmac(" hash "),cbc(aes))", "AES-%u-CBC",   \
	  .form = AFB_FORM_AUTHENC, .mac = digest, .block_size = 16,    \
	  .iv_len = 16, KEY_AES, .tags = TAGS_UP_TO(size) }

const struct afb_algorithm afb_algorithms[] = {
	{ AFB_HASH, "md5", "MD5",
	  .openssl = "MD5:SSL3-MD5:1.2.840.113549.2.5",
	  .digest_size = 16, .block_size = 64 },
	{ AFB_HASH, "sha1", "SHA1",
	  .openssl = "SHA1:SHA-1:SSL3-SHA1:1.3.14.3.2.26",
	  .digest_size = 20, .block_size = 64 },
	{ AFB_HASH, "sha224", "SHA2-224",
	  .openssl = "SHA2-224:SHA-224:SHA224:2.16.840.1.101.3.4.2.4",
	  .digest_size = 28, .block_size = 64 },
	{ AFB_HASH, "sha256", "SHA2-256",
	  .openssl = "SHA2-256:SHA-256:SHA256:2.16.840.1.101.3.4.2.1",
	  .digest_size = 32, .block_size = 64 },
	{ AFB_HASH, "sha384", "SHA2-384",
	  .openssl = "SHA2-384:SHA-384:SHA384:2.16.840.1.101.3.4.2.2",
	  .digest_size = 48, .block_size = 128 },
	{ AFB_HASH, "sha512", "SHA2-512",
	  .openssl = "SHA2-512:SHA-512:SHA512:2.16.840.1.101.3.4.2.3",
	  .digest_size = 64, .block_size = 128 },
	{ AFB_HASH, "sha3-224", "SHA3-224",
	  .openssl = "SHA3-224:2.16.840.1.101.3.4.2.7", .digest_size = 28,
	  .block_size = 144 },
	{ AFB_HASH, "sha3-256", "SHA3-256",
	  .openssl = "SHA3-256:2.16.840.1.101.3.4.2.8", .digest_size = 32,
	  .block_size = 136 },
	{ AFB_HASH, "sha3-384", "SHA3-384",
	  .openssl = "SHA3-384:2.16.840.1.101.3.4.2.9", .digest_size = 48,
	  .block_size = 104 },
	{ AFB_HASH, "sha3-512", "SHA3-512",
	  .openssl = "SHA3-512:2.16.840.1.101.3.4.2.10", .digest_size = 64,
	  .block_size = 72 },
	{ AFB_HASH, "sm3", "SM3", .openssl = "SM3:1.2.156.10197.1.401",
	  .digest_size = 32, .block_size = 64 },
	{ AFB_HASH, "rmd160", "RIPEMD-160",
	  .openssl = "RIPEMD-160:RIPEMD160:RIPEMD:RMD160:1.3.36.3.2.1",
	  .digest_size = 20, .block_size = 64 },
	{ AFB_HASH, "blake2b-512", "BLAKE2B-512",
	  .openssl = "BLAKE2B-512:BLAKE2b512:1.3.6.1.4.1.1722.12.2.1.16",
	  .digest_size = 64, .block_size = 128 },
	{ AFB_HASH, "blake2s-256", "BLAKE2S-256",
	  .openssl = "BLAKE2S-256:BLAKE2s256:1.3.6.1.4.1.1722.12.2.2.8",
	  .digest_size = 32, .block_size = 64 },

	HMAC("md5", "MD5", 16, 64),
	HMAC("sha1", "SHA1", 20, 64),
	HMAC("sha224", "SHA2-224", 28, 64),
	HMAC("sha256", "SHA2-256", 32, 64),
	HMAC("sha384", "SHA2-384", 48, 128),
	HMAC("sha512", "SHA2-512", 64, 128),
	HMAC("sha3-224", "SHA3-224", 28, 144),
	HMAC("sha3-256", "SHA3-256", 32, 136),
	HMAC("sha3-384", "SHA3-384", 48, 104),
	HMAC("sha3-512", "SHA3-512", 64, 72),
	HMAC("sm3", "SM3", 32, 64),
	HMAC("rmd160", "RIPEMD-160", 20, 64),
	HMAC("blake2b-512", "BLAKE2B-512", 64, 128),
	HMAC("blake2s-256", "BLAKE2S-256", 32, 64),
	{ AFB_HASH, "cmac(aes)", "AES-%u-CBC", .form = AFB_FORM_MAC,
	  .mac = "CMAC", .digest_size = 16, .block_size = 16, KEY_AES },
	{ AFB_HASH, "cmac(camellia)", "CAMELLIA-%u-CBC", .form = AFB_FORM_MAC,
	  .mac = "CMAC", .digest_size = 16, .block_size = 16, KEY_AES },
	/* The kernel's own (crypto/poly1305_generic.c) takes no key. */
	{ AFB_HASH, "poly1305", .form = AFB_FORM_MAC, .mac = "POLY1305",
	  .digest_size = 16, .block_size = 16, KEY(32, 32, 1) },

	BLOCK_CIPHER("aes", "AES-%u", KEY_AES),
	BLOCK_CIPHER("camellia", "CAMELLIA-%u", KEY_AES),
	BLOCK_CIPHER("aria", "ARIA-%u", KEY_AES),
	BLOCK_CIPHER("sm4", "SM4", KEY(16, 16, 1)),
	{ AFB_SKCIPHER, "ecb(des3_ede)", "DES-EDE3", .block_size = 8,
	  KEY(24, 24, 1) },
	{ AFB_SKCIPHER, "cbc(des3_ede)", "DES-EDE3-CBC", .block_size = 8,
	  .iv_len = 8, KEY(24, 24, 1) },
	{ AFB_SKCIPHER, "ofb(aes)", "AES-%u-OFB", .block_size = 1,
	  .iv_len = 16, KEY_AES },
	{ AFB_SKCIPHER, "cfb(aes)", "AES-%u-CFB", .block_size = 1,
	  .iv_len = 16, KEY_AES },
	{ AFB_SKCIPHER, "xts(aes)", "AES-%u-XTS", .block_size = 16,
	  .iv_len = 16, .keys = 2, KEY(32, 64, 16) },
	{ AFB_SKCIPHER, "cts(cbc(aes))", "AES-%u-CBC-CTS",
	  .form = AFB_FORM_CS3, .block_size = 16, .iv_len = 16, KEY_AES },
	{ AFB_SKCIPHER, "cts(cbc(camellia))", "CAMELLIA-%u-CBC-CTS",
	  .form = AFB_FORM_CS3, .block_size = 16, .iv_len = 16, KEY_AES },
	{ AFB_SKCIPHER, "rfc3686(ctr(aes))", "AES-%u-CTR",
	  .form = AFB_FORM_COUNTER, .block_size = 1, .iv_len = 8, KEY_AES,
	  .salt_len = 4 },
	{ AFB_SKCIPHER, "chacha20", "ChaCha20", .form = AFB_FORM_CHACHA,
	  .block_size = 1, .iv_len = 16, KEY(32, 32, 1) },

	GCM("aes", "AES-%u-GCM", KEY_AES),
	GCM("aria", "ARIA-%u-GCM", KEY_AES),
	CCM("aes", "AES-%u-CCM", KEY_AES),
	CCM("aria", "ARIA-%u-CCM", KEY_AES),
	{ AFB_AEAD, "rfc4106(gcm(aes))", "AES-%u-GCM", .block_size = 1,
	  .iv_len = 8, KEY_AES, .salt_len = 4, .esp = 8, AAD_ESP,
	  .tags = TAGS_ESP },
	{ AFB_AEAD, "rfc4309(ccm(aes))", "AES-%u-CCM", .form = AFB_FORM_CCM,
	  .block_size = 1, .iv_len = 8, KEY_AES, .salt_len = 3, .esp = 8,
	  AAD_ESP, .tags = TAGS_ESP },
	{ AFB_AEAD, "rfc4543(gcm(aes))", "AES-%u-GCM", .form = AFB_FORM_GMAC,
	  .block_size = 1, .iv_len = 8, KEY_AES, .salt_len = 4, AAD_ESP,
	  .tags = TAG(16) },
	{ AFB_AEAD, "rfc7539(chacha20,poly1305)", "ChaCha20-Poly1305",
	  .block_size = 1, .iv_len = 12, KEY(32, 32, 1), .tags = TAG(16) },
	{ AFB_AEAD, "rfc7539esp(chacha20,poly1305)", "ChaCha20-Poly1305",
	  .block_size = 1, .iv_len = 8, KEY(32, 32, 1), .salt_len = 4,
	  .esp = 8, .aad_min = 8, .tags = TAG(16) },
	AUTHENC("md5", "MD5", 16),
	AUTHENC("sha1", "SHA1", 20),
	AUTHENC("sha224", "SHA2-224", 28),
	AUTHENC("sha256", "SHA2-256", 32),
	AUTHENC("sha384", "SHA2-384", 48),
	AUTHENC("sha512", "SHA2-512", 64),

	{ AFB_RNG, "stdrng", .fetch = "CTR-DRBG" },
	{ 0 },
};

const struct afb_algorithm *afb_algorithm_find(enum afb_type type,
					       const char *kernel)
{
	const struct afb_algorithm *alg;

	for (alg = afb_algorithms; alg->kernel; alg++)
		if (alg->type == type && !strcmp(alg->kernel, kernel))
			return alg;
	return NULL;
}
