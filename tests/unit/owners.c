/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.c - ops in flight whose thread, session or process goes away, by every
 * back end: what the library still needs it has kept.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sealed.h"

enum { COUNT = 48 };

static void seal_all(struct sealed *sealed, struct afb_session *session)
{
	unsigned i;

	for (i = 0; i < COUNT; i++)
		seal(&sealed[i], session, i % 2, i, i * 40);
}

static void submit_all(struct afb_queue *queue, struct sealed *sealed)
{
	struct afb_op *ops[COUNT];
	unsigned i;

	for (i = 0; i < COUNT; i++)
		ops[i] = &sealed[i].op;
	cr_assert_eq(afb_submit(queue, ops, COUNT), COUNT);
}

struct job {
	struct afb_queue *queue;
	struct sealed sealed[COUNT];
	int flushed;
};

static void *submit_and_exit(void *arg)
{
	struct job *job = arg;

	submit_all(job->queue, job->sealed);
	job->flushed = afb_flush(job->queue);
	return NULL;
}

/*
 * The kernel ends what a ring's thread leaves behind, and may keep the result to
 * itself (seen on 6.1 and 6.12). Then an error is due where libcrypto has no such driver;
 * a wrong result, or an op that does not come back, never is.
 */
static void expect_right_or_orphaned(struct sealed *sealed)
{
	unsigned i;

	for (i = 0; i < COUNT; i++) {
		cr_assert(sealed[i].ended);
		if (!kernel_expected() || sealed[i].op.result != -EOWNERDEAD)
			expect_sealed(&sealed[i], 1);
	}
}

Test(owners, sealed_ops_of_a_thread_that_exited_are_reaped_by_another,
     .timeout = 120)
{
	static struct job job;
	struct afb_session *session;
	unsigned backend, round;
	pthread_t thread;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		job.queue = queue_by(backend, COUNT);
		session = async_gcm_session(job.queue);
		for (round = 0; round < 4; round++) {
			seal_all(job.sealed, session);
			cr_assert_eq(pthread_create(&thread, NULL,
						    submit_and_exit, &job),
				     0);
			cr_assert_eq(pthread_join(thread, NULL), 0);
			cr_assert_eq(job.flushed, 0);
			reap_sealed(job.queue, COUNT);
			expect_right_or_orphaned(job.sealed);
		}
		afb_queue_close(job.queue);
		afb_session_close(session);
	}
}

Test(owners, session_closed_right_after_submit_is_kept_by_its_ops)
{
	static struct sealed sealed[COUNT];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, round;
	int before;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		queue = queue_by(backend, COUNT);
		before = 0;
		for (round = 0; round < 6; round++) {
			session = async_gcm_session(queue);
			seal_all(sealed, session);
			submit_all(queue, sealed);
			if (round % 2)
				cr_assert_eq(afb_flush(queue), 0);
			afb_session_close(session);
			reap_sealed(queue, COUNT);
			expect_sealed(sealed, COUNT);
			if (round == 1)
				before = open_fds();
		}
		cr_assert_leq(open_fds(), before);
		afb_queue_close(queue);
	}
}

Test(owners, session_and_queue_closed_right_after_submit_leave_nothing)
{
	static struct sealed sealed[COUNT];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, round;
	int before;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		before = open_fds();
		for (round = 0; round < 4; round++) {
			queue = queue_by(backend, COUNT);
			session = async_gcm_session(queue);
			seal_all(sealed, session);
			submit_all(queue, sealed);
			if (round % 2)
				cr_assert_eq(afb_flush(queue), 0);
			afb_session_close(session);
			afb_queue_close(queue);
			memset(sealed, 0, sizeof(sealed));
		}
		cr_assert_leq(open_fds(), before);
	}
}

static void run_by(enum afb_backend backend)
{
	static struct sealed sealed[COUNT];
	struct afb_queue *queue = queue_by(backend, COUNT / 2);
	struct afb_session *session = async_gcm_session(queue);

	seal_all(sealed, session);
	run_sealed(queue, sealed, COUNT);
	expect_sealed(sealed, COUNT);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* As a server's master does, which then forks its workers. */
Test(owners, forked_workers_open_their_own_after_the_master_did, .timeout = 120)
{
	enum { WORKERS = 4 };
	static struct sealed sealed[COUNT];
	struct afb_session *session;
	struct afb_queue *queue;
	unsigned backend, i;
	pid_t workers[WORKERS];
	int status;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		queue = queue_by(backend, COUNT);
		session = async_gcm_session(queue);
		seal_all(sealed, session);
		submit_all(queue, sealed);
		cr_assert_eq(afb_flush(queue), 0);
		for (i = 0; i < WORKERS; i++) {
			workers[i] = fork();
			cr_assert_geq(workers[i], 0);
			if (workers[i])
				continue;
			/* One that hangs ends with its parent's time. */
			alarm(100);
			/* A failed assertion does not end with 0. */
			run_by(backend);
			_exit(0);
		}
		for (i = 0; i < WORKERS; i++) {
			cr_assert_eq(waitpid(workers[i], &status, 0),
				     workers[i]);
			cr_assert_eq(status, 0, "worker ended with %#x",
				     status);
		}
		reap_sealed(queue, COUNT);
		expect_sealed(sealed, COUNT);
		afb_queue_close(queue);
		afb_session_close(session);
	}
}

#ifdef AFB_DEBUG
static void *use_it(void *arg)
{
	static struct sealed other;
	struct afb_op *ops[] = { &other.op }, *done[1];
	struct job *job = arg;

	other = job->sealed[0];
	cr_assert_eq(afb_submit(job->queue, ops, 1), 0);
	cr_assert_eq(afb_flush(job->queue), -EXDEV);
	cr_assert_eq(afb_reap(job->queue, done, 1, 1, NULL), -EXDEV);
	return NULL;
}

Test(owners, debug_build_refuses_a_second_thread)
{
	static struct job job;
	struct afb_session *session;
	unsigned backend;
	pthread_t thread;

	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		session = gcm_session("gcm(aes)", backend);
		job.queue = queue_by(backend, COUNT);
		seal_all(job.sealed, session);
		submit_all(job.queue, job.sealed);
		cr_assert_eq(pthread_create(&thread, NULL, use_it, &job), 0);
		pthread_join(thread, NULL);
		reap_sealed(job.queue, COUNT);
		expect_right_or_orphaned(job.sealed);
		afb_queue_close(job.queue);
		afb_session_close(session);
	}
}
#endif
