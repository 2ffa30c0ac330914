/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac.h - the MACs of a provider context.
 */
#ifndef MAC_H
#define MAC_H

#include <stdatomic.h>
#include <stdint.h>

#include <openssl/core.h>

#include "soft_lib.h"

struct provider;

enum mac_id { MAC_HMAC, MAC_CMAC };

/* What a provider context has. */
struct macs {
	struct soft_lib soft;
	_Atomic(uint64_t) told; /* by debug, a bit for each row */
};

/* Makes prov->macs. Returns 1, or 0 with an error raised. */
int mac_start(struct provider *prov);

/* Frees it; no context may be left. */
void mac_stop(struct provider *prov);

/* For OSSL_OP_MAC. */
const OSSL_ALGORITHM *mac_algorithms(void);

#endif
