/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h - tells whether what this process holds was made before a fork(), and
 * whether it has forked itself since.
 */
#ifndef AFB_FORK_H
#define AFB_FORK_H

#include <stdbool.h>

/*
 * A number that is another in every forked child. What holds kernel state that
 * a child must not share (rings, op sockets) keeps the number it was made under
 * and is remade where it no longer fits.
 */
unsigned fork_generation(void);

/*
 * A number for forked_since(), which tells whether this process has forked since,
 * or may be about to. Where it has with a request in flight, the kernel may write
 * the result to a page that is no longer the parent's: before Linux 6.5,
 * crypto/af_alg.c takes references to the pages of a read and does not pin them, and
 * fork() makes them copy on write.
 */
unsigned fork_count(void);
bool forked_since(unsigned count);

#endif
