/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afalg.h - AF_ALG itself: for questions about the kernel, in which
 * software must not stand in and which the counters must not show. Messages go
 * through libbatch.
 */
#ifndef AFALG_H
#define AFALG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "afalgbatch.h"

/* Whether AF_ALG has it. */
bool afalg_has(enum afb_type type, const char *name);

/* Whether AF_ALG answers, and says that it has not. */
bool afalg_lacks(enum afb_type type, const char *name);

/*
 * Writes the hash of @data to @out, and returns its length or -errno. @key is NULL
 * for a digest.
 */
ssize_t afalg_hash(const char *name, const void *key, size_t key_len,
		   const void *data, size_t len, void *out, size_t size);

/*
 * Encrypts one text, to @out; of an AEAD, the first @aad_len bytes of it are AAD, and
 * stay in front of the result, which ends with the tag. Returns the result's length or
 * -errno.
 */
struct afalg_text {
	const void *key, *iv, *text;
	size_t key_len, iv_len, aad_len, len;
};
ssize_t afalg_encrypt(enum afb_type type, const char *name,
		      const struct afalg_text *text, void *out, size_t size);

#endif
