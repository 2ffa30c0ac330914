/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - where the system gives less than usual: descriptors, locked memory,
 * socket buffers, system calls. Nothing may be lost or wrong for it.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "sealed.h"

enum { SESSIONS = 64, MANY = 1024 };

static void limit(int resource, rlim_t value)
{
	struct rlimit both = { value, value };

	cr_assert_eq(setrlimit(resource, &both), 0);
}

static struct afb_session *digest_session(unsigned n, enum afb_backend backend)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	params.backend = backend;
	ret = afb_session_open(&session, AFB_HASH, reference_digests[n % 6],
			       &params);
	cr_assert_eq(ret, 0, "session %u: %d", n, ret);
	return session;
}

/* 64 sessions and 1,024 ops by one back end with so many descriptors. */
static void many_with_few_files(enum afb_backend backend, rlim_t files)
{
	static struct message messages[MANY];
	struct afb_session *sessions[SESSIONS];
	struct afb_queue *queue;
	uint8_t data[MANY];
	unsigned i;

	limit(RLIMIT_NOFILE, files);
	queue = queue_by(backend, MANY);
	reference_fill(data, sizeof(data), 1);
	for (i = 0; i < SESSIONS; i++)
		sessions[i] = digest_session(i, backend);
	for (i = 0; i < MANY; i++)
		prepare(&messages[i], sessions[i % SESSIONS], data, i);
	run(queue, messages, MANY);
	for (i = 0; i < MANY; i++)
		expect_reference(&messages[i],
				 reference_digests[i % SESSIONS % 6]);
	for (i = 0; i < SESSIONS; i++)
		afb_session_close(sessions[i]);
	afb_queue_close(queue);
}

Test(limits, sixty_four_descriptors_do_for_64_sessions_by_auto)
{
	many_with_few_files(AFB_BACKEND_AUTO, 64);
}

Test(limits, sixty_four_descriptors_do_for_64_sessions_by_uring)
{
	many_with_few_files(AFB_BACKEND_URING, 64);
}

Test(limits, sixty_four_descriptors_do_for_64_sessions_by_aio)
{
	many_with_few_files(AFB_BACKEND_AIO, 64);
}

Test(limits, sixty_four_descriptors_do_for_64_sessions_by_sync)
{
	many_with_few_files(AFB_BACKEND_SYNC, 64);
}

Test(limits, sixty_four_descriptors_do_for_64_sessions_by_soft)
{
	many_with_few_files(AFB_BACKEND_SOFT, 64);
}

Test(limits, two_hundred_fifty_six_descriptors_do_for_64_sessions_by_any)
{
	unsigned backend;

	for (backend = 0; backend < AFB_BACKENDS; backend++)
		many_with_few_files(backend, 256);
}

Test(limits, two_hundred_queues_need_no_locked_memory, .timeout = 120)
{
	enum { QUEUES = 200 };
	static struct afb_queue *queues[QUEUES];
	struct afb_session *session = session_of("sha256");
	struct message message;
	unsigned i;

	limit(RLIMIT_MEMLOCK, 0);
	for (i = 0; i < QUEUES; i++)
		queues[i] = queue_by(AFB_BACKEND_AUTO, 16);
	for (i = 0; i < QUEUES; i++) {
		prepare(&message, session, "abc", i % 4);
		run(queues[i], &message, 1);
		expect_reference(&message, "sha256");
	}
	for (i = 0; i < QUEUES; i++)
		afb_queue_close(queues[i]);
	afb_session_close(session);
}

Test(limits, burst_of_three_times_the_depth_loses_nothing_by_any)
{
	enum { DEPTH = 21, BURST = 3 * DEPTH };
	static struct sealed sealed[BURST];
	struct afb_op *ops[BURST];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, i, sent;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		session = gcm_session("gcm(aes)", backend);
		queue = queue_by(backend, DEPTH);
		for (i = 0; i < BURST; i++) {
			seal(&sealed[i], session, i % 2, i, i * 9);
			ops[i] = &sealed[i].op;
		}
		for (sent = 0; sent < BURST; sent += DEPTH) {
			cr_assert_eq(afb_submit(queue, ops + sent,
						BURST - sent),
				     DEPTH);
			cr_assert_eq(afb_submit(queue, ops, 1), 0);
			reap_sealed(queue, DEPTH);
		}
		expect_sealed(sealed, BURST);
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

static void ignore_signal(int number)
{
	(void)number;
}

static void tick(bool on)
{
	long period = on ? 1000 : 0;
	struct itimerval often = { { 0, period }, { 0, period } };

	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

Test(limits, signals_every_millisecond_harm_no_burst_by_any, .timeout = 200)
{
	enum { COUNT = 200, ROUNDS = 4 };
	static struct sealed sealed[COUNT];
	/* Without SA_RESTART: every blocking call may be interrupted. */
	struct sigaction action = { .sa_handler = ignore_signal };
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, i, round;

	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		queue = queue_by(backend, 64);
		session = async_gcm_session(queue);
		for (round = 0; round < ROUNDS; round++) {
			for (i = 0; i < COUNT; i++)
				seal(&sealed[i], session, i % 2, i, i * 10);
			tick(true);
			run_sealed(queue, sealed, COUNT);
			tick(false);
			expect_sealed(sealed, COUNT);
		}
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

static char log_text[1000];

static void keep_log(void *user, const char *text)
{
	(void)user;
	strncat(log_text, text, sizeof(log_text) - strlen(log_text) - 1);
}

Test(limits, log_names_the_errno_that_keeps_io_uring_away)
{
	struct afb_queue *queue;

	deny_io_uring(EPERM);
	afb_set_log(keep_log, NULL);
	queue = queue_by(AFB_BACKEND_URING, 4);
	cr_assert_neq(afb_queue_backend(queue), AFB_BACKEND_URING);
	cr_assert_not_null(strstr(log_text, strerror(EPERM)), "%s", log_text);
	afb_queue_close(queue);
	afb_set_log(NULL, NULL);
}

Test(limits, absent_af_alg_is_asked_for_once_a_session_and_not_for_each_op)
{
	struct afb_counters counters = AFB_COUNTERS;
	static struct message messages[500];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned i;

	deny_af_alg(EAFNOSUPPORT);
	afb_set_log(keep_log, NULL);
	session = session_of("sha256");
	queue = queue_by(AFB_BACKEND_AUTO, 50);
	cr_assert_not_null(strstr(log_text, strerror(EAFNOSUPPORT)));
	log_text[0] = 0;
	for (i = 0; i < 500; i++)
		prepare(&messages[i], session, "abcdefgh", i % 9);
	run(queue, messages, 500);
	for (i = 0; i < 500; i++)
		expect_reference(&messages[i], "sha256");
	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	cr_assert_eq(counters.system_calls, 0);
	cr_assert_str_empty(log_text);
	afb_queue_close(queue);
	afb_session_close(session);
	afb_set_log(NULL, NULL);
}

/*
 * Run by vm/suite/limits.sh where net.core.wmem_default is smaller than any of
 * these; as good a test elsewhere.
 */
Test(limits, small_socket_buffers_let_a_mebibyte_through_by_any, .timeout = 120)
{
	enum { LEN = 1 << 20 };
	uint8_t *data = malloc(LEN), digest[AFB_DIGEST_MAX];
	uint8_t right[AFB_DIGEST_MAX];
	static struct sealed sealed[3];
	struct message message;
	unsigned backend, i;

	reference_fill(data, LEN, 9);
	reference_digest("sha256", data, LEN, right);
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		struct afb_session *session = digest_session(3, backend);
		struct afb_session *gcm = gcm_session("gcm(aes)", backend);
		struct afb_queue *queue = queue_by(backend, 4);
		struct afb_stream *stream;

		prepare(&message, session, data, LEN);
		run(queue, &message, 1);
		expect_reference(&message, "sha256");
		cr_assert_eq(afb_stream_open(&stream, session), 0);
		cr_assert_eq(afb_stream_update(stream, data, LEN), 0);
		cr_assert_eq(afb_stream_final(stream, digest, sizeof(digest)),
			     32);
		cr_assert_arr_eq(digest, right, 32);
		for (i = 0; i < 3; i++)
			seal(&sealed[i], gcm, i % 2, i, SEALED_MAX - i);
		run_sealed(queue, sealed, 3);
		expect_sealed(sealed, 3);
		afb_stream_close(stream);
		afb_queue_close(queue);
		afb_session_close(session);
		afb_session_close(gcm);
	}
	free(data);
}
