/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_sync.c - one message after the other through libkcapi, for where
 * io_uring is not to be had. A handle serves one thread, so each queue has its
 * own for each session.
 */
#include <errno.h>
#include <kcapi.h>

#include "backend.h"
#include "counters.h"

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

static void sync_forget(struct afb_queue *queue, struct queue_session *entry)
{
	(void)queue;
	if (entry->handle)
		kcapi_md_destroy(entry->handle);
	entry->handle = NULL;
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

static int sync_start(struct afb_queue *queue, struct queue_session *entry,
		      struct afb_op *op)
{
	size_t size = entry->session->digest_size;
	ssize_t ret;

	if (!entry->handle) {
		ret = kcapi_md_init(&entry->handle, entry->session->name, 0);
		if (ret) {
			entry->handle = NULL;
			return ret;
		}
	}
	counters_in_flight(&queue->burst, 1);
	ret = digest(entry->handle, op, size, &queue->burst);
	if (ret != (ssize_t)size) {
		/* Its op socket may hold half a message. */
		sync_forget(queue, entry);
		if (ret >= 0)
			ret = -EIO;
	}
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
