/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include <errno.h>
#include <openssl/crypto.h>

#include "fork.h"
#include "pieces.h"
#include "request.h"

static void prepare_control(struct request *request, const struct afb_op *op)
{
	struct msghdr *message = &request->message;

	message->msg_control = request->control;
	message->msg_controllen = 0;
	control_operation(message, op->kind);
	if (op->iv_len)
		control_iv(message, op->iv, op->iv_len);
	if (op->session->type == AFB_AEAD)
		control_aad_len(message, op->aad_len);
}

/*
 * Can the kernel write the result to where the caller wants it? An asynchronous
 * driver may do so when nobody is left to tell the caller: see inherit() in
 * backend_uring.c.
 */
static bool is_direct(const struct request *request, const struct afb_op *op)
{
	return op->session->type != AFB_AEAD && op->out_cnt == 1 &&
	       request->result_size > NOFORK_CELL &&
	       !op->session->driver.crypto.async && !op_in_place(op);
}

int request_prepare(struct request *request, const struct afb_op *op)
{
	request->message.msg_iov = (struct iovec *)op->in;
	request->message.msg_iovlen = op->in_cnt;
	request->message.msg_controllen = 0;
	if (op->session->type != AFB_HASH)
		prepare_control(request, op);

	request->forks = fork_count();
	request->result_size = op_result_size(op);
	if (op->session->type == AFB_AEAD)
		request->result_size += op->aad_len;
	if (is_direct(request, op)) {
		request->result = op->out[0].iov_base;
		return 0;
	}
	/* Reading no bytes would do no work, and leave a tag unverified. */
	if (!request->result_size)
		request->result_size = 1;
	if (nofork_reserve(&request->bounce, request->result_size))
		return -ENOMEM;
	request->result = request->bounce.at;
	return 0;
}

static bool is_bounced(const struct request *request)
{
	return request->result == request->bounce.at;
}

bool request_is_astray(const struct request *request)
{
	return !is_bounced(request) && forked_since(request->forks);
}

ssize_t request_finish(struct request *request, const struct afb_op *op,
		       ssize_t read)
{
	size_t aad_len = op->session->type == AFB_AEAD ? op->aad_len : 0;
	size_t size = op_result_size(op);

	if (read >= 0 && (size_t)read != aad_len + size)
		read = -EIO;
	if (!is_bounced(request))
		return read;
	if (read < 0) {
		OPENSSL_cleanse(request->bounce.at, request->result_size);
		return read;
	}
	pieces_scatter(op->out, request->bounce.at + aad_len, size);
	return size;
}

void request_abandon(struct request *request)
{
	nofork_abandon(&request->bounce);
}

void request_free(struct request *request)
{
	nofork_free(&request->bounce);
	OPENSSL_cleanse(request->control, sizeof(request->control));
}
