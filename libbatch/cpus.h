/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - how many processors the calling thread may run on. */
#ifndef AFB_CPUS_H
#define AFB_CPUS_H

#include <sched.h>

static inline int cpus_allowed(void)
{
	cpu_set_t cpus;

	/* Fails where there are more than the set has room for. */
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? CPU_SETSIZE :
							   CPU_COUNT(&cpus);
}

#endif
