/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_pool.c - the threads, and who works on what. Threads begin with the first
 * burst and end with the last queue, or when the process exits: libcrypto must not
 * be cleaned up under them.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cpus.h"
#include "fork.h"
#include "soft_pool.h"

/* Beyond this, more threads find less to do than it costs to wake them. */
#define THREADS_MAX 256

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work; /* there is some, or stopping */
	struct soft_work *first, *last; /* those with ops unclaimed */
	unsigned unclaimed; /* ops, in all of them */
	unsigned users; /* soft_works */
	unsigned target; /* threads there may be */
	unsigned running;
	unsigned inside; /* threads that start or do an op, callers that help */
	atomic_bool forking; /* and nobody is to begin another op */
	pthread_cond_t outside; /* nobody is inside */
	pthread_cond_t forked; /* the next op may begin */
	bool stopping;
	bool ended; /* the process exits: no more threads */
	pthread_t threads[THREADS_MAX];
} pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.outside = PTHREAD_COND_INITIALIZER,
	.forked = PTHREAD_COND_INITIALIZER,
};

/* Held over the whole of starting and ending a share; before pool.lock. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

static atomic_int threads_wanted = -1;

void afb_set_threads(int max)
{
	atomic_store_explicit(&threads_wanted, max < -1 ? -1 : max,
			      memory_order_relaxed);
}

unsigned soft_pool_threads(void)
{
	int wanted = atomic_load_explicit(&threads_wanted, memory_order_relaxed);
	int count = cpus_allowed();

	if (wanted < 0)
		wanted = count - 1;
	if (wanted > count)
		wanted = count;
	return wanted < THREADS_MAX ? wanted : THREADS_MAX;
}

/* ---- fork() ------------------------------------------------------------- */

/* The next two with the lock. */
static void enter(void)
{
	while (pool.forking)
		pthread_cond_wait(&pool.forked, &pool.lock);
	pool.inside++;
}

static void leave(void)
{
	if (!--pool.inside && pool.forking)
		pthread_cond_signal(&pool.outside);
}

static void let_fork(void)
{
	pthread_mutex_lock(&pool.lock);
	leave();
	enter();
	pthread_mutex_unlock(&pool.lock);
}

void soft_pool_before_fork(void)
{
	pthread_mutex_lock(&life);
	pthread_mutex_lock(&pool.lock);
	pool.forking = true;
	while (pool.inside)
		pthread_cond_wait(&pool.outside, &pool.lock);
}

static void forget_threads(void)
{
	pthread_cond_init(&pool.work, NULL);
	pthread_cond_init(&pool.outside, NULL);
	pthread_cond_init(&pool.forked, NULL);
	pool.first = pool.last = NULL;
	pool.unclaimed = pool.users = pool.running = pool.target = 0;
}

void soft_pool_after_fork(bool in_child)
{
	if (in_child)
		forget_threads();
	pool.forking = false;
	pthread_cond_broadcast(&pool.forked);
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_unlock(&life);
}

/* ---- Who works on what -------------------------------------------------- */

static void list(struct soft_work *work)
{
	if (work->listed)
		return;
	work->listed = true;
	work->next = NULL;
	if (pool.last)
		pool.last->next = work;
	else
		pool.first = work;
	pool.last = work;
}

static void unlist(struct soft_work *work)
{
	struct soft_work **link = &pool.first, *before = NULL;

	while (*link != work) {
		before = *link;
		link = &before->next;
	}
	*link = work->next;
	if (pool.last == work)
		pool.last = before;
	work->listed = false;
}

/* A fair share of what is left, taken from the front. Under the lock. */
static unsigned claim(struct soft_work *work, struct afb_op **ops)
{
	unsigned left = work->added - work->claimed, i;
	unsigned count = left / (2 * (pool.running + 1)) + 1;

	if (count > SOFT_CHUNK)
		count = SOFT_CHUNK;
	for (i = 0; i < count; i++)
		ops[i] = work->ops[work->claimed++ & (work->size - 1)];
	pool.unclaimed -= count;
	/* The next thread turns to another queue, if there is one. */
	unlist(work);
	if (left > count)
		list(work);
	return count;
}

static void finish(struct soft_work *work, const struct soft_done *done,
		   unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		work->done[work->finished++ & (work->size - 1)] = done[i];
	if (work->waits && work->finished - work->taken >= work->wanted)
		pthread_cond_signal(&work->wake);
	if (work->event >= 0)
		eventfd_write(work->event, 1);
}

/* Called with the lock, which is let go of while the work is done. */
static void run_some(struct soft_work *work, struct soft_scratch *scratch)
{
	struct afb_op *ops[SOFT_CHUNK];
	struct soft_done done[SOFT_CHUNK];
	unsigned count = claim(work, ops), i;

	enter();
	pthread_mutex_unlock(&pool.lock);
	for (i = 0; i < count; i++) {
		if (atomic_load_explicit(&pool.forking, memory_order_relaxed))
			let_fork();
		done[i].op = ops[i];
		done[i].ret = soft_op(scratch, ops[i]);
	}
	pthread_mutex_lock(&pool.lock);
	leave();
	finish(work, done, count);
}

/* ---- Threads ------------------------------------------------------------ */

static void *helper(void *unused)
{
	struct soft_scratch scratch = { 0 };

	pthread_mutex_lock(&pool.lock);
	leave();
	setpriority(PRIO_PROCESS, gettid(), 19);
	while (!pool.stopping) {
		if (pool.first)
			run_some(pool.first, &scratch);
		else
			pthread_cond_wait(&pool.work, &pool.lock);
	}
	pthread_mutex_unlock(&pool.lock);
	soft_scratch_free(&scratch);
	return unused;
}

/* Signals are for the program's own threads. */
static bool start_thread(void)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&pool.threads[pool.running], NULL, helper, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return false;
	pool.running++;
	pool.inside++; /* until its first step: a sanitizer allocates before it */
	return true;
}

/* With `life` held. */
static void stop_threads(void)
{
	unsigned count, i;

	pthread_mutex_lock(&pool.lock);
	count = pool.running;
	pool.running = 0;
	pool.stopping = true;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.lock);
	for (i = 0; i < count; i++)
		pthread_join(pool.threads[i], NULL);
	pool.stopping = false;
}

static void stop_at_exit(void)
{
	pthread_mutex_lock(&life);
	pthread_mutex_lock(&pool.lock);
	pool.ended = true;
	pool.target = 0;
	pthread_mutex_unlock(&pool.lock);
	stop_threads();
	pthread_mutex_unlock(&life);
}

/* ---- A queue's share ---------------------------------------------------- */

static int open_rings(struct soft_work *work, unsigned depth)
{
	pthread_condattr_t attributes;

	for (work->size = 1; work->size < depth; work->size *= 2)
		;
	work->ops = calloc(work->size, sizeof(work->ops[0]));
	work->done = calloc(work->size, sizeof(work->done[0]));
	if (!work->ops || !work->done) {
		free(work->ops);
		free(work->done);
		return -ENOMEM;
	}
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&work->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	return 0;
}

int soft_work_open(struct soft_work *work, unsigned depth)
{
	static bool registered; /* with `life` held */
	unsigned target = soft_pool_threads();
	int ret = open_rings(work, depth);

	if (ret)
		return ret;
	work->event = -1;
	work->generation = fork_generation();
	pthread_mutex_lock(&life);
	if (!registered)
		registered = !atexit(stop_at_exit);
	pthread_mutex_lock(&pool.lock);
	pool.users++;
	if (registered && !pool.ended && pool.target < target)
		pool.target = target;
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_unlock(&life);
	return 0;
}

void soft_work_close(struct soft_work *work)
{
	if (work->generation == fork_generation()) {
		pthread_mutex_lock(&life);
		if (!--pool.users) {
			stop_threads();
			pool.target = 0;
		}
		pthread_mutex_unlock(&life);
		pthread_cond_destroy(&work->wake);
	}
	free(work->ops);
	free(work->done);
}

void soft_work_add(struct soft_work *work, struct afb_op *const *ops,
		   unsigned count)
{
	unsigned i;

	pthread_mutex_lock(&pool.lock);
	for (i = 0; i < count; i++)
		work->ops[work->added++ & (work->size - 1)] = ops[i];
	pool.unclaimed += count;
	list(work);
	while (pool.running < pool.target && pool.running < pool.unclaimed)
		if (!start_thread())
			pool.target = pool.running;
	if (count == 1)
		pthread_cond_signal(&pool.work);
	else
		pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.lock);
}

bool soft_work_help(struct soft_work *work, struct soft_scratch *scratch)
{
	bool any;

	pthread_mutex_lock(&pool.lock);
	any = work->listed;
	if (any)
		run_some(work, scratch);
	pthread_mutex_unlock(&pool.lock);
	return any;
}

int soft_work_wait(struct soft_work *work, unsigned count,
		   const struct timespec *deadline)
{
	int ret = 0;

	pthread_mutex_lock(&pool.lock);
	work->wanted = count;
	work->waits = true;
	while (work->finished - work->taken < count && !ret)
		ret = deadline ? pthread_cond_timedwait(&work->wake, &pool.lock,
							deadline) :
				 pthread_cond_wait(&work->wake, &pool.lock);
	work->waits = false;
	pthread_mutex_unlock(&pool.lock);
	return ret ? -ETIME : 0;
}

unsigned soft_work_take(struct soft_work *work, struct soft_done *done,
			unsigned max)
{
	unsigned n = 0;

	pthread_mutex_lock(&pool.lock);
	while (n < max && work->taken != work->finished)
		done[n++] = work->done[work->taken++ & (work->size - 1)];
	pthread_mutex_unlock(&pool.lock);
	return n;
}

void soft_work_watch(struct soft_work *work, int event)
{
	pthread_mutex_lock(&pool.lock);
	work->event = event;
	pthread_mutex_unlock(&pool.lock);
}
