/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_order.c - how ended ops are handed over: in order, to a callback, and
 * those that are late.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "messages.h"

#define COUNT 200

static struct message messages[COUNT];
static uint8_t data[1 << 20];
static unsigned called;
static struct afb_queue *refilled;

static struct afb_queue *queue_with(struct afb_queue_params params)
{
	struct afb_queue *queue;

	params.backend = wanted_backend();
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	return queue;
}

/* Messages of very different lengths, so that they end out of order. */
static void prepare_all(struct afb_session *session)
{
	unsigned i;

	reference_fill(data, sizeof(data), 11);
	for (i = 0; i < COUNT; i++)
		prepare(&messages[i], session, data,
			i % 7 ? i : sizeof(data) / (i + 1));
}

Test(queue_order, in_order_ops_come_back_as_they_were_submitted)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = session_of("sha256");
	struct afb_op *done[COUNT], *op;
	struct afb_queue *queue;
	unsigned sent = 0, ended = 0;
	int got, i;

	params.depth = 64;
	params.flags = AFB_IN_ORDER;
	queue = queue_with(params);
	prepare_all(session);
	while (ended < COUNT) {
		for (; sent < COUNT; sent++) {
			op = &messages[sent].op;
			if (!afb_submit(queue, &op, 1))
				break;
		}
		got = afb_reap(queue, done, COUNT, 1 + ended % 9, NULL);
		cr_assert_gt(got, 0);
		for (i = 0; i < got; i++)
			cr_assert_eq(done[i], &messages[ended + i].op);
		ended += got;
	}
	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}

/* An op that is wrong waits for its turn like the others. */
Test(queue_order, failed_op_keeps_its_place)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = session_of("sha1");
	struct afb_op *ops[3], *done[3];
	struct afb_queue *queue;
	unsigned i;

	params.flags = AFB_IN_ORDER;
	queue = queue_with(params);
	prepare_all(session);
	messages[1].op.out_cnt = 0;
	for (i = 0; i < 3; i++)
		ops[i] = &messages[i].op;
	cr_assert_eq(afb_submit(queue, ops, 3), 3);
	cr_assert_eq(afb_reap(queue, done, 3, 3, NULL), 3);
	for (i = 0; i < 3; i++)
		cr_assert_eq(done[i], ops[i]);
	cr_assert_eq(messages[1].op.result, -EINVAL);
	cr_assert_eq(messages[2].op.result, 20);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* Submits the op again from inside the callback, until all rounds are done. */
static void on_done(struct afb_op *op)
{
	cr_assert_eq(op->result, 32);
	called++;
	if (refilled && called <= COUNT)
		cr_assert_eq(afb_submit(refilled, &op, 1), 1);
}

Test(queue_order, callback_receives_every_op_once_and_may_submit)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = session_of("sha256");
	struct afb_op *ops[8];
	struct afb_queue *queue;
	unsigned i, reaped = 0;
	int got;

	params.depth = 8;
	params.done = on_done;
	queue = refilled = queue_with(params);
	prepare_all(session);
	for (i = 0; i < 8; i++)
		ops[i] = &messages[i].op;
	cr_assert_eq(afb_submit(queue, ops, 8), 8);
	while (reaped < COUNT + 8) {
		got = afb_reap(queue, NULL, 8, 1, NULL);
		cr_assert_gt(got, 0);
		reaped += got;
	}
	cr_assert_eq(called, COUNT + 8);
	cr_assert_eq(afb_reap(queue, NULL, 8, 1, NULL), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_order, reap_needs_a_place_or_a_callback)
{
	struct afb_queue *queue = queue_of(1);

	cr_assert_eq(afb_reap(queue, NULL, 1, 0, NULL), -EINVAL);
	afb_queue_close(queue);
}

/* The coarse clock of CONFIG_HZ=100 ticks every 10 ms. */
static const struct timespec a_while = { .tv_nsec = 60000000 };

Test(queue_order, late_op_is_reported_once_and_still_comes_back)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = session_of("sha256");
	struct afb_op *op = &messages[0].op, *got[2];
	struct afb_queue *queue;

	params.late_ms = 20;
	queue = queue_with(params);
	prepare_all(session);
	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	cr_assert_eq(afb_late(queue, got, 2), 0);
	nanosleep(&a_while, NULL);
	cr_assert_eq(afb_late(queue, got, 2), 1);
	cr_assert_eq(got[0], op);
	cr_assert_eq(afb_late(queue, got, 2), 0);
	cr_assert_eq(afb_reap(queue, got, 2, 1, NULL), 1);
	cr_assert_eq(got[0], op);
	expect_reference(&messages[0], "sha256");
	nanosleep(&a_while, NULL);
	cr_assert_eq(afb_late(queue, got, 2), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_order, no_op_is_late_unless_asked_for)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(4);
	struct afb_op *op = &messages[0].op, *late;

	prepare_all(session);
	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	nanosleep(&a_while, NULL);
	cr_assert_eq(afb_late(queue, &late, 1), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}
