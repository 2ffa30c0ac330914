/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - what an op asks for, in numbers: checks and lengths for every type of
 * session.
 */
#ifndef AFB_OP_H
#define AFB_OP_H

#include <stdbool.h>

#include "session.h"

/* afb_op.lent.state */
#define OP_PART (1U << 0)  /* not a caller's op: a part of one, see cut.h */
#define OP_ENDED (1U << 1) /* see roll.h */
#define OP_LATE (1U << 2)

/* 0 or -EINVAL. After it the two functions below may be called. */
int op_check(const struct afb_op *op);

/* Bytes the result has. */
size_t op_result_size(const struct afb_op *op);

/* Bytes the op is counted with: what it works on, or gives out of nothing. */
size_t op_counted_bytes(const struct afb_op *op);

/* The text of a cipher op: bytes without AAD and tag. */
size_t op_text_size(const struct afb_op *op);

/* Does the result go where the input is? Then it cannot be worked on twice. */
bool op_in_place(const struct afb_op *op);

#endif
