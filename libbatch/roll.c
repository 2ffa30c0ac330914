/* SPDX-License-Identifier: Apache-2.0 */
/* roll.c - a list through the ops themselves, so that it needs no memory. */
#include <time.h>

#include "op.h"
#include "roll.h"

bool roll_kept(const struct roll *roll)
{
	return roll->in_order || roll->late_ms;
}

/* The coarse clock: some milliseconds do not matter, and no kernel is asked. */
uint64_t roll_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void roll_add(struct roll *roll, struct afb_op *op, uint64_t now)
{
	op->lent.accepted = now;
	op->lent.older = roll->newest;
	op->lent.newer = NULL;
	if (roll->newest)
		roll->newest->lent.newer = op;
	else
		roll->oldest = op;
	roll->newest = op;
}

static void leave(struct roll *roll, struct afb_op *op)
{
	if (op->lent.older)
		op->lent.older->lent.newer = op->lent.newer;
	else
		roll->oldest = op->lent.newer;
	if (op->lent.newer)
		op->lent.newer->lent.older = op->lent.older;
	else
		roll->newest = op->lent.older;
}

void roll_end(struct roll *roll, struct afb_op *op, struct op_fifo *ended)
{
	struct afb_op *oldest;

	op->lent.state |= OP_ENDED;
	if (!roll->in_order) {
		leave(roll, op);
		fifo_push(ended, op);
		return;
	}
	while ((oldest = roll->oldest) && oldest->lent.state & OP_ENDED) {
		leave(roll, oldest);
		fifo_push(ended, oldest);
	}
}

unsigned roll_late(struct roll *roll, struct afb_op **late, unsigned max)
{
	uint64_t now = roll_now();
	struct afb_op *op = roll->late_ms ? roll->oldest : NULL;
	unsigned n = 0;

	for (; op && n < max; op = op->lent.newer) {
		if (now - op->lent.accepted < roll->late_ms)
			break;
		if (op->lent.state & (OP_ENDED | OP_LATE))
			continue;
		op->lent.state |= OP_LATE;
		late[n++] = op;
	}
	return n;
}
