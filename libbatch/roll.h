/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roll.h - the accepted ops of a queue, oldest first: kept only where somebody
 * asks for ops in their order, or for those that are late.
 */
#ifndef AFB_ROLL_H
#define AFB_ROLL_H

#include "fifo.h"

struct roll {
	struct afb_op *oldest, *newest;
	uint64_t late_ms; /* 0: no op is ever late */
	bool in_order;
};

/* Is it kept at all? */
bool roll_kept(const struct roll *roll);

/* The time in the unit of afb_op.lent.accepted; no system call. */
uint64_t roll_now(void);

void roll_add(struct roll *roll, struct afb_op *op, uint64_t now);

/*
 * @op has ended. Gives what may be delivered now to @ended: that op, or in order
 * all from the oldest on that have ended.
 */
void roll_end(struct roll *roll, struct afb_op *op, struct op_fifo *ended);

/* Up to @max ops that have become late since they were last looked for. */
unsigned roll_late(struct roll *roll, struct afb_op **late, unsigned max);

#endif
