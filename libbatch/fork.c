/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c - the generation number. The handler only counts: a forked child may
 * call nothing that takes a lock, so what has to be remade is remade by the
 * next call that needs it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "fork.h"

static atomic_uint generation;

static void count_fork(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

unsigned fork_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed);
}
