/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher_key.h - a key of a cipher and the session that has it, opened when the
 * first text for the kernel comes. The duplicates of a context share it.
 */
#ifndef CIPHER_KEY_H
#define CIPHER_KEY_H

#include <stdatomic.h>

#include "cipher_kinds.h"
#include "session.h"

struct cipher_key {
	const struct provider *prov;
	const struct cipher_kind *kind;
	atomic_uint users;
	struct session_slot slot;
	atomic_bool useless; /* no session is to be had for it */
	unsigned char bytes[EVP_MAX_KEY_LENGTH];
};

/*
 * Makes *key the one of these bytes, as many as the kind's key has: the key it is if
 * it has them, else a new one in its place. *key NULL: none so far. Returns 1, or 0
 * with an error raised and *key NULL.
 */
int cipher_key_change(struct cipher_key **key, const struct provider *prov,
		      const struct cipher_kind *kind,
		      const unsigned char *bytes);

struct cipher_key *cipher_key_get(struct cipher_key *key);

/* The last user's wipes it. NULL is allowed. */
void cipher_key_put(struct cipher_key *key);

/* The session, or NULL where libcrypto has to do. Any thread. */
struct afb_session *cipher_key_session(struct cipher_key *key);

#endif
