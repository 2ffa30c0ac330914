/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.h - ops in order of arrival, in a ring of fixed size. Whoever pushes
 * knows that there is room.
 */
#ifndef AFB_FIFO_H
#define AFB_FIFO_H

#include <errno.h>
#include <stdlib.h>

#include "afalgbatch.h"

struct op_fifo {
	struct afb_op **ops;
	unsigned size; /* a power of two */
	unsigned first;
	unsigned count;
};

static inline int fifo_open(struct op_fifo *fifo, unsigned room)
{
	for (fifo->size = 1; fifo->size < room; fifo->size *= 2)
		;
	fifo->ops = calloc(fifo->size, sizeof(fifo->ops[0]));
	return fifo->ops ? 0 : -ENOMEM;
}

static inline void fifo_push(struct op_fifo *fifo, struct afb_op *op)
{
	fifo->ops[(fifo->first + fifo->count++) & (fifo->size - 1)] = op;
}

static inline void fifo_push_front(struct op_fifo *fifo, struct afb_op *op)
{
	fifo->count++;
	fifo->ops[--fifo->first & (fifo->size - 1)] = op;
}

static inline struct afb_op *fifo_pop(struct op_fifo *fifo)
{
	fifo->count--;
	return fifo->ops[fifo->first++ & (fifo->size - 1)];
}

#endif
