/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_soft.c - a queue without the kernel: the ops of a burst are shared
 * between helper threads and the caller, once it waits. An op that comes alone and
 * is waited for is done by the caller at once, with no thread and no lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend.h"
#include "clock.h"
#include "soft_pool.h"

struct ways {
	struct soft_work work;
	struct afb_op **staged; /* taken, and not yet given to the threads */
	unsigned staged_count;
};

static int soft_queue_open(struct afb_queue *queue)
{
	struct ways *ways;

	/* Without threads start() does everything. */
	if (!soft_pool_threads())
		return 0;
	ways = calloc(1, sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	/* Parts of long ops come on top of the depth. */
	ways->staged = calloc(queue->depth + CUT_PARTS, sizeof(ways->staged[0]));
	if (!ways->staged ||
	    soft_work_open(&ways->work, queue->depth + CUT_PARTS)) {
		free(ways->staged);
		free(ways);
		return -ENOMEM;
	}
	queue->ways = ways;
	return 0;
}

static void soft_queue_close(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;

	if (!ways)
		return;
	soft_work_close(&ways->work);
	free(ways->staged);
	free(ways);
	queue->ways = NULL;
}

static void run_now(struct afb_queue *queue, struct afb_op *op)
{
	queue_end(queue, op, AFB_BACKEND_SOFT, queue_by_software(queue, op));
}

static int soft_queue_start(struct afb_queue *queue,
			    struct queue_session *entry, struct afb_op *op)
{
	struct ways *ways = queue->ways;

	(void)entry;
	if (ways)
		ways->staged[ways->staged_count++] = op;
	else
		run_now(queue, op);
	return 0;
}

static int soft_queue_flush(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;

	if (ways && ways->staged_count) {
		soft_work_add(&ways->work, ways->staged, ways->staged_count);
		ways->staged_count = 0;
	}
	return 0;
}

/* Returns how many ops that were. */
static unsigned collect(struct afb_queue *queue, struct ways *ways)
{
	struct soft_done done[SOFT_CHUNK];
	unsigned n, i, all = 0;

	do {
		n = soft_work_take(&ways->work, done, SOFT_CHUNK);
		for (i = 0; i < n; i++)
			queue_end(queue, done[i].op, AFB_BACKEND_SOFT,
				  done[i].ret);
		all += n;
	} while (n == SOFT_CHUNK);
	return all;
}

/* Works, or sleeps where all that is left is being worked on. */
static int go_on(struct afb_queue *queue, struct ways *ways, unsigned min,
		 const struct timespec *deadline)
{
	struct timespec left;

	if (deadline && !clock_remaining(&left, deadline))
		return -ETIME;
	if (soft_work_help(&ways->work, &queue->scratch))
		return 0;
	queue->burst.waits++;
	return soft_work_wait(&ways->work, queue_wake_after(queue, min),
			      deadline);
}

static int soft_queue_wait(struct afb_queue *queue, unsigned min,
			   const struct timespec *deadline)
{
	struct ways *ways = queue->ways;
	unsigned before = queue->ended.count, ended, collected;
	int ret = 0;

	if (min && queue->in_flight == 1 && ways->staged_count == 1) {
		ways->staged_count = 0;
		run_now(queue, ways->staged[0]);
		return 0;
	}
	soft_queue_flush(queue);
	for (;;) {
		collected = collect(queue, ways);
		ended = queue->ended.count - before;
		if (ret || ended >= min || !queue->in_flight ||
		    (collected && queue->waiting.count))
			return ret;
		ret = go_on(queue, ways, min - ended, deadline);
	}
}

static int soft_queue_watch(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;

	if (ways)
		soft_work_watch(&ways->work, queue->event);
	return 0;
}

const struct backend backend_soft = {
	.id = AFB_BACKEND_SOFT,
	.open = soft_queue_open,
	.close = soft_queue_close,
	.start = soft_queue_start,
	.flush = soft_queue_flush,
	.wait = soft_queue_wait,
	.watch = soft_queue_watch,
};
