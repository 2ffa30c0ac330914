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
#include "op.h"

/* ---- Fifos -------------------------------------------------------------- */

static int fifo_open(struct op_fifo *fifo, unsigned depth)
{
	for (fifo->size = 1; fifo->size < depth; fifo->size *= 2)
		;
	fifo->ops = calloc(fifo->size, sizeof(fifo->ops[0]));
	return fifo->ops ? 0 : -ENOMEM;
}

static void fifo_push(struct op_fifo *fifo, struct afb_op *op)
{
	fifo->ops[(fifo->first + fifo->count++) & (fifo->size - 1)] = op;
}

static void fifo_push_front(struct op_fifo *fifo, struct afb_op *op)
{
	fifo->count++;
	fifo->ops[--fifo->first & (fifo->size - 1)] = op;
}

static struct afb_op *fifo_pop(struct op_fifo *fifo)
{
	fifo->count--;
	return fifo->ops[fifo->first++ & (fifo->size - 1)];
}

/* ---- Sessions seen by a queue ------------------------------------------- */

static struct queue_session **bucket_of(struct afb_queue *queue,
					const struct afb_session *session)
{
	uintptr_t key = (uintptr_t)session;

	return &queue->buckets[(key >> 6 ^ key >> 12) % QUEUE_BUCKETS];
}

static void forget(struct afb_queue *queue, struct queue_session *entry)
{
	if (queue->last == entry)
		queue->last = NULL;
	if (queue->backend->forget)
		queue->backend->forget(queue, entry);
	session_put(entry->session);
	free(entry);
}

/* Lets go of sessions that their openers have closed; of all, if so told. */
static void forget_sessions(struct afb_queue *queue, bool all)
{
	struct queue_session **link, *entry;
	unsigned i;

	for (i = 0; i < QUEUE_BUCKETS; i++) {
		link = &queue->buckets[i];
		while ((entry = *link)) {
			if (all ||
			    (!entry->held && entry->session->closed)) {
				*link = entry->next;
				forget(queue, entry);
			} else {
				link = &entry->next;
			}
		}
	}
}

struct queue_session *queue_session(struct afb_queue *queue,
				    struct afb_session *session)
{
	struct queue_session *entry = queue->last;

	if (entry && entry->session == session)
		return entry;
	for (entry = *bucket_of(queue, session); entry; entry = entry->next)
		if (entry->session == session)
			return queue->last = entry;
	return NULL;
}

static struct queue_session *meet_session(struct afb_queue *queue,
					  struct afb_session *session)
{
	struct queue_session *entry = queue_session(queue, session);
	struct queue_session **bucket;

	if (entry)
		return entry;
	forget_sessions(queue, false);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->session = session_get(session);
	if (queue->backend->meet)
		queue->backend->meet(queue, entry);
	bucket = bucket_of(queue, session);
	entry->next = *bucket;
	*bucket = entry;
	return queue->last = entry;
}

/* ---- Ops ---------------------------------------------------------------- */

/* What an op ended with before anything could be tried, or in the end. */
static void end(struct afb_queue *queue, struct afb_op *op, ssize_t result)
{
	struct queue_session *entry;

	op->result = result;
	entry = op->session ? queue_session(queue, op->session) : NULL;
	if (entry)
		entry->held--;
	fifo_push(&queue->ended, op);
}

static int by_software(struct afb_queue *queue, struct afb_op *op)
{
	const struct soft *soft = session_soft(op->session);

	return soft ? soft_run(&queue->scratch, soft, op) : -ENOENT;
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

/* @error is what the back end failed with; 0 if it was not to be asked. */
static void end_by_software(struct afb_queue *queue, struct afb_op *op,
			    int error)
{
	int ret = by_software(queue, op);

	if (ret) {
		end(queue, op, error && ret == -ENOENT ? error : ret);
		return;
	}
	counters_message(&queue->burst, AFB_BACKEND_SOFT,
			 why_soft(queue, op, error),
			 op_bytes(op->in, op->in_cnt));
	end(queue, op, op_result_size(op));
}

/* Errors that say something of the op: software would say no other. */
static bool is_final(ssize_t result)
{
	return result >= 0 || result == -EFAULT || result == -EBADMSG ||
	       result == -EINVAL;
}

/*
 * May software have what the kernel failed with? A digest's input is never
 * written to, and an AEAD's result goes to the caller only when it is right.
 */
static bool can_be_repeated(const struct afb_op *op, bool begun)
{
	return !begun || op->session->type != AFB_SKCIPHER || !op_in_place(op);
}

void queue_end(struct afb_queue *queue, struct afb_op *op,
	       enum afb_backend backend, ssize_t result, bool begun)
{
	queue->in_flight--;
	if (!is_final(result) && can_be_repeated(op, begun)) {
		end_by_software(queue, op, result);
		return;
	}
	if (result >= 0)
		counters_message(&queue->burst, backend, queue->why,
				 op_bytes(op->in, op->in_cnt));
	end(queue, op, result);
}

void queue_again(struct afb_queue *queue, struct afb_op *op)
{
	queue->in_flight--;
	fifo_push_front(&queue->waiting, op);
}

/* Starts one op; -EAGAIN if it has to wait for another to end. */
static int start(struct afb_queue *queue, struct afb_op *op)
{
	int ret = op_check(op);

	/* An empty text has an empty result; the kernel would wait for more. */
	if (ret || (op->session->type == AFB_SKCIPHER && !op_text_size(op))) {
		end(queue, op, ret);
		return 0;
	}
	if (op->session->tfm < 0 || queue->backend->id == AFB_BACKEND_SOFT) {
		end_by_software(queue, op, 0);
		return 0;
	}
	if (op_bytes(op->in, op->in_cnt) + op->session->tag_len >
	    op->session->send_max) {
		end_by_software(queue, op, -EMSGSIZE);
		return 0;
	}
	queue->in_flight++;
	ret = queue->backend->start(queue, queue_session(queue, op->session),
				    op);
	if (!ret) {
		counters_in_flight(&queue->burst, queue->in_flight);
		return 0;
	}
	queue->in_flight--;
	if (ret == -EAGAIN)
		return ret;
	/* Whatever it says, it says of the back end and not of the op. */
	end_by_software(queue, op, ret);
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

/* ---- Opening and closing ------------------------------------------------ */

/* The back ends in the order in which one stands in for another. */
static const struct backend *const backends[] = {
	&backend_uring,
	&backend_sync,
	&backend_soft,
};

#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static int choose(struct afb_queue *queue, enum afb_backend wanted)
{
	unsigned i = 0;
	int ret;

	while (wanted != AFB_BACKEND_AUTO && backends[i]->id != wanted)
		i++;
	for (;; i++) {
		queue->backend = backends[i];
		ret = queue->backend->open(queue);
		if (!ret || queue->strict || i + 1 == BACKENDS)
			return ret;
		queue->why = fallback_after(ret, AFB_FALLBACK_NO_IO_URING);
		log_text("queue: no back end %s (%s)",
			 afb_backend_name(queue->backend->id), strerror(-ret));
	}
}

static int check_params(const struct afb_queue_params *params)
{
	if (params->size != sizeof(*params) || params->depth > AFB_DEPTH_MAX ||
	    (unsigned)params->backend >= AFB_BACKENDS ||
	    (params->flags & ~AFB_STRICT))
		return -EINVAL;
	return 0;
}

static void free_queue(struct afb_queue *queue)
{
	if (queue->event >= 0)
		close(queue->event);
	soft_scratch_free(&queue->scratch);
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
	queue->generation = fork_generation();
	queue->event = -1;
	queue->burst.size = queue->counters.size = sizeof(queue->counters);
	ret = fifo_open(&queue->waiting, queue->depth);
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
	forget_sessions(queue, true);
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

static int own(struct afb_queue *queue)
{
	after_fork(queue);
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
	forget_sessions(queue, true);
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

int afb_submit(struct afb_queue *queue, struct afb_op *const *ops,
	       unsigned count)
{
	struct queue_session *entry;
	unsigned i;

	after_fork(queue);
	if (count > queue->depth - queue->held)
		count = queue->depth - queue->held;
	for (i = 0; i < count; i++) {
		if (ops[i]->session) {
			entry = meet_session(queue, ops[i]->session);
			if (!entry)
				break;
			entry->held++;
		}
		fifo_push(&queue->waiting, ops[i]);
	}
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

static unsigned take_ended(struct afb_queue *queue, struct afb_op **done,
			   unsigned max)
{
	unsigned n = 0;

	while (n < max && queue->ended.count)
		done[n++] = fifo_pop(&queue->ended);
	queue->held -= n;
	return n;
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
	if (min > queue->in_flight)
		min = queue->in_flight;
	return queue->backend->wait(queue, min, deadline);
}

int afb_reap(struct afb_queue *queue, struct afb_op **done, unsigned max,
	     unsigned min, const struct timespec *timeout)
{
	const struct timespec *deadline;
	struct timespec moment;
	int ret;

	if (min > max)
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
	event_set(queue);
	counters_fold(&queue->burst, &queue->counters);
	return ret;
}
