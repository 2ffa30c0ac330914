/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_quirks.c - what AF_ALG does otherwise than one would think, and others
 * have stumbled over: lengths it returns, IVs it shares, names it refuses, results
 * it never gives.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <time.h>

#include "sealed.h"

Test(kernel_quirks, sixty_four_gcm_in_flight_keep_each_its_own_iv)
{
	enum { COUNT = 64 };
	static struct sealed sealed[COUNT];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, kind, i;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		queue = queue_by(backend, COUNT);
		session = async_gcm_session(queue);
		for (kind = 0; kind < 8; kind++) {
			for (i = 0; i < COUNT; i++)
				seal(&sealed[i], session, kind % 2, i, 100);
			run_sealed(queue, sealed, COUNT);
			expect_sealed(sealed, COUNT);
		}
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

/* The kernel counts the AAD into an AEAD's result, and some kernels the room. */
Test(kernel_quirks, room_beyond_the_result_is_neither_counted_nor_written)
{
	static uint8_t room[SEALED_MAX + 100], untouched[SEALED_MAX + 100];
	static const size_t lengths[] = { 0, 1, 16, 100, SEALED_MAX };
	static struct sealed sealed;
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, i;
	size_t size;

	memset(untouched, 0xee, sizeof(untouched));
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		session = gcm_session("gcm(aes)", backend);
		queue = queue_by(backend, 1);
		for (i = 0; i < 10; i++) {
			seal(&sealed, session, i % 2, i, lengths[i / 2]);
			size = sealed.out.iov_len;
			memset(room, 0xee, sizeof(room));
			sealed.out = (struct iovec){ room, sizeof(room) };
			run_sealed(queue, &sealed, 1);
			cr_assert_eq(sealed.op.result, (ssize_t)size);
			cr_assert_arr_eq(room, sealed.right, size);
			cr_assert_arr_eq(room + size, untouched,
					 sizeof(room) - size);
		}
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

Test(kernel_quirks, digest_fills_no_more_of_a_page_than_its_size)
{
	static uint8_t page[4096], untouched[4096];
	struct afb_session *session = session_of("sha1");
	struct message message;
	struct afb_queue *queue;
	unsigned backend;

	memset(untouched, 0xee, sizeof(untouched));
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		queue = queue_by(backend, 1);
		memset(page, 0xee, sizeof(page));
		prepare(&message, session, "abc", 3);
		message.out = (struct iovec){ page, sizeof(page) };
		run(queue, &message, 1);
		cr_assert_eq(message.op.result, 20);
		memcpy(message.digest, page, 20);
		expect_reference(&message, "sha1");
		cr_assert_arr_eq(page + 20, untouched, sizeof(page) - 20);
		afb_queue_close(queue);
	}
	afb_session_close(session);
}

Test(kernel_quirks, lengths_about_the_longest_are_right)
{
	enum { MOST = AFB_CIPHER_MAX };
	static uint8_t text[MOST + 1], sealed[MOST + 1], opened[MOST + 1];
	struct iovec in, out;
	struct afb_op op, *ops[] = { &op }, *done[1];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend;
	int more;
	uint8_t iv[12] = { 0 };

	reference_fill(text, sizeof(text), 3);
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		session = gcm_session("gcm(aes)", backend);
		queue = queue_by(backend, 1);
		for (more = -1; more <= 1; more++) {
			size_t len = MOST - SEALED_TAG + more;
			ssize_t right = len + SEALED_TAG;

			in = (struct iovec){ text, len };
			out = (struct iovec){ sealed, sizeof(sealed) };
			op = (struct afb_op){ .session = session,
					      .in = &in,
					      .in_cnt = 1,
					      .out = &out,
					      .out_cnt = 1,
					      .iv = iv,
					      .iv_len = 12 };
			cr_assert_eq(afb_submit(queue, ops, 1), 1);
			cr_assert_eq(afb_reap(queue, done, 1, 1, NULL), 1);
			cr_assert_eq(op.result, right, "%d: %zd", more,
				     op.result);
			op.kind = AFB_DECRYPT;
			in = (struct iovec){ sealed, len + SEALED_TAG };
			out = (struct iovec){ opened, sizeof(opened) };
			cr_assert_eq(afb_submit(queue, ops, 1), 1);
			cr_assert_eq(afb_reap(queue, done, 1, 1, NULL), 1);
			cr_assert_eq(op.result, (ssize_t)len);
			cr_assert_arr_eq(opened, text, len);
		}
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

/* Kernels differ in what they say of them: ENOENT, EINVAL, ELIBBAD. */
Test(kernel_quirks, names_that_make_no_sense_are_not_offered, .timeout = 120)
{
	static const char *const names[] = {
		"no-such",     "sha256(",	 "sha256)",   "hmac()",
		"(aes)",       "cbc(aes",	 "cbc(aes))", "hmac(no-such)",
		"gcm(sha256)", "pcrypt(sha256)", " ",	      "sha256 ",
		"SHA256",      "%n%s",
	};
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session = NULL;
	unsigned i;
	int ret;

	params.key = "0123456789abcdef";
	params.key_len = 16;
	/* The kernel runs modprobe(8) for each, which is slow in a guest. */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ret = afb_session_open(&session, i % 3, names[i], &params);
		cr_assert_eq(ret, -ENOENT, "\"%s\" as type %u: %d", names[i],
			     i % 3, ret);
		cr_assert_null(session);
	}
}

Test(kernel_quirks, absent_algorithm_leaves_nothing_behind, .timeout = 60)
{
	struct afb_session *session = NULL;
	int before = open_fds(), i;

	for (i = 0; i < 8; i++) {
		cr_assert_neq(afb_session_open(&session, AFB_HASH, "no-such",
					       NULL),
			      0);
		afb_session_close(session);
	}
	cr_assert_eq(open_fds(), before);
}

/* ---- A kernel that never answers ---------------------------------------- */

static bool stuck;

/*
 * In liburing's place: while stuck, what is handed over stays where it is, which
 * the library cannot tell from a request that does not complete.
 */
int io_uring_submit_and_get_events(struct io_uring *ring)
{
	static int (*real)(struct io_uring * ring);

	if (stuck)
		return 0;
	if (!real)
		real = (int (*)(struct io_uring *))dlsym(RTLD_NEXT, __func__);
	return real(ring);
}

int io_uring_submit_and_wait_timeout(struct io_uring *ring,
				     struct io_uring_cqe **cqe, unsigned wait,
				     struct __kernel_timespec *limit,
				     sigset_t *signals)
{
	static int (*real)(struct io_uring *, struct io_uring_cqe **, unsigned,
			   struct __kernel_timespec *, sigset_t *);
	struct timespec time;

	if (stuck && limit) {
		time.tv_sec = limit->tv_sec;
		time.tv_nsec = limit->tv_nsec;
		nanosleep(&time, NULL);
		return -ETIME;
	}
	if (!real)
		real = (int (*)(struct io_uring *, struct io_uring_cqe **,
				unsigned, struct __kernel_timespec *,
				sigset_t *))dlsym(RTLD_NEXT, __func__);
	return real(ring, cqe, wait, limit, signals);
}

Test(kernel_quirks, op_that_does_not_end_costs_no_more_than_the_time_limit,
     .timeout = 60)
{
	enum { COUNT = 20 };
	static struct sealed sealed[COUNT];
	struct timespec limit = { .tv_nsec = 30000000 };
	struct afb_op *ops[COUNT], *done[COUNT];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned i;

	if (!kernel_expected())
		cr_skip_test("without a kernel nothing can be late");
	session = gcm_session("gcm(aes)", AFB_BACKEND_URING);
	queue = queue_by(AFB_BACKEND_URING, COUNT);
	for (i = 0; i < COUNT; i++) {
		seal(&sealed[i], session, i % 2, i, 50);
		ops[i] = &sealed[i].op;
	}
	stuck = true;
	cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
	cr_assert_eq(afb_flush(queue), 0);
	for (i = 0; i < 5; i++)
		cr_assert_eq(afb_reap(queue, done, COUNT, 1, &limit), 0);
	cr_assert_eq(afb_submit(queue, ops, 1), 0, "they are still lent");
	stuck = false;
	reap_sealed(queue, COUNT);
	expect_sealed(sealed, COUNT);
	afb_queue_close(queue);
	afb_session_close(session);
}
