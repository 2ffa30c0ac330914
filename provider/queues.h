/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.h - the queues of a provider context: each is lent to one call at a time,
 * and kept for the next.
 */
#ifndef QUEUES_H
#define QUEUES_H

#include <stdatomic.h>

#include "afalgbatch.h"

struct provider;

/* As many are kept; more than that are opened for the call alone. */
#define QUEUES_KEPT 16

struct queues {
	_Atomic(struct afb_queue *) kept[QUEUES_KEPT];
};

/*
 * Does one op, and returns its result. -ENOMEM and what else afb_queue_open() and
 * afb_reap() say: no op was done. Any thread; an asynchronous job is paused meanwhile
 * (jobs.h).
 */
ssize_t queues_run(const struct provider *prov, struct queues *queues,
		   struct afb_op *op);

/* Closes them all; no call may be under way. */
void queues_drop(struct queues *queues);

#endif
