/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_run.h - a message whose result is known, through one back end: there and
 * back, apart and in place, whole and in pieces.
 */
#ifndef TEST_KNOWN_RUN_H
#define TEST_KNOWN_RUN_H

#include "reference_cipher.h"

/* One back end and no other. */
struct known_way {
	enum afb_backend backend;
	struct afb_queue *queue; /* kept from message to message */
	struct afb_session *session;
	uint64_t ops; /* that ended well */
	/* Not offered: each question has the kernel look for modules. */
	char missing[64];
};

/* All of them, and how many messages the kernel and software have done. */
struct known_ways {
	struct known_way by[AFB_BACKENDS];
	struct afb_session *kept; /* so that libcrypto's context is */
	unsigned kernel_runs, soft_runs;
};

/*
 * Runs it every way there is, on every back end that is to be had and offers the
 * algorithm; fails if another has done any of the work. @error: what an op must
 * fail with instead, the encryption unless it is -EBADMSG. @where goes to the
 * messages. @ways starts as zero.
 */
void known_run_everywhere(struct known_ways *ways, const struct known *known,
			  int error, const char *where);
void known_end_everywhere(struct known_ways *ways);

/*
 * Something open in libcrypto's context, which is made once then: to make it anew
 * for each message takes longer than the rest.
 */
struct afb_session *known_keep_context(void);

#endif
