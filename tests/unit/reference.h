/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - right answers, from libcrypto's default provider, and what the
 * tests of libbatch share. No test may compare the library with itself.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <afalgbatch.h>
#include <stdbool.h>

/* The algorithms by the kernel's names, NULL at the end. */
extern const char *const reference_digests[];

/* The digest of @len bytes by libcrypto; returns its length. */
size_t reference_digest(const char *kernel_name, const void *data, size_t len,
			uint8_t digest[AFB_DIGEST_MAX]);

/* Bytes that look random and are the same in every run. */
void reference_fill(void *data, size_t len, uint32_t seed);
uint32_t reference_random(uint32_t *state);

/* Did whoever started the tests promise a kernel that serves? */
bool kernel_expected(void);

/* Open file descriptors of this process. */
int open_fds(void);

/*
 * Makes io_uring_setup(2), io_setup(2) or socket(AF_ALG) fail from now on, by
 * seccomp.
 */
void deny_io_uring(int error);
void deny_aio(int error);
void deny_af_alg(int error);

#endif
