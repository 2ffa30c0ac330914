/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_cipher.h - a known answer from the kernel before a cipher of it is used.
 */
#ifndef SELFTEST_CIPHER_H
#define SELFTEST_CIPHER_H

#include <stdbool.h>

#include "algorithms.h"

struct provider;

/*
 * Whether the kernel computes @alg wrongly, which the first caller in the process is
 * told by debug. Any thread.
 */
bool selftest_cipher_fails(const struct provider *prov,
			   const struct afb_algorithm *alg);

#endif
