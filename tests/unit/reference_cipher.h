/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_cipher.h - right answers of ciphers, AEADs and MACs by the kernel's
 * names: put together from libcrypto's plain parts by the standards' text, apart
 * from the library's own code for that.
 */
#ifndef TEST_REFERENCE_CIPHER_H
#define TEST_REFERENCE_CIPHER_H

#include <afalgbatch.h>
#include <stdbool.h>

struct bytes {
	uint8_t *data;
	size_t len;
};

/* One message and what must come of it. */
struct known {
	enum afb_type type;
	const char *algorithm;
	struct bytes key; /* an authenc's in the kernel's form */
	struct bytes iv;
	struct bytes aad;
	struct bytes plain;
	struct bytes cipher; /* the digest; or ciphertext, and tag behind it */
	size_t tag_len;
};

/*
 * Fills in known->cipher, which has room for the text, a digest and a tag. false
 * where the installed libcrypto has no such.
 */
bool reference_encrypt(struct known *known);

/* A key in the form crypto/authenc.c wants it; returns its length. */
size_t reference_authenc_key(uint8_t *to, const struct bytes *mac_key,
			     const struct bytes *cipher_key);

#endif
