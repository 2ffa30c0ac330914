/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_life.c - queues between threads, across fork(), and where the system
 * gives less than was asked for.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.h"

enum { COUNT = 40 };

static uint8_t data[COUNT * 100];

static void prepare_all(struct message *messages, struct afb_session *session)
{
	unsigned i;

	reference_fill(data, sizeof(data), 5);
	for (i = 0; i < COUNT; i++)
		prepare(&messages[i], session, data, i * 100);
}

static void expect_all(const struct message *messages)
{
	unsigned i;

	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");
}

static void run_all(struct afb_queue *queue, struct afb_session *session)
{
	static struct message messages[COUNT];

	prepare_all(messages, session);
	run(queue, messages, COUNT);
	expect_all(messages);
}

struct job {
	struct afb_queue *queue;
	struct afb_session *session;
	struct message messages[COUNT];
	int result;
};

static void *submit_and_flush(void *arg)
{
	struct job *job = arg;
	struct afb_op *ops[COUNT];
	unsigned i;

	prepare_all(job->messages, job->session);
	for (i = 0; i < COUNT; i++)
		ops[i] = &job->messages[i].op;
	job->result = afb_submit(job->queue, ops, COUNT);
	if (afb_flush(job->queue))
		job->result = -1;
	return NULL;
}

static void *run_in_thread(void *arg)
{
	struct job *job = arg;

	prepare_all(job->messages, job->session);
	run(job->queue, job->messages, COUNT);
	return NULL;
}

static void in_thread(void *(*function)(void *), struct job *job)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, function, job), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(queue_life, empty_queue_moves_between_threads)
{
	static struct job job;
	int i;

	job.queue = queue_of(COUNT);
	job.session = session_of("sha256");
	for (i = 0; i < 3; i++) {
		run_all(job.queue, job.session);
		in_thread(run_in_thread, &job);
		expect_all(job.messages);
	}
	afb_queue_close(job.queue);
	afb_session_close(job.session);
}

Test(queue_life, ops_of_a_thread_that_exited_are_reaped_by_another)
{
	static struct job job;
	struct afb_op *done[COUNT];
	int round;

	job.queue = queue_of(COUNT);
	job.session = session_of("sha256");
	for (round = 0; round < 5; round++) {
		in_thread(submit_and_flush, &job);
		cr_assert_eq(job.result, COUNT);
		cr_assert_eq(afb_reap(job.queue, done, COUNT, COUNT, NULL),
			     COUNT);
		expect_all(job.messages);
	}
	run_all(job.queue, job.session);
	afb_queue_close(job.queue);
	afb_session_close(job.session);
}

Test(queue_life, threads_share_a_session_each_with_its_queue)
{
	enum { THREADS = 6 };
	static struct job jobs[THREADS];
	struct afb_session *session = session_of("sha256");
	pthread_t threads[THREADS];
	unsigned i;

	for (i = 0; i < THREADS; i++) {
		jobs[i].session = session;
		jobs[i].queue = queue_of(1 + i * 7);
		cr_assert_eq(pthread_create(&threads[i], NULL, run_in_thread,
					    &jobs[i]),
			     0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		expect_all(jobs[i].messages);
		afb_queue_close(jobs[i].queue);
	}
	afb_session_close(session);
}

static void expect_clean_child(pid_t child)
{
	int status;

	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		  "child ended with %#x", status);
}

/* For a child, where a failed assertion would go unseen. */
static void child_run_or_die(struct afb_queue *queue,
			     struct afb_session *session)
{
	static struct message messages[COUNT];
	uint8_t right[AFB_DIGEST_MAX];
	struct afb_op *ops[COUNT], *done[COUNT];
	unsigned i, size;

	prepare_all(messages, session);
	for (i = 0; i < COUNT; i++)
		ops[i] = &messages[i].op;
	if (afb_submit(queue, ops, COUNT) != COUNT ||
	    afb_reap(queue, done, COUNT, COUNT, NULL) != COUNT)
		_exit(1);
	for (i = 0; i < COUNT; i++) {
		size = reference_digest("sha256", messages[i].in.iov_base,
					messages[i].in.iov_len, right);
		if (messages[i].op.result != size ||
		    memcmp(messages[i].digest, right, size))
			_exit(2);
	}
	_exit(0);
}

Test(queue_life, fork_leaves_parent_and_child_a_working_queue_each)
{
	static struct message messages[COUNT];
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(COUNT);
	struct afb_op *ops[COUNT], *done[COUNT];
	unsigned round, i;
	pid_t child;

	for (round = 0; round < 3; round++) {
		prepare_all(messages, session);
		for (i = 0; i < COUNT; i++)
			ops[i] = &messages[i].op;
		cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
		if (round)
			cr_assert_eq(afb_flush(queue), 0);
		child = fork();
		if (!child)
			child_run_or_die(queue, session);
		cr_assert_eq(afb_reap(queue, done, COUNT, COUNT, NULL), COUNT);
		expect_all(messages);
		expect_clean_child(child);
	}
	afb_queue_close(queue);
	afb_session_close(session);
}

static struct afb_counters counters_of(const struct afb_queue *queue)
{
	struct afb_counters counters = AFB_COUNTERS;

	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	return counters;
}

Test(queue_life, denied_io_uring_falls_back_to_aio)
{
	struct afb_queue_params strict = AFB_QUEUE_PARAMS;
	struct afb_session *session;
	struct afb_counters counters;
	struct afb_queue *queue;

	deny_io_uring(EPERM);
	session = session_of("sha256");
	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	run_all(queue, session);
	counters = counters_of(queue);
	if (!kernel_expected()) {
		cr_assert_eq(afb_queue_backend(queue), AFB_BACKEND_SOFT);
	} else {
		cr_assert_eq(afb_queue_backend(queue), AFB_BACKEND_AIO);
		cr_assert_eq(counters.messages[AFB_BACKEND_AIO], COUNT);
		cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_IO_URING],
			     COUNT);
		cr_assert_eq(afb_session_fallback(session),
			     AFB_FALLBACK_NO_IO_URING);
		cr_assert_eq(afb_session_backend(session), AFB_BACKEND_SYNC);
	}
	afb_queue_close(queue);
	afb_session_close(session);

	strict.backend = AFB_BACKEND_URING;
	strict.flags = AFB_STRICT;
	cr_assert_eq(afb_queue_open(&queue, &strict), -EPERM);
}

Test(queue_life, missing_io_uring_is_told_from_denied)
{
	struct afb_caps caps = AFB_CAPS;

	deny_io_uring(ENOSYS);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.io_uring, -ENOSYS);
	deny_io_uring(EPERM);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.io_uring, -EPERM);
	caps.size = 0;
	cr_assert_eq(afb_caps(&caps), -EINVAL);
}

Test(queue_life, denied_af_alg_falls_back_to_software)
{
	struct afb_counters counters;
	struct afb_session *session;
	struct afb_queue *queue;

	deny_af_alg(EAFNOSUPPORT);
	session = session_of("sha256");
	cr_assert_eq(afb_session_backend(session), AFB_BACKEND_SOFT);
	cr_assert_eq(afb_session_fallback(session), AFB_FALLBACK_NO_AF_ALG);
	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	run_all(queue, session);
	counters = counters_of(queue);
	cr_assert_eq(counters.messages[AFB_BACKEND_SOFT], COUNT);
	cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_AF_ALG], COUNT);
	afb_queue_close(queue);
	afb_session_close(session);
}

static void limit_files(rlim_t limit)
{
	struct rlimit files = { limit, limit };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}

Test(queue_life, few_descriptors_are_enough_for_many_ops)
{
	struct afb_session *sessions[20];
	static struct message messages[1024];
	struct afb_counters counters;
	struct afb_queue *queue;
	unsigned i;

	limit_files(64);
	queue = queue_of(1024);
	reference_fill(data, sizeof(data), 6);
	for (i = 0; i < 20; i++)
		sessions[i] = session_of("sha256");
	for (i = 0; i < 1024; i++)
		prepare(&messages[i], sessions[i % 20], data, i);
	run(queue, messages, 1024);
	for (i = 0; i < 1024; i++)
		expect_reference(&messages[i], "sha256");
	counters = counters_of(queue);
	if (kernel_expected())
		cr_assert_eq(counters.messages[AFB_BACKEND_SOFT], 0);
	for (i = 0; i < 20; i++)
		afb_session_close(sessions[i]);
	afb_queue_close(queue);
}

Test(queue_life, full_file_table_falls_back_and_says_so)
{
	struct afb_session *before = session_of("sha256"), *after;
	struct afb_queue *queue;
	int fd, last = -1;

	limit_files(64);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	cr_assert_eq(errno, EMFILE);

	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	run_all(queue, before);
	after = session_of("sha256");
	cr_assert_eq(afb_session_backend(after), AFB_BACKEND_SOFT);
	if (kernel_expected())
		cr_assert_eq(afb_session_fallback(after),
			     AFB_FALLBACK_NO_RESOURCES);
	run_all(queue, after);
	afb_queue_close(queue);

	/* With room again a new queue works as ever. */
	for (fd = last; fd > last - 8; fd--)
		close(fd);
	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	run_all(queue, before);
	afb_queue_close(queue);
	afb_session_close(before);
	afb_session_close(after);
}

Test(queue_life, no_locked_memory_is_needed)
{
	struct rlimit none = { 0, 0 };
	struct afb_queue *queues[50];
	struct afb_session *session = session_of("sha256");
	unsigned i;

	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	for (i = 0; i < 50; i++) {
		cr_assert_eq(afb_queue_open(&queues[i], NULL), 0);
		run_all(queues[i], session);
	}
	for (i = 0; i < 50; i++)
		afb_queue_close(queues[i]);
	afb_session_close(session);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

Test(queue_life, descriptor_is_readable_while_ended_ops_wait)
{
	static const enum afb_backend backends[] = {
		AFB_BACKEND_AUTO, AFB_BACKEND_AIO, AFB_BACKEND_SYNC,
		AFB_BACKEND_SOFT
	};
	static struct message messages[COUNT];
	struct afb_session *session = session_of("sha256");
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_op *ops[COUNT], *done[COUNT];
	struct afb_queue *queue;
	int fd, got, round;
	unsigned b, i;

	for (b = 0; b < 4; b++) {
		params.backend = backends[b];
		params.depth = COUNT;
		cr_assert_eq(afb_queue_open(&queue, &params), 0);
		fd = afb_queue_fd(queue);
		cr_assert_geq(fd, 0);
		cr_assert_eq(afb_queue_fd(queue), fd);
		cr_assert_not(readable(fd, 0));
		for (round = 0; round < 3; round++) {
			prepare_all(messages, session);
			for (i = 0; i < COUNT; i++)
				ops[i] = &messages[i].op;
			cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
			cr_assert_eq(afb_flush(queue), 0);
			for (i = 0; i < COUNT; i += got) {
				cr_assert(readable(fd, 10000));
				got = afb_reap(queue, done, 7, 0, NULL);
				cr_assert_geq(got, 0);
			}
			expect_all(messages);
			afb_reap(queue, done, 7, 0, NULL);
			cr_assert_not(readable(fd, 0));
		}
		afb_queue_close(queue);
	}
	afb_session_close(session);
}

static void ignore_signal(int number)
{
	(void)number;
}

Test(queue_life, signals_interrupt_nothing_for_good)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = queue_of(COUNT);
	int i;

	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (i = 0; i < 50; i++)
		run_all(queue, session);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_life, many_open_files_do_not_matter)
{
	struct afb_session *session;
	struct afb_queue *queue;
	int i;

	limit_files(4096);
	for (i = 0; i < 2000; i++)
		cr_assert_geq(open("/dev/null", O_RDONLY), 0);
	session = session_of("sha256");
	queue = queue_of(COUNT);
	run_all(queue, session);
	afb_queue_close(queue);
	afb_session_close(session);
}
