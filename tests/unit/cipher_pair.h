/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher_pair.h - one cipher from our provider and from OpenSSL's default, in step:
 * every call goes to both, and has to do the same in both.
 */
#ifndef CIPHER_PAIR_H
#define CIPHER_PAIR_H

#include <openssl/evp.h>

#include "evp.h"

struct cipher_pair {
	const char *name;
	EVP_CIPHER_CTX *ours, *theirs;
	unsigned char *got, *want; /* what came out since the last init */
	size_t out_len, room;
};

/* Opens the providers; every text of @threshold bytes and more is the kernel's. */
void cipher_pairs_open(const char *threshold);
void cipher_pairs_close(void);

/* Each that ours offers, by its name; at least one. */
void each_cipher(void (*call)(const char *name));
void each_aead(void (*call)(const char *name));

/* With room for @room bytes of output between two calls of init. */
struct cipher_pair pair_new(const char *name, size_t room);
void pair_free(struct cipher_pair *pair);

/* Each returns what EVP's call did. @enc: as EVP_CipherInit_ex2()'s. */
int pair_init(struct cipher_pair *pair, const void *key, const void *iv,
	      int enc);
int pair_update(struct cipher_pair *pair, const void *data, size_t len);
int pair_update_in_place(struct cipher_pair *pair, const void *data,
			 size_t len);
int pair_raw(struct cipher_pair *pair, const void *data, size_t len);
int pair_final(struct cipher_pair *pair);
int pair_aad(struct cipher_pair *pair, const void *data, size_t len);
int pair_set_tag(struct cipher_pair *pair, const void *tag, int len);
int pair_get_tag(struct cipher_pair *pair, void *tag, int len);
int pair_set_iv_len(struct cipher_pair *pair, int len);
struct cipher_pair pair_dup(const struct cipher_pair *pair);

/* Messages that the kernel has done for us so far. */
uint64_t kernel_texts(void);

#endif
