/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evp.h - what the provider's unit tests share: our provider and OpenSSL's
 * default one side by side, and digests computed by both.
 *
 * The module is looked up in the environment's OPENSSL_MODULES, and its back end
 * is AFALGBATCH_BACKEND's: the same tests serve every back end, with or without
 * AF_ALG. Criterion runs each test in a process of its own.
 */
#ifndef EVP_H
#define EVP_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/evp.h>
#include <openssl/provider.h>

#define OURS "afalgbatch"
#define THEIRS "default"

/* Not a message's length: everything in one update. */
#define WHOLE 0

/* A library context with one provider in it. */
struct evp {
	OSSL_LIB_CTX *lib;
	OSSL_PROVIDER *provider;
};

struct evp evp_open(const char *provider);
void evp_close(struct evp *evp);

/* One digest from both providers. */
struct pair {
	const char *name;
	EVP_MD *ours;
	EVP_MD *theirs;
};
#define PAIRS_MAX 32

struct pairs {
	struct evp ours;
	struct evp theirs;
	struct pair pair[PAIRS_MAX];
	size_t count;
};

/* Every digest that ours offers; at least one. */
struct pairs *pairs_open(void);
void pairs_close(struct pairs *pairs);

struct digest {
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned len;
};

bool digest_equal(const struct digest *a, const struct digest *b);

/* Computes a digest, in updates of @chunk bytes. False if any call fails. */
bool digest_chunks(struct digest *d, EVP_MD *md, const void *data, size_t len,
		   size_t chunk);

/* Asserts that ours, in updates of @chunk bytes, gives @want. */
void expect_digest(const struct digest *want, const struct pair *pair,
		   const void *data, size_t len, size_t chunk);

/* The same, and @want is theirs of the whole. */
void expect_same(const struct pair *pair, const void *data, size_t len,
		 size_t chunk);

/* Asserts that the final of @ctx gives theirs of @data, whole. */
void expect_final(EVP_MD_CTX *ctx, const struct pair *pair, const void *data,
		  size_t len);

/* A new context with a message begun. */
EVP_MD_CTX *begin(EVP_MD *md);

void update(EVP_MD_CTX *ctx, const void *data, size_t len);
EVP_MD_CTX *dup_ctx(const EVP_MD_CTX *ctx);

/* The digest in hex, in a static buffer. */
const char *digest_hex(const struct digest *d);

/* @len bytes without a period that could hide lost or swapped pieces. */
unsigned char *test_data(size_t len);

/* How many file descriptors this process has open. */
int open_fds(void);

/* Lets this process open no further file descriptor. Undo with fds_allow(). */
void fds_exhaust(void);
void fds_allow(void);

/* The OpenSSL error queue as text, emptied. Static buffer. */
const char *error_text(void);

#endif
