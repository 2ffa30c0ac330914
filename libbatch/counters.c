/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c - the process's totals and the folding into them. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "counters.h"

/*
 * A structure of counters is its size, then numbers: seen as an array, one loop
 * serves them all. in_flight_max alone is a maximum and not a sum.
 */
#define FIRST (offsetof(struct afb_counters, messages) / sizeof(uint64_t))
#define COUNT (sizeof(struct afb_counters) / sizeof(uint64_t))
#define IN_FLIGHT_MAX \
	(offsetof(struct afb_counters, in_flight_max) / sizeof(uint64_t))

_Static_assert(sizeof(struct afb_counters) % sizeof(uint64_t) == 0 &&
		       offsetof(struct afb_counters, messages) <=
			       sizeof(uint64_t),
	       "struct afb_counters is not an array of numbers");

static _Atomic uint64_t totals[COUNT];

void counters_message(struct afb_counters *burst, enum afb_backend backend,
		      enum afb_fallback why, size_t bytes)
{
	burst->messages[AFB_BACKEND_AUTO]++;
	burst->messages[backend]++;
	burst->bytes += bytes;
	if (why != AFB_FALLBACK_NONE)
		burst->fallbacks[why]++;
}

bool error_is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM ||
	       error == -ENOBUFS;
}

enum afb_fallback fallback_after(int error, enum afb_fallback otherwise)
{
	if (error_is_shortage(error))
		return AFB_FALLBACK_NO_RESOURCES;
	/* A keyed hash that the kernel has without its key. */
	return error == -ENOSYS && otherwise == AFB_FALLBACK_KERNEL_ERROR ?
		       AFB_FALLBACK_NOT_OFFERED :
		       otherwise;
}

void counters_in_flight(struct afb_counters *burst, unsigned now)
{
	if (now > burst->in_flight_max)
		burst->in_flight_max = now;
}

static void total_raise(_Atomic uint64_t *total, uint64_t value)
{
	uint64_t old = atomic_load_explicit(total, memory_order_relaxed);

	while (old < value &&
	       !atomic_compare_exchange_weak_explicit(total, &old, value,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
}

void counters_fold(struct afb_counters *burst, struct afb_counters *own)
{
	uint64_t *from = (uint64_t *)burst;
	uint64_t *to = (uint64_t *)own;
	size_t i;

	for (i = FIRST; i < COUNT; i++) {
		if (!from[i])
			continue;
		if (i == IN_FLIGHT_MAX)
			total_raise(&totals[i], from[i]);
		else
			atomic_fetch_add_explicit(&totals[i], from[i],
						  memory_order_relaxed);
		if (!to)
			;
		else if (i != IN_FLIGHT_MAX)
			to[i] += from[i];
		else if (to[i] < from[i])
			to[i] = from[i];
		from[i] = 0;
	}
}

int afb_counters_get(struct afb_counters *counters)
{
	uint64_t *to = (uint64_t *)counters;
	size_t i;

	if (counters->size != sizeof(*counters))
		return -EINVAL;
	for (i = FIRST; i < COUNT; i++)
		to[i] = atomic_load_explicit(&totals[i], memory_order_relaxed);
	return 0;
}
