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

/* Encrypts one text, as long in @out. Returns its length or -errno. */
ssize_t afalg_encrypt(const char *name, const void *key, size_t key_len,
		      const void *iv, size_t iv_len, const void *text,
		      size_t len, void *out);

#endif
