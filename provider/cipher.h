/* SPDX-License-Identifier: Apache-2.0 */
/* cipher.h - a context of a cipher without authentication. */
#ifndef CIPHER_H
#define CIPHER_H

#include <stdbool.h>

#include "cipher_key.h"
#include "cipher_kinds.h"

struct cipher_ctx {
	const struct provider *prov;
	const struct cipher_kind *kind;
	EVP_CIPHER_CTX *soft;	/* libcrypto's, in the same state */
	struct cipher_key *key; /* NULL: none yet */
	bool encrypt;
	bool has_iv;
	bool moved; /* the kernel has gone on: soft began again with another IV */
	bool tls; /* an update is a record, which libcrypto alone takes apart */
	unsigned char iv[EVP_MAX_IV_LENGTH];	  /* that of init */
	unsigned char held[EVP_MAX_BLOCK_LENGTH]; /* what soft has taken in and */
	size_t held_len;			  /* not put out yet */
};

/* What each does, for its row of the table. */
#define CIPHER_FUNCTIONS(c_name, ...) \
	extern const OSSL_DISPATCH cipher_##c_name##_functions[];
CIPHERS(CIPHER_FUNCTIONS)

#endif
