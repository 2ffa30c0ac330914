/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_pool.h - threads of the library's own that do ops in software. There is one
 * pool for the process; it takes a lock for a handful of ops, not for each.
 *
 * The threads run at nice 19, so that what they use is time nobody else wants. A
 * caller that waits for its ops works on them as well, at its own priority.
 */
#ifndef AFB_SOFT_POOL_H
#define AFB_SOFT_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "soft.h"

/* Most ops taken at a time: no thread keeps many from the others. */
#define SOFT_CHUNK 16

struct soft_done {
	struct afb_op *op;
	int ret; /* what soft_op() said */
};

/*
 * The ops of one queue, under the pool's lock once it is open. The numbers count
 * up and wrap; they are places in the rings, whose size is a power of two.
 */
struct soft_work {
	struct afb_op **ops;
	struct soft_done *done;
	unsigned size;
	unsigned added, claimed; /* of ops */
	unsigned finished, taken; /* of done */
	unsigned wanted; /* finished ones for which the owner is woken */
	bool waits; /* the owner does */
	bool listed; /* there are ops that no thread has claimed */
	int event; /* written to when ops have finished; -1: none */
	unsigned generation; /* of the process it was opened in */
	struct soft_work *next;
	pthread_cond_t wake;
};

/*
 * For the handlers of fork(). Before it waits until nobody does an op of the pool's,
 * which is for one op at most: the child has none of the threads, and a lock of
 * libcrypto's that one of them held would stay held in it. In the child after it
 * forgets them and their ops.
 */
void soft_pool_before_fork(void);
void soft_pool_after_fork(bool in_child);

/* How many threads the pool may have: see afb_set_threads(). */
unsigned soft_pool_threads(void);

/* Room for @depth ops. Takes a share in the pool. 0 or -ENOMEM. */
int soft_work_open(struct soft_work *work, unsigned depth);

/* No op is left in it, or this is a child of fork() and the ops its parent's. */
void soft_work_close(struct soft_work *work);

/* Gives @count ops to the threads, starting some if there are too few. */
void soft_work_add(struct soft_work *work, struct afb_op *const *ops,
		   unsigned count);

/* Does a handful of the ops that no thread has taken yet. False: there are none. */
bool soft_work_help(struct soft_work *work, struct soft_scratch *scratch);

/* Sleeps until @count are done that have not been taken, or @deadline. 0 or -ETIME. */
int soft_work_wait(struct soft_work *work, unsigned count,
		   const struct timespec *deadline);

/* Up to @max ops that are done, each once. */
unsigned soft_work_take(struct soft_work *work, struct soft_done *done,
			unsigned max);

/* From now on @event is written to. Some may have finished before. */
void soft_work_watch(struct soft_work *work, int event);

#endif
