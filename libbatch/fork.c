/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c - the numbers. The handlers count, and give the library's own locks of a
 * child their first state: another thread may have held them. They call nothing
 * that takes a lock; what has to be remade is remade by the next call that needs
 * it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "driver.h"
#include "fork.h"
#include "nofork.h"
#include "soft_pool.h"

static atomic_uint generation, forks;

static void before_fork(void)
{
	atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void in_child(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
	soft_pool_forget();
	nofork_forget();
	driver_forget();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, NULL, in_child);
}

unsigned fork_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed);
}

unsigned fork_count(void)
{
	return atomic_load_explicit(&forks, memory_order_relaxed);
}
