/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.h - the same algorithms by libcrypto's own code. They are fetched from
 * the default provider in a library context of our own: whatever the program has
 * configured for itself (this library's provider, for one) plays no part here.
 *
 *   soft.c         the library context, and what an algorithm fetches from it
 *   soft_stream.c  digests and MACs, in pieces
 *   soft_cipher.c  skciphers
 *   soft_aead.c    AEADs of libcrypto
 *   soft_authenc.c AEADs made of a cipher and an HMAC
 */
#ifndef AFB_SOFT_H
#define AFB_SOFT_H

#include <openssl/evp.h>
#include <stdbool.h>

#include "algorithms.h"
#include "key.h"

/* What libcrypto calls an algorithm: one of them by its type, or two. */
struct soft {
	const struct afb_algorithm *alg;
	EVP_MD *md;
	EVP_MAC *mac;
	EVP_CIPHER *cipher;
	EVP_RAND_CTX *random; /* with a lock of its own */
};

/* A digest or MAC under way. Starts as zero. */
struct soft_stream {
	const struct soft *soft;
	EVP_MD_CTX *md;
	EVP_MAC_CTX *mac;
};

/* Contexts to work in, made at first need: one thread's. Starts as zero. */
struct soft_scratch {
	bool holds; /* the library context, as long as there are contexts */
	struct soft_stream stream;
	EVP_CIPHER_CTX *cipher;
	uint8_t *data; /* wiped between ops */
	size_t size;
};

/*
 * The algorithm for a key that key_split() takes. 0, -ENOENT where there is
 * none, or -ENOMEM.
 */
int soft_open(struct soft **soft, const struct afb_algorithm *alg,
	      const uint8_t *key, size_t key_len);
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

/* For the handlers of fork(). */
void soft_before_fork(void);
void soft_after_fork(bool in_child);

/*
 * A message in pieces. The stream belongs to one thread at a time, and @soft
 * outlives it. init begins anew in any state; -ENOMEM or -EIO.
 */
int soft_stream_init(struct soft_stream *stream, const struct soft *soft,
		     const uint8_t *key, size_t key_len);
int soft_stream_update(struct soft_stream *stream, const void *data,
		       size_t len);
/* The result has the size the algorithm gives, at most AFB_DIGEST_MAX. */
int soft_stream_final(struct soft_stream *stream, void *result);
int soft_stream_copy(struct soft_stream *copy,
		     const struct soft_stream *stream);
void soft_stream_free(struct soft_stream *stream);

/*
 * The parts of soft_run(). A cipher's @data is a copy of the op's input with room
 * behind it for a tag: it is worked on in place, and the result found at
 * @data + op->aad_len. 0 or -errno.
 */
int soft_cipher_run(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		    const struct afb_op *op, uint8_t *data, size_t len);
int soft_aead_run(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		  const struct afb_op *op, uint8_t *data);
int soft_authenc_run(struct soft_scratch *scratch, const struct soft *soft,
		     const struct afb_op *op, uint8_t *data);

/* The cipher of a skcipher or of authenc over @len bytes, in place. */
int soft_cipher_text(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		     const struct key_parts *key, const struct afb_op *op,
		     uint8_t *text, size_t len);

#endif
