/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alone.h - one op in blocking calls, on an op socket made for it: what a back end
 * does with an op that a burst cannot carry, or whose error was kept from it.
 */
#ifndef AFB_ALONE_H
#define AFB_ALONE_H

#include "queue.h"
#include "request.h"

/* Is it a digest of more than one send can carry? */
bool alone_only(const struct afb_op *op);

/*
 * Runs it and returns its result. @request has been prepared for the op; a digest
 * needs none.
 */
ssize_t alone_run(struct afb_queue *queue, const struct afb_op *op,
		  struct request *request);

/*
 * The same for an op of which the kernel has refused a part and kept the error
 * silent. By blocking calls it shows; what does not is -EFAULT, for software must
 * not be led to an address that the kernel refused.
 */
ssize_t alone_explain(struct afb_queue *queue, const struct afb_op *op,
		      struct request *request);

#endif
