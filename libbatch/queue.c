/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - the contract of the public calls: what is accepted is given back
 * exactly once, with the right result or an error of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backend.h"
#include "clock.h"
#include "counters.h"
#include "fork.h"
#include "log.h"
#include "next_iv.h"
#include "pieces.h"
#include "rng.h"
#include "thread.h"

/* ---- Ops ---------------------------------------------------------------- */

/* Gives an op of the caller's back. */
static void deliver(struct afb_queue *queue, struct afb_op *op, ssize_t result)
{
	struct queue_session *entry;

	op->result = result;
	entry = op->session ? queue_session(queue, op->session) : NULL;
	if (entry)
		entry->held--;
	if (roll_kept(&queue->roll))
		roll_end(&queue->roll, op, &queue->ended);
	else
		fifo_push(&queue->ended, op);
}

/* An op or a part of one has its result, by @served. */
static void end(struct afb_queue *queue, struct afb_op *op,
		struct served served, ssize_t result)
{
	if (op->lent.state & OP_PART) {
		op = cut_part_ended(&queue->cutter, op, &queue->waiting,
				    &served, &result);
		if (!op)
			return;
	}
	if (result >= 0) {
		counters_message(&queue->burst, served.backend, served.why,
				 op_counted_bytes(op));
		next_iv_write(op);
	}
	deliver(queue, op, result);
}

static void end_with_error(struct afb_queue *queue, struct afb_op *op,
			   int error)
{
	const struct served nobody = { AFB_BACKEND_AUTO, AFB_FALLBACK_NONE };

	end(queue, op, nobody, error);
}

int queue_by_software(struct afb_queue *queue, const struct afb_op *op)
{
	return soft_op(&queue->scratch, op);
}

/* Why an op that should have gone by the queue's back end goes to software. */
static enum afb_fallback why_soft(const struct afb_queue *queue,
				  const struct afb_op *op, int error)
{
	if (!error)
		return op->session->why != AFB_FALLBACK_NONE ?
			       op->session->why :
			       queue->why;
	if (error == -EMSGSIZE)
		return AFB_FALLBACK_NO_RESOURCES;
	return fallback_after(error, AFB_FALLBACK_KERNEL_ERROR);
}

/*
 * Software has done it, with @ret. @error is what the back end failed with before;
 * 0 if it was not to be asked.
 */
static void end_after_software(struct afb_queue *queue, struct afb_op *op,
			       int ret, int error)
{
	struct served served = { AFB_BACKEND_SOFT, why_soft(queue, op, error) };

	if (ret)
		end_with_error(queue, op,
			       error && ret == -ENOENT ? error : ret);
	else
		end(queue, op, served, op_result_size(op));
}

static void end_by_software(struct afb_queue *queue, struct afb_op *op,
			    int error)
{
	end_after_software(queue, op, queue_by_software(queue, op), error);
}

/*
 * Errors that say something of the op: software would say no other. With any other
 * it is tried, for the input is as it was: see request.h.
 */
static bool is_final(ssize_t result)
{
	return result >= 0 || result == -EFAULT || result == -EBADMSG ||
	       result == -EINVAL;
}

void queue_end(struct afb_queue *queue, struct afb_op *op,
	       enum afb_backend backend, ssize_t result)
{
	struct served served = { backend, queue->why };

	queue->in_flight--;
	if (backend == AFB_BACKEND_SOFT)
		end_after_software(queue, op, result, 0);
	else if (!is_final(result))
		end_by_software(queue, op, result);
	else
		end(queue, op, served, result);
}

void queue_again(struct afb_queue *queue, struct afb_op *op)
{
	queue->in_flight--;
	fifo_push_front(&queue->waiting, op);
}

/* The kernel's generator: see rng.h. */
static void end_by_generator(struct afb_queue *queue, struct afb_op *op)
{
	struct served served = { queue->backend->id, queue->why };
	ssize_t ret = rng_fill(op->session->rng, op, &queue->burst);

	if (ret < 0 && ret != -EFAULT)
		end_by_software(queue, op, ret);
	else
		end(queue, op, served, ret);
}

static int start_by_backend(struct afb_queue *queue, struct afb_op *op)
{
	int ret;

	queue->in_flight++;
	ret = queue->backend->start(queue, queue_session(queue, op->session),
				    op);
	if (!ret) {
		if (queue->backend->id != AFB_BACKEND_SOFT)
			counters_in_flight(&queue->burst, queue->in_flight);
		if (queue->in_flight > queue->in_flight_max)
			queue->in_flight_max = queue->in_flight;
		return 0;
	}
	queue->in_flight--;
	if (ret == -EAGAIN)
		return ret;
	/* Whatever it says, it says of the back end and not of the op. */
	end_by_software(queue, op, ret);
	return 0;
}

/* Bytes of one request: what is sent or what is read, whichever is more. */
static size_t request_size(const struct afb_op *op)
{
	size_t sent = pieces_bytes(op->in, op->in_cnt);

	if (op->session->type == AFB_AEAD && op->kind == AFB_ENCRYPT)
		return sent + op->session->tag_len;
	return sent;
}

/* Starts one op; -EAGAIN if it has to wait for another to end. */
static int start(struct afb_queue *queue, struct afb_op *op)
{
	int ret = op_check(op);

	/* An empty text has an empty result; the kernel would wait for more. */
	if (ret) {
		end_with_error(queue, op, ret);
		return 0;
	}
	if (op->session->type == AFB_SKCIPHER && !op_text_size(op)) {
		next_iv_write(op);
		deliver(queue, op, 0);
		return 0;
	}
	next_iv_prepare(op);
	if (cut_needed(op)) {
		ret = cut_begin(&queue->cutter, op, &queue->waiting);
		if (ret && ret != -EAGAIN)
			end_with_error(queue, op, ret);
		return ret == -EAGAIN ? ret : 0;
	}
	if (queue->backend->id == AFB_BACKEND_SOFT)
		return start_by_backend(queue, op);
	if (op->session->tfm < 0)
		end_by_software(queue, op, 0);
	else if (op->session->type == AFB_RNG)
		end_by_generator(queue, op);
	else if (request_size(op) > op->session->send_max)
		end_by_software(queue, op, -EMSGSIZE);
	else
		return start_by_backend(queue, op);
	return 0;
}

static void start_waiting(struct afb_queue *queue)
{
	struct afb_op *op;

	while (queue->waiting.count) {
		op = fifo_pop(&queue->waiting);
		if (start(queue, op)) {
			fifo_push_front(&queue->waiting, op);
			return;
		}
	}
}

/*
 * Where a completion may be that of a part, or of an op that has to wait for an
 * older one, counting them says nothing.
 */
unsigned queue_wake_after(const struct afb_queue *queue, unsigned min)
{
	if (queue->cutter.active || queue->roll.in_order)
		return 1;
	return min < queue->in_flight ? min : queue->in_flight;
}

/* ---- Opening and closing ------------------------------------------------ */

/* The back ends in the order in which one stands in for another. */
static const struct backend *const backends[] = {
	&backend_uring,
	&backend_aio,
	&backend_sync,
	&backend_soft,
};

#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static int choose(struct afb_queue *queue, enum afb_backend wanted)
{
	unsigned i = 0;
	int ret;

	/* Without AF_ALG the soft threads do better than any ring. */
	if (wanted == AFB_BACKEND_AUTO && !queue->strict && !af_alg_there()) {
		wanted = AFB_BACKEND_SOFT;
		queue->why = AFB_FALLBACK_NO_AF_ALG;
	}
	while (wanted != AFB_BACKEND_AUTO && backends[i]->id != wanted)
		i++;
	for (;; i++) {
		queue->backend = backends[i];
		ret = queue->backend->open(queue);
		if (!ret || queue->strict || i + 1 == BACKENDS)
			return ret;
		/* The first reason is why the one asked for does not serve. */
		if (queue->why == AFB_FALLBACK_NONE)
			queue->why = fallback_after(ret, backends[i]->missing);
		log_text("queue: no back end %s (%s)",
			 afb_backend_name(queue->backend->id), strerror(-ret));
	}
}

static int check_params(const struct afb_queue_params *params)
{
	if (params->size != sizeof(*params) || params->depth > AFB_DEPTH_MAX ||
	    (unsigned)params->backend >= AFB_BACKENDS ||
	    (params->flags & ~(AFB_STRICT | AFB_IN_ORDER | AFB_SQPOLL)) ||
	    params->workers < -1)
		return -EINVAL;
	return 0;
}

static void free_queue(struct afb_queue *queue)
{
	if (queue->event >= 0)
		close(queue->event);
	soft_scratch_free(&queue->scratch);
	cut_free(&queue->cutter);
	free(queue->waiting.ops);
	free(queue->ended.ops);
	free(queue);
}

int afb_queue_open(struct afb_queue **opened,
		   const struct afb_queue_params *params)
{
	static const struct afb_queue_params defaults = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	int ret;

	if (!params)
		params = &defaults;
	ret = check_params(params);
	if (ret)
		return ret;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	queue->depth = params->depth ? params->depth : AFB_DEPTH_DEFAULT;
	queue->strict = params->flags & AFB_STRICT;
	queue->sqpoll = params->flags & AFB_SQPOLL;
	queue->workers = params->workers;
	queue->roll.in_order = params->flags & AFB_IN_ORDER;
	queue->roll.late_ms = params->late_ms;
	queue->done = params->done;
	queue->generation = fork_generation();
	queue->event = -1;
	queue->burst.size = queue->counters.size = sizeof(queue->counters);
	ret = fifo_open(&queue->waiting, queue->depth + CUT_PARTS);
	if (!ret)
		ret = fifo_open(&queue->ended, queue->depth);
	if (!ret)
		ret = choose(queue, params->backend);
	if (ret) {
		free_queue(queue);
		return ret;
	}
	*opened = queue;
	return 0;
}

/*
 * In a child of fork() the ops are the parent's and so is what the back end
 * holds. The child starts with an empty queue.
 */
static void after_fork(struct afb_queue *queue)
{
	if (queue->generation == fork_generation())
		return;
	queue->held = queue->in_flight = 0;
	queue->waiting.count = queue->ended.count = 0;
	queue->roll.oldest = queue->roll.newest = NULL;
	cut_free(&queue->cutter);
	queue_forget_sessions(queue, true);
	queue->backend->close(queue);
	if (queue->event >= 0)
		close(queue->event);
	queue->event = -1;
	memset(&queue->burst, 0, sizeof(queue->burst));
	if (queue->backend->open(queue)) {
		queue->backend = &backend_soft;
		queue->why = AFB_FALLBACK_NO_RESOURCES;
	}
	queue->generation = fork_generation();
}

#ifdef AFB_DEBUG
/* Two threads at once are a mistake of the caller's, on any back end. */
static int check_thread(struct afb_queue *queue)
{
	pid_t self = thread_self();

	if (queue->thread != self && queue->held && thread_stays(queue->thread))
		return -EXDEV;
	queue->thread = self;
	return 0;
}
#else
static int check_thread(struct afb_queue *queue)
{
	(void)queue;
	return 0;
}
#endif

static int own(struct afb_queue *queue)
{
	int ret;

	after_fork(queue);
	ret = check_thread(queue);
	if (ret)
		return ret;
	return queue->backend->own ? queue->backend->own(queue) : 0;
}

void afb_queue_close(struct afb_queue *queue)
{
	int ret;

	if (!queue)
		return;
	ret = own(queue);
	while (queue->in_flight && !ret)
		ret = queue->backend->wait(queue, queue->in_flight, NULL);
	queue_forget_sessions(queue, true);
	queue->backend->close(queue);
	counters_fold(&queue->burst, NULL);
	free_queue(queue);
}

enum afb_backend afb_queue_backend(const struct afb_queue *queue)
{
	return queue->backend->id;
}

int afb_queue_counters(const struct afb_queue *queue,
		       struct afb_counters *counters)
{
	if (counters->size != sizeof(*counters))
		return -EINVAL;
	*counters = queue->counters;
	return 0;
}

/* ---- The descriptor for event loops -------------------------------------- */

int afb_queue_fd(struct afb_queue *queue)
{
	int ret = own(queue);

	if (ret || queue->event >= 0)
		return ret ? ret : queue->event;
	queue->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (queue->event < 0) {
		queue->event = -1;
		return -errno;
	}
	if (queue->backend->watch)
		ret = queue->backend->watch(queue);
	if (ret) {
		close(queue->event);
		queue->event = -1;
		return ret;
	}
	if (queue->ended.count || queue->in_flight)
		eventfd_write(queue->event, 1);
	return queue->event;
}

static void event_set(struct afb_queue *queue)
{
	if (queue->event >= 0 && queue->ended.count) {
		queue->burst.system_calls++;
		eventfd_write(queue->event, 1);
	}
}

static void event_clear(struct afb_queue *queue)
{
	eventfd_t value;

	if (queue->event >= 0) {
		queue->burst.system_calls++;
		eventfd_read(queue->event, &value);
	}
}

/* ---- The burst ---------------------------------------------------------- */

static bool accept_op(struct afb_queue *queue, struct afb_op *op, uint64_t now)
{
	struct queue_session *entry;

	if (op->session) {
		entry = queue_meet_session(queue, op->session);
		if (!entry)
			return false;
		entry->held++;
	}
	op->lent.state = 0;
	if (roll_kept(&queue->roll))
		roll_add(&queue->roll, op, now);
	fifo_push(&queue->waiting, op);
	return true;
}

int afb_submit(struct afb_queue *queue, struct afb_op *const *ops,
	       unsigned count)
{
	uint64_t now = queue->roll.late_ms ? roll_now() : 0;
	unsigned i;

	after_fork(queue);
	if (check_thread(queue))
		return 0;
	if (count > queue->depth - queue->held)
		count = queue->depth - queue->held;
	for (i = 0; i < count; i++)
		if (!accept_op(queue, ops[i], now))
			break;
	queue->held += i;
	return i;
}

int afb_flush(struct afb_queue *queue)
{
	int ret = own(queue);

	if (ret)
		return ret;
	start_waiting(queue);
	if (queue->backend->flush)
		ret = queue->backend->flush(queue);
	event_set(queue);
	counters_fold(&queue->burst, &queue->counters);
	return ret;
}

/* Room in the queue comes first: the callback may submit the next op. */
static unsigned take_ended(struct afb_queue *queue, struct afb_op **done,
			   unsigned max)
{
	struct afb_op *op;
	unsigned n;

	for (n = 0; n < max && queue->ended.count; n++) {
		op = fifo_pop(&queue->ended);
		queue->held--;
		if (done)
			done[n] = op;
		if (queue->done)
			queue->done(op);
	}
	return n;
}

/* Closes what idle lanes no burst of the last thousand has needed. */
static void trim_at_times(struct afb_queue *queue)
{
	if (++queue->reaps < 1000)
		return;
	if (queue->backend->trim)
		queue->backend->trim(queue, queue->in_flight_max);
	queue->in_flight_max = queue->in_flight;
	queue->reaps = 0;
}

/*
 * One round: starts what waits, then waits for as many as are still missing.
 * A back end that ends everything in start() leaves nothing to wait for.
 */
static int advance(struct afb_queue *queue, unsigned min,
		   const struct timespec *deadline)
{
	start_waiting(queue);
	if (!queue->backend->wait || !queue->in_flight)
		return 0;
	min = min > queue->ended.count ? min - queue->ended.count : 0;
	return queue->backend->wait(queue, min, deadline);
}

int afb_reap(struct afb_queue *queue, struct afb_op **done, unsigned max,
	     unsigned min, const struct timespec *timeout)
{
	const struct timespec *deadline;
	struct timespec moment;
	int ret;

	if (min > max || (!done && !queue->done))
		return -EINVAL;
	ret = own(queue);
	if (ret)
		return ret;
	if (min > queue->held)
		min = queue->held;
	event_clear(queue);
	deadline = clock_deadline(&moment, timeout);
	do
		ret = advance(queue, min, deadline);
	while (!ret && queue->ended.count < min);
	if (!ret || ret == -ETIME || queue->ended.count)
		ret = take_ended(queue, done, max);
	trim_at_times(queue);
	event_set(queue);
	counters_fold(&queue->burst, &queue->counters);
	return ret;
}

int afb_late(struct afb_queue *queue, struct afb_op **late, unsigned max)
{
	after_fork(queue);
	return roll_late(&queue->roll, late, max);
}

void afb_queue_trim(struct afb_queue *queue)
{
	if (own(queue) || !queue->backend->trim)
		return;
	queue->backend->trim(queue, queue->in_flight);
	counters_fold(&queue->burst, &queue->counters);
}
