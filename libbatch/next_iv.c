/* SPDX-License-Identifier: Apache-2.0 */
/* next_iv.c - see next_iv.h. The next IV may go where the op's own is. */
#include <string.h>

#include "next_iv.h"

static bool is_cbc(const struct afb_op *op, enum afb_kind kind)
{
	return op->session->mode == MODE_CBC && op->kind == kind;
}

void next_iv_prepare(struct afb_op *op)
{
	size_t size = op_text_size(op);

	if (op->next_iv && size && is_cbc(op, AFB_DECRYPT))
		op_gather(op->lent.last_block, op->in, size - op->iv_len,
			  op->iv_len);
}

static uint64_t units(size_t size, size_t unit)
{
	return size / unit + (size % unit != 0);
}

void next_iv_write(const struct afb_op *op)
{
	size_t size = op_text_size(op);
	uint8_t iv[AFB_IV_MAX];

	if (!op->next_iv || !op->iv_len)
		return;
	memcpy(iv, op->iv, op->iv_len);
	if (!size)
		;
	else if (is_cbc(op, AFB_DECRYPT))
		memcpy(iv, op->lent.last_block, op->iv_len);
	else if (is_cbc(op, AFB_ENCRYPT))
		op_gather(iv, op->out, size - op->iv_len, op->iv_len);
	else if (op->session->mode == MODE_CTR)
		mode_count_up(iv, op->iv_len, units(size, op->iv_len));
	else
		mode_number_up(iv, op->iv_len,
			       units(size, op->session->data_unit));
	memcpy(op->next_iv, iv, op->iv_len);
}
