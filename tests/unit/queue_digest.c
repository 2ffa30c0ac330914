/* SPDX-License-Identifier: Apache-2.0 */
/* queue_digest.c - bursts of digests: right, complete, and cheap. */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "messages.h"

Test(queue_digest, thousand_digests_equal_the_reference_and_cost_few_calls)
{
	enum { COUNT = 1000, STRIDE = 700 };
	struct message *messages = calloc(COUNT, sizeof(*messages));
	uint8_t *data = malloc(COUNT * STRIDE);
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(128);
	struct afb_counters counters = AFB_COUNTERS;
	unsigned i;

	reference_fill(data, COUNT * STRIDE, 1);
	for (i = 0; i < COUNT; i++)
		prepare(&messages[i], session, data + i * STRIDE,
			i % STRIDE);
	run(queue, messages, COUNT);
	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");

	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	cr_assert_eq(counters.messages[AFB_BACKEND_AUTO], COUNT);
	if (kernel_expected())
		cr_assert_eq(counters.messages[AFB_BACKEND_SOFT], 0);
	if (afb_queue_backend(queue) == AFB_BACKEND_URING &&
	    kernel_expected()) {
		cr_log_info("%.3f system calls a message, %llu in flight",
			    (double)counters.system_calls / COUNT,
			    (unsigned long long)counters.in_flight_max);
		cr_assert_eq(counters.messages[AFB_BACKEND_URING], COUNT);
		cr_assert_lt(counters.system_calls, COUNT / 10);
		cr_assert_eq(counters.in_flight_max, 128);
	}
	if (afb_queue_backend(queue) == AFB_BACKEND_AIO && kernel_expected()) {
		/* Besides a send for each, and an accept for each lane. */
		cr_assert_eq(counters.messages[AFB_BACKEND_AIO], COUNT);
		cr_assert_lt(counters.system_calls, COUNT + 128 + COUNT / 10);
		cr_assert_eq(counters.in_flight_max, 128);
	}
	afb_queue_close(queue);
	afb_session_close(session);
	free(messages);
	free(data);
}

Test(queue_digest, every_algorithm_and_edge_length_equals_the_reference)
{
	static const size_t lengths[] = { 0,	1,     55,    56,    63,
					  64,	65,    111,   112,   127,
					  128,	4095,  4096,  4097,  65535,
					  65536, 65537, 1048577 };
	enum { COUNT = sizeof(lengths) / sizeof(lengths[0]) };
	static struct message messages[COUNT];
	uint8_t *data = malloc(1048577);
	struct afb_queue *queue = queue_of(8);
	const char *const *name;
	unsigned i;

	reference_fill(data, 1048577, 2);
	for (name = reference_digests; *name; name++) {
		struct afb_session *session = session_of(*name);

		for (i = 0; i < COUNT; i++)
			prepare(&messages[i], session, data, lengths[i]);
		run(queue, messages, COUNT);
		for (i = 0; i < COUNT; i++)
			expect_reference(&messages[i], *name);
		afb_session_close(session);
	}
	afb_queue_close(queue);
	free(data);
}

Test(queue_digest, empty_message_may_have_no_vector_at_all)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(1);
	struct message message;

	prepare(&message, session, NULL, 0);
	message.op.in = NULL;
	message.op.in_cnt = 0;
	run(queue, &message, 1);
	expect_reference(&message, "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}

/* The pieces of one message, cut at random, some empty. */
static unsigned cut(struct iovec *pieces, unsigned max, uint8_t *data,
		    size_t len, uint32_t *random)
{
	unsigned n;
	size_t part;

	for (n = 0; n + 1 < max; n++) {
		part = reference_random(random) % 300;
		if (part > len)
			part = len;
		pieces[n] = (struct iovec){ data, part };
		data += part;
		len -= part;
	}
	pieces[n] = (struct iovec){ data, len };
	return n + 1;
}

Test(queue_digest, scattered_input_equals_the_reference)
{
	enum { LEN = 100000, PIECES = 3 * IOV_MAX };
	static const unsigned counts[] = { 2, 3, 16, 17, 100, IOV_MAX,
					   IOV_MAX + 1, PIECES };
	struct iovec *pieces = calloc(PIECES, sizeof(*pieces));
	struct afb_session *session = session_of("sha512");
	struct afb_queue *queue = queue_of(4);
	uint8_t *data = malloc(LEN);
	struct message message;
	uint32_t random = 7;
	unsigned i;

	reference_fill(data, LEN, 3);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		prepare(&message, session, data, LEN);
		message.op.in_cnt = cut(pieces, counts[i], data, LEN, &random);
		message.op.in = pieces;
		run(queue, &message, 1);
		message.op.in = &message.in;
		expect_reference(&message, "sha512");
	}
	afb_queue_close(queue);
	afb_session_close(session);
	free(pieces);
	free(data);
}

Test(queue_digest, message_larger_than_one_send_equals_the_reference)
{
	size_t len = (40UL << 20) + 13;
	uint8_t *data = mmap(NULL, len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct afb_session *session = session_of("sha1");
	struct afb_queue *queue = queue_of(2);
	struct message messages[3];

	data[0] = 1;
	data[len - 1] = 2;
	prepare(&messages[0], session, data, len);
	prepare(&messages[1], session, data, 16UL << 20);
	prepare(&messages[2], session, data, (16UL << 20) + 1);
	run(queue, messages, 3);
	expect_reference(&messages[0], "sha1");
	expect_reference(&messages[1], "sha1");
	expect_reference(&messages[2], "sha1");
	afb_queue_close(queue);
	afb_session_close(session);
	munmap(data, len);
}

Test(queue_digest, full_queue_accepts_only_its_depth)
{
	struct afb_session *session = session_of("md5");
	struct afb_queue *queue = queue_of(5);
	struct afb_op *ops[8], *done[8];
	struct message messages[8];
	unsigned i;

	for (i = 0; i < 8; i++) {
		prepare(&messages[i], session, "abc", i % 4);
		ops[i] = &messages[i].op;
	}
	cr_assert_eq(afb_submit(queue, ops, 8), 5);
	cr_assert_eq(afb_submit(queue, ops + 5, 3), 0);
	cr_assert_eq(afb_reap(queue, done, 2, 2, NULL), 2);
	cr_assert_eq(afb_submit(queue, ops + 5, 3), 2);
	cr_assert_eq(afb_reap(queue, done, 8, 8, NULL), 5);
	cr_assert_eq(afb_submit(queue, ops + 7, 1), 1);
	cr_assert_eq(afb_reap(queue, done, 8, 1, NULL), 1);
	for (i = 0; i < 8; i++)
		expect_reference(&messages[i], "md5");
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_digest, wrong_op_reports_on_itself_and_spares_the_others)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(8);
	struct message messages[7];
	unsigned i;

	for (i = 0; i < 7; i++)
		prepare(&messages[i], session, "abc", 3);
	messages[1].op.session = NULL;
	messages[2].out.iov_len = 31;
	messages[3].op.out_cnt = 0;
	messages[4].op.in = NULL;
	messages[5].out.iov_base = NULL;
	run(queue, messages, 7);
	for (i = 1; i < 6; i++)
		cr_assert_eq(messages[i].op.result, -EINVAL, "op %u", i);
	expect_reference(&messages[0], "sha256");
	expect_reference(&messages[6], "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_digest, unreadable_input_is_efault_on_that_op_alone)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(8);
	struct message messages[3];
	unsigned i;

	if (afb_queue_backend(queue) == AFB_BACKEND_SOFT || !kernel_expected())
		cr_skip_test("libcrypto would crash on a bad pointer");
	/* On lanes yet to be made. */
	for (i = 0; i < 3; i++)
		prepare(&messages[i], session, "abc", 3);
	messages[1].in.iov_base = (void *)-4096L;
	run(queue, messages, 3);
	cr_assert_eq(messages[1].op.result, -EFAULT);
	expect_reference(&messages[2], "sha256");
	for (i = 0; i < 3; i++)
		prepare(&messages[i], session, "abc", 3);
	messages[1].in.iov_base = (void *)4096;
	run(queue, messages, 3);
	cr_assert_eq(messages[1].op.result, -EFAULT);
	expect_reference(&messages[0], "sha256");
	expect_reference(&messages[2], "sha256");
	/* No address at all, which io_uring refuses before it begins. */
	for (i = 0; i < 3; i++)
		prepare(&messages[i], session, "abc", 3);
	messages[0].in.iov_base = (void *)-4096L;
	run(queue, messages, 3);
	cr_assert_eq(messages[0].op.result, -EFAULT);
	expect_reference(&messages[1], "sha256");
	expect_reference(&messages[2], "sha256");
	/* The lane of the failed op must not poison the next. */
	for (i = 0; i < 3; i++)
		prepare(&messages[i], session, "abcd", 4);
	run(queue, messages, 3);
	for (i = 0; i < 3; i++)
		expect_reference(&messages[i], "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_digest, many_sessions_share_a_small_queue)
{
	enum { SESSIONS = 150, ROUNDS = 3 };
	struct afb_session *sessions[SESSIONS];
	static struct message messages[SESSIONS * ROUNDS];
	struct afb_queue *queue = queue_of(16);
	uint8_t data[SESSIONS * ROUNDS];
	unsigned i;

	reference_fill(data, sizeof(data), 4);
	for (i = 0; i < SESSIONS; i++)
		sessions[i] = session_of(reference_digests[i % 6]);
	for (i = 0; i < SESSIONS * ROUNDS; i++)
		prepare(&messages[i], sessions[i % SESSIONS], data, i);
	run(queue, messages, SESSIONS * ROUNDS);
	for (i = 0; i < SESSIONS * ROUNDS; i++)
		expect_reference(&messages[i],
				 reference_digests[i % SESSIONS % 6]);
	for (i = 0; i < SESSIONS; i++)
		afb_session_close(sessions[i]);
	afb_queue_close(queue);
}

Test(queue_digest, sessions_closed_by_their_opener_leave_no_descriptor)
{
	struct afb_queue *queue = queue_of(4);
	struct afb_session *session = session_of("sha256");
	struct message message;
	int before, i;

	/* Whatever is opened once for good is open after the first round. */
	prepare(&message, session, "abc", 3);
	run(queue, &message, 1);
	afb_session_close(session);
	before = open_fds();
	for (i = 0; i < 50; i++) {
		session = session_of("sha256");
		prepare(&message, session, "abc", 3);
		run(queue, &message, 1);
		expect_reference(&message, "sha256");
		afb_session_close(session);
	}
	cr_assert_leq(open_fds(), before + 1);
	afb_queue_close(queue);
}

Test(queue_digest, reap_keeps_its_deadline_and_its_minimum)
{
	struct timespec none = { 0 }, moment = { .tv_nsec = 1000000 };
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(4);
	struct message message;
	struct afb_op *op = &message.op, *done[4];

	cr_assert_eq(afb_reap(queue, done, 4, 4, NULL), 0, "empty queue");
	cr_assert_eq(afb_reap(queue, done, 1, 2, NULL), -EINVAL);
	prepare(&message, session, "abc", 3);
	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	cr_assert_eq(afb_flush(queue), 0);
	while (afb_reap(queue, done, 4, 1, &moment) == 0)
		;
	cr_assert_eq(done[0], op);
	expect_reference(&message, "sha256");
	cr_assert_eq(afb_reap(queue, done, 4, 1, &none), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_digest, closing_with_unreaped_ops_leaves_nothing_behind)
{
	struct afb_session *session = session_of("sha256");
	struct message messages[20];
	struct afb_op *ops[20];
	int before = open_fds();
	unsigned i;

	for (i = 0; i < 20; i++) {
		prepare(&messages[i], session, "abc", 3);
		ops[i] = &messages[i].op;
	}
	for (i = 0; i < 10; i++) {
		struct afb_queue *queue = queue_of(20);

		cr_assert_eq(afb_submit(queue, ops, 20), 20);
		if (i % 2)
			cr_assert_eq(afb_flush(queue), 0);
		afb_queue_close(queue);
	}
	cr_assert_eq(open_fds(), before);
	afb_session_close(session);
}

Test(queue_digest, bad_parameters_are_refused)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_counters counters = { 0 };
	struct afb_queue *queue = NULL;

	params.depth = AFB_DEPTH_MAX + 1;
	cr_assert_eq(afb_queue_open(&queue, &params), -EINVAL);
	params.depth = 1;
	params.backend = AFB_BACKENDS;
	cr_assert_eq(afb_queue_open(&queue, &params), -EINVAL);
	params.backend = AFB_BACKEND_AUTO;
	params.size--;
	cr_assert_eq(afb_queue_open(&queue, &params), -EINVAL);
	params.size++;
	params.flags = 1U << 31;
	cr_assert_eq(afb_queue_open(&queue, &params), -EINVAL);
	cr_assert_null(queue);
	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	cr_assert_eq(afb_queue_counters(queue, &counters), -EINVAL);
	afb_queue_close(queue);
	afb_queue_close(NULL);
}
