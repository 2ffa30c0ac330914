/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_crypto.h - what /proc/crypto says of the implementation that the kernel
 * takes for a name. Any process may read it; it is read when a session opens and
 * never on the way of a message.
 */
#ifndef AFB_PROC_CRYPTO_H
#define AFB_PROC_CRYPTO_H

#include <stdbool.h>

#include "afalgbatch.h"

/* Longest name there, CRYPTO_MAX_ALG_NAME with its NUL. */
#define PROC_CRYPTO_NAME 128

struct proc_crypto {
	char name[PROC_CRYPTO_NAME]; /* e.g. "cbc(aes)" */
	char driver[PROC_CRYPTO_NAME]; /* e.g. "virtio_crypto_aes_cbc" */
	enum afb_type type;
	long priority;
	bool async;
	unsigned block_size; /* the sizes are 0 where the type has none */
	unsigned iv_len;
	unsigned digest_size;
	unsigned max_key_len;
};

/*
 * @name is an algorithm's, which stands for the implementation of the highest
 * priority, or a driver's. -ENOENT: not there, or /proc/crypto is not.
 */
int proc_crypto_find(struct proc_crypto *found, enum afb_type type,
		     const char *name);

#endif
