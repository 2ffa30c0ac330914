/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_digest.c - digests of the provider equal those of OpenSSL's default
 * provider, whatever the length, the pieces, and the order of calls. D1 to D8
 * are cases that other projects' users met.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>
#include <openssl/err.h>

#include "evp.h"

#define MIB ((size_t)1 << 20)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const size_t lengths[] = {
	0, 1, 55, 56, 63, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537, MIB + 1
};
static const size_t chunks[] = { WHOLE, 1, 63, 64, 65, 4096, 65537 };

/* The pieces meet the same code whatever the digest: one stands for all. */
static bool stands_for_all(const struct pair *pair)
{
	return EVP_MD_is_a(pair->ours, "SHA256");
}

/* The longest message that is fed byte by byte. */
static size_t pieces_max(const struct pair *pair)
{
	return stands_for_all(pair) ? 65537 : 4097;
}

static void expect_every_chunk_size(const struct pair *pair,
				    const unsigned char *data, size_t len)
{
	struct digest want;
	size_t c;

	cr_assert(digest_chunks(&want, pair->theirs, data, len, WHOLE));
	for (c = 0; c < COUNT(chunks); c++)
		if (chunks[c] != 1 || len <= pieces_max(pair))
			expect_digest(&want, pair, data, len, chunks[c]);
}

/* D8 among them */
Test(digest, every_length_in_every_chunk_size, .timeout = 300)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(MIB + 1);
	size_t i, l;

	for (i = 0; i < pairs->count; i++)
		for (l = 0; l < COUNT(lengths); l++)
			expect_every_chunk_size(&pairs->pair[i], data,
						lengths[l]);
	free(data);
	pairs_close(pairs);
}

/*
 * A gigabyte per digest would take an emulated kernel many minutes: one digest
 * in every chunk size, and 8 MiB of the others in the two extremes.
 */
Test(digest, sixty_four_mib_in_every_chunk_size, .timeout = 1800)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(64 * MIB);
	struct digest want;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->pair[i];

		if (stands_for_all(pair)) {
			expect_every_chunk_size(pair, data, 64 * MIB);
			continue;
		}
		cr_assert(digest_chunks(&want, pair->theirs, data, 8 * MIB,
					WHOLE));
		expect_digest(&want, pair, data, 8 * MIB, WHOLE);
		expect_digest(&want, pair, data, 8 * MIB, 4096);
	}
	free(data);
	pairs_close(pairs);
}

/* Pieces whose sizes and alignments follow no pattern. */
Test(digest, irregular_unaligned_pieces, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t len = 5 * MIB + 13, i, done, n;
	unsigned char *data = test_data(len);
	unsigned round;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		for (done = 0, round = 0; done < len; done += n, round++) {
			n = 1 + data[done] * (round % 7 ? 37 : 9001);
			if (n > len - done)
				n = len - done;
			update(ctx, data + done, n);
		}
		expect_final(ctx, &pairs->pair[i], data, len);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* The caller's buffer is free for other use as soon as update returns. */
Test(digest, buffer_may_change_after_update, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t piece = 300 * 1000, len = 16 * piece, i, done;
	unsigned char *data = test_data(len);
	unsigned char *buf = malloc(piece);

	cr_assert_not_null(buf);
	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		for (done = 0; done < len; done += piece) {
			memcpy(buf, data + done, piece);
			update(ctx, buf, piece);
			memset(buf, 0xa5, piece);
		}
		expect_final(ctx, &pairs->pair[i], data, len);
		EVP_MD_CTX_free(ctx);
	}
	free(buf);
	free(data);
	pairs_close(pairs);
}

/* D1 */
Test(digest, empty_update_is_accepted)
{
	struct pairs *pairs = pairs_open();
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		cr_assert_eq(EVP_DigestUpdate(ctx, NULL, 0), 1);
		cr_assert_eq(EVP_DigestUpdate(ctx, "", 0), 1);
		expect_final(ctx, &pairs->pair[i], "", 0);
		EVP_MD_CTX_free(ctx);
	}
	pairs_close(pairs);
}

Test(digest, empty_updates_between_data_change_nothing, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t len = 2 * MIB + 7, half = MIB + 3, i;
	unsigned char *data = test_data(len);

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		update(ctx, NULL, 0);
		update(ctx, data, half);
		update(ctx, NULL, 0);
		update(ctx, data + half, len - half);
		update(ctx, NULL, 0);
		expect_final(ctx, &pairs->pair[i], data, len);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* D3 */
Test(digest, final_without_update_is_the_empty_digest)
{
	struct pairs *pairs = pairs_open();
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		expect_final(ctx, &pairs->pair[i], "", 0);
		EVP_MD_CTX_free(ctx);
	}
	pairs_close(pairs);
}

/* D3 */
Test(digest, unused_context_can_be_copied_and_freed)
{
	struct pairs *pairs = pairs_open();
	EVP_MD_CTX *ctx, *copy;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		ctx = begin(pairs->pair[i].ours);
		copy = dup_ctx(ctx);
		EVP_MD_CTX_free(ctx);
		update(copy, "abc", 3);
		expect_final(copy, &pairs->pair[i], "abc", 3);
		EVP_MD_CTX_free(copy);

		ctx = begin(pairs->pair[i].ours);
		copy = dup_ctx(ctx);
		EVP_MD_CTX_free(copy);
		EVP_MD_CTX_free(ctx);
	}
	pairs_close(pairs);
}

/* D4 */
Test(digest, update_without_init_is_refused)
{
	struct evp ours = evp_open(OURS);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	cr_assert_not_null(ctx);
	cr_assert_eq(EVP_DigestUpdate(ctx, "a", 1), 0);
	EVP_MD_CTX_free(ctx);
	evp_close(&ours);
}

/* D5 */
Test(digest, init_after_final_begins_a_new_message)
{
	struct pairs *pairs = pairs_open();
	struct digest d;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		update(ctx, "xyz", 3);
		cr_assert(EVP_DigestFinal_ex(ctx, d.bytes, &d.len));
		cr_assert(EVP_DigestInit_ex(ctx, NULL, NULL));
		update(ctx, "abc", 3);
		expect_final(ctx, &pairs->pair[i], "abc", 3);
		EVP_MD_CTX_free(ctx);
	}
	pairs_close(pairs);
}

/* D5: what they return is open, but they must return, and init must help. */
Test(digest, update_and_final_after_final_do_no_harm, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	struct digest d;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		cr_assert(EVP_DigestFinal_ex(ctx, d.bytes, &d.len));
		EVP_DigestFinal_ex(ctx, d.bytes, &d.len);
		EVP_DigestUpdate(ctx, data, 2 * MIB);
		EVP_DigestUpdate(ctx, "a", 1);
		EVP_DigestFinal_ex(ctx, d.bytes, &d.len);
		ERR_clear_error();
		cr_assert(EVP_DigestInit_ex2(ctx, pairs->pair[i].ours, NULL));
		update(ctx, data, 2 * MIB);
		expect_final(ctx, &pairs->pair[i], data, 2 * MIB);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

Test(digest, init_in_mid_stream_forgets_what_came_before, .timeout = 60)
{
	static const size_t before[] = { 1, 64, 4097, MIB + 1, 3 * MIB };
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(3 * MIB);
	size_t i, b;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		for (b = 0; b < COUNT(before); b++) {
			update(ctx, data, before[b]);
			cr_assert(EVP_DigestInit_ex(ctx, NULL, NULL));
			update(ctx, data + 1, 2 * MIB);
			expect_final(ctx, &pairs->pair[i], data + 1, 2 * MIB);
			cr_assert(EVP_DigestInit_ex(ctx, NULL, NULL));
		}
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* One EVP_MD_CTX for all algorithms in turn. */
Test(digest, context_can_change_its_algorithm, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(MIB + 1);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t i;

	cr_assert_not_null(ctx);
	for (i = 0; i < 3 * pairs->count; i++) {
		const struct pair *p = &pairs->pair[i % pairs->count];
		size_t len = i % 2 ? MIB + 1 : 100;

		cr_assert(EVP_DigestInit_ex2(ctx, p->ours, NULL));
		update(ctx, data, len);
		expect_final(ctx, p, data, len);
	}
	EVP_MD_CTX_free(ctx);
	free(data);
	pairs_close(pairs);
}

/* D6 */
static void expect_zeros(const struct pair *pair, size_t len,
			 const char *prefix)
{
	struct digest got;
	void *zeros;

	zeros = mmap(NULL, len, PROT_READ,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	cr_assert_neq(zeros, MAP_FAILED);
	cr_assert(digest_chunks(&got, pair->ours, zeros, len, WHOLE), "%s",
		  error_text());
	cr_assert_eq(strncmp(digest_hex(&got), prefix, strlen(prefix)), 0,
		     "%zu zeros: %s", len, digest_hex(&got));
	munmap(zeros, len);
}

/* In one update each. MD5's are what md5sum(1) prints. */
static const struct {
	const char *name;
	size_t len;
	const char *prefix;
} zeros_known[] = {
	{ "SHA256", (size_t)1 << 31, "a7c744c13cc101ed" },
	{ "SHA256", ((size_t)1 << 32) + 1, "fbb82f7b353676bb" },
	{ "MD5", (size_t)1 << 31, "a981130cf2b7e09f" },
	{ "MD5", ((size_t)1 << 32) + 1, "f18c798ff5d450df" },
};

Test(digest, one_update_beyond_two_and_four_gib, .timeout = 3600)
{
	/* An emulated machine takes five times as long for SHA-256. */
	const char *name = getenv("AFALGBATCH_EXPECT_KERNEL") ? "MD5" :
								"SHA256";
	struct pairs *pairs;
	unsigned tried = 0;
	size_t i, k;

	if (!getenv("TEST_SLOW"))
		cr_skip_test("minutes in a VM; TEST_SLOW=1 runs it");
	pairs = pairs_open();
	for (i = 0; i < pairs->count; i++) {
		if (!EVP_MD_is_a(pairs->pair[i].ours, name))
			continue;
		for (k = 0; k < sizeof(zeros_known) / sizeof(zeros_known[0]);
		     k++) {
			if (strcmp(zeros_known[k].name, name))
				continue;
			expect_zeros(&pairs->pair[i], zeros_known[k].len,
				     zeros_known[k].prefix);
			tried++;
		}
	}
	cr_assert_eq(tried, 2U);
	pairs_close(pairs);
}

/* D7 */
Test(digest, same_context_gives_the_same_digest_three_times, .timeout = 60)
{
	static const size_t sizes[] = { 3, 4097, 2 * MIB + 1 };
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB + 1);
	size_t i, s;
	int round;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = EVP_MD_CTX_new();

		for (s = 0; s < COUNT(sizes); s++) {
			for (round = 0; round < 3; round++) {
				cr_assert(EVP_DigestInit_ex2(
					ctx, pairs->pair[i].ours, NULL));
				update(ctx, data, sizes[s]);
				expect_final(ctx, &pairs->pair[i], data,
					     sizes[s]);
			}
		}
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* ---- dup ---- */

static const size_t offsets[] = { 0,   1,	63,	    64,
				  65,  4097,	65536,	    MIB - 1,
				  MIB, MIB + 1, 3 * MIB + 5 };

/* Both halves go on, with different data, in both orders of ending. */
Test(digest, dup_mid_stream_keeps_both_halves, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t tail = MIB + 11, len = 3 * MIB + 5 + tail, i, o;
	unsigned char *data = test_data(len);
	unsigned char *other = malloc(len);

	cr_assert_not_null(other);
	for (i = 0; i < pairs->count; i++) {
		for (o = 0; o < COUNT(offsets); o++) {
			size_t at = offsets[o];
			EVP_MD_CTX *ctx = begin(pairs->pair[i].ours), *copy;

			memcpy(other, data, at);
			memset(other + at, (int)o, tail);

			update(ctx, data, at);
			copy = dup_ctx(ctx);
			update(copy, other + at, tail / 2);
			update(ctx, data + at, tail);
			update(copy, other + at + tail / 2, tail - tail / 2);
			if (o % 2) {
				expect_final(ctx, &pairs->pair[i], data,
					     at + tail);
				EVP_MD_CTX_free(ctx);
			}
			expect_final(copy, &pairs->pair[i], other, at + tail);
			EVP_MD_CTX_free(copy);
			if (!(o % 2)) {
				expect_final(ctx, &pairs->pair[i], data,
					     at + tail);
				EVP_MD_CTX_free(ctx);
			}
		}
	}
	free(other);
	free(data);
	pairs_close(pairs);
}

/* The digest so far, as TLS takes it from a running handshake hash. */
Test(digest, dup_and_final_leaves_the_original_running, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t len = 3 * MIB + 5, i, o, at;
	unsigned char *data = test_data(len);

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours), *copy;

		for (o = 0, at = 0; o < COUNT(offsets); o++) {
			update(ctx, data + at, offsets[o] - at);
			at = offsets[o];
			copy = dup_ctx(ctx);
			expect_final(copy, &pairs->pair[i], data, at);
			EVP_MD_CTX_free(copy);
		}
		expect_final(ctx, &pairs->pair[i], data, at);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

Test(digest, dup_after_final_can_begin_anew, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	struct digest d;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours), *copy;

		update(ctx, data, 2 * MIB);
		cr_assert(EVP_DigestFinal_ex(ctx, d.bytes, &d.len));
		copy = dup_ctx(ctx);
		EVP_MD_CTX_free(ctx);
		cr_assert(EVP_DigestInit_ex(copy, NULL, NULL));
		update(copy, data, 2 * MIB);
		expect_final(copy, &pairs->pair[i], data, 2 * MIB);
		EVP_MD_CTX_free(copy);
	}
	free(data);
	pairs_close(pairs);
}

/* Each link copies the last, adds a piece, and frees what it came from. */
Test(digest, dup_chain_keeps_the_whole_message, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t piece = 40 * 1000 + 1, links = 40, i, l;
	unsigned char *data = test_data(piece * links);

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours), *copy;

		for (l = 0; l < links; l++) {
			update(ctx, data + l * piece, piece);
			copy = dup_ctx(ctx);
			EVP_MD_CTX_free(ctx);
			ctx = copy;
		}
		expect_final(ctx, &pairs->pair[i], data, piece * links);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* Copying onto a context in use drops what that one had. */
Test(digest, copy_over_a_running_context_replaces_it, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	size_t len = 2 * MIB + 3, i;
	unsigned char *data = test_data(len);

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *from = begin(pairs->pair[i].ours);
		EVP_MD_CTX *to = begin(pairs->pair[i].ours);

		update(to, data, len);
		update(from, data, len - 5);
		cr_assert(EVP_MD_CTX_copy_ex(to, from), "%s", error_text());
		update(to, data + len - 5, 5);
		expect_final(to, &pairs->pair[i], data, len);
		expect_final(from, &pairs->pair[i], data, len - 5);
		EVP_MD_CTX_free(from);
		EVP_MD_CTX_free(to);
	}
	free(data);
	pairs_close(pairs);
}

/* ---- several at once ---- */

Test(digest, two_interleaved_contexts_do_not_mix, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t len = 8 * MIB + 1, piece = 123457, i, done, n;
	unsigned char *a = test_data(len);
	unsigned char *b = malloc(len);

	cr_assert_not_null(b);
	memset(b, 0x3c, len);
	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx_a = begin(pairs->pair[i].ours);
		EVP_MD_CTX *ctx_b = begin(pairs->pair[i].ours);

		for (done = 0; done < len; done += n) {
			n = len - done < piece ? len - done : piece;
			update(ctx_a, a + done, n);
			update(ctx_b, b + done, n);
		}
		expect_final(ctx_a, &pairs->pair[i], a, len);
		expect_final(ctx_b, &pairs->pair[i], b, len);
		EVP_MD_CTX_free(ctx_a);
		EVP_MD_CTX_free(ctx_b);
	}
	free(a);
	free(b);
	pairs_close(pairs);
}

#define MANY 64

/* More contexts than any pool of op sockets is likely to be prepared for. */
Test(digest, sixty_four_contexts_of_all_digests_at_once, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t piece = 50 * 1000, rounds = 7, len = rounds * piece, i, r;
	unsigned char *data = test_data(len + MANY);
	EVP_MD_CTX *ctx[MANY];

	for (i = 0; i < MANY; i++)
		ctx[i] = begin(pairs->pair[i % pairs->count].ours);
	for (r = 0; r < rounds; r++)
		for (i = 0; i < MANY; i++)
			update(ctx[i], data + i + r * piece, piece);
	for (i = 0; i < MANY; i++) {
		expect_final(ctx[i], &pairs->pair[i % pairs->count], data + i,
			     len);
		EVP_MD_CTX_free(ctx[i]);
	}
	free(data);
	pairs_close(pairs);
}

Test(digest, abandoned_contexts_leave_no_descriptor_behind, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	size_t i;
	int round, fds = 0;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < pairs->count; i++) {
			EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

			update(ctx, data, round % 10 ? 1000 : 2 * MIB);
			EVP_MD_CTX_free(ctx);
		}
		if (round == 10)
			fds = open_fds();
	}
	cr_assert_leq(open_fds(), fds);
	free(data);
	pairs_close(pairs);
}
