/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_life.c - threads, loading and unloading, forks, and a process that
 * is out of file descriptors.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "evp.h"

#define MIB ((size_t)1 << 20)
#define THREADS 8

/* ---- threads: Criterion's assertions belong to the main thread ---- */

struct race {
	pthread_barrier_t start;
	OSSL_LIB_CTX *lib;
	const unsigned char *data;
	size_t len;
};

struct racer {
	pthread_t thread;
	struct race *race;
	const char *name;
	struct digest digest;
	bool ok;
};

static void *fetch_and_digest(void *arg)
{
	struct racer *me = arg;
	EVP_MD *md;

	pthread_barrier_wait(&me->race->start);
	md = EVP_MD_fetch(me->race->lib, me->name, NULL);
	me->ok = md && digest_chunks(&me->digest, md, me->race->data,
				     me->race->len, 70001);
	EVP_MD_free(md);
	return NULL;
}

static void run_race(OSSL_LIB_CTX *lib, const struct pairs *pairs,
		     const unsigned char *data, size_t len, size_t algorithms)
{
	struct race race = { .lib = lib, .data = data, .len = len };
	struct racer racers[THREADS];
	struct digest want;
	size_t i;

	pthread_barrier_init(&race.start, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		racers[i] = (struct racer){
			.race = &race,
			.name = pairs->pair[i % algorithms].name,
		};
		cr_assert_eq(pthread_create(&racers[i].thread, NULL,
					    fetch_and_digest, &racers[i]),
			     0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(racers[i].thread, NULL);
	pthread_barrier_destroy(&race.start);
	for (i = 0; i < THREADS; i++) {
		cr_assert(racers[i].ok, "thread %zu failed", i);
		cr_assert(digest_chunks(&want,
					pairs->pair[i % algorithms].theirs,
					data, len, WHOLE));
		cr_assert(digest_equal(&racers[i].digest, &want),
			  "thread %zu: wrong %s", i, racers[i].name);
	}
}

/* L12: first fetch and first use at the same moment, again and again. */
Test(life, threads_that_race_to_the_first_use_all_get_it_right, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t len = 200 * 1000;
	unsigned char *data = test_data(len);
	struct evp ours;
	int round;

	for (round = 0; round < 50; round++) {
		ours = evp_open(OURS);
		run_race(ours.lib, pairs, data, len,
			 round % 2 ? pairs->count : 1);
		evp_close(&ours);
	}
	free(data);
	pairs_close(pairs);
}

static void *load_and_digest(void *arg)
{
	struct racer *me = arg;
	OSSL_PROVIDER *ours;

	pthread_barrier_wait(&me->race->start);
	ours = OSSL_PROVIDER_load(me->race->lib, OURS);
	if (ours) {
		EVP_MD *md = EVP_MD_fetch(me->race->lib, me->name, NULL);

		me->ok = md && digest_chunks(&me->digest, md, me->race->data,
					     me->race->len, WHOLE);
		EVP_MD_free(md);
		OSSL_PROVIDER_unload(ours);
	}
	return NULL;
}

/* L12 */
Test(life, threads_may_load_the_provider_at_once, .timeout = 120)
{
	struct race race = { .data = (const unsigned char *)"abc", .len = 3 };
	struct racer racers[2 * THREADS];
	size_t i;
	int round;

	for (round = 0; round < 20; round++) {
		race.lib = OSSL_LIB_CTX_new();
		cr_assert_not_null(race.lib);
		pthread_barrier_init(&race.start, NULL, 2 * THREADS);
		for (i = 0; i < 2 * THREADS; i++) {
			racers[i] = (struct racer){ .race = &race,
						    .name = "SHA256" };
			cr_assert_eq(pthread_create(&racers[i].thread, NULL,
						    load_and_digest,
						    &racers[i]),
				     0);
		}
		for (i = 0; i < 2 * THREADS; i++)
			pthread_join(racers[i].thread, NULL);
		pthread_barrier_destroy(&race.start);
		for (i = 0; i < 2 * THREADS; i++) {
			cr_assert(racers[i].ok, "thread %zu failed", i);
			cr_assert(digest_equal(&racers[i].digest,
					       &racers[0].digest));
		}
		OSSL_LIB_CTX_free(race.lib);
	}
}

struct handover {
	EVP_MD_CTX *ctx;
	EVP_MD *md;
	const unsigned char *data;
	size_t len;
	bool ok;
};

static void *go_on(void *arg)
{
	struct handover *h = arg;

	h->ok = EVP_DigestUpdate(h->ctx, h->data, h->len);
	return NULL;
}

static void *begin_and_go_on(void *arg)
{
	struct handover *h = arg;

	h->ctx = EVP_MD_CTX_new();
	h->ok = h->ctx && EVP_DigestInit_ex2(h->ctx, h->md, NULL) &&
		EVP_DigestUpdate(h->ctx, h->data, h->len);
	return NULL;
}

static void in_thread(void *(*work)(void *), struct handover *h)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, work, h), 0);
	pthread_join(thread, NULL);
	cr_assert(h->ok);
}

/* Every piece comes from another thread, most of which have ended since. */
Test(life, context_moves_between_threads_in_mid_stream, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	size_t piece = MIB + MIB / 2 + 1, i;
	unsigned char *data = test_data(4 * piece);

	for (i = 0; i < pairs->count; i++) {
		struct handover h = { .md = pairs->pair[i].ours,
				      .data = data,
				      .len = piece };

		in_thread(begin_and_go_on, &h);
		update(h.ctx, data + piece, piece);
		h.data = data + 2 * piece;
		in_thread(go_on, &h);
		h.data = data + 3 * piece;
		in_thread(go_on, &h);
		expect_final(h.ctx, &pairs->pair[i], data, 4 * piece);
		EVP_MD_CTX_free(h.ctx);
	}
	free(data);
	pairs_close(pairs);
}

static void *free_ctx(void *arg)
{
	struct handover *h = arg;

	EVP_MD_CTX_free(h->ctx);
	h->ok = true;
	return NULL;
}

Test(life, context_may_be_freed_by_another_thread_in_mid_stream)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		struct handover h = { .ctx = begin(pairs->pair[i].ours) };

		update(h.ctx, data, 2 * MIB);
		in_thread(free_ctx, &h);
		expect_same(&pairs->pair[i], data, 2 * MIB, WHOLE);
	}
	free(data);
	pairs_close(pairs);
}

static void *digest_many(void *arg)
{
	struct racer *me = arg;
	EVP_MD *md = EVP_MD_fetch(me->race->lib, me->name, NULL);
	size_t i, len;
	struct digest d;

	me->ok = md;
	for (i = 0; me->ok && i < 500; i++) {
		len = 1 + i * 7919 % me->race->len;
		me->ok = digest_chunks(&d, md, me->race->data, len, WHOLE);
	}
	me->ok = me->ok && digest_chunks(&me->digest, md, me->race->data,
					 me->race->len, 4099);
	EVP_MD_free(md);
	return NULL;
}

Test(life, threads_share_sessions_without_mixing, .timeout = 300)
{
	struct pairs *pairs = pairs_open();
	size_t len = 300 * 1000, i;
	unsigned char *data = test_data(len);
	struct race race = { .lib = pairs->ours.lib, .data = data, .len = len };
	struct racer racers[THREADS];
	struct digest want;

	for (i = 0; i < THREADS; i++) {
		racers[i] = (struct racer){
			.race = &race,
			.name = pairs->pair[i % pairs->count].name,
		};
		cr_assert_eq(pthread_create(&racers[i].thread, NULL,
					    digest_many, &racers[i]),
			     0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(racers[i].thread, NULL);
		cr_assert(racers[i].ok, "thread %zu failed", i);
		cr_assert(digest_chunks(&want,
					pairs->pair[i % pairs->count].theirs,
					data, len, WHOLE));
		cr_assert(digest_equal(&racers[i].digest, &want));
	}
	free(data);
	pairs_close(pairs);
}

/* ---- loading and unloading ---- */

static void use_once(const char *name, const unsigned char *data, size_t len)
{
	struct evp ours = evp_open(OURS);
	EVP_MD *md = EVP_MD_fetch(ours.lib, name, NULL);
	struct digest d;

	cr_assert_not_null(md);
	cr_assert(digest_chunks(&d, md, data, len, WHOLE));
	EVP_MD_free(md);
	evp_close(&ours);
}

static size_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t size = 0, resident = 0;

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%zu %zu", &size, &resident), 2);
	fclose(f);
	return resident;
}

/* L7 */
Test(life, a_thousand_loads_leave_nothing_behind, .timeout = 300)
{
	static const char *const names[] = { "SHA256", "MD5", "SHA512" };
	unsigned char *data = test_data(MIB + 1);
	size_t pages = 0;
	int i, fds = 0;

	for (i = 0; i < 1000; i++) {
		use_once(names[i % 3], data, i % 5 ? 100 : MIB + 1);
		if (i == 100) {
			fds = open_fds();
			pages = resident_pages();
		}
	}
	cr_assert_leq(open_fds(), fds);
	/* 900 loads that each lose as little as 10 KiB would show. */
	cr_assert_lt(resident_pages(), pages + 2048);
	free(data);
}

Test(life, load_without_use_unloads_cleanly)
{
	struct evp ours;
	int i;

	for (i = 0; i < 100; i++) {
		ours = evp_open(OURS);
		evp_close(&ours);
	}
}

Test(life, two_library_contexts_are_apart)
{
	struct evp one = evp_open(OURS), two = evp_open(OURS);
	EVP_MD *md = EVP_MD_fetch(two.lib, "SHA256", NULL);
	struct digest d;

	cr_assert_not_null(md);
	use_once("SHA256", (const unsigned char *)"abc", 3);
	evp_close(&one);
	cr_assert(digest_chunks(&d, md, "abc", 3, WHOLE));
	EVP_MD_free(md);
	evp_close(&two);
}

/* The context keeps the provider alive for as long as it needs it. */
Test(life, unload_while_a_context_is_in_use, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	struct evp ours = evp_open(OURS);
	EVP_MD *md = EVP_MD_fetch(ours.lib, pairs->pair[0].name, NULL);
	EVP_MD_CTX *ctx;

	cr_assert_not_null(md);
	ctx = begin(md);
	EVP_MD_free(md);
	update(ctx, data, MIB);
	OSSL_PROVIDER_unload(ours.provider);
	update(ctx, data + MIB, MIB);
	expect_final(ctx, &pairs->pair[0], data, 2 * MIB);
	EVP_MD_CTX_free(ctx);
	OSSL_LIB_CTX_free(ours.lib);
	free(data);
	pairs_close(pairs);
}

/* ---- fork ---- */

/* L2 */
Test(life, forked_children_digest_right, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(2 * MIB);
	struct digest want, got;
	pid_t children[THREADS];
	size_t i, c;
	int status;

	for (i = 0; i < pairs->count; i++) {
		const struct pair *p = &pairs->pair[i];

		expect_same(p, data, 2 * MIB, WHOLE);
		cr_assert(
			digest_chunks(&want, p->theirs, data, 2 * MIB, WHOLE));
		for (c = 0; c < THREADS; c++) {
			children[c] = fork();
			cr_assert_geq(children[c], 0);
			if (!children[c])
				_exit(!(digest_chunks(&got, p->ours, data,
						      2 * MIB, 65537) &&
					digest_equal(&got, &want)));
		}
		expect_same(p, data, 2 * MIB, 65537);
		for (c = 0; c < THREADS; c++) {
			cr_assert_eq(waitpid(children[c], &status, 0),
				     children[c]);
			cr_assert_eq(status, 0, "%s: child %zu", p->name, c);
		}
	}
	free(data);
	pairs_close(pairs);
}

/* What a child does with its copy of a running message is not the parent's. */
Test(life, child_does_not_disturb_the_parents_message, .timeout = 120)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(4 * MIB);
	struct digest d;
	size_t i;
	pid_t child;
	int status;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);

		update(ctx, data, 2 * MIB);
		child = fork();
		cr_assert_geq(child, 0);
		if (!child) {
			EVP_DigestUpdate(ctx, "child", 5);
			EVP_DigestFinal_ex(ctx, d.bytes, &d.len);
			EVP_MD_CTX_free(ctx);
			_exit(0);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0);
		update(ctx, data + 2 * MIB, 2 * MIB);
		expect_final(ctx, &pairs->pair[i], data, 4 * MIB);
		EVP_MD_CTX_free(ctx);
	}
	free(data);
	pairs_close(pairs);
}

/* ---- no file descriptors left ---- */

Test(life, no_descriptors_at_first_use_still_gives_right_digests, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(MIB);
	size_t i;

	fds_exhaust();
	for (i = 0; i < pairs->count; i++)
		expect_same(&pairs->pair[i], data, MIB, 65537);
	fds_allow();
	/* And the provider is as good as new when there are some again. */
	for (i = 0; i < pairs->count; i++)
		expect_same(&pairs->pair[i], data, MIB, 4096);
	free(data);
	pairs_close(pairs);
}

Test(life, no_descriptors_after_first_use_still_gives_right_digests,
     .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	unsigned char *data = test_data(MIB);
	size_t i;

	for (i = 0; i < pairs->count; i++)
		expect_same(&pairs->pair[i], data, MIB, WHOLE);
	fds_exhaust();
	for (i = 0; i < pairs->count; i++) {
		expect_same(&pairs->pair[i], data, 100, WHOLE);
		expect_same(&pairs->pair[i], data, MIB, 65537);
	}
	fds_allow();
	free(data);
	pairs_close(pairs);
}

/* Whatever a message needs, it can fail to get, but not silently. */
Test(life, no_descriptors_in_mid_stream_is_right_or_an_error, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	size_t len = MIB + 13, i, before;
	unsigned char *data = test_data(len);
	struct digest want, got;

	for (i = 0; i < pairs->count; i++) {
		cr_assert(digest_chunks(&want, pairs->pair[i].theirs, data, len,
					WHOLE));
		for (before = 1; before < len; before *= 8) {
			EVP_MD_CTX *ctx = begin(pairs->pair[i].ours);
			EVP_MD_CTX *copy;
			bool ok;

			update(ctx, data, before);
			fds_exhaust();
			copy = EVP_MD_CTX_new();
			cr_assert_not_null(copy);
			ok = EVP_MD_CTX_copy_ex(copy, ctx);
			ok = ok && EVP_DigestUpdate(copy, data + before,
						    len - before);
			ok = ok &&
			     EVP_DigestFinal_ex(copy, got.bytes, &got.len);
			cr_assert(ok ? digest_equal(&got, &want) :
				       *error_text() != '\0',
				  "%s at %zu", pairs->pair[i].name, before);
			EVP_MD_CTX_free(copy);
			fds_allow();

			/* A copy that failed has not harmed the original. */
			update(ctx, data + before, len - before);
			expect_final(ctx, &pairs->pair[i], data, len);
			EVP_MD_CTX_free(ctx);
		}
	}
	free(data);
	pairs_close(pairs);
}
