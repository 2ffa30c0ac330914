/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - see control.h. */
#include <string.h>

#include "control.h"

static void *add(struct msghdr *message, int type, size_t size)
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
	memcpy(add(message, type, sizeof(number)), &number, sizeof(number));
}

void control_operation(struct msghdr *message, enum afb_kind kind)
{
	add_number(message, ALG_SET_OP,
		   kind == AFB_ENCRYPT ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT);
}

void control_iv(struct msghdr *message, const void *iv, uint32_t len)
{
	struct af_alg_iv *control;

	control = add(message, ALG_SET_IV, sizeof(*control) + len);
	memcpy(&control->ivlen, &len, sizeof(len));
	memcpy(control->iv, iv, len);
}

void control_aad_len(struct msghdr *message, uint32_t len)
{
	add_number(message, ALG_SET_AEAD_ASSOCLEN, len);
}
