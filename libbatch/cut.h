/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - a long text, or one of several data units, as many requests. Its parts
 * are ops of the library's own that go through the queue like any other; those
 * that do not need one another's results are in flight together.
 */
#ifndef AFB_CUT_H
#define AFB_CUT_H

#include "fifo.h"
#include "op.h"

/* Parts of one op that are waiting or in flight at once. */
#define CUT_WAYS 8

/* Ops of one queue that are being cut at once. */
#define CUT_OPS 16

/* Most parts a queue can have: room for them in its fifo of waiting ops. */
#define CUT_PARTS (CUT_OPS * CUT_WAYS)

struct cut;

/* A queue's. Starts as zero. */
struct cutter {
	struct cut *idle;
	struct cut *made; /* all there are */
	unsigned active; /* ops being cut */
};

/* Who did the work, and why not a better one: of all parts, the worst. */
struct served {
	enum afb_backend backend;
	enum afb_fallback why;
};

/*
 * The longest part of a session's texts, once all else of it is known: whole
 * blocks, or a data unit. 0: its texts cannot be cut.
 */
size_t cut_part_max(const struct afb_session *session);

/* Is the op more than one request? It has passed op_check(). */
bool cut_needed(const struct afb_op *op);

/*
 * Puts the first parts in front of @waiting. 0, -EAGAIN when others have to end
 * first, -ENOMEM, or -EMSGSIZE: a data unit is in too many pieces.
 */
int cut_begin(struct cutter *cutter, struct afb_op *op,
	      struct op_fifo *waiting);

/*
 * A part has ended. Returns its op if that was the last, with *served and
 * *result the whole's; NULL if there are more: the next is in front of @waiting.
 */
struct afb_op *cut_part_ended(struct cutter *cutter, struct afb_op *part,
			      struct op_fifo *waiting, struct served *served,
			      ssize_t *result);

/* Frees everything. After fork() the ops that are being cut are forgotten. */
void cut_free(struct cutter *cutter);

#endif
