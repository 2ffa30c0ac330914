/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_uring.c - what a queue on io_uring can be told: threads of the kernel's
 * that wait for drivers, a thread that submits, and when sockets are closed.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"

#define COUNT 300

static uint8_t data[40000];

static struct afb_queue *uring_queue(struct afb_queue_params params)
{
	struct afb_queue *queue;

	if (!kernel_expected())
		cr_skip("needs AF_ALG");
	params.backend = AFB_BACKEND_URING;
	params.flags |= AFB_STRICT;
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	return queue;
}

static void run_and_check(struct afb_queue *queue, struct afb_session *session)
{
	struct message *messages = calloc(COUNT, sizeof(*messages));
	unsigned i;

	reference_fill(data, sizeof(data), 3);
	for (i = 0; i < COUNT; i++)
		prepare(&messages[i], session, data, 113 * i);
	run(queue, messages, COUNT);
	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");
	free(messages);
}

static uint64_t kernel_messages(struct afb_queue *queue)
{
	struct afb_counters counters = AFB_COUNTERS;

	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	return counters.messages[AFB_BACKEND_URING];
}

/* Threads of this process whose name begins so. */
static unsigned threads_called(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], comm[32];
	struct dirent *task;
	unsigned count = 0;
	FILE *file;

	while ((task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file))
			count += !strncmp(comm, name, strlen(name));
		fclose(file);
	}
	closedir(tasks);
	return count;
}

Test(queue_uring, workers_are_as_many_as_allowed)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	struct afb_session *session;
	unsigned workers;

	params.workers = 3;
	queue = uring_queue(params);
	session = session_of("sha256");
	run_and_check(queue, session);
	cr_assert_eq(kernel_messages(queue), COUNT);
	workers = threads_called("iou-wrk");
	cr_assert(workers >= 1 && workers <= 6, "%u workers", workers);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_uring, synchronous_driver_gets_no_worker)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = uring_queue(params);
	struct afb_session *session = session_of("sha256");

	run_and_check(queue, session);
	cr_assert_eq(threads_called("iou-wrk"), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

/*
 * Ciphers with the CPU's own instructions say that they are asynchronous
 * (crypto/simd.c), but do their work at once.
 */
Test(queue_uring, cpu_that_calls_itself_asynchronous_gets_no_worker)
{
	struct afb_session_params with_key = AFB_SESSION_PARAMS;
	struct afb_algorithm_caps caps = AFB_ALGORITHM_CAPS;
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = uring_queue(params);
	struct afb_session *session;
	struct iovec text = { data, 4096 };
	struct afb_op op = { .in = &text,
			     .out = &text,
			     .in_cnt = 1,
			     .out_cnt = 1 },
		      *list = &op, *done;
	unsigned i;

	cr_assert_eq(afb_algorithm_caps(&caps, AFB_SKCIPHER, "ecb-aes-aesni"),
		     0);
	if (caps.kernel || !caps.driver_async)
		cr_skip("no such driver");
	with_key.key = data;
	with_key.key_len = 16;
	cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER, "ecb-aes-aesni",
				      &with_key),
		     0);
	op.session = session;
	for (i = 0; i < 20; i++) {
		cr_assert_eq(afb_submit(queue, &list, 1), 1);
		cr_assert_eq(afb_reap(queue, &done, 1, 1, NULL), 1);
		cr_assert_eq(op.result, 4096);
	}
	cr_assert_eq(threads_called("iou-wrk"), 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* By hand with workers, so that it holds on kernels whose AF_ALG does not wait. */
Test(queue_uring, workers_serve_an_asynchronous_driver)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	struct afb_session *session;

	params.workers = 16;
	params.depth = 64;
	queue = uring_queue(params);
	session = session_of("cryptd(sha256-generic)");
	run_and_check(queue, session);
	cr_assert_eq(kernel_messages(queue), COUNT);
	cr_assert_gt(threads_called("iou-wrk"), 1);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* On kernels whose AF_ALG waits for the driver; where it does not, nobody has to. */
Test(queue_uring, workers_come_by_themselves_where_the_kernel_would_wait)
{
	struct afb_algorithm_caps caps = AFB_ALGORITHM_CAPS;
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = uring_queue(params);
	struct afb_session *session = session_of("cryptd(sha256-generic)");

	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH,
					"cryptd(sha256-generic)"),
		     0);
	cr_assert_eq(caps.driver_async, 1);
	run_and_check(queue, session);
	cr_assert_eq(threads_called("iou-wrk") > 0, !caps.kernel_async);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_uring, no_worker_where_none_is_allowed)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	struct afb_session *session;

	params.workers = -1;
	queue = uring_queue(params);
	session = session_of("cryptd(sha256-generic)");
	run_and_check(queue, session);
	cr_assert_eq(threads_called("iou-wrk"), 0);
	afb_queue_close(queue);
	afb_session_close(session);
	params.workers = -2;
	cr_assert_eq(afb_queue_open(&queue, &params), -EINVAL);
}

Test(queue_uring, thread_that_submits_loses_nothing)
{
	const struct timespec longer_than_its_idle_time = { .tv_nsec =
								    90000000 };
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	struct afb_session *session;
	unsigned i;

	params.flags = AFB_SQPOLL;
	params.depth = 100;
	queue = uring_queue(params);
	session = session_of("sha256");
	for (i = 0; i < 5; i++) {
		run_and_check(queue, session);
		cr_assert_eq(threads_called("iou-sqp"), 1);
		nanosleep(&longer_than_its_idle_time, NULL);
	}
	cr_assert_eq(kernel_messages(queue), 5 * COUNT);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_uring, polling_reap_starts_what_was_submitted_to_a_thread)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct message message;
	struct afb_queue *queue;
	struct afb_session *session;
	struct afb_op *op = &message.op, *done;
	int got;

	params.flags = AFB_SQPOLL;
	queue = uring_queue(params);
	session = session_of("sha256");
	prepare(&message, session, data, 1000);
	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	while (!(got = afb_reap(queue, &done, 1, 0, NULL)))
		sched_yield();
	cr_assert_eq(got, 1);
	expect_reference(&message, "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}

/* A refused buffer, with loud chains: its own error, and nobody else's. */
Test(queue_uring, thread_that_submits_reports_each_error_once)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	static struct message messages[20];
	struct afb_op *ops[20], *done[20];
	struct afb_queue *queue;
	struct afb_session *session;
	unsigned i, got = 0;

	params.flags = AFB_SQPOLL;
	queue = uring_queue(params);
	session = session_of("sha256");
	for (i = 0; i < 20; i++) {
		prepare(&messages[i], session,
			i % 4 ? (void *)data : (void *)4096, 100 + i);
		ops[i] = &messages[i].op;
	}
	cr_assert_eq(afb_submit(queue, ops, 20), 20);
	while (got < 20)
		got += afb_reap(queue, done, 20, 20 - got, NULL);
	for (i = 0; i < 20; i++) {
		if (i % 4)
			expect_reference(&messages[i], "sha256");
		else
			cr_assert_eq(messages[i].op.result, -EFAULT);
	}
	afb_queue_close(queue);
	afb_session_close(session);
}

/* Sockets in the whole system, of which nobody else opens any now. */
static int sockets_in_use(void)
{
	FILE *file = fopen("/proc/net/sockstat", "r");
	char line[300];
	int sockets = -1;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "sockets: used %d", &sockets) == 1)
			break;
	fclose(file);
	return sockets;
}

/* Once those of the test before are closed: no change for a quarter second. */
static int settled_sockets(void)
{
	const struct timespec a_moment = { .tv_nsec = 10000000 };
	int sockets = sockets_in_use(), last;
	unsigned same = 0;

	while (same < 25) {
		nanosleep(&a_moment, NULL);
		last = sockets;
		sockets = sockets_in_use();
		same = sockets == last ? same + 1 : 0;
	}
	return sockets;
}

/* Closing is done by the kernel when it comes to it. */
static bool sockets_come_to(int count)
{
	const struct timespec a_moment = { .tv_nsec = 10000000 };
	unsigned i;

	for (i = 0; i < 500 && sockets_in_use() > count; i++)
		nanosleep(&a_moment, NULL);
	return sockets_in_use() <= count;
}

Test(queue_uring, trim_closes_idle_sockets_and_the_queue_goes_on)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = uring_queue(params);
	struct afb_session *session = session_of("sha256");
	int before = settled_sockets();

	run_and_check(queue, session);
	cr_assert_geq(sockets_in_use(), before + 100);
	afb_queue_trim(queue);
	cr_assert(sockets_come_to(before), "%d of %d", sockets_in_use(),
		  before);
	run_and_check(queue, session);
	cr_assert_eq(kernel_messages(queue), 2 * COUNT);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_uring, sockets_that_no_burst_needs_are_closed_by_and_by)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = uring_queue(params);
	struct afb_session *session = session_of("sha256");
	int before = settled_sockets();
	struct message message;
	unsigned i;

	run_and_check(queue, session);
	prepare(&message, session, data, 5);
	for (i = 0; i < 2100; i++) {
		message.ended = false;
		run(queue, &message, 1);
	}
	cr_assert(sockets_come_to(before + 2), "%d, before %d",
		  sockets_in_use(), before);
	expect_reference(&message, "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}
