/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - see thread.h. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "thread.h"

pid_t thread_self(void)
{
	static _Thread_local pid_t self;
	static _Thread_local unsigned generation;

	if (!self || generation != fork_generation()) {
		self = gettid();
		generation = fork_generation();
	}
	return self;
}

/*
 * A thread that was joined may still be on its way out: the kernel wakes the
 * joiner before it ends the thread's requests.
 */
bool thread_stays(pid_t tid)
{
	unsigned tries;

	for (tries = 0; tries < 50; tries++) {
		if (tgkill(getpid(), tid, 0) && errno == ESRCH)
			return false;
		clock_nap();
	}
	return true;
}
