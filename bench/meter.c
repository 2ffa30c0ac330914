/* SPDX-License-Identifier: Apache-2.0 */
/* meter.c - see meter.h. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "meter.h"

static const char *wanted_interrupts;
static int perf = -1;

static int open_perf(int exclude_kernel)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_HW_INSTRUCTIONS,
					.exclude_kernel = exclude_kernel,
					.exclude_hv = 1 };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

void meter_open(const char *interrupts)
{
	wanted_interrupts = interrupts;
	perf = open_perf(0);
	if (perf < 0)
		perf = open_perf(1);
}

/* The sum over the processors in one line of /proc/interrupts. */
static int64_t sum_line(const char *line)
{
	int64_t sum = 0, value;
	char *end;

	for (line = strchr(line, ':') + 1;; line = end) {
		value = strtoll(line, &end, 10);
		if (end == line || (*end != ' ' && *end != '\n'))
			return sum;
		sum += value;
	}
}

static int64_t read_interrupts(void)
{
	FILE *file = wanted_interrupts ? fopen("/proc/interrupts", "re") : NULL;
	int64_t sum = -1;
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		if (!strchr(line, ':') || !strstr(line, wanted_interrupts))
			continue;
		sum = (sum < 0 ? 0 : sum) + sum_line(line);
	}
	free(line);
	if (file)
		fclose(file);
	return sum;
}

static int64_t read_instructions(void)
{
	int64_t count;

	return read(perf, &count, sizeof(count)) == sizeof(count) ? count : -1;
}

void meter_read(struct meter *now)
{
	struct rusage usage = { 0 };
	struct timespec time;

	getrusage(RUSAGE_THREAD, &usage);
	clock_gettime(CLOCK_MONOTONIC, &time);
	now->voluntary = usage.ru_nvcsw;
	now->involuntary = usage.ru_nivcsw;
	now->interrupts = read_interrupts();
	now->instructions = read_instructions();
	now->nanoseconds = time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t between(int64_t from, int64_t to)
{
	return from < 0 || to < 0 ? -1 : to - from;
}

struct meter meter_between(const struct meter *from, const struct meter *to)
{
	return (struct meter){
		.voluntary = between(from->voluntary, to->voluntary),
		.involuntary = between(from->involuntary, to->involuntary),
		.interrupts = between(from->interrupts, to->interrupts),
		.instructions = between(from->instructions, to->instructions),
		.nanoseconds = between(from->nanoseconds, to->nanoseconds),
	};
}
