/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac_key.h - a key of a MAC and the session that has it. The duplicates of a
 * context share it, so that a message more under the same key opens nothing.
 */
#ifndef MAC_KEY_H
#define MAC_KEY_H

#include <openssl/types.h>
#include <stdatomic.h>

#include "mac_inside.h"

struct mac_key {
	const struct provider *prov;
	atomic_uint users;
	enum mac_id id;
	struct mac_inside inside;
	struct afb_session *session; /* NULL: libcrypto has to serve */
	size_t size;		     /* of the MAC */
	size_t len;
	unsigned char bytes[];
};

/* A new key with one user, or NULL with an error raised. */
struct mac_key *mac_key_new(const struct provider *prov, enum mac_id id,
			    const struct mac_inside *inside,
			    const unsigned char *key, size_t len);

struct mac_key *mac_key_get(struct mac_key *key);

/* The last user's wipes it. NULL is allowed. */
void mac_key_put(struct mac_key *key);

/* Whether a context with @key can go on with it for these. */
int mac_key_is(const struct mac_key *key, const struct mac_inside *inside,
	       const unsigned char *bytes, size_t len);

/*
 * libcrypto's own context for a message under @key, or NULL with an error raised.
 * @tls_size: that of TLS's MAC then encrypt, else 0.
 */
EVP_MAC_CTX *mac_key_soft(const struct mac_key *key, size_t tls_size);

#endif
