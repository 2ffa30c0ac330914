/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - lends without a lock: taking a queue leaves its place empty. A thread
 * begins at a place of its own, for a ring that another thread used is made anew.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "jobs.h"
#include "provider.h"
#include "queues.h"

/* The parts of a long text that the kernel has at once. */
#define DEPTH 32

static unsigned own_place(void)
{
	/* Threads' structures are pages apart. */
	return (unsigned)((uintptr_t)pthread_self() >> 12);
}

static struct afb_queue *take(struct queues *queues)
{
	unsigned first = own_place(), i;
	struct afb_queue *queue;

	for (i = 0; i < QUEUES_KEPT; i++) {
		queue = atomic_exchange(
			&queues->kept[(first + i) % QUEUES_KEPT], NULL);
		if (queue)
			return queue;
	}
	return NULL;
}

static void give(struct queues *queues, struct afb_queue *queue)
{
	unsigned first = own_place(), i;
	struct afb_queue *none;

	for (i = 0; i < QUEUES_KEPT; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(
			    &queues->kept[(first + i) % QUEUES_KEPT], &none,
			    queue))
			return;
	}
	afb_queue_close(queue);
}

ssize_t queues_run(const struct provider *prov, struct queues *queues,
		   struct afb_op *op)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	struct afb_op *done;
	int ret = 0;

	if (jobs_run(prov, op))
		return op->result;
	queue = take(queues);
	params.depth = DEPTH;
	params.backend = prov->settings.backend;
	if (!queue)
		ret = afb_queue_open(&queue, &params);
	if (ret)
		return ret;
	if (afb_submit(queue, &op, 1) == 1)
		ret = afb_reap(queue, &done, 1, 1, NULL);
	if (ret == 1) {
		give(queues, queue);
		return op->result;
	}
	/* What cannot be waited for ends before its memory is anyone's again. */
	afb_queue_close(queue);
	return ret ? ret : -EIO;
}

void queues_drop(struct queues *queues)
{
	unsigned i;

	for (i = 0; i < QUEUES_KEPT; i++)
		afb_queue_close(atomic_exchange(&queues->kept[i], NULL));
}
