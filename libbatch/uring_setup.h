/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uring_setup.h - making a ring for a queue: the kernel's newest useful features
 * where it has them, less where it must be, -errno where it is not enough.
 */
#ifndef AFB_URING_SETUP_H
#define AFB_URING_SETUP_H

#include <liburing.h>
#include <stdbool.h>

/* Submission queue entries one op can need: accept, send, read. */
#define URING_STEPS 3

/*
 * A ring for @ops ops in flight, with a table of up to *files direct descriptors
 * (*files becomes what there is, at least 1). The calling thread owns the ring;
 * with @sqpoll a thread of the kernel's submits what is in it.
 *
 * -ENOSYS  the kernel lacks io_uring or a feature that is needed
 * -EPERM, -EACCES, -ENOMEM, -EMFILE, ... from io_uring_setup(2)
 */
int uring_setup(struct io_uring *ring, unsigned ops, bool sqpoll,
		unsigned *files);

#endif
