/* SPDX-License-Identifier: Apache-2.0 */
/* alone.c - see alone.h. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "alone.h"
#include "fork.h"
#include "pieces.h"

bool alone_only(const struct afb_op *op)
{
	return op->session->type == AFB_HASH &&
	       (op->in_cnt > IOV_MAX ||
		pieces_bytes(op->in, op->in_cnt) > OPSOCKET_SEND_MAX);
}

ssize_t alone_run(struct afb_queue *queue, const struct afb_op *op,
		  struct request *request)
{
	const struct afb_session *session = op->session;
	unsigned forks;
	ssize_t ret;
	int fd;

	queue->burst.system_calls +=
		op->in_cnt + 4 +
		pieces_bytes(op->in, op->in_cnt) / OPSOCKET_SEND_MAX;
	if (session->type == AFB_HASH) {
		/* A fork meanwhile may lead the result astray. */
		do {
			forks = fork_count();
			ret = opsocket_digest(session->tfm, op->in, op->in_cnt,
					      op->out[0].iov_base,
					      session->digest_size);
		} while (!ret && forked_since(forks));
		return ret ? ret : (ssize_t)session->digest_size;
	}
	fd = opsocket_accept(session->tfm);
	if (fd < 0)
		return fd;
	ret = opsocket_send_message(fd, &request->message);
	if (!ret)
		ret = opsocket_read_some(fd, request->result,
					 request->result_size);
	close(fd);
	return request_finish(request, op, ret);
}

ssize_t alone_explain(struct afb_queue *queue, const struct afb_op *op,
		      struct request *request)
{
	ssize_t ret = alone_run(queue, op, request);

	return ret >= 0 || ret == -EBADMSG || ret == -EINVAL ? ret : -EFAULT;
}
