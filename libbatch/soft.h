/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.h - the same algorithms by libcrypto's own code. They are fetched from
 * the default provider in a library context of our own: whatever the program has
 * configured for itself (this library's provider, for one) plays no part here.
 */
#ifndef AFB_SOFT_H
#define AFB_SOFT_H

#include <openssl/evp.h>
#include <sys/uio.h>

#include "algorithms.h"

/* The digest, to be given back with soft_release(); NULL if there is none. */
EVP_MD *soft_fetch(const struct afb_algorithm *alg);
void soft_release(EVP_MD *md);

/* One whole message. @scratch is any context of the caller's. 0 or -EIO. */
int soft_digest(EVP_MD_CTX *scratch, const EVP_MD *md, const struct iovec *in,
		unsigned in_cnt, void *digest);

#endif
