/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next_iv.h - the IV with which a text goes on after an op, for the callers that
 * chain ops through afb_op.next_iv.
 */
#ifndef AFB_NEXT_IV_H
#define AFB_NEXT_IV_H

#include "op.h"

/* Keeps what the op will overwrite when it works in place. Before it starts. */
void next_iv_prepare(struct afb_op *op);

/* Writes it. The op has ended well. */
void next_iv_write(const struct afb_op *op);

#endif
