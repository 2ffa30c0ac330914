/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_async.c - ciphers inside ASYNC_start_job(3)'s jobs, resumed when their
 * descriptor says so, too early, too often, in a forked child or never.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <openssl/async.h>

#include "afalgbatch.h"
#include "evp.h"

#define JOBS 64
#define LEN 20011

static struct evp ours, theirs;

static void open_both(void)
{
	setenv("AFALGBATCH_THRESHOLD", "1", 1);
	ours = evp_open(OURS);
	theirs = evp_open(THEIRS);
}

static void close_both(void)
{
	evp_close(&theirs);
	evp_close(&ours);
}

/* ---- A text of its own for each job ---- */

struct text {
	OSSL_LIB_CTX *lib;
	const char *cipher;
	size_t number;
	EVP_CIPHER_CTX *ctx;
	unsigned char out[LEN + 32];
	int len;
};

static int encrypt(void *arg)
{
	struct text *text = *(struct text **)arg;
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(text->lib, text->cipher, NULL);
	EVP_CIPHER_CTX *ctx = text->ctx;
	unsigned char key[32], iv[16], *in = test_data(LEN);
	int n = 0, ok;

	memset(key, (int)text->number, sizeof(key));
	memset(iv, (int)(text->number * 3), sizeof(iv));
	in[0] ^= (unsigned char)text->number;
	ok = EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL) &&
	     EVP_EncryptUpdate(ctx, text->out, &text->len, in, LEN) &&
	     EVP_EncryptFinal_ex(ctx, text->out + text->len, &n);
	text->len += n;
	if (EVP_CIPHER_get_mode(cipher) == EVP_CIPH_GCM_MODE)
		ok = ok && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16,
					       text->out + text->len);
	free(in);
	EVP_CIPHER_free(cipher);
	return ok;
}

static const char *cipher_of(size_t number)
{
	static const char *const names[] = { "AES-128-CTR", "AES-256-CBC",
					     "AES-128-GCM", "AES-192-ECB" };

	return names[number % 4];
}

static struct text *text_new(size_t number)
{
	struct text *text = calloc(1, sizeof(*text));

	text->lib = ours.lib;
	text->cipher = cipher_of(number);
	text->number = number;
	text->ctx = EVP_CIPHER_CTX_new();
	return text;
}

static void text_free(struct text *text)
{
	EVP_CIPHER_CTX_free(text->ctx);
	memset(text, 0xee, sizeof(*text));
	free(text);
}

/* Also frees it. No assertion: for any thread. */
static bool text_is_right(struct text *got)
{
	struct text *want = text_new(got->number);
	bool right;

	want->lib = theirs.lib;
	right = encrypt(&want) && want->len == got->len &&
		!memcmp(want->out, got->out, sizeof(want->out));
	text_free(want);
	text_free(got);
	return right;
}

/* ---- A job ---- */

struct job {
	ASYNC_JOB *job;
	ASYNC_WAIT_CTX *waits;
	struct text *text;
	int status, ret;
};

static void job_go_on(struct job *job)
{
	job->status = ASYNC_start_job(&job->job, job->waits, &job->ret, encrypt,
				      &job->text, sizeof(job->text));
}

static void job_begin(struct job *job, size_t number)
{
	*job = (struct job){ .waits = ASYNC_WAIT_CTX_new(),
			     .text = text_new(number) };
	job_go_on(job);
}

static bool job_end(struct job *job)
{
	bool ok = job->status == ASYNC_FINISH && job->ret == 1;

	ASYNC_WAIT_CTX_free(job->waits);
	return text_is_right(job->text) && ok;
}

/* -1: none, or more than one */
static OSSL_ASYNC_FD job_fd(const struct job *job)
{
	OSSL_ASYNC_FD fd = -1;
	size_t count = 0;

	if (!ASYNC_WAIT_CTX_get_all_fds(job->waits, NULL, &count) || count != 1)
		return -1;
	ASYNC_WAIT_CTX_get_all_fds(job->waits, &fd, &count);
	return fd;
}

/* Sleeps until a paused job's descriptor is readable; resumes those that are. */
static bool resume_ready(struct job *jobs, size_t count)
{
	struct pollfd fds[2 * JOBS];
	size_t i;

	for (i = 0; i < count; i++)
		fds[i] = (struct pollfd){
			.fd = jobs[i].status == ASYNC_PAUSE ? job_fd(&jobs[i]) :
							      -1,
			.events = POLLIN,
		};
	if (poll(fds, count, 20000) <= 0)
		return false;
	for (i = 0; i < count; i++)
		if (fds[i].revents)
			job_go_on(&jobs[i]);
	return true;
}

static size_t paused(const struct job *jobs, size_t count)
{
	size_t i, sum = 0;

	for (i = 0; i < count; i++)
		sum += jobs[i].status == ASYNC_PAUSE;
	return sum;
}

/* Resumes them as their descriptors say, until each has ended. */
static bool finish_jobs(struct job *jobs, size_t count)
{
	bool ok = true;
	size_t i;

	while (paused(jobs, count))
		if (!resume_ready(jobs, count))
			return false;
	for (i = 0; i < count; i++)
		ok &= job_end(&jobs[i]);
	return ok;
}

static bool run_jobs(struct job *jobs, size_t count, size_t first)
{
	size_t i;

	for (i = 0; i < count; i++)
		job_begin(&jobs[i], first + i);
	return finish_jobs(jobs, count);
}

static uint64_t in_flight_max(void)
{
	struct afb_counters c = AFB_COUNTERS;

	cr_assert_eq(afb_counters_get(&c), 0);
	return c.in_flight_max;
}

/* What is not the kernel's is done at once, without a pause. */
static void need_kernel(void)
{
	if (!getenv("AFALGBATCH_EXPECT_KERNEL"))
		cr_skip("nothing is in flight in software");
}

TestSuite(async, .init = open_both, .fini = close_both, .timeout = 120);

/* ---- One thread ---- */

Test(async, a_job_is_paused_with_one_descriptor_and_resumed_by_it)
{
	struct job job;

	need_kernel();
	job_begin(&job, 1);
	cr_assert_eq(job.status, ASYNC_PAUSE);
	cr_assert_geq(job_fd(&job), 0);
	while (job.status == ASYNC_PAUSE)
		cr_assert(resume_ready(&job, 1));
	cr_assert_eq(job_fd(&job), -1, "the descriptor is still there");
	cr_assert(job_end(&job));
}

/* L18 */
Test(async, jobs_with_different_texts_all_come_out_right)
{
	struct job jobs[JOBS];
	int round;

	for (round = 0; round < 5; round++)
		cr_assert(run_jobs(jobs, JOBS, round * JOBS));
}

Test(async, every_job_in_flight_has_a_descriptor_of_its_own)
{
	struct job jobs[8];
	size_t i, k;

	need_kernel();
	for (i = 0; i < 8; i++)
		job_begin(&jobs[i], i);
	for (i = 0; i < 8; i++)
		for (k = 0; k < i; k++)
			cr_assert_neq(job_fd(&jobs[i]), job_fd(&jobs[k]));
	cr_assert(finish_jobs(jobs, 8));
}

Test(async, the_kernel_has_many_jobs_texts_at_once)
{
	struct job jobs[JOBS];

	need_kernel();
	cr_assert(run_jobs(jobs, JOBS, 0));
	cr_assert_geq(in_flight_max(), 16);
}

Test(async, more_jobs_than_places_all_come_out_right)
{
	static struct job jobs[2 * JOBS];

	cr_assert(run_jobs(jobs, 2 * JOBS, 0));
}

Test(async, jobs_resumed_too_early_come_out_right)
{
	struct job jobs[JOBS];
	size_t i;

	for (i = 0; i < JOBS; i++)
		job_begin(&jobs[i], i);
	while (paused(jobs, JOBS))
		for (i = 0; i < JOBS; i++)
			if (jobs[i].status == ASYNC_PAUSE)
				job_go_on(&jobs[i]);
	for (i = 0; i < JOBS; i++)
		cr_assert(job_end(&jobs[i]));
}

Test(async, callers_without_a_job_are_served_between_jobs)
{
	struct job jobs[8];
	struct text *text;
	size_t i;

	for (i = 0; i < 8; i++) {
		job_begin(&jobs[i], i);
		text = text_new(100 + i);
		cr_assert(encrypt(&text));
		cr_assert(text_is_right(text));
	}
	cr_assert(finish_jobs(jobs, 8));
}

static int encrypt_without_pausing(void *arg)
{
	int ret;

	ASYNC_block_pause();
	ret = encrypt(arg);
	ASYNC_unblock_pause();
	return ret;
}

Test(async, a_job_that_must_not_be_paused_ends_at_once)
{
	struct job job = { .waits = ASYNC_WAIT_CTX_new(), .text = text_new(3) };

	job.status = ASYNC_start_job(&job.job, job.waits, &job.ret,
				     encrypt_without_pausing, &job.text,
				     sizeof(job.text));
	cr_assert(job_end(&job));
}

static int count_call(void *arg)
{
	++*(int *)arg;
	return 1;
}

Test(async, a_job_with_a_callback_is_called_back_and_needs_no_descriptor)
{
	struct job job = { .waits = ASYNC_WAIT_CTX_new(), .text = text_new(4) };
	int calls = 0, resumed = 0;

	need_kernel();
	cr_assert(ASYNC_WAIT_CTX_set_callback(job.waits, count_call, &calls));
	for (job_go_on(&job); job.status == ASYNC_PAUSE; job_go_on(&job)) {
		cr_assert_eq(job_fd(&job), -1);
		cr_assert_eq(calls, ++resumed);
	}
	cr_assert_gt(calls, 0);
	cr_assert(job_end(&job));
}

/* ---- Jobs that end otherwise ---- */

static int forget_many(size_t count)
{
	struct job job;
	int pauses = 0;

	while (count--) {
		job_begin(&job, count);
		pauses += job.status == ASYNC_PAUSE;
		ASYNC_WAIT_CTX_free(job.waits);
		text_free(job.text);
	}
	return pauses;
}

/* L10: what they had in flight is not in the way of others, nor are descriptors. */
Test(async, jobs_that_are_forgotten_in_flight_leave_their_places)
{
	struct job jobs[JOBS];
	int fds;

	need_kernel();
	forget_many(4 * JOBS);
	cr_assert(run_jobs(jobs, JOBS, 0));
	fds = open_fds();
	/* More pauses than there would be if no place became free. */
	cr_assert_gt(forget_many(4 * JOBS), JOBS);
	cr_assert(run_jobs(jobs, JOBS, 0));
	cr_assert_leq(open_fds(), fds);
}

Test(async, a_paused_job_goes_on_in_parent_and_child)
{
	struct job job, more[4];
	pid_t child;
	int status;

	need_kernel();
	job_begin(&job, 5);
	cr_assert_eq(job.status, ASYNC_PAUSE);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child) {
		while (job.status == ASYNC_PAUSE)
			job_go_on(&job);
		_exit(!(job_end(&job) && run_jobs(more, 4, 9)));
	}
	cr_assert(finish_jobs(&job, 1));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert(run_jobs(more, 4, 20));
}

/* ---- Threads ---- */

static void *run_many(void *arg)
{
	struct job jobs[16];
	bool ok = true;
	size_t i;

	for (i = 0; i < 10; i++)
		ok &= run_jobs(jobs, 16, (size_t)arg * 16);
	ASYNC_cleanup_thread();
	return (void *)(size_t)ok;
}

static void *run_without_jobs(void *arg)
{
	struct text *text;
	bool ok = true;
	size_t i;

	for (i = 0; i < 100; i++) {
		text = text_new((size_t)arg + i);
		ok &= encrypt(&text);
		ok &= text_is_right(text);
	}
	return (void *)(size_t)ok;
}

/* L11 */
Test(async, threads_with_and_without_jobs_all_come_out_right)
{
	pthread_t threads[8];
	void *ok;
	size_t i;

	for (i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL,
					    i % 2 ? run_many : run_without_jobs,
					    (void *)i),
			     0);
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], &ok);
		cr_assert(ok, "thread %zu", i);
	}
}

Test(async, threads_that_exit_leave_no_descriptor)
{
	pthread_t thread;
	int round, fds = 0;
	void *ok;

	for (round = 0; round < 8; round++) {
		cr_assert_eq(pthread_create(&thread, NULL, run_many, NULL), 0);
		pthread_join(thread, &ok);
		cr_assert(ok);
		if (round == 0)
			fds = open_fds();
	}
	cr_assert_leq(open_fds(), fds);
}

Test(async, unloading_leaves_no_descriptor_and_no_hook)
{
	struct job jobs[4];
	ASYNC_WAIT_CTX *kept = NULL;
	int round, fds = 0;

	for (round = 0; round < 20; round++) {
		cr_assert(run_jobs(jobs, 3, 0));
		job_begin(&jobs[3], 3);
		while (jobs[3].status == ASYNC_PAUSE)
			cr_assert(resume_ready(&jobs[3], 1));
		kept = jobs[3].waits;
		cr_assert(text_is_right(jobs[3].text));
		close_both();
		/* It must not call what is not there any more. */
		ASYNC_WAIT_CTX_free(kept);
		if (round == 1)
			fds = open_fds();
		open_both();
		if (round > 1)
			cr_assert_leq(open_fds(), fds + 1);
	}
}
