/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithms.c - the table itself. Names and OIDs are those of OpenSSL 3.0's
 * default provider; tests/unit/provider_names.c holds them against it.
 */
#include <string.h>

#include "algorithms.h"

const struct afb_algorithm afb_algorithms[] = {
	{ AFB_HASH, "md5", "MD5", "MD5:SSL3-MD5:1.2.840.113549.2.5", 16, 64 },
	{ AFB_HASH, "sha1", "SHA1", "SHA1:SHA-1:SSL3-SHA1:1.3.14.3.2.26", 20,
	  64 },
	{ AFB_HASH, "sha224", "SHA2-224",
	  "SHA2-224:SHA-224:SHA224:2.16.840.1.101.3.4.2.4", 28, 64 },
	{ AFB_HASH, "sha256", "SHA2-256",
	  "SHA2-256:SHA-256:SHA256:2.16.840.1.101.3.4.2.1", 32, 64 },
	{ AFB_HASH, "sha384", "SHA2-384",
	  "SHA2-384:SHA-384:SHA384:2.16.840.1.101.3.4.2.2", 48, 128 },
	{ AFB_HASH, "sha512", "SHA2-512",
	  "SHA2-512:SHA-512:SHA512:2.16.840.1.101.3.4.2.3", 64, 128 },
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
