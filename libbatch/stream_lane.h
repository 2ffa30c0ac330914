/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_lane.h - a lane for one long message: an op socket and, where io_uring
 * is allowed, a small ring of its own, so that the kernel hashes one buffer while
 * the caller fills the next. The ring is nobody's in particular: a stream may
 * move between threads at any moment.
 */
#ifndef AFB_STREAM_LANE_H
#define AFB_STREAM_LANE_H

#include <liburing.h>

#include "nofork.h"
#include "session.h"

struct stream_lane {
	int fd;
	bool has_ring;
	unsigned generation;
	bool lost; /* the kernel may still write to the digest */
	struct io_uring ring;
	struct nofork digest;
	/* the send under way; lent by the caller until stream_lane_wait() */
	const void *data;
	size_t len; /* 0: none */
};

/*
 * A lane with no message begun. Every call counts its system calls and waits
 * into @burst. 0 or -errno.
 */
int stream_lane_take(struct stream_lane **lane, struct afb_session *session,
		     struct afb_counters *burst);

/* Gives back a lane whose last message has been finished. */
void stream_lane_give(struct stream_lane *lane, struct afb_session *session);

/* Gets rid of a lane in any state; waits for a send under way. */
void stream_lane_drop(struct stream_lane *lane);

/* Begins to send @len > 0 bytes of a message that goes on. None under way. */
int stream_lane_send(struct stream_lane *lane, const void *data, size_t len,
		     bool overlap, struct afb_counters *burst);

/* Waits for the send under way, if any, and gives its result. */
int stream_lane_wait(struct stream_lane *lane, struct afb_counters *burst);

/* Sends the message's last @len bytes and reads its digest. None under way. */
int stream_lane_finish(struct stream_lane *lane, const void *data, size_t len,
		       void *digest, size_t size, struct afb_counters *burst);

/* A lane in the same state of the same message. None under way. */
int stream_lane_clone(struct stream_lane **copy, struct stream_lane *lane,
		      struct afb_counters *burst);

#endif
