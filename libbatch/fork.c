/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c - the numbers, and the library's own locks: they are taken before a
 * fork() and let go of in both processes, so that a child never finds one held by a
 * thread it does not have, nor what it guards half changed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver.h"
#include "fork.h"
#include "log.h"
#include "nofork.h"
#include "soft.h"
#include "soft_pool.h"

static atomic_uint generation;
static atomic_uint forks; /* odd: one is under way */

/* In the order in which they are taken. The pool's threads use what follows. */
static const struct {
	void (*before)(void);
	void (*after)(bool in_child);
} parts[] = {
	{ soft_pool_before_fork, soft_pool_after_fork },
	{ soft_before_fork, soft_after_fork },
	{ driver_before_fork, driver_after_fork },
	{ nofork_before_fork, nofork_after_fork },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void before_fork(void)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		parts[i].before();
	atomic_fetch_add(&forks, 1);
}

static void after_fork(bool in_child)
{
	size_t i;

	atomic_fetch_add(&forks, 1);
	for (i = PARTS; i > 0; i--)
		parts[i - 1].after(in_child);
}

static void in_parent(void)
{
	after_fork(false);
}

static void in_child(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
	log_after_fork();
	after_fork(true);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

unsigned fork_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed);
}

unsigned fork_count(void)
{
	return atomic_load(&forks);
}

bool forked_since(unsigned count)
{
	return count % 2 || count != fork_count();
}
