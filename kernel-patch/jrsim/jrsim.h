/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of jrsim know of each other: the algorithms make a job of each
 * request and submit it, the ring decides when it is worked on and when it
 * completes. A job lives in its request and is the ring's from the submission
 * to the completion.
 */
#ifndef JRSIM_H
#define JRSIM_H

#include <linux/crypto.h>
#include <linux/list.h>
#include <linux/types.h>

/* Below every other implementation, so that only those get it who name it. */
#define JRSIM_PRIORITY 1

/* ASYNC: requests complete later. NEED_FALLBACK: no driver's child is jrsim. */
#define JRSIM_FLAGS (CRYPTO_ALG_ASYNC | CRYPTO_ALG_NEED_FALLBACK)

struct dentry;

/**
 * struct jrsim_job - what the engine is to do for one request
 * @entry: in the list of the ring that the job is in
 * @request: whom to tell of the completion
 * @work: computes the result with software, in the engine's thread
 * @length: bytes of input, by which the engine takes its time
 * @result: 0 or -errno, once it is done
 */
struct jrsim_job {
	struct list_head entry;
	struct crypto_async_request *request;
	int (*work)(struct crypto_async_request *request);
	unsigned int length;
	int result;
};

int jrsim_submit(struct jrsim_job *job);
int jrsim_ring_init(struct dentry *debugfs);
void jrsim_ring_exit(void);

int jrsim_tested(const char *driver);

int jrsim_hash_register(void);
void jrsim_hash_unregister(void);
int jrsim_skcipher_register(void);
void jrsim_skcipher_unregister(void);
int jrsim_aead_register(void);
void jrsim_aead_unregister(void);

#endif
