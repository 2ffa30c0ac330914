/* SPDX-License-Identifier: Apache-2.0 */
/* nofork.c - see nofork.h. Cells that are free are linked through themselves. */
#include <errno.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sys/mman.h>

#include "fork.h"
#include "nofork.h"

#define SLAB_SIZE (64UL << 10)

union cell {
	union cell *next;
	uint8_t bytes[NOFORK_CELL];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */
static union cell *free_cells;
static union cell *slabs; /* the first cell of each links it to the next */

void nofork_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

void nofork_after_fork(bool in_child)
{
	if (in_child)
		free_cells = slabs = NULL;
	pthread_mutex_unlock(&lock);
}

/* When the library is unloaded. */
__attribute__((destructor)) static void unmap_slabs(void)
{
	union cell *slab;

	while ((slab = slabs)) {
		slabs = slab->next;
		munmap(slab, SLAB_SIZE);
	}
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* Fails on no kernel that has it, and every kernel with AF_ALG does. */
	madvise(at, size, MADV_DONTFORK);
	return at;
}

static void add_slab(void)
{
	union cell *slab = map(SLAB_SIZE);
	size_t i;

	if (!slab)
		return;
	slab->next = slabs;
	slabs = slab;
	for (i = 1; i < SLAB_SIZE / NOFORK_CELL; i++) {
		slab[i].next = free_cells;
		free_cells = &slab[i];
	}
}

static void *cell_get(void)
{
	union cell *cell;

	pthread_mutex_lock(&lock);
	if (!free_cells)
		add_slab();
	cell = free_cells;
	if (cell)
		free_cells = cell->next;
	pthread_mutex_unlock(&lock);
	return cell;
}

static void cell_put(void *at)
{
	union cell *cell = at;

	pthread_mutex_lock(&lock);
	cell->next = free_cells;
	free_cells = cell;
	pthread_mutex_unlock(&lock);
}

/* Powers of two, so that growing is rare. */
static size_t size_for(size_t size)
{
	size_t larger = NOFORK_CELL;

	while (larger < size)
		larger *= 2;
	return larger;
}

int nofork_reserve(struct nofork *memory, size_t size)
{
	if (memory->at && memory->size >= size &&
	    memory->generation == fork_generation())
		return 0;
	nofork_free(memory);
	size = size_for(size);
	memory->at = size > NOFORK_CELL ? map(size) : cell_get();
	if (!memory->at)
		return -ENOMEM;
	memory->size = size;
	memory->generation = fork_generation();
	return 0;
}

void nofork_abandon(struct nofork *memory)
{
	*memory = (struct nofork){ 0 };
}

void nofork_free(struct nofork *memory)
{
	if (memory->at && memory->generation == fork_generation()) {
		OPENSSL_cleanse(memory->at, memory->size);
		if (memory->size > NOFORK_CELL)
			munmap(memory->at, memory->size);
		else
			cell_put(memory->at);
	}
	*memory = (struct nofork){ 0 };
}
