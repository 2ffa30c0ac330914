/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher.h - the ciphers of a provider context, and a context of one of them.
 */
#ifndef CIPHER_H
#define CIPHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <openssl/core.h>

#include "algorithms.h"
#include "cipher_key.h"
#include "cipher_kinds.h"
#include "queues.h"
#include "soft_lib.h"

/* What a provider context has. */
struct ciphers {
	const struct afb_algorithm *rows[CIPHER_COUNT]; /* by cipher_id */
	struct soft_lib lib;
	_Atomic(EVP_CIPHER *) soft[CIPHER_COUNT]; /* NULL until the first use */
	struct queues queues;
	_Atomic(uint64_t) soft_only; /* the kernel has not, by cipher_id too */
	_Atomic(uint64_t) told;	     /* by debug, a bit for each cipher_id */
	OSSL_ALGORITHM algorithms[CIPHER_COUNT + 1];
	_Atomic(OSSL_ALGORITHM *) offered; /* NULL until asked for */
};

struct cipher_ctx {
	const struct provider *prov;
	const struct cipher_kind *kind;
	EVP_CIPHER_CTX *soft;	/* libcrypto's, in the same state */
	struct cipher_key *key; /* NULL: none yet */
	bool encrypt;
	bool has_iv;
	bool moved; /* the kernel has gone on: soft began again with another IV */
	bool tls; /* an update is a record, which libcrypto alone takes apart */
	unsigned char iv[EVP_MAX_IV_LENGTH];	  /* that of init */
	unsigned char held[EVP_MAX_BLOCK_LENGTH]; /* what soft has taken in and */
	size_t held_len;			  /* not put out yet */
};

/* Makes prov->ciphers. Returns 1, or 0 with an error raised. */
int cipher_start(struct provider *prov);

/* Frees it; no context may be left. */
void cipher_stop(struct provider *prov);

/* For OSSL_OP_CIPHER. Lives until cipher_stop(). */
const OSSL_ALGORITHM *cipher_algorithms(const struct provider *prov);

/* libcrypto's own, or NULL with an error raised. */
EVP_CIPHER *cipher_soft(const struct provider *prov,
			const struct cipher_kind *kind);

#endif
