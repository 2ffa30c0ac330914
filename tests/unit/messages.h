/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - digest ops with all that belongs to one, for the tests of queues.
 */
#ifndef TEST_MESSAGES_H
#define TEST_MESSAGES_H

#include "reference.h"

struct message {
	struct afb_op op;
	struct iovec in, out;
	uint8_t digest[AFB_DIGEST_MAX];
	bool ended;
};

/* The back end of the environment's TEST_BACKEND, else the program's usual one. */
enum afb_backend wanted_backend(void);

/* A queue on it, and a session of that name. */
struct afb_queue *queue_of(unsigned depth);
struct afb_session *session_of(const char *name);

/* A queue on that back end, or on what stands in for it here. */
struct afb_queue *queue_by(enum afb_backend backend, unsigned depth);

void prepare(struct message *message, struct afb_session *session, void *data,
	     size_t len);

/* Submits all, as room comes, and reaps all; every op exactly once. */
void run(struct afb_queue *queue, struct message *messages, unsigned count);

void expect_reference(const struct message *message, const char *name);

#endif
