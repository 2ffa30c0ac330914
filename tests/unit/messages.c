/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - see messages.h. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

/* Programs that are built for one back end say so: see ../Makefile.am. */
#ifndef USUAL_BACKEND
#define USUAL_BACKEND AFB_BACKEND_AUTO
#endif

enum afb_backend wanted_backend(void)
{
	const char *name = getenv("TEST_BACKEND");

	return name ? afb_backend_from_name(name) : USUAL_BACKEND;
}

struct afb_queue *queue_by(enum afb_backend backend, unsigned depth)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;

	params.depth = depth;
	params.backend = backend;
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	return queue;
}

struct afb_queue *queue_of(unsigned depth)
{
	return queue_by(wanted_backend(), depth);
}

struct afb_session *session_of(const char *name)
{
	struct afb_session *session;

	cr_assert_eq(afb_session_open(&session, AFB_HASH, name, NULL), 0);
	return session;
}

void prepare(struct message *message, struct afb_session *session, void *data,
	     size_t len)
{
	memset(message, 0, sizeof(*message));
	message->in = (struct iovec){ data, len };
	message->out = (struct iovec){ message->digest, AFB_DIGEST_MAX };
	message->op = (struct afb_op){ .session = session,
				       .in = &message->in,
				       .in_cnt = 1,
				       .out = &message->out,
				       .out_cnt = 1,
				       .user = message };
}

void run(struct afb_queue *queue, struct message *messages, unsigned count)
{
	struct afb_op *ops[256], *done[64];
	unsigned sent = 0, ended = 0, n, i;
	struct message *message;
	int got;

	while (ended < count) {
		n = count - sent < 256 ? count - sent : 256;
		for (i = 0; i < n; i++)
			ops[i] = &messages[sent + i].op;
		got = afb_submit(queue, ops, n);
		cr_assert_geq(got, 0);
		sent += got;
		got = afb_reap(queue, done, 64, 1, NULL);
		cr_assert_gt(got, 0);
		for (i = 0; i < (unsigned)got; i++) {
			message = done[i]->user;
			cr_assert_not(message->ended);
			message->ended = true;
		}
		ended += got;
	}
	cr_assert_eq(afb_reap(queue, done, 64, 0, NULL), 0);
}

void expect_reference(const struct message *message, const char *name)
{
	uint8_t right[AFB_DIGEST_MAX];
	size_t size = reference_digest(name, message->in.iov_base,
				       message->in.iov_len, right);

	cr_assert_eq(message->op.result, (ssize_t)size, "%s of %zu: %zd", name,
		     message->in.iov_len, message->op.result);
	cr_assert_arr_eq(message->digest, right, size);
}
