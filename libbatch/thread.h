/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - which thread calls, and whether another one is still there: a queue
 * belongs to one thread at a time.
 */
#ifndef AFB_THREAD_H
#define AFB_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/* The calling thread's number; a system call for its first time only. */
pid_t thread_self(void);

/* Is that thread of this process alive? It may take 50 ms to be sure. */
bool thread_stays(pid_t tid);

#endif
