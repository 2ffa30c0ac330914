/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - what the results must be, by libcrypto's default provider in a
 * library context of the test's own, and the algorithms the model test knows.
 * None of it comes from the library under test, its tables included.
 */
#ifndef MODEL_ORACLE_H
#define MODEL_ORACLE_H

#include <afalgbatch.h>
#include <stdbool.h>

enum mode {
	MODE_OTHER,
	MODE_CBC,
	MODE_CTR,
	MODE_CCM, /* IV in RFC 3610's form: L - 1, nonce, zeros */
};

struct algorithm {
	enum afb_type type;
	const char *kernel;
	const char *libcrypto; /* digest or cipher */
	const char *mac;       /* "HMAC" or "CMAC" of it; NULL: no MAC */
	size_t key_len;	       /* 0: none, or for an HMAC any */
	size_t iv_len;
	size_t block;  /* a text's length is a multiple of it */
	size_t min;    /* the shortest text but none at all */
	uint32_t tags; /* AEAD: bit n: a tag may have n bytes */
	enum mode mode;
	bool optional; /* libcrypto alone may not serve it: not an error */
};

extern const struct algorithm algorithms[];
extern const unsigned algorithm_count;

#define KEY_MAX 160
#define TAG_MAX 16

/* One session's parameters, as the oracle needs them. */
struct keyed {
	const struct algorithm *alg;
	uint8_t key[KEY_MAX];
	size_t key_len;
	size_t tag_len; /* AEAD */
};

/* False where libcrypto lacks one of the algorithms, named on stderr. */
bool oracle_open(void);
void oracle_close(void);

/* The digest or MAC of the message; returns its length. */
size_t oracle_digest(const struct keyed *keyed, const void *data, size_t len,
		     uint8_t digest[AFB_DIGEST_MAX]);

/* Encrypts @len bytes to @out, followed by the tag where there is one. */
void oracle_encrypt(const struct keyed *keyed, const uint8_t *iv,
		    const uint8_t *aad, size_t aad_len, const uint8_t *text,
		    size_t len, uint8_t *out);

/* The IV with which a text goes on behind this one. */
void oracle_next_iv(const struct keyed *keyed, const uint8_t *iv,
		    const uint8_t *cipher_text, size_t len, uint8_t *next);

#endif
