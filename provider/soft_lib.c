/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_lib.c - makes the context without a lock, as session.c does its sessions.
 */
#include <config.h>

#include <openssl/crypto.h>

#include "error.h"
#include "soft_lib.h"

OSSL_LIB_CTX *soft_lib_get(const struct provider *prov, struct soft_lib *soft)
{
	OSSL_LIB_CTX *lib = atomic_load(&soft->lib);
	OSSL_LIB_CTX *mine;

	if (lib)
		return lib;
	mine = OSSL_LIB_CTX_new();
	if (!mine) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "library context");
		return NULL;
	}
	if (!atomic_compare_exchange_strong(&soft->lib, &lib, mine)) {
		OSSL_LIB_CTX_free(mine);
		return lib;
	}
	return mine;
}

void soft_lib_drop(struct soft_lib *soft)
{
	OSSL_LIB_CTX_free(atomic_exchange(&soft->lib, NULL));
}
