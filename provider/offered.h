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
 * Copies from @all, whose descriptions are the kernel's names, to @offered those
 * that AF_ALG has, and returns how many. All of them where it has none of the type
 * at all: libcrypto stands in for such a kernel.
 */
size_t offered_of(enum afb_type type, OSSL_ALGORITHM *offered,
		  const OSSL_ALGORITHM *all);

#endif
