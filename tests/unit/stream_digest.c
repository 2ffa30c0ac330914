/* SPDX-License-Identifier: Apache-2.0 */
/* stream_digest.c - long digests in pieces, copied, moved and abandoned. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference.h"

/* Long enough to be in the kernel with several buffers. */
#define LONG ((size_t)1000001)

static uint8_t *data;
static struct afb_session *session;

static void set_up(void)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	const char *name = getenv("TEST_BACKEND");

	if (name)
		params.backend = afb_backend_from_name(name);
	data = malloc(LONG);
	reference_fill(data, LONG, 8);
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "sha256", &params),
		     0);
}

static void tear_down(void)
{
	afb_session_close(session);
	free(data);
}

TestSuite(stream_digest, .init = set_up, .fini = tear_down);

static struct afb_stream *stream_new(void)
{
	struct afb_stream *stream;

	cr_assert_eq(afb_stream_open(&stream, session), 0);
	return stream;
}

static void feed(struct afb_stream *stream, size_t from, size_t to,
		 size_t chunk)
{
	size_t part;

	for (; from < to; from += part) {
		part = to - from < chunk ? to - from : chunk;
		cr_assert_eq(afb_stream_update(stream, data + from, part), 0);
	}
}

static void expect_final(struct afb_stream *stream, size_t len)
{
	uint8_t right[AFB_DIGEST_MAX], digest[AFB_DIGEST_MAX];
	size_t size = reference_digest("sha256", data, len, right);

	cr_assert_eq(afb_stream_final(stream, digest, sizeof(digest)),
		     (ssize_t)size);
	cr_assert_arr_eq(digest, right, size);
}

Test(stream_digest, any_chunking_equals_the_reference)
{
	static const size_t lengths[] = { 0,	  1,	  511,	  512,
					  513,	  131071, 131072, 131073,
					  262143, 262144, 262145, LONG };
	static const size_t chunks[] = { 61, 512, 4096, 65537, 131072, LONG };
	struct afb_stream *stream = stream_new();
	unsigned i, k;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (k = 0; k < sizeof(chunks) / sizeof(chunks[0]); k++) {
			afb_stream_reset(stream);
			feed(stream, 0, lengths[i], chunks[k]);
			expect_final(stream, lengths[i]);
		}
	}
	afb_stream_close(stream);
}

Test(stream_digest, small_updates_cost_no_system_call_each)
{
	struct afb_counters before = AFB_COUNTERS, after = AFB_COUNTERS;
	struct afb_stream *stream = stream_new();

	cr_assert_eq(afb_counters_get(&before), 0);
	feed(stream, 0, LONG, 16);
	expect_final(stream, LONG);
	cr_assert_eq(afb_counters_get(&after), 0);
	/* 62,501 updates in 7 full buffers: a send and a wait for each. */
	cr_assert_leq(after.system_calls - before.system_calls, 40);
	cr_assert_eq(after.bytes - before.bytes, LONG);
	cr_assert_eq(after.messages[AFB_BACKEND_AUTO] -
			     before.messages[AFB_BACKEND_AUTO], 1);
	afb_stream_close(stream);
}

Test(stream_digest, dup_in_any_state_goes_its_own_way)
{
	static const size_t at[] = { 0, 1, 500, 131072, 131073, 400000, LONG };
	struct afb_stream *stream, *copy, *second;
	unsigned i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		stream = stream_new();
		feed(stream, 0, at[i], 10000);
		cr_assert_eq(afb_stream_dup(&copy, stream), 0);
		cr_assert_eq(afb_stream_dup(&second, copy), 0);
		feed(stream, at[i], LONG, 65537);
		expect_final(copy, at[i]);
		expect_final(stream, LONG);
		feed(second, at[i], LONG, 3000);
		afb_stream_close(stream);
		afb_stream_close(copy);
		expect_final(second, LONG);
		afb_stream_close(second);
	}
}

Test(stream_digest, two_streams_interleaved_do_not_mix)
{
	struct afb_stream *a = stream_new(), *b = stream_new();
	size_t i;

	for (i = 0; i < LONG; i += 9973) {
		size_t to = i + 9973 < LONG ? i + 9973 : LONG;

		feed(a, i, to, 9973);
		feed(b, i, to, 100);
	}
	expect_final(a, LONG);
	expect_final(b, LONG);
	afb_stream_close(a);
	afb_stream_close(b);
}

Test(stream_digest, final_twice_is_refused_and_reset_begins_anew)
{
	struct afb_stream *stream = stream_new(), *copy;
	uint8_t digest[AFB_DIGEST_MAX];
	int round;

	cr_assert_eq(afb_stream_final(stream, digest, 31), -EINVAL);
	for (round = 0; round < 3; round++) {
		feed(stream, 0, round * 300000, 4096);
		expect_final(stream, round * 300000);
		cr_assert_eq(afb_stream_final(stream, digest, 32), -EINVAL);
		cr_assert_eq(afb_stream_update(stream, data, 1), -EINVAL);
		cr_assert_eq(afb_stream_dup(&copy, stream), 0);
		cr_assert_eq(afb_stream_final(copy, digest, 32), -EINVAL);
		afb_stream_close(copy);
		afb_stream_reset(stream);
	}
	feed(stream, 0, LONG, 4096);
	afb_stream_reset(stream);
	expect_final(stream, 0);
	afb_stream_close(stream);
	afb_stream_close(NULL);
}

Test(stream_digest, abandoned_in_any_state_leaves_no_descriptor)
{
	struct afb_stream *streams[40];
	int before, i;

	streams[0] = stream_new();
	feed(streams[0], 0, LONG, 4096);
	expect_final(streams[0], LONG);
	afb_stream_close(streams[0]);
	before = open_fds();
	for (i = 0; i < 40; i++) {
		streams[i] = stream_new();
		feed(streams[i], 0, i * 20000, 5000);
	}
	for (i = 0; i < 40; i++)
		afb_stream_close(streams[i]);
	cr_assert_leq(open_fds(), before);
}

struct relay {
	struct afb_stream *stream;
	size_t from, to;
};

static void *feed_part(void *arg)
{
	struct relay *relay = arg;

	feed(relay->stream, relay->from, relay->to, 5000);
	return NULL;
}

Test(stream_digest, each_part_from_another_thread_that_exits)
{
	struct afb_stream *stream = stream_new();
	struct relay relay = { .stream = stream };
	pthread_t thread;

	/* Steps that leave a send under way as the thread exits. */
	for (; relay.from < LONG; relay.from = relay.to) {
		relay.to = relay.from + 132000 < LONG ? relay.from + 132000 :
							LONG;
		cr_assert_eq(pthread_create(&thread, NULL, feed_part, &relay),
			     0);
		pthread_join(thread, NULL);
	}
	expect_final(stream, LONG);
	afb_stream_close(stream);
}

Test(stream_digest, no_descriptor_left_means_software_with_nothing_lost)
{
	struct afb_counters before = AFB_COUNTERS, after = AFB_COUNTERS;
	struct rlimit limit = { 32, 32 };
	struct afb_stream *stream;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	stream = stream_new();
	afb_counters_get(&before);
	feed(stream, 0, LONG, 70000);
	expect_final(stream, LONG);
	afb_stream_reset(stream);
	feed(stream, 0, 100, 100);
	expect_final(stream, 100);
	afb_counters_get(&after);
	if (kernel_expected() &&
	    afb_session_backend(session) != AFB_BACKEND_SOFT)
		cr_assert_eq(after.fallbacks[AFB_FALLBACK_NO_RESOURCES] -
				     before.fallbacks[AFB_FALLBACK_NO_RESOURCES],
			     2);
	afb_stream_close(stream);
}

static int child_goes_on(struct afb_stream *stream, size_t at)
{
	uint8_t right[AFB_DIGEST_MAX], digest[AFB_DIGEST_MAX];
	int ret = afb_stream_update(stream, data + at, LONG - at);

	if (ret)
		return ret;
	ret = afb_stream_final(stream, digest, sizeof(digest));
	if (ret < 0)
		return ret;
	reference_digest("sha256", data, LONG, right);
	return memcmp(digest, right, 32) ? -EBADMSG : 0;
}

static int in_child(struct afb_stream *stream, size_t at)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(-child_goes_on(stream, at));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

Test(stream_digest, forked_child_goes_on_or_says_stale_and_spares_the_parent)
{
	static const size_t at[] = { 0, 100, 131072, 131073, 400000 };
	struct afb_stream *stream;
	unsigned i;
	int ret;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		stream = stream_new();
		feed(stream, 0, at[i], 10000);
		ret = in_child(stream, at[i]);
		if (at[i] <= 131072 ||
		    afb_session_backend(session) == AFB_BACKEND_SOFT)
			cr_assert_eq(ret, 0, "at %zu: %d", at[i], ret);
		else
			cr_assert_eq(ret, -ESTALE, "at %zu: %d", at[i], ret);
		feed(stream, at[i], LONG, 10000);
		expect_final(stream, LONG);
		afb_stream_close(stream);
	}
}

Test(stream_digest, without_io_uring_blocking_calls_do_the_same)
{
	struct afb_stream *stream, *copy;

	deny_io_uring(EPERM);
	stream = stream_new();
	feed(stream, 0, 300000, 4096);
	cr_assert_eq(afb_stream_dup(&copy, stream), 0);
	feed(stream, 300000, LONG, 4096);
	expect_final(stream, LONG);
	feed(copy, 300000, LONG, 65536);
	expect_final(copy, LONG);
	afb_stream_close(stream);
	afb_stream_close(copy);
}
