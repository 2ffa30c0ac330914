/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - the model test's random numbers: the same for the same seed, on every
 * machine. Each step of a run has a generator of its own, so that what happened
 * at a step depends on the seed and the step's number alone, and not on how many
 * ops the kernel had ended before it.
 */
#ifndef MODEL_RNG_H
#define MODEL_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

/* splitmix64: any state is a good one. */
static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t x = rng->state += 0x9e3779b97f4a7c15U;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
	x = (x ^ x >> 27) * 0x94d049bb133111ebU;
	return x ^ x >> 31;
}

static inline struct rng rng_of(uint64_t seed, uint64_t step)
{
	struct rng rng = { seed * 0x2545f4914f6cdd1dU + step };

	rng.state = rng_next(&rng);
	return rng;
}

/* 0 to @below - 1. */
static inline unsigned rng_below(struct rng *rng, unsigned below)
{
	return (rng_next(rng) >> 32) * below >> 32;
}

/* @low to @high, both included. */
static inline unsigned rng_range(struct rng *rng, unsigned low, unsigned high)
{
	return low + rng_below(rng, high - low + 1);
}

/* True once in @n times. */
static inline int rng_once_in(struct rng *rng, unsigned n)
{
	return rng_below(rng, n) == 0;
}

static inline void rng_fill(struct rng *rng, void *data, size_t len)
{
	uint8_t *at = data;
	uint64_t x = 0;
	size_t i;

	for (i = 0; i < len; i++, x >>= 8) {
		if (i % 8 == 0)
			x = rng_next(rng);
		at[i] = x;
	}
}

#endif
