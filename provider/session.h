/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - sessions with the provider context's settings. A slot's is opened when
 * it is first used, and shared by all threads: one for each digest, and one for each
 * key of a cipher.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdatomic.h>
#include <stdbool.h>

#include "algorithms.h"
#include "provider.h"

struct session_slot {
	_Atomic(struct afb_session *) session; /* NULL until the first use */
};

/* A session of the caller's own, or NULL with an error raised. @key: NULL for none. */
struct afb_session *session_open(const struct provider *prov,
				 const struct afb_algorithm *alg,
				 const unsigned char *key, size_t len);

/*
 * The slot's session, or NULL with an error raised. *opened: this call has opened it,
 * with these. Any thread.
 */
struct afb_session *session_get(const struct provider *prov,
				struct session_slot *slot,
				const struct afb_algorithm *alg,
				const unsigned char *key, size_t len,
				bool *opened);

/* Closes it, if it was ever opened. No other thread may use the slot. */
void session_drop(struct session_slot *slot);

#endif
