/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - see op.h. */
#include <errno.h>
#include <limits.h>

#include "op.h"
#include "pieces.h"

/* Bytes of `in` that are not text. */
static size_t frame_size(const struct afb_op *op)
{
	if (op->session->type != AFB_AEAD)
		return 0;
	/* An aad_len that is far too large must not wrap around. */
	if (op->aad_len > SSIZE_MAX)
		return SIZE_MAX;
	return op->aad_len +
	       (op->kind == AFB_DECRYPT ? op->session->tag_len : 0);
}

size_t op_text_size(const struct afb_op *op)
{
	return pieces_bytes(op->in, op->in_cnt) - frame_size(op);
}

size_t op_result_size(const struct afb_op *op)
{
	if (op->session->type == AFB_HASH)
		return op->session->digest_size;
	if (op->session->type == AFB_RNG)
		return pieces_bytes(op->out, op->out_cnt);
	if (op->session->type == AFB_AEAD && op->kind == AFB_ENCRYPT)
		return op_text_size(op) + op->session->tag_len;
	return op_text_size(op);
}

size_t op_counted_bytes(const struct afb_op *op)
{
	return op->session->type == AFB_RNG ? op_result_size(op) :
					      pieces_bytes(op->in, op->in_cnt);
}

/*
 * An op socket keeps the IV of the op before: where nobody knows whether the
 * algorithm has one, an op must bring it.
 */
static int check_cipher(const struct afb_op *op)
{
	const struct afb_session *session = op->session;

	if ((op->kind != AFB_ENCRYPT && op->kind != AFB_DECRYPT) ||
	    op->iv_len > AFB_IV_MAX || (op->iv_len && !op->iv) ||
	    (session->iv_len_known ? op->iv_len != session->iv_len :
				     !op->iv_len) ||
	    frame_size(op) > pieces_bytes(op->in, op->in_cnt))
		return -EINVAL;
	if (session->type == AFB_SKCIPHER && op->next_iv &&
	    session->mode == MODE_WHOLE)
		return -EINVAL;
	return 0;
}

/* The modes that can be cut take whole blocks, or data units of a block at least. */
static int check_text(const struct afb_op *op)
{
	const struct afb_session *session = op->session;
	size_t size = op_text_size(op);

	switch (session->mode) {
	case MODE_ECB:
	case MODE_CBC:
		return size % session->block_size ? -EINVAL : 0;
	case MODE_XTS_UNITS:
		size %= session->data_unit;
		return size && size < session->block_size ? -EINVAL : 0;
	case MODE_CTR:
	case MODE_WHOLE:
		return 0;
	}
	return 0;
}

int op_check(const struct afb_op *op)
{
	int ret = 0;

	if (!op->session || (!op->out && op->out_cnt))
		return -EINVAL;
	if (op->session->type == AFB_RNG)
		return 0;
	if (!op->in && op->in_cnt)
		return -EINVAL;
	if (op->session->type == AFB_HASH) {
		if (op->out_cnt != 1 || !op->out[0].iov_base)
			return -EINVAL;
	} else {
		ret = check_cipher(op);
	}
	if (!ret && pieces_bytes(op->out, op->out_cnt) < op_result_size(op))
		ret = -EINVAL;
	return ret ? ret : check_text(op);
}

static bool overlap(const struct iovec *a, const struct iovec *b)
{
	uintptr_t at_a = (uintptr_t)a->iov_base, at_b = (uintptr_t)b->iov_base;

	return at_a < at_b + b->iov_len && at_b < at_a + a->iov_len;
}

bool op_in_place(const struct afb_op *op)
{
	unsigned i, k;

	for (i = 0; i < op->in_cnt; i++)
		for (k = 0; k < op->out_cnt; k++)
			if (overlap(&op->in[i], &op->out[k]))
				return true;
	return false;
}
