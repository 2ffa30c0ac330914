/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_queue.h - a thread's queue for the ops of its asynchronous jobs. Each op is
 * copied to a place of the queue's own: a paused job can be forgotten with all its
 * buffers, and the kernel cannot be told so.
 *
 * One eventfd tells that there is something to do, for all jobs of the thread; each
 * op in flight has a descriptor of its own for it, for event loops know one owner
 * of a descriptor. It is readable from the first op that is put here, so that a
 * program comes back when it has begun all its jobs: the first to be resumed then
 * starts the whole burst.
 */
#ifndef JOBS_QUEUE_H
#define JOBS_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "afalgbatch.h"

/* The ops of one thread that are under way at once. */
#define JOBS_DEPTH 64

/* The longest input, in bytes, that is copied. */
#define JOBS_BYTES_MAX ((size_t)1 << 20)

struct jobs_queue;

/* Names an op that was put in a queue, also after the queue has forgotten it. */
struct jobs_ticket {
	struct jobs_queue *queue;
	unsigned place;
	uint64_t number;
};

/* NULL: no memory. It stays until jobs_queue_free(), whichever threads use it. */
struct jobs_queue *jobs_queue_new(void);

/*
 * Opens a queue that is closed, or was never open, for the calling thread, its owner.
 * False: no memory.
 */
bool jobs_queue_open(struct jobs_queue *queue, enum afb_backend backend);

/* Gives up every op, waiting for what the kernel has. The owner. */
void jobs_queue_close(struct jobs_queue *queue);

/*
 * Closes it where it is open. If another, living thread has begun ops that have not
 * ended, their memory is left alone for good.
 */
void jobs_queue_free(struct jobs_queue *queue);

/*
 * Puts a copy of @op in the queue; the op itself is not touched. False: there is no
 * place, no descriptor or no memory for it, or it is too long. The owner.
 */
bool jobs_queue_put(struct jobs_queue *queue, const struct afb_op *op,
		    struct jobs_ticket *ticket);

/* The op's descriptor for poll(2), the queue's own, until the op is taken. */
int jobs_queue_fd(const struct jobs_ticket *ticket);

/*
 * Starts what was put here and collects what has ended, waiting for that for up to
 * @wait_ns. 0 or -errno of afb_reap(). The owner.
 */
int jobs_queue_serve(struct jobs_queue *queue, long wait_ns);

enum jobs_state {
	JOBS_WAITS, /* it has not ended */
	JOBS_ENDED, /* it can be taken */
	JOBS_LOST,  /* the queue does not know it any more */
};

/* Any thread. */
enum jobs_state jobs_queue_state(const struct jobs_ticket *ticket);

/* Writes the result of one that has ended where @op says, as afb_reap() would. */
void jobs_queue_take(const struct jobs_ticket *ticket, struct afb_op *op);

/* Nobody wants the result any more. Any thread; nothing happens where it is lost. */
void jobs_queue_forget(const struct jobs_ticket *ticket);

#endif
