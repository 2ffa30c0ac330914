/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_lane.c - see stream_lane.h.
 *
 * A send that overlaps with the caller is given to one of io_uring's worker
 * threads (IOSQE_ASYNC), because the kernel hashes inside the send. A worker
 * belongs to the thread that submitted: should that thread exit first, the send
 * comes back with -ECANCELED if it was not begun, and is then made again.
 *
 * Without a ring everything is a blocking call on the op socket. These are our
 * own and not libkcapi's, which has no way to clone a digest's state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "counters.h"
#include "fork.h"
#include "stream_lane.h"

/* A send and a read are the most that is ever under way. */
#define RING_ENTRIES 2

static int lane_new(struct stream_lane **made, int from, bool with_ring,
		    struct afb_counters *burst)
{
	struct stream_lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return -ENOMEM;
	lane->generation = fork_generation();
	burst->system_calls++;
	lane->fd = opsocket_accept(from);
	if (lane->fd < 0) {
		int ret = lane->fd;

		free(lane);
		return ret;
	}
	/* No ring is no error: the blocking calls do the same. */
	if (with_ring) {
		burst->system_calls++;
		lane->has_ring =
			!io_uring_queue_init(RING_ENTRIES, &lane->ring, 0);
	}
	*made = lane;
	return 0;
}

/* An inherited send under way is the parent's: the child only lets go. */
static void lane_free(struct stream_lane *lane)
{
	if (lane->lost)
		nofork_abandon(&lane->digest);
	if (lane->has_ring)
		io_uring_queue_exit(&lane->ring);
	close(lane->fd);
	nofork_free(&lane->digest);
	free(lane);
}

void stream_lane_drop(struct stream_lane *lane)
{
	struct afb_counters ignored = { 0 };

	if (lane->generation == fork_generation())
		stream_lane_wait(lane, &ignored);
	lane_free(lane);
}

/* The first of the session's idle lanes. NULL: there is none. */
static struct stream_lane *take_idle(struct afb_session *session)
{
	struct stream_lane *lane = NULL;
	unsigned i;

	for (i = 0; i < SESSION_IDLE_LANES && !lane; i++)
		if (session->idle[i])
			lane = atomic_exchange(&session->idle[i], NULL);
	return lane;
}

int stream_lane_take(struct stream_lane **taken, struct afb_session *session,
		     struct afb_counters *burst)
{
	struct stream_lane *lane;

	while ((lane = take_idle(session))) {
		if (lane->generation == fork_generation()) {
			*taken = lane;
			return 0;
		}
		lane_free(lane);
	}
	return lane_new(taken, session->tfm,
			session->backend == AFB_BACKEND_URING, burst);
}

static bool keep_idle(struct afb_session *session, struct stream_lane *lane)
{
	struct stream_lane *none;
	unsigned i;

	for (i = 0; i < SESSION_IDLE_LANES; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(&session->idle[i], &none,
						   lane))
			return true;
	}
	return false;
}

void stream_lane_give(struct stream_lane *lane, struct afb_session *session)
{
	/* One that could not have a ring is not worth keeping. */
	bool whole = lane->has_ring || session->backend != AFB_BACKEND_URING;

	if (!whole || !keep_idle(session, lane))
		lane_free(lane);
}

int stream_lane_clone(struct stream_lane **copy, struct stream_lane *lane,
		      struct afb_counters *burst)
{
	return lane_new(copy, lane->fd, lane->has_ring, burst);
}

static int submit_and_wait(struct io_uring *ring, unsigned results,
			   struct afb_counters *burst)
{
	int ret;

	do {
		burst->system_calls++;
		ret = io_uring_submit_and_wait(ring, results);
	} while (ret == -EINTR);
	return ret < 0 ? ret : 0;
}

/*
 * Takes the next result; those of a send and its linked read come in order. 0, or
 * -errno where it cannot be waited for, and the kernel may still be at it.
 */
static int next_result(struct io_uring *ring, int *result,
		       struct afb_counters *burst)
{
	struct io_uring_cqe *cqe;
	int ret;

	if (io_uring_peek_cqe(ring, &cqe)) {
		burst->waits++;
		do {
			burst->system_calls++;
			ret = io_uring_wait_cqe(ring, &cqe);
		} while (ret == -EINTR);
		if (ret)
			return ret;
	}
	*result = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return 0;
}

int stream_lane_send(struct stream_lane *lane, const void *data, size_t len,
		     bool overlap, struct afb_counters *burst)
{
	struct io_uring_sqe *sqe;
	int ret;

	counters_in_flight(burst, 1);
	if (!lane->has_ring) {
		burst->system_calls++;
		return opsocket_send(lane->fd, data, len, true);
	}
	sqe = io_uring_get_sqe(&lane->ring);
	io_uring_prep_send(sqe, lane->fd, data, len, MSG_MORE);
	if (overlap)
		sqe->flags |= IOSQE_ASYNC;
	ret = submit_and_wait(&lane->ring, 0, burst);
	if (ret)
		return ret;
	lane->data = data;
	lane->len = len;
	return 0;
}

int stream_lane_wait(struct stream_lane *lane, struct afb_counters *burst)
{
	size_t len = lane->len;
	int ret, sent;

	if (!len)
		return 0;
	lane->len = 0;
	ret = next_result(&lane->ring, &sent, burst);
	if (ret)
		return ret;
	if (sent == -ECANCELED) {
		burst->system_calls++;
		return opsocket_send(lane->fd, lane->data, len, true);
	}
	if (sent < 0)
		return sent;
	return (size_t)sent == len ? 0 : -EIO;
}

static int finish_by_ring(struct stream_lane *lane, const void *data,
			  size_t len, size_t size, struct afb_counters *burst)
{
	struct io_uring_sqe *sqe;
	int sent, got, ret;

	sqe = io_uring_get_sqe(&lane->ring);
	io_uring_prep_send(sqe, lane->fd, data, len, 0);
	sqe->flags |= IOSQE_IO_LINK;
	sqe = io_uring_get_sqe(&lane->ring);
	io_uring_prep_read(sqe, lane->fd, lane->digest.at, size, 0);

	burst->waits++;
	ret = submit_and_wait(&lane->ring, 2, burst);
	if (ret) {
		lane->lost = io_uring_sq_ready(&lane->ring) < 2;
		return ret;
	}
	lane->lost = true;
	ret = next_result(&lane->ring, &sent, burst);
	if (ret)
		return ret;
	/* The kernel can lack the memory for both: then the read follows. */
	if (io_uring_sq_ready(&lane->ring)) {
		ret = submit_and_wait(&lane->ring, 1, burst);
		if (ret)
			return ret;
	}
	ret = next_result(&lane->ring, &got, burst);
	if (ret)
		return ret;
	lane->lost = false;
	if (sent < 0)
		return sent;
	if (got < 0)
		return got;
	return (size_t)sent == len && (size_t)got == size ? 0 : -EIO;
}

static int finish_by_calls(struct stream_lane *lane, const void *data,
			   size_t len, size_t size, struct afb_counters *burst)
{
	int ret;

	burst->system_calls += 2;
	burst->waits++;
	ret = opsocket_send(lane->fd, data, len, false);
	return ret ? ret : opsocket_read(lane->fd, lane->digest.at, size);
}

int stream_lane_finish(struct stream_lane *lane, const void *data, size_t len,
		       void *digest, size_t size, struct afb_counters *burst)
{
	int ret = nofork_reserve(&lane->digest, size);

	if (ret)
		return ret;
	counters_in_flight(burst, 1);
	if (lane->has_ring)
		ret = finish_by_ring(lane, data, len, size, burst);
	else
		ret = finish_by_calls(lane, data, len, size, burst);
	if (!ret)
		memcpy(digest, lane->digest.at, size);
	return ret;
}
