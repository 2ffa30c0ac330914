/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c - one op of a job, from its beginning to its result. Nothing is sure of a
 * paused job: it can be resumed too early, in a child of fork(), or never. The op in
 * its thread's queue is a copy, so whoever cannot have the result of that does the op
 * again, from the caller's memory.
 */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>

#include <openssl/async.h>
#include <openssl/crypto.h>

#include "error.h"
#include "jobs.h"
#include "jobs_queue.h"
#include "provider.h"

/* A job that was resumed so often for nothing waits, so long each time. */
#define PATIENCE 16
#define WAIT_NS 1000000

/* Of a thread that has jobs; when it exits, another can have it. */
struct member {
	struct member *next;
	struct jobs_queue *queue;
	atomic_bool owned;
};

struct jobs {
	pthread_key_t mine; /* the calling thread's member */
	_Atomic(struct member *) members;
};

/* ---- A provider context's queues ---------------------------------------- */

static void leave(void *arg)
{
	struct member *member = arg;

	jobs_queue_close(member->queue);
	atomic_store(&member->owned, false);
}

int jobs_start(struct provider *prov)
{
	struct jobs *jobs = OPENSSL_zalloc(sizeof(*jobs));

	if (jobs && !pthread_key_create(&jobs->mine, leave)) {
		prov->jobs = jobs;
		return 1;
	}
	OPENSSL_free(jobs);
	error_raise(prov, ERR_R_MALLOC_FAILURE, "jobs");
	return 0;
}

void jobs_stop(struct provider *prov)
{
	struct member *member = atomic_load(&prov->jobs->members), *next;

	/* No thread that exits from now on comes here. */
	pthread_key_delete(prov->jobs->mine);
	for (; member; member = next) {
		next = member->next;
		jobs_queue_free(member->queue);
		OPENSSL_free(member);
	}
	OPENSSL_free(prov->jobs);
	prov->jobs = NULL;
}

static struct member *adopt(struct jobs *jobs)
{
	struct member *member = atomic_load(&jobs->members);
	bool owned;

	for (; member; member = member->next) {
		owned = false;
		if (atomic_compare_exchange_strong(&member->owned, &owned,
						   true))
			return member;
	}
	member = OPENSSL_zalloc(sizeof(*member));
	if (!member)
		return NULL;
	member->queue = jobs_queue_new();
	if (!member->queue) {
		OPENSSL_free(member);
		return NULL;
	}
	atomic_store(&member->owned, true);
	member->next = atomic_load(&jobs->members);
	while (!atomic_compare_exchange_weak(&jobs->members, &member->next,
					     member))
		;
	return member;
}

/* NULL: there are none, or no memory for one. */
static struct jobs_queue *own_queue(const struct jobs *jobs)
{
	struct member *member = pthread_getspecific(jobs->mine);

	return member ? member->queue : NULL;
}

static struct jobs_queue *join(const struct provider *prov)
{
	struct jobs_queue *queue = own_queue(prov->jobs);
	struct member *member;

	if (queue)
		return queue;
	member = adopt(prov->jobs);
	if (!member)
		return NULL;
	if (!jobs_queue_open(member->queue, prov->settings.backend))
		goto disown;
	if (!pthread_setspecific(prov->jobs->mine, member))
		return member->queue;
	jobs_queue_close(member->queue);
disown:
	atomic_store(&member->owned, false);
	return NULL;
}

/* ---- A job that waits --------------------------------------------------- */

static void forget(ASYNC_WAIT_CTX *waits, const void *key, OSSL_ASYNC_FD fd,
		   void *ticket)
{
	(void)waits;
	(void)key;
	(void)fd;
	jobs_queue_forget(ticket);
}

/*
 * The program learns when to resume the job by the descriptor, or at once by its own
 * callback. The descriptor is the job's while it is paused, no longer: a wait context
 * can outlive this module, and forget() with it.
 */
static bool pause_job(const struct jobs *jobs, ASYNC_WAIT_CTX *waits,
		      struct jobs_ticket *ticket)
{
	ASYNC_callback_fn call;
	void *arg;
	bool paused;

	if (ASYNC_WAIT_CTX_get_callback(waits, &call, &arg) && call) {
		ASYNC_WAIT_CTX_set_status(waits, ASYNC_STATUS_OK);
		call(arg);
		return ASYNC_pause_job();
	}
	if (!ASYNC_WAIT_CTX_set_wait_fd(waits, jobs, jobs_queue_fd(ticket),
					ticket, forget))
		return false;
	paused = ASYNC_pause_job();
	ASYNC_WAIT_CTX_clear_fd(waits, jobs);
	return paused;
}

/* True: the op has ended. False: it cannot be known when it does. */
static bool wait_for(const struct jobs *jobs, ASYNC_WAIT_CTX *waits,
		     struct jobs_ticket *ticket)
{
	struct jobs_queue *queue = ticket->queue;
	enum jobs_state state;
	unsigned resumed = 0;

	do {
		if (!pause_job(jobs, waits, ticket))
			return false;
		if (jobs_queue_state(ticket) == JOBS_WAITS &&
		    (own_queue(jobs) != queue ||
		     jobs_queue_serve(queue,
				      resumed++ < PATIENCE ? 0 : WAIT_NS) < 0))
			return false;
		state = jobs_queue_state(ticket);
	} while (state == JOBS_WAITS);
	return state == JOBS_ENDED;
}

bool jobs_run(const struct provider *prov, struct afb_op *op)
{
	ASYNC_JOB *job = ASYNC_get_current_job();
	struct jobs_queue *queue = job ? join(prov) : NULL;
	struct jobs_ticket ticket;

	if (!queue || !jobs_queue_put(queue, op, &ticket))
		return false;
	if (!wait_for(prov->jobs, ASYNC_get_wait_ctx(job), &ticket)) {
		jobs_queue_forget(&ticket);
		return false;
	}
	jobs_queue_take(&ticket, op);
	return true;
}
