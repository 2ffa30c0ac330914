/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_threads.c - the threads of the soft back end: how many, how nice, how long
 * they live, and that the results are right whoever does the work.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"

#define COUNT 500

static uint8_t data[20000];

static struct afb_queue *soft_queue(unsigned depth)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;

	params.depth = depth;
	params.backend = AFB_BACKEND_SOFT;
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	return queue;
}

static void run_and_check(struct afb_queue *queue, struct afb_session *session)
{
	struct message *messages = calloc(COUNT, sizeof(*messages));
	unsigned i;

	for (i = 0; i < COUNT; i++)
		prepare(&messages[i], session, data, 37 * i);
	run(queue, messages, COUNT);
	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");
	free(messages);
}

/* Threads of this process at nice 19, and all. */
static void count_threads(unsigned *nice, unsigned *all)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	*nice = *all = 0;
	while ((task = readdir(tasks))) {
		pid_t tid = atoi(task->d_name);

		if (!tid)
			continue;
		*nice += getpriority(PRIO_PROCESS, tid) == 19;
		++*all;
	}
	closedir(tasks);
}

/* A thread is nice from its first steps on, which it takes when it is let. */
static bool nice_threads_come_to(unsigned expected)
{
	const struct timespec a_moment = { .tv_nsec = 10000000 };
	unsigned nice, all, i;

	for (i = 0; i < 3000; i++) {
		count_threads(&nice, &all);
		if (nice == expected)
			return true;
		nanosleep(&a_moment, NULL);
	}
	return false;
}

static unsigned cpus(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	return CPU_COUNT(&set);
}

Test(soft_threads, helpers_are_nice_and_end_with_the_last_queue)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *first = soft_queue(128), *second = soft_queue(16);
	unsigned nice, all, before;

	reference_fill(data, sizeof(data), 1);
	count_threads(&nice, &before);
	cr_assert_eq(nice, 0);
	run_and_check(first, session);
	run_and_check(second, session);
	cr_assert(nice_threads_come_to(cpus() - 1));
	count_threads(&nice, &all);
	cr_assert_eq(all, before + nice);
	afb_queue_close(first);
	cr_assert(nice_threads_come_to(cpus() - 1));
	afb_queue_close(second);
	/* A thread that has been joined leaves /proc a moment later. */
	cr_assert(nice_threads_come_to(0));
	afb_session_close(session);
}

Test(soft_threads, one_processor_or_none_allowed_means_no_thread)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue;
	unsigned nice, all;
	cpu_set_t one;

	afb_set_threads(0);
	queue = soft_queue(128);
	run_and_check(queue, session);
	count_threads(&nice, &all);
	cr_assert_eq(nice, 0);
	afb_queue_close(queue);

	afb_set_threads(-1);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	queue = soft_queue(128);
	run_and_check(queue, session);
	count_threads(&nice, &all);
	cr_assert_eq(nice, 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(soft_threads, number_can_be_chosen_up_to_the_processors)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue;

	afb_set_threads(1000);
	queue = soft_queue(128);
	run_and_check(queue, session);
	cr_assert(nice_threads_come_to(cpus()));
	afb_queue_close(queue);
	afb_session_close(session);
}

static void *work_for_long(void *session)
{
	struct afb_queue *queue;
	unsigned i;

	for (i = 0; i < 10; i++) {
		queue = soft_queue(1 + 13 * i);
		run_and_check(queue, session);
		afb_queue_close(queue);
	}
	return NULL;
}

Test(soft_threads, queues_of_many_threads_share_them)
{
	struct afb_session *session = session_of("sha256");
	pthread_t threads[6];
	unsigned i;

	reference_fill(data, sizeof(data), 2);
	for (i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, work_for_long, session);
	for (i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	afb_session_close(session);
}

Test(soft_threads, child_of_fork_has_helpers_of_its_own)
{
	struct afb_session *session = session_of("sha256");
	struct afb_queue *queue = soft_queue(128);
	int status, i;
	pid_t child;

	run_and_check(queue, session);
	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			run_and_check(queue, session);
			if (!nice_threads_come_to(cpus() - 1))
				_exit(1);
			afb_queue_close(queue);
			/* What the parent's helpers had is lost in a child. */
			_exit(0);
		}
		run_and_check(queue, session);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFEXITED(status) && !WEXITSTATUS(status),
			  "status %x", status);
	}
	afb_queue_close(queue);
	afb_session_close(session);
}

/* Digests and MACs of its own, by algorithms that nobody has asked for so far. */
static void use_everything(unsigned round)
{
	static const char *const names[] = { "sha512", "sha3-256", "sha1",
					     "sha384", "sha3-512", "sha224" };
	const char *name = names[round % 6];
	struct afb_session *session = session_of(name);
	struct afb_queue *queue = soft_queue(16);
	static struct message messages[16];
	unsigned i;

	for (i = 0; i < 16; i++)
		prepare(&messages[i], session, data, 100 * i);
	run(queue, messages, 16);
	for (i = 0; i < 16; i++)
		expect_reference(&messages[i], name);
	afb_queue_close(queue);
	afb_session_close(session);
}

static struct afb_session *hmac_session(void)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	params.key = "a key";
	params.key_len = 5;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "hmac(sha256)",
				      &params),
		     0);
	return session;
}

/*
 * The helpers are in libcrypto all the time. They open the algorithm where the session
 * is one of the kernel's, and fetch a digest for each MAC: whatever they hold then, a
 * child must not wait for it.
 */
Test(soft_threads, child_of_fork_never_finds_a_lock_held, .timeout = 120)
{
	enum { ROUNDS = 100, SECONDS = 60 };
	static struct message messages[COUNT];
	struct afb_session *session;
	struct afb_op *ops[COUNT];
	struct afb_queue *queue;
	unsigned round, i;
	int status;
	pid_t child;

	afb_set_threads(1000);
	queue = soft_queue(COUNT);
	for (round = 0; round < ROUNDS; round++) {
		session = hmac_session();
		for (i = 0; i < COUNT; i++) {
			prepare(&messages[i], session, data, i);
			ops[i] = &messages[i].op;
		}
		cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
		cr_assert_eq(afb_flush(queue), 0);
		child = fork();
		if (!child) {
			alarm(SECONDS);
			use_everything(round);
			_exit(0);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "round %u: status %x", round, status);
		for (i = 0; i < COUNT;)
			i += afb_reap(queue, ops, COUNT, 1, NULL);
		afb_session_close(session);
	}
	afb_queue_close(queue);
}

/* exit() with work left: libcrypto is cleaned up, and nobody may be using it. */
Test(soft_threads, exit_with_ops_in_flight_is_clean)
{
	struct afb_session *session = session_of("sha256");
	static struct message messages[COUNT];
	struct afb_op *ops[COUNT];
	struct afb_queue *queue;
	int status, round, i;
	pid_t child;

	for (round = 0; round < 10; round++) {
		child = fork();
		if (!child) {
			queue = soft_queue(COUNT);
			for (i = 0; i < COUNT; i++) {
				prepare(&messages[i], session, data,
					sizeof(data));
				ops[i] = &messages[i].op;
			}
			afb_submit(queue, ops, COUNT);
			afb_flush(queue);
			exit(0);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "status %x", status);
	}
	afb_session_close(session);
}

/* Flushed and left alone, a burst goes on by itself and the descriptor tells. */
Test(soft_threads, flushed_burst_ends_while_the_caller_polls)
{
	struct afb_session *session = session_of("sha256");
	static struct message messages[COUNT];
	struct afb_op *ops[COUNT], *done[COUNT];
	struct afb_queue *queue;
	struct pollfd fd = { .events = POLLIN };
	int i, got, ended = 0;

	if (cpus() == 1)
		cr_skip("needs two processors");
	queue = soft_queue(COUNT);
	fd.fd = afb_queue_fd(queue);
	cr_assert_geq(fd.fd, 0);
	for (i = 0; i < COUNT; i++) {
		prepare(&messages[i], session, data, sizeof(data));
		ops[i] = &messages[i].op;
	}
	cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
	cr_assert_eq(afb_flush(queue), 0);
	while (ended < COUNT) {
		cr_assert_eq(poll(&fd, 1, 60000), 1);
		got = afb_reap(queue, done, COUNT, 0, NULL);
		cr_assert_geq(got, 0);
		ended += got;
	}
	for (i = 0; i < COUNT; i++)
		expect_reference(&messages[i], "sha256");
	afb_queue_close(queue);
	afb_session_close(session);
}
