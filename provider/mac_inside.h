/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac_inside.h - what a MAC is made of: the digest of an HMAC, the cipher of a
 * CMAC, by any name that OpenSSL's default provider takes.
 */
#ifndef MAC_INSIDE_H
#define MAC_INSIDE_H

#include <stddef.h>

#include "algorithms.h"
#include "mac.h"

struct mac_inside {
	char name[64];	 /* the caller's; "" before there is one */
	char query[128]; /* the property query that came with it */
	const struct afb_algorithm *alg; /* NULL: libcrypto has to serve */
	size_t block_size;
	size_t key_len; /* the one length of a cipher's key; 0: any */
};

/*
 * Completes @inside from its name and query. Returns 1, or 0 with an error raised
 * where neither AF_ALG nor libcrypto has it.
 */
int mac_inside_find(const struct provider *prov, enum mac_id id,
		    struct mac_inside *inside);

#endif
