/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - one long message in pieces.
 *
 * Pieces are gathered in a buffer that grows up to BUFFER_MAX. A message that
 * ends before the buffer is full is one request on a borrowed lane. A longer one
 * takes a lane for itself and is sent a buffer at a time: while the kernel works
 * on one, the next is filled. The states of a message:
 *
 *   GATHERING  all of it is in the buffer
 *   IN_KERNEL  the lane has the beginning, the buffer the rest
 *   IN_SOFT    libcrypto has all of it
 *   FINAL      its digest has been given out
 *   BROKEN     it was lost; the error stays until reset
 *
 * As long as the kernel has not confirmed the first buffer all of the message is
 * still here, and libcrypto can take over. After that the beginning is in the
 * kernel alone, and an error there is an error of the stream.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "fork.h"
#include "soft.h"
#include "stream_lane.h"

#define BUFFER_MIN ((size_t)512)
#define BUFFER_MAX ((size_t)128 << 10)
#define BUFFER_GROWTH 16

enum state { GATHERING, IN_KERNEL, IN_SOFT, FINAL, BROKEN };

struct buffer {
	char *data;
	size_t used;
	size_t size;
};

struct afb_stream {
	struct afb_session *session;
	enum state state;
	int error; /* BROKEN: the reason */
	enum afb_fallback why;
	bool confirmed; /* the kernel has taken a buffer for good */
	uint64_t bytes;
	struct buffer fill; /* being filled */
	struct buffer sent; /* lent to the kernel while the lane sends */
	struct stream_lane *lane;
	struct soft_stream soft;
	struct afb_counters burst;
};

static void buffer_clear(struct buffer *buffer)
{
	OPENSSL_cleanse(buffer->data, buffer->used);
	buffer->used = 0;
}

static void buffer_free(struct buffer *buffer)
{
	OPENSSL_clear_free(buffer->data, buffer->size);
	*buffer = (struct buffer){ 0 };
}

static int buffer_grow(struct buffer *buffer)
{
	struct buffer larger = { .used = buffer->used };

	larger.size = buffer->size ? buffer->size * BUFFER_GROWTH : BUFFER_MIN;
	if (larger.size > BUFFER_MAX)
		larger.size = BUFFER_MAX;
	larger.data = OPENSSL_malloc(larger.size);
	if (!larger.data)
		return -ENOMEM;
	if (buffer->used)
		memcpy(larger.data, buffer->data, buffer->used);
	buffer_free(buffer);
	*buffer = larger;
	return 0;
}

/* Takes in as much as there is room for now, and returns how much that was. */
static size_t buffer_take(struct buffer *buffer, const void *data, size_t len)
{
	size_t room = buffer->size - buffer->used;

	if (len > room)
		len = room;
	if (len)
		memcpy(buffer->data + buffer->used, data, len);
	buffer->used += len;
	return len;
}

static int broken(struct afb_stream *stream, int error)
{
	stream->state = BROKEN;
	stream->error = error;
	return error;
}

static void drop_lane(struct afb_stream *stream)
{
	if (stream->lane)
		stream_lane_drop(stream->lane);
	stream->lane = NULL;
}

/*
 * Gives the message to libcrypto, all of it being still here: in `sent`, if the
 * kernel refused that, and then in `fill`. @error is what stopped the kernel;
 * it is also the answer where there is no software to turn to.
 */
static int turn_to_soft(struct afb_stream *stream, int error)
{
	struct afb_session *session = stream->session;
	const struct soft *soft = session_soft(session);
	int ret;

	drop_lane(stream);
	if (!soft)
		return broken(stream, error ? error : -ENOMEM);
	ret = soft_stream_init(&stream->soft, soft, session->key,
			       session->key_len);
	if (!ret)
		ret = soft_stream_update(&stream->soft, stream->sent.data,
					 stream->sent.used);
	if (!ret)
		ret = soft_stream_update(&stream->soft, stream->fill.data,
					 stream->fill.used);
	if (ret)
		return broken(stream, ret);
	buffer_clear(&stream->sent);
	buffer_clear(&stream->fill);
	if (error)
		stream->why = fallback_after(error,
					     AFB_FALLBACK_KERNEL_ERROR);
	stream->state = IN_SOFT;
	return 0;
}

/*
 * Waits for the buffer under way. Afterwards the kernel has it for good, or the
 * stream is IN_SOFT, or an error is returned.
 */
static int settle(struct afb_stream *stream)
{
	int ret = stream_lane_wait(stream->lane, &stream->burst);

	if (ret && !stream->confirmed)
		return turn_to_soft(stream, ret);
	if (ret) {
		drop_lane(stream);
		return broken(stream, ret);
	}
	stream->confirmed = true;
	stream->sent.used = 0;
	return 0;
}

/* Gives the full buffer to the kernel and takes the other one to fill. */
static int spill(struct afb_stream *stream)
{
	struct buffer full;
	int ret;

	if (stream->state == IN_KERNEL) {
		ret = settle(stream);
		if (ret || stream->state != IN_KERNEL)
			return ret;
	} else {
		ret = stream_lane_take(&stream->lane, stream->session,
				       &stream->burst);
		if (ret)
			return turn_to_soft(stream, ret);
		stream->state = IN_KERNEL;
	}
	full = stream->fill;
	stream->fill = stream->sent;
	stream->sent = full;
	ret = stream_lane_send(stream->lane, full.data, full.used,
			       stream->session->overlap, &stream->burst);
	if (!ret)
		return 0;
	if (!stream->confirmed)
		return turn_to_soft(stream, ret);
	drop_lane(stream);
	return broken(stream, ret);
}

static int update_soft(struct afb_stream *stream, const void *data, size_t len)
{
	int ret = soft_stream_update(&stream->soft, data, len);

	return ret ? broken(stream, ret) : 0;
}

static int gather(struct afb_stream *stream, const void *data, size_t len)
{
	const char *at = data;
	size_t taken;
	int ret = 0;

	while (!ret) {
		taken = buffer_take(&stream->fill, at, len);
		at += taken;
		len -= taken;
		if (!len)
			return 0;
		if (stream->fill.size < BUFFER_MAX)
			ret = buffer_grow(&stream->fill);
		else
			ret = spill(stream);
		if (stream->state == IN_SOFT)
			return update_soft(stream, at, len);
	}
	return stream->state == BROKEN ? ret : broken(stream, ret);
}

/* The state as it is for this process: see afb_stream_open() on fork(). */
static enum state state_now(struct afb_stream *stream)
{
	if (stream->lane && stream->lane->generation != fork_generation()) {
		drop_lane(stream);
		broken(stream, -ESTALE);
	}
	return stream->state;
}

int afb_stream_open(struct afb_stream **opened, struct afb_session *session)
{
	struct afb_stream *stream;

	if (session->type != AFB_HASH)
		return -EINVAL;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	stream->session = session_get(session);
	stream->burst.size = sizeof(stream->burst);
	afb_stream_reset(stream);
	*opened = stream;
	return 0;
}

void afb_stream_reset(struct afb_stream *stream)
{
	drop_lane(stream);
	buffer_clear(&stream->fill);
	buffer_clear(&stream->sent);
	stream->why = stream->session->why;
	stream->confirmed = false;
	stream->bytes = 0;
	stream->error = 0;
	stream->state = GATHERING;
	counters_fold(&stream->burst, NULL);
	if (stream->session->backend == AFB_BACKEND_SOFT)
		turn_to_soft(stream, 0);
}

int afb_stream_update(struct afb_stream *stream, const void *data, size_t len)
{
	enum state state = state_now(stream);

	if (state == BROKEN)
		return stream->error;
	if (state == FINAL)
		return -EINVAL;
	stream->bytes += len;
	if (!len)
		return 0;
	return state == IN_SOFT ? update_soft(stream, data, len) :
				  gather(stream, data, len);
}

/* The whole message is in the buffer: one request on a borrowed lane. */
static int finish_gathered(struct afb_stream *stream, void *digest,
			   enum afb_backend *backend)
{
	struct afb_session *session = stream->session;
	int ret;

	ret = stream_lane_take(&stream->lane, session, &stream->burst);
	if (ret)
		return turn_to_soft(stream, ret);
	ret = stream_lane_finish(stream->lane, stream->fill.data,
				 stream->fill.used, digest,
				 session->digest_size, &stream->burst);
	if (ret)
		return turn_to_soft(stream, ret);
	*backend = stream->lane->has_ring ? AFB_BACKEND_URING :
					    AFB_BACKEND_SYNC;
	return 0;
}

/* The beginning is in the kernel: the rest follows it. */
static int finish_in_kernel(struct afb_stream *stream, void *digest,
			    enum afb_backend *backend)
{
	int ret = settle(stream);

	if (ret || stream->state != IN_KERNEL)
		return ret;
	ret = stream_lane_finish(stream->lane, stream->fill.data,
				 stream->fill.used, digest,
				 stream->session->digest_size, &stream->burst);
	if (ret) {
		drop_lane(stream);
		return broken(stream, ret);
	}
	*backend = stream->lane->has_ring ? AFB_BACKEND_URING :
					    AFB_BACKEND_SYNC;
	return 0;
}

static int finish(struct afb_stream *stream, void *digest,
		  enum afb_backend *backend)
{
	int ret = 0;

	*backend = AFB_BACKEND_SOFT;
	if (stream->state == GATHERING)
		ret = finish_gathered(stream, digest, backend);
	else if (stream->state == IN_KERNEL)
		ret = finish_in_kernel(stream, digest, backend);
	if (ret || stream->state != IN_SOFT)
		return ret;
	ret = soft_stream_final(&stream->soft, digest);
	return ret ? broken(stream, ret) : 0;
}

ssize_t afb_stream_final(struct afb_stream *stream, void *digest, size_t size)
{
	struct afb_session *session = stream->session;
	enum state state = state_now(stream);
	enum afb_backend backend;
	int ret;

	if (state == BROKEN)
		return stream->error;
	if (state == FINAL || size < session->digest_size)
		return -EINVAL;
	ret = finish(stream, digest, &backend);
	if (!ret) {
		/* A wish for io_uring that ended in blocking calls. */
		if (backend == AFB_BACKEND_SYNC &&
		    session->backend == AFB_BACKEND_URING)
			stream->why = AFB_FALLBACK_NO_IO_URING;
		counters_message(&stream->burst, backend, stream->why,
				 stream->bytes);
		if (stream->lane)
			stream_lane_give(stream->lane, session);
		stream->lane = NULL;
		buffer_clear(&stream->fill);
		stream->state = FINAL;
	}
	counters_fold(&stream->burst, NULL);
	return ret ? ret : (ssize_t)session->digest_size;
}

static int copy_message(struct afb_stream *copy, struct afb_stream *stream)
{
	int ret = 0;

	while (!ret && copy->fill.size < stream->fill.used)
		ret = buffer_grow(&copy->fill);
	if (ret)
		return ret;
	buffer_take(&copy->fill, stream->fill.data, stream->fill.used);
	if (stream->state == IN_KERNEL)
		ret = stream_lane_clone(&copy->lane, stream->lane,
					&copy->burst);
	if (stream->state == IN_SOFT)
		ret = soft_stream_copy(&copy->soft, &stream->soft);
	return ret;
}

int afb_stream_dup(struct afb_stream **made, struct afb_stream *stream)
{
	struct afb_stream *copy;
	int ret;

	/* The clone must have all that was sent. */
	if (state_now(stream) == IN_KERNEL)
		settle(stream);
	if (stream->state == BROKEN)
		return stream->error;
	ret = afb_stream_open(&copy, stream->session);
	if (ret)
		return ret;
	ret = copy_message(copy, stream);
	if (ret) {
		afb_stream_close(copy);
		return ret;
	}
	copy->state = stream->state;
	copy->why = stream->why;
	copy->confirmed = stream->confirmed;
	copy->bytes = stream->bytes;
	*made = copy;
	return 0;
}

void afb_stream_close(struct afb_stream *stream)
{
	if (!stream)
		return;
	drop_lane(stream);
	buffer_free(&stream->fill);
	buffer_free(&stream->sent);
	soft_stream_free(&stream->soft);
	counters_fold(&stream->burst, NULL);
	session_put(stream->session);
	free(stream);
}
