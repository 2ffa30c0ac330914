/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithms.c - the table itself. Digests' names and OIDs are those of OpenSSL 3.0's
 * default provider; tests/unit/provider_names.c holds them against it.
 */
#include <string.h>

#include "algorithms.h"

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
	{ AFB_SKCIPHER, "ecb(aes)", "AES-%u-ECB", .block_size = 16 },
	{ AFB_SKCIPHER, "cbc(aes)", "AES-%u-CBC", .block_size = 16,
	  .iv_len = 16 },
	{ AFB_SKCIPHER, "ctr(aes)", "AES-%u-CTR", .block_size = 1,
	  .iv_len = 16 },
	{ AFB_SKCIPHER, "xts(aes)", "AES-%u-XTS", .block_size = 16,
	  .iv_len = 16, .keys = 2 },
	{ AFB_AEAD, "gcm(aes)", "AES-%u-GCM", .block_size = 1, .iv_len = 12 },
	{ AFB_AEAD, "rfc7539(chacha20,poly1305)", "ChaCha20-Poly1305",
	  .block_size = 1, .iv_len = 12 },
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
