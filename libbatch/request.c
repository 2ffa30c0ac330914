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

static void *add_control(struct msghdr *message, int type, size_t size)
{
	struct cmsghdr *control;

	control = (struct cmsghdr *)((uint8_t *)message->msg_control +
				     message->msg_controllen);
	control->cmsg_level = SOL_ALG;
	control->cmsg_type = type;
	control->cmsg_len = CMSG_LEN(size);
	message->msg_controllen += CMSG_SPACE(size);
	return CMSG_DATA(control);
}

static void add_number(struct msghdr *message, int type, uint32_t number)
{
	memcpy(add_control(message, type, sizeof(number)), &number,
	       sizeof(number));
}

static void add_iv(struct msghdr *message, const void *iv, uint32_t len)
{
	struct af_alg_iv *control;

	control = add_control(message, ALG_SET_IV, sizeof(*control) + len);
	memcpy(&control->ivlen, &len, sizeof(len));
	memcpy(control->iv, iv, len);
}

static void prepare_control(struct request *request, const struct afb_op *op)
{
	struct msghdr *message = &request->message;

	message->msg_control = request->control;
	message->msg_controllen = 0;
	add_number(message, ALG_SET_OP,
		   op->kind == AFB_ENCRYPT ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT);
	if (op->iv_len)
		add_iv(message, op->iv, op->iv_len);
	if (op->session->type == AFB_AEAD)
		add_number(message, ALG_SET_AEAD_ASSOCLEN, op->aad_len);
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
