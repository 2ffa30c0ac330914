/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h - tells whether what this process holds was made before a fork().
 */
#ifndef AFB_FORK_H
#define AFB_FORK_H

/*
 * A number that is another in every forked child. What holds kernel state that
 * a child must not share (rings, op sockets) keeps the number it was made under
 * and is remade where it no longer fits.
 */
unsigned fork_generation(void);

#endif
