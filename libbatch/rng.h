/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random bytes from the kernel's generators. The generator is the CPU's
 * own work, done inside read(2): no back end could make it asynchronous, so that
 * all of them come here.
 */
#ifndef AFB_RNG_H
#define AFB_RNG_H

#include "session.h"

/*
 * Seeds the generator behind a tfm socket, with no bytes if so told: a DRBG
 * fetches entropy then, and gives nothing before. Returns an op socket, which any
 * number of threads may read at once, or -errno.
 */
int rng_open(int tfm, const void *seed, size_t len);

/* Fills all of an op's output. The bytes, or -errno with some of it filled. */
ssize_t rng_fill(int fd, const struct afb_op *op, struct afb_counters *burst);

#endif
