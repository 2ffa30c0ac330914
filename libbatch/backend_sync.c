/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_sync.c - one message after the other in blocking calls, for where
 * io_uring is not to be had. Digests go through libkcapi, whose handles serve one
 * thread: each queue has its own for each session.
 */
#include <errno.h>
#include <kcapi.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "counters.h"
#include "fork.h"
#include "request.h"

static int sync_open(struct afb_queue *queue)
{
	(void)queue;
	/* Its remarks would go to the program's stderr. */
	kcapi_set_verbosity(KCAPI_LOG_NONE);
	return 0;
}

static void sync_close(struct afb_queue *queue)
{
	(void)queue;
}

/* What serves one session: libkcapi's handle for a hash, else an op socket. */
struct sync_way {
	struct kcapi_handle *handle;
	int fd;
	struct request request;
};

static void sync_forget(struct afb_queue *queue, struct queue_session *entry)
{
	struct sync_way *way = entry->way;

	(void)queue;
	if (!way)
		return;
	if (way->handle)
		kcapi_md_destroy(way->handle);
	if (way->fd >= 0)
		close(way->fd);
	request_free(&way->request);
	free(way);
	entry->way = NULL;
}

static int open_handle(struct sync_way *way, const struct afb_session *session)
{
	int ret = kcapi_md_init(&way->handle, session->name, 0);

	if (ret) {
		way->handle = NULL;
		return ret;
	}
	if (session->keyed)
		ret = kcapi_md_setkey(way->handle, session->key,
				      session->key_len);
	return ret;
}

static int open_way(struct afb_queue *queue, struct queue_session *entry)
{
	struct sync_way *way = calloc(1, sizeof(*way));
	int ret = 0;

	if (!way)
		return -ENOMEM;
	way->fd = -1;
	entry->way = way;
	if (entry->session->type == AFB_HASH)
		ret = open_handle(way, entry->session);
	else
		ret = way->fd = opsocket_accept(entry->session->tfm);
	if (ret < 0)
		sync_forget(queue, entry);
	return ret < 0 ? ret : 0;
}

/* libkcapi takes at most INT_MAX bytes at once. */
static ssize_t update(struct kcapi_handle *handle, const struct iovec *piece,
		      struct afb_counters *burst)
{
	const uint8_t *at = piece->iov_base;
	size_t left = piece->iov_len, part;
	ssize_t ret;

	while (left) {
		part = left < OPSOCKET_SEND_MAX ? left : OPSOCKET_SEND_MAX;
		burst->system_calls++;
		ret = kcapi_md_update(handle, at, part);
		if (ret < 0)
			return ret;
		at += part;
		left -= part;
	}
	return 0;
}

static ssize_t digest(struct kcapi_handle *handle, const struct afb_op *op,
		      size_t size, struct afb_counters *burst)
{
	ssize_t ret = 0;
	unsigned i;

	burst->system_calls += 2;
	burst->waits++;
	if (op->in_cnt == 1 && op->in[0].iov_len <= OPSOCKET_SEND_MAX)
		return kcapi_md_digest(handle, op->in[0].iov_base,
				       op->in[0].iov_len,
				       op->out[0].iov_base, size);
	for (i = 0; i < op->in_cnt && ret >= 0; i++)
		ret = update(handle, &op->in[i], burst);
	if (ret < 0)
		return ret;
	return kcapi_md_final(handle, op->out[0].iov_base, size);
}

/* Another thread may fork meanwhile, and the result go astray: see fork_count(). */
static ssize_t digest_unforked(struct kcapi_handle *handle,
			       const struct afb_op *op,
			       struct afb_counters *burst)
{
	ssize_t size = op->session->digest_size, ret;
	unsigned forks;

	do {
		forks = fork_count();
		errno = 0;
		ret = digest(handle, op, size, burst);
		/* libkcapi hands on send(2)'s -1 as it is. */
		if (ret == -1 && errno)
			ret = -errno;
		if (ret >= 0 && ret != size)
			ret = -EIO;
	} while (ret >= 0 && forked_since(forks));
	return ret;
}

/*
 * libkcapi takes a cipher's IV once for a handle and wants its input in one
 * piece; an op socket of our own takes an op as it is.
 */
static ssize_t cipher(struct sync_way *way, const struct afb_op *op,
		      struct afb_counters *burst)
{
	ssize_t ret;

	do {
		ret = request_prepare(&way->request, op);
		if (ret)
			return ret;
		burst->system_calls += 2;
		burst->waits++;
		ret = opsocket_send_message(way->fd, &way->request.message);
		if (ret)
			return ret;
		ret = opsocket_read_some(way->fd, way->request.result,
					 way->request.result_size);
	} while (ret >= 0 && request_is_astray(&way->request));
	return request_finish(&way->request, op, ret);
}

static int sync_start(struct afb_queue *queue, struct queue_session *entry,
		      struct afb_op *op)
{
	ssize_t ret;

	if (!entry->way) {
		ret = open_way(queue, entry);
		if (ret)
			return ret;
	}
	counters_in_flight(&queue->burst, 1);
	if (entry->session->type == AFB_HASH)
		ret = digest_unforked(entry->way->handle, op, &queue->burst);
	else
		ret = cipher(entry->way, op, &queue->burst);
	/* After an error the op socket may hold half a message. */
	if (ret < 0)
		sync_forget(queue, entry);
	queue_end(queue, op, AFB_BACKEND_SYNC, ret);
	return 0;
}

const struct backend backend_sync = {
	.id = AFB_BACKEND_SYNC,
	.open = sync_open,
	.close = sync_close,
	.start = sync_start,
	.forget = sync_forget,
};
