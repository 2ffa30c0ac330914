/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithms.h - the one table of algorithms, read by libbatch (which needs the
 * kernel's name, the sizes and libcrypto's name) and by the provider (which
 * needs every name OpenSSL's default provider knows the algorithm by).
 */
#ifndef AFB_ALGORITHMS_H
#define AFB_ALGORITHMS_H

#include <stddef.h>

#include "afalgbatch.h"

/* What the kernel's algorithm makes of libcrypto's, if it is not the same. */
enum afb_form {
	AFB_FORM_SAME,
	AFB_FORM_MAC,	   /* by the MAC that is named, of a digest, a cipher or
			    * nothing */
	AFB_FORM_CS3,	   /* ciphertext stealing that swaps the last blocks */
	AFB_FORM_COUNTER,  /* RFC 3686: the IV is a part of the counter block */
	AFB_FORM_CHACHA,   /* a block counter of 32 bits in front of the nonce */
	AFB_FORM_CCM,	   /* the IV begins with the length of the length */
	AFB_FORM_GMAC,	   /* the text is authenticated and not encrypted */
	AFB_FORM_AUTHENC,  /* encrypt, then MAC; two keys in one */
};

struct afb_algorithm {
	enum afb_type type;
	const char *kernel;  /* as in /proc/crypto's "name" */
	const char *fetch;   /* what libcrypto fetches it by; %u: key bits */
	const char *openssl; /* digests: every name and OID, separated by ':' */
	enum afb_form form;
	const char *mac;     /* libcrypto's MAC of `fetch`, for AFB_FORM_MAC, or
			      * the digest whose HMAC authenticates beside it */
	unsigned short digest_size;
	unsigned short block_size;
	unsigned short iv_len;
	unsigned short keys; /* how many keys its key is made of, if not 1 */

	/* The lengths a key can have; of a cipher, where there are several. */
	unsigned key_min, key_max, key_step;
	unsigned char salt_len; /* behind the key: the nonce's first bytes */
	unsigned char esp;	/* the AAD ends with the IV, of so many bytes,
				 * which the nonce has: it is not hashed */
	unsigned char aad_min, aad_step, aad_max; /* 0: the AAD is free */
	uint64_t tags; /* bit n - 1: a tag can have n bytes */
};

/* The table's end is an entry whose kernel member is NULL. */
extern const struct afb_algorithm afb_algorithms[];

/* The entry for a kernel name, or NULL. */
const struct afb_algorithm *afb_algorithm_find(enum afb_type type,
					       const char *kernel);

#endif
