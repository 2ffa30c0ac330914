/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_aio.c - the results of a burst in one io_submit(), for where io_uring is
 * not to be had.
 *
 * Each op is sent by a call of its own, because only sendmsg(2) carries an IV;
 * its read waits until flush() or wait() submits those of the whole burst, and
 * one io_getevents() collects what has ended.
 *
 * An op in flight has a lane to itself: an op socket, here an ordinary descriptor,
 * and the read. Lanes are made on demand and kept for their session's next op; one
 * whose op failed is closed, for it may hold half a message. A lane takes 304 bytes,
 * 40 more in arrays, and the copy of a result that cannot be read in place; in the
 * kernel an op socket, and 32 bytes of the context's ring for each of its ops.
 * Nothing else is allocated for an op, and no lock taken.
 *
 * The context is the process's: any thread may use the queue, and what a thread
 * has begun goes on without it. A child of fork() has no context.
 */
#include <errno.h>
#include <libaio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alone.h"
#include "backend.h"
#include "clock.h"
#include "counters.h"
#include "op.h"
#include "pieces.h"
#include "request.h"
#include "shortage.h"

#define NONE UINT32_MAX

struct lane {
	struct iocb read;
	struct request request;
	struct afb_op *op; /* in flight */
	struct queue_session *owner;
	uint32_t next; /* in the owner's list of idle lanes, or of bare ones */
	int fd;	       /* -1: a bare lane, without its socket */
};

_Static_assert(sizeof(struct lane) <= 304,
	       "a lane is larger than the first comment says");

struct ways {
	io_context_t context;
	unsigned lane_count;
	uint32_t bare_lane;
	unsigned staged_count;
	unsigned submitted; /* reads whose results were not collected yet */
	unsigned unwatched; /* of these: will not tell queue->event */
	unsigned naps;	    /* taken in a row because the driver was full */
	bool short_of; /* files or the driver's room; until an op succeeds */
	struct lane *lanes;
	struct iocb **staged; /* reads to be submitted */
	struct io_event *results;
};

/* ---- Making and unmaking ------------------------------------------------ */

/* A process may have many queues, and needs files for other things. */
static unsigned share_of_files(unsigned depth)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 4 >= depth)
		return depth;
	return limit.rlim_cur < 4 ? 1 : limit.rlim_cur / 4;
}

/*
 * All contexts of a system share fs.aio-max-nr requests; EAGAIN tells that too few
 * are left. In a small context a burst takes several turns.
 */
static int context_open(io_context_t *context, unsigned requests)
{
	int ret;

	do
		ret = io_setup(requests, context);
	while ((ret == -EAGAIN || ret == -ENOMEM) && (requests /= 2) > 0);
	return ret;
}

static void free_ways(struct ways *ways)
{
	free(ways->lanes);
	free(ways->staged);
	free(ways->results);
	free(ways);
}

static int aio_open(struct afb_queue *queue)
{
	struct ways *ways = calloc(1, sizeof(*ways));
	unsigned i, count = share_of_files(queue->depth);
	int ret = -ENOMEM;

	if (!ways)
		return ret;
	ways->lane_count = count;
	ways->lanes = calloc(count, sizeof(ways->lanes[0]));
	ways->staged = calloc(count, sizeof(ways->staged[0]));
	ways->results = calloc(count, sizeof(ways->results[0]));
	if (ways->lanes && ways->staged && ways->results)
		ret = context_open(&ways->context, count);
	if (ret) {
		free_ways(ways);
		return ret;
	}
	for (i = 0; i < count; i++) {
		ways->lanes[i].fd = -1;
		ways->lanes[i].next = i + 1 < count ? i + 1 : NONE;
	}
	queue->ways = ways;
	return 0;
}

/*
 * In a child of fork() the lanes in flight are the parent's: what is closed here
 * are copies of its descriptors, and io_destroy() finds no context.
 */
static void aio_close(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned i;

	/* Waits for what is in flight, which writes to the lanes' memory. */
	io_destroy(ways->context);
	for (i = 0; i < ways->lane_count; i++) {
		if (ways->lanes[i].fd >= 0)
			close(ways->lanes[i].fd);
		request_free(&ways->lanes[i].request);
	}
	free_ways(ways);
	queue->ways = NULL;
}

/* ---- Lanes -------------------------------------------------------------- */

static struct lane *pop_lane(struct ways *ways, uint32_t *list)
{
	struct lane *lane;

	if (*list == NONE)
		return NULL;
	lane = &ways->lanes[*list];
	*list = lane->next;
	return lane;
}

static void push_lane(struct ways *ways, uint32_t *list, struct lane *lane)
{
	lane->next = *list;
	*list = lane - ways->lanes;
}

static void lane_shut(struct afb_queue *queue, struct lane *lane)
{
	struct ways *ways = queue->ways;

	queue->burst.system_calls++;
	close(lane->fd);
	lane->fd = -1;
	push_lane(ways, &ways->bare_lane, lane);
}

static void aio_meet(struct afb_queue *queue, struct queue_session *entry)
{
	(void)queue;
	entry->idle_lanes = NONE;
}

static void aio_forget(struct afb_queue *queue, struct queue_session *entry)
{
	struct lane *lane;

	while ((lane = pop_lane(queue->ways, &entry->idle_lanes)))
		lane_shut(queue, lane);
}

/* Shuts an idle lane of whichever session has one. */
static bool shut_another(struct afb_queue *queue)
{
	struct queue_session *entry;
	struct lane *lane;
	unsigned i;

	for (i = 0; i < QUEUE_BUCKETS; i++) {
		for (entry = queue->buckets[i]; entry; entry = entry->next) {
			lane = pop_lane(queue->ways, &entry->idle_lanes);
			if (!lane)
				continue;
			lane_shut(queue, lane);
			return true;
		}
	}
	return false;
}

static void aio_trim(struct afb_queue *queue, unsigned keep)
{
	struct ways *ways = queue->ways;
	unsigned i, open = 0;

	for (i = 0; i < ways->lane_count; i++)
		open += ways->lanes[i].fd >= 0;
	while (open > keep && shut_another(queue))
		open--;
}

static int accept_lane(struct afb_queue *queue, int tfm)
{
	int fd;

	do {
		queue->burst.system_calls++;
		fd = opsocket_accept(tfm);
	} while (error_is_shortage(fd) && shut_another(queue));
	return fd;
}

/* Would trying again when another op has ended help? Notes that it must. */
static bool can_wait(struct afb_queue *queue, int error)
{
	struct ways *ways = queue->ways;

	if (queue->in_flight < 2 ||
	    (!error_is_shortage(error) && error != -EAGAIN))
		return false;
	return ways->short_of = true;
}

/* A lane for an op of @entry: 0 or, as start(), -errno. */
static int lane_take(struct afb_queue *queue, struct queue_session *entry,
		     struct lane **taken)
{
	struct ways *ways = queue->ways;
	int fd;

	*taken = pop_lane(ways, &entry->idle_lanes);
	if (*taken)
		return 0;
	if (ways->short_of && queue->in_flight > 1)
		return -EAGAIN;
	if (ways->bare_lane == NONE && !shut_another(queue))
		return -EAGAIN;
	fd = accept_lane(queue, entry->session->tfm);
	if (fd < 0)
		return can_wait(queue, fd) ? -EAGAIN : fd;
	*taken = pop_lane(ways, &ways->bare_lane);
	(*taken)->fd = fd;
	(*taken)->owner = entry;
	return 0;
}

static void lane_give(struct afb_queue *queue, struct lane *lane)
{
	push_lane(queue->ways, &lane->owner->idle_lanes, lane);
}

/* ---- Starting ----------------------------------------------------------- */

/*
 * The kernel takes less than the whole when it cannot read the rest. That there is
 * room for a whole message was made sure of by the session's send_max.
 */
static ssize_t send_op(struct afb_queue *queue, struct lane *lane)
{
	ssize_t sent;

	do {
		queue->burst.system_calls++;
		sent = sendmsg(lane->fd, &lane->request.message, MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

static void stage_read(struct afb_queue *queue, struct lane *lane)
{
	struct ways *ways = queue->ways;

	io_prep_pread(&lane->read, lane->fd, lane->request.result,
		      lane->request.result_size, 0);
	lane->read.data = lane;
	if (queue->event >= 0)
		io_set_eventfd(&lane->read, queue->event);
	ways->staged[ways->staged_count++] = &lane->read;
}

static int start_lane(struct afb_queue *queue, struct queue_session *entry,
		      struct afb_op *op)
{
	struct lane *lane;
	ssize_t ret;

	ret = lane_take(queue, entry, &lane);
	if (ret)
		return ret;
	ret = request_prepare(&lane->request, op);
	if (ret) {
		lane_give(queue, lane);
		return ret;
	}
	ret = send_op(queue, lane);
	if (ret == (ssize_t)pieces_bytes(op->in, op->in_cnt)) {
		lane->op = op;
		stage_read(queue, lane);
		return 0;
	}
	lane_shut(queue, lane);
	if (can_wait(queue, ret))
		return -EAGAIN;
	if (ret >= 0)
		ret = alone_explain(queue, op, &lane->request);
	queue_end(queue, op, AFB_BACKEND_AIO, ret);
	return 0;
}

static int aio_start(struct afb_queue *queue, struct queue_session *entry,
		     struct afb_op *op)
{
	if (!alone_only(op))
		return start_lane(queue, entry, op);
	queue_end(queue, op, AFB_BACKEND_AIO, alone_run(queue, op, NULL));
	return 0;
}

/* ---- Ending ------------------------------------------------------------- */

static void end_lane(struct afb_queue *queue, struct lane *lane, ssize_t result)
{
	struct ways *ways = queue->ways;
	struct afb_op *op = lane->op;

	if (driver_is_full(result) &&
	    (queue->in_flight > 1 || nap(&ways->naps))) {
		lane_shut(queue, lane);
		ways->short_of = true;
		queue_again(queue, op);
		return;
	}
	if (result >= 0 && request_is_astray(&lane->request)) {
		lane_give(queue, lane);
		queue_again(queue, op);
		return;
	}
	result = request_finish(&lane->request, op, result);
	if (result < 0) {
		lane_shut(queue, lane);
	} else {
		lane_give(queue, lane);
		ways->short_of = false;
		ways->naps = 0;
	}
	queue_end(queue, op, AFB_BACKEND_AIO, result);
}

/* What io_submit() refuses is read by a blocking call, which has the reason. */
static void read_now(struct afb_queue *queue, struct lane *lane)
{
	queue->burst.system_calls++;
	queue->burst.waits++;
	end_lane(queue, lane,
		 opsocket_read_some(lane->fd, lane->request.result,
				    lane->request.result_size));
}

/*
 * Gives the kernel the reads that are staged. It stops at one that it refuses,
 * and when the context is full until results are collected: EAGAIN.
 */
static void submit(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned i = 0;
	int ret;

	while (i < ways->staged_count) {
		queue->burst.system_calls++;
		ret = io_submit(ways->context, ways->staged_count - i,
				ways->staged + i);
		if (ret > 0) {
			ways->submitted += ret;
			i += ret;
		} else if (ret == -EAGAIN && ways->submitted) {
			break;
		} else if (ret != -EINTR) {
			read_now(queue, ways->staged[i++]->data);
		}
	}
	ways->staged_count -= i;
	memmove(ways->staged, ways->staged + i,
		ways->staged_count * sizeof(ways->staged[0]));
}

static int aio_flush(struct afb_queue *queue)
{
	submit(queue);
	return 0;
}

static void end_results(struct afb_queue *queue, unsigned count)
{
	struct ways *ways = queue->ways;
	struct lane *lane;
	unsigned i;

	for (i = 0; i < count; i++) {
		lane = ways->results[i].data;
		ways->submitted--;
		/* An iocb has no other flag than that of its eventfd. */
		if (ways->unwatched && !lane->read.u.c.flags)
			ways->unwatched--;
		end_lane(queue, lane, (long)ways->results[i].res);
	}
}

/* Ends what has completed, and waits for @min of it. Their number, or -errno. */
static int collect(struct afb_queue *queue, unsigned min,
		   const struct timespec *deadline)
{
	struct timespec left = { 0 };
	struct ways *ways = queue->ways;
	bool sleeps;
	int got;

	if (!ways->submitted)
		return 0;
	if (min > ways->submitted)
		min = ways->submitted;
	sleeps = min && (!deadline || clock_remaining(&left, deadline));
	if (!sleeps)
		left = (struct timespec){ 0 };
	got = io_getevents(ways->context, min, ways->lane_count, ways->results,
			   sleeps && !deadline ? NULL : &left);
	/* libaio sees without a call that there is nothing to be had at once. */
	queue->burst.system_calls += sleeps || got;
	queue->burst.waits += sleeps;
	if (got > 0)
		end_results(queue, got);
	return got == -EINTR ? 0 : got;
}

static int aio_wait(struct afb_queue *queue, unsigned min,
		    const struct timespec *deadline)
{
	unsigned before = queue->ended.count, ended;
	struct ways *ways = queue->ways;
	struct timespec left;
	int ret;

	for (;;) {
		submit(queue);
		ended = queue->ended.count - before;
		ret = collect(
			queue,
			min > ended ? queue_wake_after(queue, min - ended) : 0,
			deadline);
		ended = queue->ended.count - before;
		if (ret < 0 || ended >= min || !queue->in_flight)
			break;
		if (deadline && !clock_remaining(&left, deadline)) {
			ret = -ETIME;
			break;
		}
		/* What waits for a lane may find one now. */
		if (queue->waiting.count)
			break;
	}
	submit(queue);
	if (ways->unwatched) {
		queue->burst.system_calls++;
		eventfd_write(queue->event, 1);
	}
	return ret < 0 ? ret : 0;
}

/*
 * What has been submitted already will not tell the descriptor: until it has
 * ended, wait() keeps the descriptor readable.
 */
static int aio_watch(struct afb_queue *queue)
{
	struct ways *ways = queue->ways;
	unsigned i;

	for (i = 0; i < ways->staged_count; i++)
		io_set_eventfd(ways->staged[i], queue->event);
	ways->unwatched = ways->submitted;
	return 0;
}

const struct backend backend_aio = {
	.id = AFB_BACKEND_AIO,
	.missing = AFB_FALLBACK_NO_AIO,
	.open = aio_open,
	.close = aio_close,
	.start = aio_start,
	.flush = aio_flush,
	.wait = aio_wait,
	.watch = aio_watch,
	.trim = aio_trim,
	.meet = aio_meet,
	.forget = aio_forget,
};
