/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - a queue as its back ends see it. An op is, in this order, waiting
 * (accepted), in flight (a back end has taken it) and ended.
 */
#ifndef AFB_QUEUE_H
#define AFB_QUEUE_H

#include "cut.h"
#include "fifo.h"
#include "roll.h"
#include "session.h"
#include "soft.h"

struct backend;

/* What a queue keeps for one session, from the first op it sees of it. */
struct queue_session {
	struct afb_session *session; /* held */
	struct queue_session *next; /* in its bucket */
	unsigned held; /* ops of it accepted and not yet ended */
	union {
		unsigned idle_lanes; /* uring, aio: head of a list */
		struct sync_way *way; /* sync */
	};
};

#define QUEUE_BUCKETS 64

struct afb_queue {
	const struct backend *backend;
	void *ways; /* the back end's own */
	unsigned depth;
	unsigned held; /* ops accepted and not yet reaped */
	unsigned in_flight; /* requests: ops, and parts of ops */
	unsigned in_flight_max; /* since the idle lanes were last looked at */
	unsigned reaps; /* likewise */
	int workers; /* as in afb_queue_params */
	bool sqpoll;
	bool strict;
	enum afb_fallback why; /* the back end is not the one asked for */
	unsigned generation;
	pid_t thread; /* used it last; known in debug builds alone */
	int event; /* for afb_queue_fd(); -1 until asked for */

	struct op_fifo waiting;
	struct op_fifo ended;
	struct roll roll;
	struct cutter cutter;
	void (*done)(struct afb_op *op);
	struct queue_session *buckets[QUEUE_BUCKETS];
	struct queue_session *last; /* found last: bursts repeat it */

	struct soft_scratch scratch; /* for ops that go to software */
	struct afb_counters burst;
	struct afb_counters counters;
};

/*
 * An op has ended, by the queue's back end or another, with @result (by SOFT: with
 * 0 or -errno, and that is the end of it). An error that is not of the op's own
 * making makes the queue try software first.
 */
void queue_end(struct afb_queue *queue, struct afb_op *op,
	       enum afb_backend backend, ssize_t result);

/*
 * For wait(): how many requests should end before the caller is woken, when @min
 * more ops are to end. At least 1 and no more than are in flight.
 */
unsigned queue_wake_after(const struct afb_queue *queue, unsigned min);

/* What the queue keeps for a session: NULL if it has not seen it. */
struct queue_session *queue_session(struct afb_queue *queue,
				    struct afb_session *session);

/* The same, from the first op on. NULL: no memory. */
struct queue_session *queue_meet_session(struct afb_queue *queue,
					 struct afb_session *session);

/* Lets go of sessions that their openers have closed; of all, if so told. */
void queue_forget_sessions(struct afb_queue *queue, bool all);

/* Does the op in software, here and now. 0 or -errno. */
int queue_by_software(struct afb_queue *queue, const struct afb_op *op);

/* Puts an op that start() had taken back in front, for another try. */
void queue_again(struct afb_queue *queue, struct afb_op *op);

#endif
