/* SPDX-License-Identifier: Apache-2.0 */
/* next_iv.c - see next_iv.h. The next IV may go where the op's own is. */
#include <string.h>

#include "next_iv.h"
#include "pieces.h"

static bool is_asked_for(const struct afb_op *op)
{
	return op->session->type == AFB_SKCIPHER && op->next_iv && op->iv_len;
}

static bool is_cbc(const struct afb_op *op, enum afb_kind kind)
{
	return op->session->mode == MODE_CBC && op->kind == kind;
}

void next_iv_prepare(struct afb_op *op)
{
	size_t size;

	if (!is_asked_for(op) || !is_cbc(op, AFB_DECRYPT))
		return;
	size = op_text_size(op);
	if (size)
		pieces_gather(op->lent.last_block, op->in, size - op->iv_len,
			      op->iv_len);
}

static uint64_t units(size_t size, size_t unit)
{
	return size / unit + (size % unit != 0);
}

void next_iv_write(const struct afb_op *op)
{
	uint8_t iv[AFB_IV_MAX];
	size_t size;

	if (!is_asked_for(op))
		return;
	size = op_text_size(op);
	memcpy(iv, op->iv, op->iv_len);
	if (!size)
		;
	else if (is_cbc(op, AFB_DECRYPT))
		memcpy(iv, op->lent.last_block, op->iv_len);
	else if (is_cbc(op, AFB_ENCRYPT))
		pieces_gather(iv, op->out, size - op->iv_len, op->iv_len);
	else if (op->session->mode == MODE_CTR)
		mode_count_up(iv, op->iv_len, units(size, op->iv_len));
	else
		mode_number_up(iv, op->iv_len,
			       units(size, op->session->data_unit));
	memcpy(op->next_iv, iv, op->iv_len);
}
