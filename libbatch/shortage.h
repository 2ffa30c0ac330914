/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortage.h - what the back ends do when the driver's queue is full: the op is
 * tried again when another has ended, or, if none is left to end, after a nap.
 */
#ifndef AFB_SHORTAGE_H
#define AFB_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "clock.h"

/* Has the driver's queue no room? ENOSPC, or EBUSY (padata). */
static inline bool driver_is_full(ssize_t error)
{
	return error == -ENOSPC || error == -EBUSY || error == -EAGAIN;
}

/*
 * Others have filled the driver's queue, and nothing of ours will end and tell
 * that there is room again. @naps counts those in a row: false when that has gone
 * on for about a second.
 */
static inline bool nap(unsigned *naps)
{
	if ((*naps)++ >= 1000)
		return false;
	clock_nap();
	return true;
}

#endif
