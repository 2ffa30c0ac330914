/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher_text.h - puts text through a cipher: by the kernel where it is long enough
 * to be worth it, and by libcrypto.
 */
#ifndef CIPHER_TEXT_H
#define CIPHER_TEXT_H

#include "cipher.h"

/* As EVP_CipherUpdate(). */
int cipher_text_update(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		       const unsigned char *in, int len);

/* As EVP_Cipher(): whole blocks, past what an update may have left. */
int cipher_text_raw(struct cipher_ctx *ctx, unsigned char *out, int *out_len,
		    const unsigned char *in, int len);

#endif
