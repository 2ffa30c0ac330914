/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_lib.h - libcrypto's default provider in a library context of our own, for
 * what AF_ALG cannot do. The program's own context would lead back to us.
 */
#ifndef SOFT_LIB_H
#define SOFT_LIB_H

#include <stdatomic.h>

#include <openssl/types.h>

struct provider;

struct soft_lib {
	_Atomic(OSSL_LIB_CTX *) lib; /* NULL until the first use */
};

/* The context, or NULL with an error raised. Any thread. */
OSSL_LIB_CTX *soft_lib_get(const struct provider *prov, struct soft_lib *soft);

/* Frees it, if it was ever made. No other thread may use it. */
void soft_lib_drop(struct soft_lib *soft);

#endif
