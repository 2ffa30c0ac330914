/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - deadlines on the monotonic clock. A deadline of NULL never comes.
 */
#ifndef AFB_CLOCK_H
#define AFB_CLOCK_H

#include <stdbool.h>
#include <time.h>

#define CLOCK_NSEC_PER_SEC 1000000000L

/* The moment @timeout from now; NULL for a NULL timeout. */
static inline const struct timespec *
clock_deadline(struct timespec *deadline, const struct timespec *timeout)
{
	if (!timeout)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, deadline);
	deadline->tv_sec += timeout->tv_sec;
	deadline->tv_nsec += timeout->tv_nsec;
	if (deadline->tv_nsec >= CLOCK_NSEC_PER_SEC) {
		deadline->tv_nsec -= CLOCK_NSEC_PER_SEC;
		deadline->tv_sec++;
	}
	return deadline;
}

/* A millisecond, where there is nothing to wait for but time. */
static inline void clock_nap(void)
{
	const struct timespec a_moment = { .tv_nsec = 1000000 };

	nanosleep(&a_moment, NULL);
}

/* What is left until @deadline; false when it has come. */
static inline bool clock_remaining(struct timespec *left,
				   const struct timespec *deadline)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left->tv_sec = deadline->tv_sec - now.tv_sec;
	left->tv_nsec = deadline->tv_nsec - now.tv_nsec;
	if (left->tv_nsec < 0) {
		left->tv_nsec += CLOCK_NSEC_PER_SEC;
		left->tv_sec--;
	}
	return left->tv_sec >= 0 && (left->tv_sec > 0 || left->tv_nsec > 0);
}

#endif
