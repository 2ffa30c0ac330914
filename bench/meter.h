/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter.h - what the system counts while messages run: context switches of the
 * calling thread, interrupts of a device, instructions. Not the library's counters.
 */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include <stdint.h>

/* -1 in any: the system does not tell. */
struct meter {
	int64_t voluntary, involuntary;
	int64_t interrupts;
	int64_t instructions; /* of this thread, in the kernel where allowed */
	int64_t nanoseconds;
};

/*
 * @interrupts: part of the names in /proc/interrupts that are counted; NULL for
 * none. Call it once, in the thread that is to be measured.
 */
void meter_open(const char *interrupts);
void meter_read(struct meter *now);

/* What was counted between two readings. */
struct meter meter_between(const struct meter *from, const struct meter *to);

#endif
