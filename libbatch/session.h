/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - what queues and streams see of a session. All of it is fixed once
 * the session is open, but for what is atomic: there is no lock.
 */
#ifndef AFB_SESSION_H
#define AFB_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>

#include "afalgbatch.h"
#include "algorithms.h"
#include "driver.h"
#include "mode.h"
#include "opsocket.h"

struct soft;
struct stream_lane;

/* Idle stream lanes a session keeps for the next stream. */
#define SESSION_IDLE_LANES 8

struct afb_session {
	atomic_uint users; /* the opener, and queues and streams */
	atomic_bool closed; /* by the opener: only what still runs holds it */
	enum afb_type type;
	char name[OPSOCKET_NAME_MAX + 1];
	const struct afb_algorithm *alg; /* NULL: the table has no such */
	uint8_t *key;
	size_t key_len;
	bool keyed; /* a key of no bytes is one, too */
	size_t tag_len; /* 0 unless AEAD */
	size_t digest_size; /* 0 unless hash */
	enum mode mode; /* MODE_WHOLE unless the sizes below are known */
	size_t block_size;
	size_t iv_len;
	bool iv_len_known;
	bool has_units; /* can have data units */
	size_t data_unit; /* MODE_XTS_UNITS alone */
	size_t part_max; /* see cut_part_max() */
	size_t send_max; /* longest message one request of the kernel takes */
	int tfm; /* -1: the kernel does not serve this session */
	int rng; /* the op socket of a generator's tfm; else -1 */
	enum afb_backend backend;
	enum afb_fallback why;
	bool strict;
	struct driver driver; /* unknown where no kernel serves */
	bool overlap; /* a second CPU can hash while the caller fills */

	_Atomic(struct soft *) soft; /* opened at first need, then fixed */
	_Atomic(struct stream_lane *) idle[SESSION_IDLE_LANES];
};

struct afb_session *session_get(struct afb_session *session);
void session_put(struct afb_session *session);

/*
 * The session's algorithm in software, to fall back on: NULL where there is none
 * or the session is strict about its back end. Any thread.
 */
struct soft *session_soft(struct afb_session *session);

#endif
