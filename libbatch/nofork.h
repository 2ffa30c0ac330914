/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nofork.h - memory that a child of fork() does not have (MADV_DONTFORK), so that
 * fork() cannot come between the kernel and the result it writes there: see
 * fork_count(). It is wiped when it is let go.
 */
#ifndef AFB_NOFORK_H
#define AFB_NOFORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces up to this size are cut from shared pages; larger have their own. */
#define NOFORK_CELL 256

/* One piece, kept from use to use. Starts as zero. */
struct nofork {
	uint8_t *at; /* in a child, of memory that is not there */
	size_t size;
	unsigned generation;
};

/* At least @size bytes at memory->at; what was there is gone if that was less. */
int nofork_reserve(struct nofork *memory, size_t size);

void nofork_free(struct nofork *memory);

/* Leaves the piece alone for good: the kernel may still write to it. */
void nofork_abandon(struct nofork *memory);

/* For the handlers of fork(). */
void nofork_before_fork(void);
void nofork_after_fork(bool in_child);

#endif
