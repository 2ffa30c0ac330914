/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered.h - which algorithms the running kernel has, so that what it lacks is left to
 * other providers.
 */
#ifndef OFFERED_H
#define OFFERED_H

#include <stddef.h>

#include <openssl/core.h>

#include "afalgbatch.h"

/*
 * Copies of the @count of @all, whose descriptions are the kernel's names, those that
 * AF_ALG has to @offered, and returns how many. All of them where there is no AF_ALG:
 * libcrypto stands in for such a kernel.
 */
size_t offered_of(enum afb_type type, OSSL_ALGORITHM *offered,
		  const OSSL_ALGORITHM *all, size_t count);

#endif
