/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - one random op of the model test: its memory, and what that memory
 * must look like when the op has ended.
 *
 * Everything the op points to lies in one block, with guard bytes around each
 * piece. What is right is a second block: one comparison finds a wrong result and
 * whatever the library has written to that is not its own.
 */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "oracle.h"
#include "rng.h"

#define PIECES_MAX 24

struct record {
	struct afb_op op; /* the first member: an op leads to its record */
	const char *name;
	struct iovec in[PIECES_MAX];
	struct iovec out[PIECES_MAX];
	ssize_t result;	 /* what it must be */
	bool counts;	 /* the library's counters have it as a message */
	bool kernel_may; /* and a kernel's, if the queue has one */

	uint8_t *memory;
	uint8_t *right; /* `memory` as it must be in the end */
	size_t size;
	size_t bytes;	  /* of the message, for reports */
	const char *flaw; /* what is wrong with the op, or NULL */
	bool in_place;
	bool spoils_output; /* it fails with whatever in its output */
	bool not_served;    /* -ENOENT is as good as any other error */

	/* The model's own: where it is, and as which it was accepted. */
	unsigned queue, place;
	uint64_t turn;
};

/* A random op of the session. */
struct record *record_new(struct rng *rng, const struct keyed *keyed,
			  struct afb_session *session);
void record_free(struct record *record);

/* NULL, or what is wrong with an op that has ended, in words. */
const char *record_fault(struct record *record, char *text, size_t size);

/* Of an op that was dropped: has all of it or nothing been done? */
bool record_is_untouched_or_right(const struct record *record);

#endif
