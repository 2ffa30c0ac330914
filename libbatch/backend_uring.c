/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_uring.c - a burst of ops in one io_uring_enter().
 *
 * Each op is a chain of linked requests, send -> read, on a lane that is its
 * alone while it is in flight. A lane is an op socket in the ring's table of
 * direct descriptors, so it costs the process no descriptor; a chain that needs
 * a new one begins with the accept that makes it. All but the last request of a
 * chain keep silent when they succeed, and a failed request silences the rest:
 * every op ends with exactly one completion (IOSQE_CQE_SKIP_SUCCESS).
 *
 * An op in flight takes 248 bytes and three entries in each of the ring's queues
 * (192 and 48 bytes), and memory for a result that is not read straight into the
 * caller's, 256 bytes or a power of two; a lane takes 16 bytes, and in the kernel an
 * op socket. All of it is kept for the next op: none is allocated for an op, and
 * no lock taken, once a queue has been as full as it gets.
 *
 * The ring belongs to the thread that made it. It is made again when the queue
 * has moved to another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alone.h"
#include "backend.h"
#include "clock.h"
#include "counters.h"
#include "fork.h"
#include "op.h"
#include "request.h"
#include "shortage.h"
#include "thread.h"
#include "uring_setup.h"

/* Lanes beyond the depth, so that a burst of another session finds some. */
#define SPARE_LANES 64

#define NONE UINT32_MAX

enum step { STEP_ACCEPT, STEP_SEND, STEP_READ };

/* An op socket, or room for one. Its place in the array is its descriptor. */
struct lane {
	struct queue_session *owner; /* NULL: no socket, or a useless one */
	uint32_t next; /* in the owner's list of idle lanes, or of unowned */
	bool open;     /* its place in the table holds a socket, or soon will */
};

/* An op in flight. Its place in the array, and the round, mark completions. */
struct slot {
	struct afb_op *op; /* NULL: free */
	struct queue_session *entry;
	struct request request;
	uint32_t lane;
	uint32_t round;
	uint32_t next; /* in the list of free slots */
	bool fresh;    /* its chain begins with an accept */
	bool cut;      /* see mend_cut_chain() */
	bool sent;     /* the send has completed; known where chains are loud */
	enum step failed_step; /* the first to fail, with this */
	int error;
};

_Static_assert(sizeof(struct slot) <= 248 && sizeof(struct lane) <= 16,
	       "larger than the first comment says");

struct ways {
	struct io_uring ring;
	pid_t owner; /* the thread that made the ring */
	uint32_t free_slot;
	uint32_t unowned_lane;
	unsigned lane_count;
	unsigned open_lanes;
	bool loud; /* every request of a chain completes: see drain_loud() */
	bool has_workers; /* their number has been set */
	bool short_of;	  /* files or the driver's room; until an op succeeds */
	unsigned naps;	  /* taken in a row because the driver was full */
	struct lane *lanes;
	struct slot *slots;
};

/* ---- Making and remaking ------------------------------------------------ */

static void reset_lanes(struct ways *ways, struct afb_queue *queue)
{
	struct queue_session *entry;
	unsigned i;

	for (i = 0; i < ways->lane_count; i++)
		ways->lanes[i] = (struct lane){ .next = i + 1 };
	ways->lanes[ways->lane_count - 1].next = NONE;
	ways->unowned_lane = 0;
	ways->open_lanes = 0;
	for (i = 0; i < QUEUE_BUCKETS; i++)
		for (entry = queue->buckets[i]; entry; entry = entry->next)
			entry->idle_lanes = NONE;
}

static void reset_slots(struct ways *ways, unsigned depth)
{
	unsigned i;

	for (i = 0; i < depth; i++) {
		ways->slots[i].op = NULL;
		ways->slots[i].next = i + 1;
	}
	ways->slots[depth - 1].next = NONE;
	ways->free_slot = 0;
}

static int ring_open(struct afb_queue *queue, struct ways *ways)
{
	int ret;

	ways->lane_count = queue->depth + SPARE_LANES;
	ways->loud = queue->sqpoll;
	ways->has_workers = false;
	ret = uring_setup(&ways->ring, queue->depth, queue->sqpoll,
			  &ways->lane_count);
	if (ret)
		return ret;
	if (queue->event >= 0) {
		ret = io_uring_register_eventfd(&ways->ring, queue->event);
		if (ret) {
			io_uring_queue_exit(&ways->ring);
			return ret;
		}
	}
	ways->owner = gettid();
	reset_lanes(ways, queue);
	reset_slots(ways, queue->depth);
	return 0;
}

static int uring_open(struct afb_queue *queue)
{
	struct ways *ways = calloc(1, sizeof(*ways));
	int ret = -ENOMEM;

	if (!ways)
		return ret;
	ways->lanes = calloc(queue->depth + SPARE_LANES, sizeof(struct lane));
	ways->slots = calloc(queue->depth, sizeof(struct slot));
	if (ways->lanes && ways->slots)
		ret = ring_open(queue, ways);
	if (ret) {
		free(ways->lanes);
		free(ways->slots);
		free(ways);
		return ret;
	}
	queue->ways = ways;
	return 0;
}

static void uring_close(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned i;

	io_uring_queue_exit(&ways->ring);
	for (i = 0; i < queue->depth; i++) {
		if (ways->slots[i].op)
			request_abandon(&ways->slots[i].request);
		request_free(&ways->slots[i].request);
	}
	free(ways->lanes);
	free(ways->slots);
	free(ways);
	queue->ways = NULL;
}

/* ---- Lanes -------------------------------------------------------------- */

static void lane_disown(struct ways *ways, uint32_t lane)
{
	ways->lanes[lane].owner = NULL;
	ways->lanes[lane].next = ways->unowned_lane;
	ways->unowned_lane = lane;
}

/* NONE if the session has no idle lane. */
static uint32_t pop_idle_lane(struct ways *ways, struct queue_session *entry)
{
	uint32_t lane = entry->idle_lanes;

	if (lane != NONE)
		entry->idle_lanes = ways->lanes[lane].next;
	return lane;
}

static void uring_meet(struct afb_queue *queue, struct queue_session *entry)
{
	(void)queue;
	entry->idle_lanes = NONE;
}

static void uring_forget(struct afb_queue *queue, struct queue_session *entry)
{
	struct ways *ways = queue->ways;
	uint32_t lane;

	/*
	 * The sockets stay in the table until their places are taken again:
	 * an accept into a place replaces what was there.
	 */
	while ((lane = pop_idle_lane(ways, entry)) != NONE)
		lane_disown(ways, lane);
}

static void close_lane(struct afb_queue *queue, uint32_t lane)
{
	struct ways *ways = queue->ways;
	int none = -1;

	queue->burst.system_calls++;
	io_uring_register_files_update(&ways->ring, lane, &none, 1);
	ways->lanes[lane].open = false;
	ways->open_lanes--;
}

static void disown_idle_lanes(struct afb_queue *queue, unsigned keep)
{
	struct ways *ways = queue->ways;
	struct queue_session *entry;
	unsigned i, left = ways->open_lanes;
	uint32_t lane;

	for (i = 0; i < QUEUE_BUCKETS; i++) {
		for (entry = queue->buckets[i]; entry; entry = entry->next) {
			while (left > keep &&
			       (lane = pop_idle_lane(ways, entry)) != NONE) {
				lane_disown(ways, lane);
				left--;
			}
		}
	}
}

static void close_unowned_lanes(struct afb_queue *queue, unsigned keep)
{
	struct ways *ways = queue->ways;
	uint32_t lane;

	for (lane = ways->unowned_lane; lane != NONE && ways->open_lanes > keep;
	     lane = ways->lanes[lane].next)
		if (ways->lanes[lane].open)
			close_lane(queue, lane);
}

static void uring_trim(struct afb_queue *queue, unsigned keep)
{
	close_unowned_lanes(queue, keep);
	disown_idle_lanes(queue, keep);
	close_unowned_lanes(queue, keep);
}

/* Takes an idle lane from whichever session has one. */
static bool steal_lane(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	struct queue_session *entry;
	uint32_t lane;
	unsigned i;

	for (i = 0; i < QUEUE_BUCKETS; i++) {
		for (entry = queue->buckets[i]; entry; entry = entry->next) {
			lane = pop_idle_lane(ways, entry);
			if (lane == NONE)
				continue;
			lane_disown(ways, lane);
			return true;
		}
	}
	return false;
}

/* A lane for an op of @entry; *fresh if its socket has to be accepted yet. */
static uint32_t lane_take(struct afb_queue *queue, struct queue_session *entry,
			  bool *fresh)
{
	struct ways *ways = queue->ways;
	uint32_t lane = pop_idle_lane(ways, entry);

	*fresh = lane == NONE;
	if (!*fresh)
		return lane;
	if (ways->short_of && queue->in_flight > 1)
		return NONE;
	if (ways->unowned_lane == NONE && !steal_lane(queue))
		return NONE;
	lane = ways->unowned_lane;
	ways->unowned_lane = ways->lanes[lane].next;
	ways->lanes[lane].owner = entry;
	return lane;
}

static void lane_give(struct ways *ways, uint32_t lane)
{
	struct queue_session *entry = ways->lanes[lane].owner;

	ways->lanes[lane].next = entry->idle_lanes;
	entry->idle_lanes = lane;
}

/* ---- Starting ----------------------------------------------------------- */

static struct slot *slot_of(struct ways *ways, uint64_t user_data)
{
	return &ways->slots[(uint32_t)user_data >> 2];
}

static enum step step_of(uint64_t user_data)
{
	return user_data & 3;
}

/*
 * The kernel stops in the middle of a submission when it has no memory for a
 * request, and then runs the chain it was in as far as that has come: a read
 * left for the next submission would no longer wait for its send, and take the
 * digest of nothing for a result. What is left of such a chain is still ours: it
 * becomes nothing, and the op goes to software. Its lane is not used again until
 * the ring is made anew, for the send may still be to come.
 */
static void mend_cut_chain(struct ways *ways)
{
	unsigned at = IO_URING_READ_ONCE(*ways->ring.sq.khead);
	struct io_uring_sqe *sqe;
	struct slot *slot;
	uint64_t user_data;

	sqe = &ways->ring.sq.sqes[at & *ways->ring.sq.kring_mask];
	slot = slot_of(ways, sqe->user_data);
	if (step_of(sqe->user_data) == (slot->fresh ? STEP_ACCEPT : STEP_SEND))
		return;
	slot->cut = true;
	do {
		sqe = &ways->ring.sq.sqes[at++ & *ways->ring.sq.kring_mask];
		user_data = sqe->user_data;
		io_uring_prep_nop(sqe);
		sqe->user_data = user_data;
		if (step_of(user_data) != STEP_READ)
			sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
	} while (step_of(user_data) != STEP_READ);
}

/* Is there anything that only submit() brings forward? */
static bool has_staged(const struct ways *ways)
{
	const struct io_uring_sq *sq = &ways->ring.sq;
	unsigned flags = IO_URING_READ_ONCE(*sq->kflags);

	if (flags & (IORING_SQ_TASKRUN | IORING_SQ_NEED_WAKEUP))
		return true;
	/* A kernel's thread takes what it has been shown by itself. */
	return ways->loud ? sq->sqe_tail != sq->sqe_head :
			    io_uring_sq_ready(&ways->ring);
}

/* Shows the kernel's thread what is staged, and wakes it if it sleeps. */
static int submit_to_thread(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	int ret;

	if (IO_URING_READ_ONCE(*ways->ring.sq.kflags) & IORING_SQ_NEED_WAKEUP)
		queue->burst.system_calls++;
	do
		ret = io_uring_submit(&ways->ring);
	while (ret == -EINTR);
	return ret < 0 ? ret : 0;
}

static int submit(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	int ret;

	if (ways->loud)
		return submit_to_thread(queue);
	do {
		queue->burst.system_calls++;
		ret = io_uring_submit_and_get_events(&ways->ring);
	} while (ret == -EINTR);
	if (io_uring_sq_ready(&ways->ring))
		mend_cut_chain(ways);
	return ret < 0 ? ret : 0;
}

/* What comes after the preparation of a request: whose it is, and how linked. */
static void mark(struct ways *ways, const struct slot *slot,
		 struct io_uring_sqe *sqe, enum step step, unsigned flags)
{
	uint64_t index = slot - ways->slots;

	sqe->user_data = (uint64_t)slot->round << 32 | index << 2 | step;
	if (ways->loud)
		flags &= ~IOSQE_CQE_SKIP_SUCCESS;
	sqe->flags |= flags;
}

/*
 * Where AF_ALG waits for an asynchronous driver, a thread of the kernel's can do
 * the waiting (IOSQE_ASYNC), so that many requests are with the driver at once.
 */
static bool wants_worker(const struct afb_queue *queue, const struct slot *slot)
{
	return queue->workers > 0 ||
	       (!queue->workers && slot->entry->session->driver.blocking);
}

/* Sockets are "unbounded" work to io-wq: without a limit, a thread for each op. */
static void limit_workers(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned most = queue->workers ? queue->workers : AFB_WORKERS_DEFAULT;
	unsigned limits[2] = { most, most };

	if (ways->has_workers)
		return;
	queue->burst.system_calls++;
	io_uring_register_iowq_max_workers(&ways->ring, limits);
	ways->has_workers = true;
}

static void prepare_accept(struct ways *ways, const struct slot *slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ways->ring);

	io_uring_prep_accept_direct(sqe, slot->entry->session->tfm, NULL, NULL,
				    0, slot->lane);
	mark(ways, slot, sqe, STEP_ACCEPT,
	     IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS);
	if (!ways->lanes[slot->lane].open) {
		ways->lanes[slot->lane].open = true;
		ways->open_lanes++;
	}
}

static void prepare_send(struct ways *ways, struct slot *slot, unsigned flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ways->ring);
	const struct afb_op *op = slot->op;

	/* MSG_WAITALL makes a short send a failure, which stops the chain. */
	if (op->session->type == AFB_HASH && op->in_cnt <= 1)
		io_uring_prep_send(sqe, slot->lane,
				   op->in_cnt ? op->in[0].iov_base : NULL,
				   op->in_cnt ? op->in[0].iov_len : 0,
				   MSG_WAITALL);
	else
		io_uring_prep_sendmsg(sqe, slot->lane, &slot->request.message,
				      MSG_WAITALL);
	mark(ways, slot, sqe, STEP_SEND,
	     IOSQE_FIXED_FILE | IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS | flags);
}

static void prepare_read(struct ways *ways, const struct slot *slot,
			 unsigned flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ways->ring);

	io_uring_prep_read(sqe, slot->lane, slot->request.result,
			   slot->request.result_size, 0);
	mark(ways, slot, sqe, STEP_READ, IOSQE_FIXED_FILE | flags);
}

static void prepare_chain(struct afb_queue *queue, struct slot *slot)
{
	struct ways *ways = queue->ways;
	unsigned flags = 0;

	if (wants_worker(queue, slot)) {
		limit_workers(queue);
		flags = IOSQE_ASYNC;
	}
	if (slot->fresh)
		prepare_accept(ways, slot);
	prepare_send(ways, slot, flags);
	prepare_read(ways, slot, flags);
}

static int start_chain(struct afb_queue *queue, struct queue_session *entry,
		       struct afb_op *op)
{
	struct ways *ways = queue->ways;
	struct slot *slot;
	uint32_t lane;
	bool fresh;
	int ret;

	/* The parts of a long op can be more than the depth. */
	if (ways->free_slot == NONE)
		return -EAGAIN;
	slot = &ways->slots[ways->free_slot];
	/* A chain must be submitted whole. */
	if (io_uring_sq_space_left(&ways->ring) < URING_STEPS) {
		ret = submit(queue);
		if (ret)
			return ret;
		if (io_uring_sq_space_left(&ways->ring) < URING_STEPS)
			return queue->in_flight > 1 ? -EAGAIN : -EBUSY;
	}
	ret = request_prepare(&slot->request, op);
	if (ret)
		return ret;
	lane = lane_take(queue, entry, &fresh);
	if (lane == NONE)
		return -EAGAIN;
	ways->free_slot = slot->next;
	slot->op = op;
	slot->entry = entry;
	slot->lane = lane;
	slot->round++;
	slot->fresh = fresh;
	slot->cut = false;
	slot->sent = false;
	slot->error = 0;
	prepare_chain(queue, slot);
	return 0;
}

static int uring_start(struct afb_queue *queue, struct queue_session *entry,
		       struct afb_op *op)
{
	if (!alone_only(op))
		return start_chain(queue, entry, op);
	queue_end(queue, op, AFB_BACKEND_URING, alone_run(queue, op, NULL));
	return 0;
}

/* ---- Ending ------------------------------------------------------------- */

/*
 * Can the op be tried again when another has ended? Where no file is to be had
 * for a lane, and where the driver's queue is full.
 */
static bool is_shortage(enum step step, int error)
{
	return step == STEP_READ ? driver_is_full(error) :
				   error_is_shortage(error);
}

/* The lane of a failed op may hold half a message: its socket is useless. */
static void release(struct ways *ways, struct slot *slot, bool failed)
{
	if (failed) {
		if (!slot->cut)
			lane_disown(ways, slot->lane);
	} else {
		lane_give(ways, slot->lane);
		ways->short_of = false;
		ways->naps = 0;
	}
	slot->op = NULL;
	slot->next = ways->free_slot;
	ways->free_slot = slot - ways->slots;
}

static void end_slot(struct afb_queue *queue, struct slot *slot, enum step step,
		     ssize_t result)
{
	struct ways *ways = queue->ways;
	struct afb_op *op = slot->op;
	bool failed;

	if (slot->cut) {
		step = STEP_SEND;
		result = result < 0 ? result : -ENOMEM;
	}
	if (is_shortage(step, result) &&
	    (queue->in_flight > 1 || (step == STEP_READ && nap(&ways->naps)))) {
		release(ways, slot, true);
		ways->short_of = true;
		queue_again(queue, op);
		return;
	}
	if (step == STEP_READ && result >= 0 &&
	    request_is_astray(&slot->request)) {
		release(ways, slot, false);
		queue_again(queue, op);
		return;
	}
	failed = result < 0;
	if (step == STEP_READ) {
		result = request_finish(&slot->request, op, result);
		failed = result < 0;
	} else if (result == -ECANCELED) {
		/* A request further on in the chain was refused. */
		result = alone_explain(queue, op, &slot->request);
	}
	release(ways, slot, failed);
	queue_end(queue, op, AFB_BACKEND_URING, result);
}

/*
 * A thread of the kernel's that submits by itself may cut a chain in two as well,
 * and nobody sees it. So there no request keeps silent, and a result counts only
 * when its send had completed before.
 */
static void end_loud(struct afb_queue *queue, struct slot *slot, enum step step,
		     int result)
{
	if (result < 0 && !slot->error) {
		slot->error = result;
		slot->failed_step = step;
	}
	if (step == STEP_SEND && result >= 0)
		slot->sent = true;
	if (step != STEP_READ)
		return;
	if (slot->error)
		end_slot(queue, slot, slot->failed_step, slot->error);
	else if (slot->sent)
		end_slot(queue, slot, STEP_READ, result);
	else
		end_slot(queue, slot, STEP_SEND, -ENOMEM);
}

/* Ends what has completed; returns how many completions that were. */
static unsigned drain(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;
	struct slot *slot;

	io_uring_for_each_cqe(&ways->ring, head, cqe)
	{
		n++;
		slot = slot_of(ways, cqe->user_data);
		if (!slot->op || slot->round != cqe->user_data >> 32)
			continue;
		if (ways->loud)
			end_loud(queue, slot, step_of(cqe->user_data),
				 cqe->res);
		else
			end_slot(queue, slot, step_of(cqe->user_data),
				 cqe->res);
	}
	io_uring_cq_advance(&ways->ring, n);
	return n;
}

static int uring_flush(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;

	return io_uring_sq_ready(&ways->ring) ? submit(queue) : 0;
}

/* Waits until @deadline; it is looked at when the completions have been. */
static int wait_until(struct afb_queue *queue, unsigned min,
		      const struct timespec *deadline)
{
	struct ways *ways = queue->ways;
	struct __kernel_timespec limit;
	struct io_uring_cqe *cqe;
	struct timespec left;
	int ret;

	if (!clock_remaining(&left, deadline))
		return -ETIME;
	limit.tv_sec = left.tv_sec;
	limit.tv_nsec = left.tv_nsec;
	queue->burst.system_calls++;
	queue->burst.waits++;
	ret = io_uring_wait_cqes(&ways->ring, &cqe, min, &limit, NULL);
	return ret == -EINTR || ret == -ETIME ? 0 : ret;
}

/* Submits what is staged and waits for @min completions, in one call. */
static int submit_and_wait(struct afb_queue *queue, unsigned min)
{
	struct ways *ways = queue->ways;
	int ret;

	queue->burst.system_calls++;
	queue->burst.waits++;
	ret = io_uring_submit_and_wait(&ways->ring, min);
	if (!ways->loud && io_uring_sq_ready(&ways->ring))
		mend_cut_chain(ways);
	return ret == -EINTR || ret > 0 ? 0 : ret;
}

/*
 * With a deadline that takes two calls where the first did not bring it all: what
 * the kernel leaves of a submission, liburing 2.3 submits again before anyone can
 * mend it (io_uring_submit_and_wait_timeout(), by _io_uring_get_cqe() in queue.c).
 */
static int enter(struct afb_queue *queue, unsigned min,
		 const struct timespec *deadline)
{
	struct ways *ways = queue->ways;
	int ret;

	if (!deadline)
		return submit_and_wait(queue, min);
	if (has_staged(ways)) {
		ret = submit(queue);
		if (ret || io_uring_cq_ready(&ways->ring) >= min)
			return ret;
	}
	return wait_until(queue, min, deadline);
}

static int uring_wait(struct afb_queue *queue, unsigned min,
		      const struct timespec *deadline)
{
	unsigned before = queue->ended.count, ended, drained;
	int ret = 0;

	if (!min && has_staged(queue->ways))
		ret = submit(queue);
	for (;;) {
		drained = drain(queue);
		ended = queue->ended.count - before;
		/* What waits for a lane may find one now. */
		if (ret || ended >= min || !queue->in_flight ||
		    (drained && queue->waiting.count))
			return ret;
		ret = enter(queue, queue_wake_after(queue, min - ended),
			    deadline);
	}
}

/* ---- Moving between threads --------------------------------------------- */

/*
 * The thread that owned the ring is gone. What the kernel did in its calls has
 * ended, perhaps with a completion that is a moment late. What an asynchronous
 * driver still has will end unseen: under DEFER_TASKRUN nobody else can ask for
 * it. So it goes to memory of ours that is never used again, and the op to
 * software.
 */
static void inherit(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned i, tries;

	for (tries = 0; queue->in_flight && tries < 1000; tries++) {
		if (!drain(queue))
			clock_nap();
	}
	for (i = 0; i < queue->depth; i++) {
		if (!ways->slots[i].op)
			continue;
		request_abandon(&ways->slots[i].request);
		end_slot(queue, &ways->slots[i], STEP_SEND, -EOWNERDEAD);
	}
}

static int uring_own(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	pid_t self = thread_self();

	if (ways->owner == self)
		return 0;
	if (queue->in_flight) {
		if (thread_stays(ways->owner))
			return -EXDEV;
		inherit(queue);
	}
	io_uring_queue_exit(&ways->ring);
	return ring_open(queue, ways);
}

static int uring_watch(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;

	return io_uring_register_eventfd(&ways->ring, queue->event);
}

const struct backend backend_uring = {
	.id = AFB_BACKEND_URING,
	.missing = AFB_FALLBACK_NO_IO_URING,
	.open = uring_open,
	.close = uring_close,
	.start = uring_start,
	.flush = uring_flush,
	.wait = uring_wait,
	.own = uring_own,
	.watch = uring_watch,
	.trim = uring_trim,
	.meet = uring_meet,
	.forget = uring_forget,
};
