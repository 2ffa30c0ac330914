/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_soft.c - a queue without the kernel. The queue itself sends such ops to
 * libcrypto as they start, so there is nothing to hold and nothing to wait for.
 */
#include "backend.h"

static int soft_queue_open(struct afb_queue *queue)
{
	(void)queue;
	return 0;
}

static void soft_queue_close(struct afb_queue *queue)
{
	(void)queue;
}

const struct backend backend_soft = {
	.id = AFB_BACKEND_SOFT,
	.open = soft_queue_open,
	.close = soft_queue_close,
};
