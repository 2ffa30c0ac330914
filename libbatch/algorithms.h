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

struct afb_algorithm {
	enum afb_type type;
	const char *kernel;  /* as in /proc/crypto's "name" */
	const char *fetch;   /* what libcrypto fetches it by; %u: key bits */
	const char *openssl; /* digests: every name and OID, separated by ':' */
	unsigned short digest_size;
	unsigned short block_size;
	unsigned short iv_len;
	unsigned short keys; /* how many keys its key is made of, if not 1 */
};

/* The table's end is an entry whose kernel member is NULL. */
extern const struct afb_algorithm afb_algorithms[];

/* The entry for a kernel name, or NULL. */
const struct afb_algorithm *afb_algorithm_find(enum afb_type type,
					       const char *kernel);

#endif
