/* SPDX-License-Identifier: Apache-2.0 */
/* queue_random.c - random bytes: every byte of the buffer, or an error. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "messages.h"

#define SIZE_MAX_TESTED 70000

static struct afb_session *generator(const char *name, const void *seed,
				     size_t len)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	params.backend = wanted_backend();
	params.key = seed;
	params.key_len = len;
	ret = afb_session_open(&session, AFB_RNG, name, &params);
	cr_assert_eq(ret, 0, "%s: %d", name, ret);
	return session;
}

static ssize_t fill(struct afb_queue *queue, struct afb_session *session,
		    const struct iovec *out, unsigned count)
{
	/* What is not needed is not looked at. */
	struct afb_op op = { .session = session,
			     .out = out,
			     .out_cnt = count,
			     .in = (void *)16,
			     .in_cnt = 9,
			     .kind = 77,
			     .aad_len = 5 };
	struct afb_op *ended = &op;

	cr_assert_eq(afb_submit(queue, &ended, 1), 1);
	cr_assert_eq(afb_reap(queue, &ended, 1, 1, NULL), 1);
	return op.result;
}

/* By the chance of one in 2^64 it is wrong. */
static void expect_filled(struct afb_queue *queue, struct afb_session *session,
			  size_t len)
{
	static uint8_t data[SIZE_MAX_TESTED + 1];
	static bool changed[SIZE_MAX_TESTED];
	struct iovec out[3];
	unsigned round;
	size_t i;

	memset(changed, 0, sizeof(changed));
	for (round = 0; round < 12; round++) {
		memset(data, 0xee, sizeof(data));
		out[0] = (struct iovec){ data, len / 3 };
		out[1] = (struct iovec){ data, 0 };
		out[2] = (struct iovec){ data + len / 3, len - len / 3 };
		cr_assert_eq(fill(queue, session, out, 3), (ssize_t)len);
		for (i = 0; i < len; i++)
			changed[i] |= data[i] != 0xee;
		cr_assert_eq(data[len], 0xee);
	}
	for (i = 0; i < len; i++)
		cr_assert(changed[i], "byte %zu of %zu", i, len);
}

Test(queue_random, every_byte_is_filled_whatever_the_length, .timeout = 200)
{
	static const size_t lengths[] = {
		0, 1, 2, 127, 128, 129, 256, 1000, 4096, SIZE_MAX_TESTED
	};
	struct afb_session *session = generator("stdrng", NULL, 0);
	struct afb_queue *queue = queue_of(4);
	struct afb_counters counters = AFB_COUNTERS;
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		expect_filled(queue, session, lengths[i]);
	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	cr_assert_eq(counters.messages[AFB_BACKEND_AUTO], 120U);
	if (kernel_expected() && wanted_backend() != AFB_BACKEND_SOFT)
		cr_assert_eq(counters.messages[AFB_BACKEND_SOFT], 0U);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_random, software_alone_fills_as_well)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session = generator("stdrng", NULL, 0);
	struct afb_queue *queue;

	params.backend = AFB_BACKEND_SOFT;
	cr_assert_eq(afb_queue_open(&queue, &params), 0);
	expect_filled(queue, session, 1000);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_random, two_ops_and_two_sessions_never_give_the_same)
{
	struct afb_session *sessions[2];
	struct afb_queue *queue = queue_of(4);
	uint8_t data[4][16];
	struct iovec out;
	unsigned i, k;

	sessions[0] = generator("stdrng", "the same seed", 13);
	sessions[1] = generator("stdrng", "the same seed", 13);
	for (i = 0; i < 4; i++) {
		out = (struct iovec){ data[i], 16 };
		cr_assert_eq(fill(queue, sessions[i % 2], &out, 1), 16);
		for (k = 0; k < i; k++)
			cr_assert_arr_neq(data[i], data[k], 16);
	}
	afb_session_close(sessions[0]);
	afb_session_close(sessions[1]);
	afb_queue_close(queue);
}

Test(queue_random, denied_af_alg_is_filled_by_software)
{
	struct afb_session *session;
	struct afb_queue *queue;

	deny_af_alg(EPERM);
	session = generator("stdrng", NULL, 0);
	queue = queue_of(4);
	cr_assert_eq(afb_session_backend(session), AFB_BACKEND_SOFT);
	cr_assert_neq(afb_session_fallback(session), AFB_FALLBACK_NONE);
	expect_filled(queue, session, 300);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_random, generators_can_be_chosen_by_name)
{
	static const char *const names[] = { "jitterentropy_rng",
					     "drbg_nopr_ctr_aes256" };
	struct afb_session *session;
	struct afb_queue *queue = queue_of(4);
	unsigned i;

	if (!kernel_expected())
		cr_skip_test("no kernel generators here");
	for (i = 0; i < 2; i++) {
		session = generator(names[i], NULL, 0);
		expect_filled(queue, session, 130);
		afb_session_close(session);
	}
	afb_queue_close(queue);
}

Test(queue_random, refused_seeds_and_unknown_generators_are_errors)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session = NULL;
	struct afb_stream *stream;

	cr_assert_eq(afb_session_open(&session, AFB_RNG, "nonsense", NULL),
		     -ENOENT);
	params.tag_len = 16;
	cr_assert_eq(afb_session_open(&session, AFB_RNG, "stdrng", &params),
		     -EINVAL);
	/* X9.31 wants a seed of 48 bytes. */
	cr_assert_eq(afb_session_open(&session, AFB_RNG, "ansi_cprng", NULL),
		     kernel_expected() ? -EINVAL : -ENOENT);
	cr_assert_null(session);
	session = generator("stdrng", NULL, 0);
	cr_assert_eq(afb_stream_open(&stream, session), -EINVAL);
	afb_session_close(session);
}
