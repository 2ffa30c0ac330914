/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>

#include "request.h"

#define BOUNCE_MIN 256

/* Room for @size bytes, kept from op to op. */
static int reserve(struct request *request, size_t size)
{
	size_t larger = BOUNCE_MIN;

	if (request->bounce_size >= size)
		return 0;
	while (larger < size)
		larger *= 2;
	OPENSSL_clear_free(request->bounce, request->bounce_size);
	request->bounce = OPENSSL_malloc(larger);
	request->bounce_size = request->bounce ? larger : 0;
	return request->bounce ? 0 : -ENOMEM;
}

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

int request_prepare(struct request *request, const struct afb_op *op)
{
	bool aead = op->session->type == AFB_AEAD;

	request->message.msg_iov = (struct iovec *)op->in;
	request->message.msg_iovlen = op->in_cnt;
	request->message.msg_controllen = 0;
	if (op->session->type != AFB_HASH)
		prepare_control(request, op);

	request->result_size = op_result_size(op) + (aead ? op->aad_len : 0);
	if (!aead && op->out_cnt == 1) {
		request->result = op->out[0].iov_base;
		return 0;
	}
	/* Reading no bytes would do no work, and leave a tag unverified. */
	if (!request->result_size)
		request->result_size = 1;
	if (reserve(request, request->result_size))
		return -ENOMEM;
	request->result = request->bounce;
	return 0;
}

ssize_t request_finish(struct request *request, const struct afb_op *op,
		       ssize_t read)
{
	size_t aad_len = op->session->type == AFB_AEAD ? op->aad_len : 0;
	size_t size = op_result_size(op);

	if (read >= 0 && (size_t)read != aad_len + size)
		read = -EIO;
	if (request->result != request->bounce)
		return read;
	if (read < 0) {
		OPENSSL_cleanse(request->bounce, request->result_size);
		return read;
	}
	op_scatter(op->out, request->bounce + aad_len, size);
	return size;
}

void request_free(struct request *request)
{
	OPENSSL_clear_free(request->bounce, request->bounce_size);
	OPENSSL_cleanse(request->control, sizeof(request->control));
	request->bounce = NULL;
	request->bounce_size = 0;
}
