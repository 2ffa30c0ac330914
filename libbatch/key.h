/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - what a session's key consists of, and which keys and tags the kernel's
 * algorithm can have: the answers of its setkey() and setauthsize(), for where it
 * is not there to be asked.
 */
#ifndef AFB_KEY_H
#define AFB_KEY_H

#include <stdbool.h>

#include "algorithms.h"

/* Places in the session's key. */
struct key_parts {
	const uint8_t *cipher; /* the MAC's, where there is no cipher */
	size_t cipher_len;
	const uint8_t *salt; /* alg->salt_len bytes */
	const uint8_t *auth; /* AFB_FORM_AUTHENC */
	size_t auth_len;
};

/* 0, or -EINVAL for a key the algorithm cannot have. */
int key_split(struct key_parts *parts, const struct afb_algorithm *alg,
	      const uint8_t *key, size_t len);

/*
 * May a session have no key at all? A generator's is its seed. (A key of no
 * bytes is a key: HMAC has it.)
 */
bool key_is_optional(const struct afb_algorithm *alg);

/* 0, or -EINVAL for a length that the algorithm's tags cannot have. */
int key_check_tag(const struct afb_algorithm *alg, size_t tag_len);

/*
 * Writes a key that authenc(...) takes: of zeros, 20 for the HMAC and 16 for AES.
 */
#define KEY_AUTHENC_LEN (8 + 20 + 16)
void key_authenc_zeros(uint8_t key[KEY_AUTHENC_LEN]);

#endif
