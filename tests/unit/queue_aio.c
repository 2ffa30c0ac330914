/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_aio.c - what can go wrong with libaio alone: contexts too small or refused,
 * submissions cut short, signals, and fork() with reads in flight. What every back
 * end must do is tested in queue_cipher.c, queue_digest.c and queue_life.c, which
 * are built for aio, too.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <libaio.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.h"

/* ---- libaio, as it is bent by a test ------------------------------------ */

static struct {
	int setup_max;	   /* io_setup(): EAGAIN for more requests; 0: any */
	int submit_max;	   /* io_submit() takes so many at most; 0: any */
	int submit_error;  /* of every other io_submit() */
	unsigned contexts; /* made */
	unsigned submits, collects; /* calls */
} aio;

/* Found before libaio's own, by the library as well. */
int io_setup(int requests, io_context_t *context)
{
	if (aio.setup_max && requests > aio.setup_max)
		return -EAGAIN;
	if (syscall(SYS_io_setup, requests, context) < 0)
		return -errno;
	aio.contexts++;
	return 0;
}

int io_submit(io_context_t context, long count, struct iocb **reads)
{
	long ret;

	if (aio.submits++ % 2 == 0 && aio.submit_error)
		return -aio.submit_error;
	if (aio.submit_max && count > aio.submit_max)
		count = aio.submit_max;
	ret = syscall(SYS_io_submit, context, count, reads);
	return ret < 0 ? -errno : ret;
}

int io_getevents(io_context_t context, long min, long count,
		 struct io_event *events, struct timespec *limit)
{
	long ret;

	aio.collects++;
	ret = syscall(SYS_io_getevents, context, min, count, events, limit);
	return ret < 0 ? -errno : ret;
}

static struct afb_queue *aio_queue(unsigned depth)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;

	params.depth = depth;
	params.backend = AFB_BACKEND_AIO;
	params.flags = AFB_STRICT;
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	return queue;
}

static struct afb_counters counters_of(const struct afb_queue *queue)
{
	struct afb_counters counters = AFB_COUNTERS;

	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	return counters;
}

/* ---- Messages that take their time -------------------------------------- */

/* Through pcrypt, whose results come while others are being submitted. */
struct sealed {
	struct afb_op op;
	struct iovec in, out;
	uint8_t iv[12], text[300], got[316], right[316];
};

enum { SEALED_MAX = 1024 };

static struct sealed sealed[SEALED_MAX];
static struct afb_op *sealed_ops[SEALED_MAX];
static const uint8_t key[16] = "0123456789abcdef";

static struct afb_session *pcrypt_session(void)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	if (!kernel_expected())
		cr_skip_test("no kernel to be asynchronous");
	params.key = key;
	params.key_len = sizeof(key);
	cr_assert_eq(afb_session_open(&session, AFB_AEAD,
				      "pcrypt(generic-gcm-aesni)", &params),
		     0);
	return session;
}

static void seal_by_reference(struct sealed *message)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int len = message->in.iov_len, n;

	cr_assert(EVP_EncryptInit(ctx, EVP_aes_128_gcm(), key, message->iv));
	cr_assert(EVP_EncryptUpdate(ctx, message->right, &n, message->text,
				    len));
	cr_assert(EVP_EncryptFinal(ctx, message->right + len, &n));
	cr_assert(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16,
				      message->right + len));
	EVP_CIPHER_CTX_free(ctx);
}

static void prepare_sealed(struct afb_session *session, unsigned count)
{
	struct sealed *message;
	unsigned i;

	for (i = 0; i < count; i++) {
		message = &sealed[i];
		memset(message, 0, sizeof(*message));
		reference_fill(message->iv, sizeof(message->iv), i);
		reference_fill(message->text, sizeof(message->text), i + 1);
		message->in = (struct iovec){ message->text, 1 + i % 300 };
		message->out = (struct iovec){ message->got,
					       message->in.iov_len + 16 };
		message->op = (struct afb_op){ .session = session,
					       .in = &message->in,
					       .in_cnt = 1,
					       .out = &message->out,
					       .out_cnt = 1,
					       .iv = message->iv,
					       .iv_len = 12 };
		seal_by_reference(message);
		sealed_ops[i] = &message->op;
	}
}

static bool sealed_are_right(unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (sealed[i].op.result != (ssize_t)sealed[i].out.iov_len ||
		    memcmp(sealed[i].got, sealed[i].right,
			   sealed[i].out.iov_len))
			return false;
	return true;
}

/* Through the queue as a burst, every op exactly once. False if not right. */
static bool run_sealed(struct afb_queue *queue, struct afb_session *session,
		       unsigned count)
{
	struct afb_op *done[SEALED_MAX];
	unsigned sent = 0, ended = 0;
	int got;

	prepare_sealed(session, count);
	while (ended < count) {
		sent += afb_submit(queue, sealed_ops + sent, count - sent);
		got = afb_reap(queue, done, SEALED_MAX, sent - ended, NULL);
		if (got <= 0)
			return false;
		ended += got;
	}
	return afb_reap(queue, done, 1, 0, NULL) == 0 &&
	       sealed_are_right(count);
}

static void expect_by_aio(struct afb_queue *queue, unsigned count)
{
	struct afb_counters counters = counters_of(queue);

	cr_assert_eq(counters.messages[AFB_BACKEND_AUTO], count);
	cr_assert_eq(counters.messages[AFB_BACKEND_AIO], count);
}

/* ---- Contexts and submissions that fall short --------------------------- */

Test(queue_aio, context_for_4_requests_completes_64_in_flight)
{
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue;

	aio.setup_max = 4;
	queue = aio_queue(64);
	cr_assert_eq(aio.contexts, 1);
	cr_assert(run_sealed(queue, session, 64));
	expect_by_aio(queue, 64);
	cr_assert_eq(counters_of(queue).in_flight_max, 64);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* The kernel rounds a small context up, to 126 requests or so. */
Test(queue_aio, context_that_is_full_takes_the_rest_in_turns)
{
	struct rlimit files = { 4 * SEALED_MAX, 4 * SEALED_MAX };
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	aio.setup_max = 4;
	queue = aio_queue(SEALED_MAX);
	cr_assert(run_sealed(queue, session, SEALED_MAX));
	expect_by_aio(queue, SEALED_MAX);
	cr_assert_eq(counters_of(queue).in_flight_max, SEALED_MAX);
	cr_assert_gt(aio.submits, 4);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_aio, short_io_submit_drops_no_request)
{
	static const int errors[] = { 0, EAGAIN, EINTR };
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue;
	unsigned i;
	int most;

	for (most = 1; most < 64; most = most * 3 + 1) {
		for (i = 0; i < 3; i++) {
			aio.submit_max = most;
			aio.submit_error = errors[i];
			queue = aio_queue(64);
			cr_assert(run_sealed(queue, session, 64),
				  "%d at a time, %d", most, errors[i]);
			expect_by_aio(queue, 64);
			afb_queue_close(queue);
		}
	}
	afb_session_close(session);
}

Test(queue_aio, refused_io_submit_is_made_up_for_by_blocking_reads)
{
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue = aio_queue(64);

	aio.submit_max = 1;
	aio.submit_error = EPERM;
	cr_assert(run_sealed(queue, session, 64));
	expect_by_aio(queue, 64);
	afb_queue_close(queue);
	afb_session_close(session);
}

static void expect_blocking_calls(int error)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = session_of("sha256");
	struct afb_counters counters;
	struct message messages[8];
	struct afb_queue *queue;
	unsigned i;

	params.backend = AFB_BACKEND_AIO;
	for (i = 0; i < 8; i++)
		prepare(&messages[i], session, "abcdefg", i);
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	cr_assert_eq(afb_queue_backend(queue), AFB_BACKEND_SYNC);
	run(queue, messages, 8);
	for (i = 0; i < 8; i++)
		expect_reference(&messages[i], "sha256");
	counters = counters_of(queue);
	if (kernel_expected()) {
		cr_assert_eq(counters.messages[AFB_BACKEND_SYNC], 8);
		cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_AIO], 8);
	}
	afb_queue_close(queue);
	params.flags = AFB_STRICT;
	cr_assert_eq(afb_queue_open(&queue, &params), -error);
	afb_session_close(session);
}

Test(queue_aio, missing_io_setup_falls_back_to_blocking_calls)
{
	deny_aio(ENOSYS);
	expect_blocking_calls(ENOSYS);
}

Test(queue_aio, denied_io_setup_falls_back_to_blocking_calls)
{
	deny_aio(EPERM);
	expect_blocking_calls(EPERM);
}

Test(queue_aio, exhausted_io_setup_falls_back_to_blocking_calls)
{
	deny_aio(EAGAIN);
	expect_blocking_calls(EAGAIN);
}

Test(queue_aio, without_uring_and_aio_the_first_reason_is_told)
{
	struct afb_session *session;
	struct afb_counters counters;
	struct afb_queue *queue;
	struct message message;

	deny_io_uring(EPERM);
	deny_aio(ENOSYS);
	session = session_of("sha256");
	cr_assert_eq(afb_queue_open(&queue, NULL), 0);
	cr_assert_eq(afb_queue_backend(queue),
		     kernel_expected() ? AFB_BACKEND_SYNC : AFB_BACKEND_SOFT);
	prepare(&message, session, "abc", 3);
	run(queue, &message, 1);
	expect_reference(&message, "sha256");
	counters = counters_of(queue);
	if (kernel_expected())
		cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_IO_URING], 1);
	cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_AIO], 0);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* ---- Waiting ------------------------------------------------------------ */

static void ignore_signal(int number)
{
	(void)number;
}

Test(queue_aio, signals_at_1_khz_lose_no_result, .timeout = 100)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue = aio_queue(128);
	unsigned i;

	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (i = 0; i < 30; i++)
		cr_assert(run_sealed(queue, session, 256));
	expect_by_aio(queue, 30 * 256);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_aio, counters_tell_each_call_that_was_made)
{
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue = aio_queue(128);
	unsigned i;

	for (i = 0; i < 5; i++)
		cr_assert(run_sealed(queue, session, 512));
	cr_log_info("%u io_submit and %u io_getevents of %u messages",
		    aio.submits, aio.collects, 5 * 512);
	/* With those: an accept for each lane, a send for each message. */
	cr_assert_eq(counters_of(queue).system_calls,
		     128 + 5 * 512 + aio.submits + aio.collects);
	cr_assert_eq(counters_of(queue).waits, aio.collects);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_aio, descriptor_asked_for_in_flight_tells_of_every_result)
{
	struct afb_session *session = pcrypt_session();
	struct pollfd poll_fd = { .events = POLLIN };
	struct afb_op *done[SEALED_MAX];
	unsigned round, ended;
	struct afb_queue *queue;
	int got;

	for (round = 0; round < 20; round++) {
		queue = aio_queue(256);
		/* The second half is staged, but not submitted yet. */
		aio.submit_max = 64;
		aio.submit_error = round % 2 ? EAGAIN : 0;
		prepare_sealed(session, 256);
		cr_assert_eq(afb_submit(queue, sealed_ops, 256), 256);
		cr_assert_eq(afb_flush(queue), 0);
		poll_fd.fd = afb_queue_fd(queue);
		cr_assert_geq(poll_fd.fd, 0);
		for (ended = 0; ended < 256; ended += got) {
			cr_assert_eq(poll(&poll_fd, 1, 10000), 1);
			got = afb_reap(queue, done, SEALED_MAX, 0, NULL);
			cr_assert_geq(got, 0);
		}
		cr_assert(sealed_are_right(256));
		afb_queue_close(queue);
	}
	afb_session_close(session);
}

/* ---- Descriptors, processes, sessions ----------------------------------- */

Test(queue_aio, lanes_take_a_quarter_of_the_files_at_most)
{
	struct rlimit files = { 64, 64 };
	struct afb_session *session;
	struct afb_queue *queue;
	int before;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	session = pcrypt_session();
	queue = aio_queue(SEALED_MAX);
	before = open_fds();
	cr_assert(run_sealed(queue, session, SEALED_MAX));
	cr_assert_eq(counters_of(queue).in_flight_max, 16);
	cr_assert_leq(open_fds(), before + 16);
	expect_by_aio(queue, SEALED_MAX);
	afb_queue_close(queue);
	cr_assert_eq(open_fds(), before);
	afb_session_close(session);
}

Test(queue_aio, one_allowed_file_is_enough)
{
	struct afb_session *session = pcrypt_session();
	struct rlimit files = { open_fds() + 3, 1024 };
	struct afb_queue *queue;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	queue = aio_queue(64);
	cr_assert(run_sealed(queue, session, 64));
	expect_by_aio(queue, 64);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_aio, fork_in_flight_leaves_each_its_own, .timeout = 60)
{
	struct afb_session *session = pcrypt_session();
	struct afb_queue *queue = aio_queue(128);
	struct afb_op *done[SEALED_MAX];
	unsigned round;
	int status;
	pid_t child;

	for (round = 0; round < 5; round++) {
		prepare_sealed(session, 128);
		cr_assert_eq(afb_submit(queue, sealed_ops, 128), 128);
		cr_assert_eq(afb_flush(queue), 0);
		child = fork();
		if (!child)
			_exit(run_sealed(queue, session, 200) ? 0 : 1);
		cr_assert_eq(afb_reap(queue, done, SEALED_MAX, 128, NULL), 128);
		cr_assert(sealed_are_right(128));
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0);
	}
	cr_assert(run_sealed(queue, session, 128));
	expect_by_aio(queue, 6 * 128);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_aio, session_for_aio_streams_by_blocking_calls_as_it_should)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	uint8_t digest[AFB_DIGEST_MAX], right[AFB_DIGEST_MAX];
	struct afb_counters counters = AFB_COUNTERS;
	struct afb_session *session;
	struct afb_queue *queue = aio_queue(4);
	struct afb_stream *stream;
	struct message message;

	if (!kernel_expected())
		cr_skip_test("strict sessions need a kernel");
	params.backend = AFB_BACKEND_AIO;
	params.flags = AFB_STRICT;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "sha256", &params),
		     0);
	cr_assert_eq(afb_session_backend(session), AFB_BACKEND_SYNC);
	cr_assert_eq(afb_session_fallback(session), AFB_FALLBACK_NONE);
	prepare(&message, session, "abc", 3);
	run(queue, &message, 1);
	expect_reference(&message, "sha256");
	expect_by_aio(queue, 1);

	cr_assert_eq(afb_stream_open(&stream, session), 0);
	cr_assert_eq(afb_stream_update(stream, "abc", 3), 0);
	cr_assert_eq(afb_stream_final(stream, digest, sizeof(digest)), 32);
	reference_digest("sha256", "abc", 3, right);
	cr_assert_arr_eq(digest, right, 32);
	afb_stream_close(stream);
	cr_assert_eq(afb_counters_get(&counters), 0);
	cr_assert_eq(counters.messages[AFB_BACKEND_SYNC], 1);
	cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_AIO], 0);
	cr_assert_eq(counters.fallbacks[AFB_FALLBACK_NO_IO_URING], 0);
	afb_queue_close(queue);
	afb_session_close(session);
}
