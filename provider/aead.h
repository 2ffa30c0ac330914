/* SPDX-License-Identifier: Apache-2.0 */
/* aead.h - a context of a cipher that authenticates. */
#ifndef AEAD_H
#define AEAD_H

#include <stdbool.h>

#include "cipher_key.h"
#include "cipher_kinds.h"

/* As the kernel takes it: 12 bytes, or a nonce of 7 to 13 in RFC 3610's form. */
#define AEAD_IV_MAX 16

/* Of a message with more AAD, libcrypto does the text. */
#define AEAD_AAD_MAX 256

enum aead_state {
	AEAD_SOFT,  /* libcrypto has the message, or there is none */
	AEAD_FRESH, /* init gave an IV, and the text has yet to begin */
	AEAD_TEXT,  /* the kernel did all the text so far, which is in `text` */
	AEAD_ENDED, /* the kernel did the message: another needs an IV */
};

struct aead_ctx {
	const struct provider *prov;
	const struct cipher_kind *kind;
	EVP_CIPHER_CTX *soft;	/* libcrypto's; in TEXT it lacks the text */
	struct cipher_key *key; /* NULL: none yet */
	enum aead_state state;
	bool encrypt;
	bool has_tag; /* for decryption, a whole one */
	bool streams; /* texts come in several updates: leave them to libcrypto */
	unsigned char iv[AEAD_IV_MAX];
	unsigned iv_len;
	unsigned char tag[AEAD_TAG_LEN];
	unsigned char aad[AEAD_AAD_MAX];
	size_t aad_len;
	bool has_len; /* CCM: said of the text, and libcrypto knows it not yet, */
	int len;      /* nor the AAD */
	unsigned char *text;
	size_t text_len, text_size;
};

/* What each does, for its row of the table. */
#define AEAD_FUNCTIONS(c_name, ...) \
	extern const OSSL_DISPATCH aead_##c_name##_functions[];
AEADS(AEAD_FUNCTIONS)

#endif
