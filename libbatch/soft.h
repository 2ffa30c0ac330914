/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.h - the same algorithms by libcrypto's own code. They are fetched from
 * the default provider in a library context of our own: whatever the program has
 * configured for itself (this library's provider, for one) plays no part here.
 */
#ifndef AFB_SOFT_H
#define AFB_SOFT_H

#include <openssl/evp.h>

#include "algorithms.h"

/* What libcrypto calls an algorithm: one of the two, by its type. */
struct soft {
	EVP_MD *md;
	EVP_CIPHER *cipher;
};

/* Contexts to work in, made at first need: one thread's. Starts as zero. */
struct soft_scratch {
	EVP_MD_CTX *md;
	EVP_CIPHER_CTX *cipher;
};

/*
 * The algorithm for keys of that length. 0, -ENOENT where there is none, or
 * -ENOMEM.
 */
int soft_open(struct soft **soft, const struct afb_algorithm *alg,
	      size_t key_len);
void soft_close(struct soft *soft);

/* The whole of an op that op_check() has passed. 0 or what its result is. */
int soft_run(struct soft_scratch *scratch, const struct soft *soft,
	     const struct afb_op *op);

/*
 * The same, with its session's algorithm: -ENOENT where there is none, or the
 * session is strict. Any thread, each with a scratch of its own.
 */
int soft_op(struct soft_scratch *scratch, const struct afb_op *op);

void soft_scratch_free(struct soft_scratch *scratch);

#endif
