/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - the random numbers of a provider context: a source of seeds, for those
 * who ask for it by name.
 */
#ifndef SEED_H
#define SEED_H

#include <openssl/core.h>

/* For OSSL_OP_RAND. */
const OSSL_ALGORITHM *seed_algorithms(void);

#endif
