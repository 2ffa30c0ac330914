/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the control messages that tell an op socket what to do with the data
 * sent along: the operation, the IV and the length of the AAD.
 */
#ifndef AFB_CONTROL_H
#define AFB_CONTROL_H

#include <linux/if_alg.h>
#include <sys/socket.h>

#include "afalgbatch.h"

/* Room for all three. */
#define CONTROL_SIZE                                        \
	(2 * CMSG_SPACE(sizeof(uint32_t)) +                 \
	 CMSG_SPACE(sizeof(struct af_alg_iv) + AFB_IV_MAX))

/* They go behind one another into message->msg_control, which has the room. */
void control_operation(struct msghdr *message, enum afb_kind kind);
void control_iv(struct msghdr *message, const void *iv, uint32_t len);
void control_aad_len(struct msghdr *message, uint32_t len);

#endif
