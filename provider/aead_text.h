/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead_text.h - puts AAD and text through a cipher that authenticates: a text in one
 * piece by the kernel, if it is long enough to be worth it, else by libcrypto.
 */
#ifndef AEAD_TEXT_H
#define AEAD_TEXT_H

#include "aead.h"

/* As EVP_CipherUpdate(): AAD where @out is NULL. */
int aead_text_update(struct aead_ctx *ctx, unsigned char *out, int *out_len,
		     const unsigned char *in, int len);

/*
 * Gives libcrypto what it lacks of a message, so that it can go on with it. Returns 1,
 * or 0 with an error raised.
 */
int aead_text_settle(struct aead_ctx *ctx);

/* Wipes what is kept of the text. */
void aead_text_forget(struct aead_ctx *ctx);

#endif
