/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.h - the provider context: what one OpenSSL library context has of
 * us, from OSSL_provider_init() to teardown. provider.c makes and frees it;
 * after that it is only read, so any thread may use it without a lock.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "settings.h"

#define PROVIDER_NAME "afalgbatch"

struct ciphers;
struct digests;
struct jobs;
struct macs;

struct provider {
	/* The core, and those of its functions that we call; each may be NULL. */
	const OSSL_CORE_HANDLE *core;
	OSSL_FUNC_core_get_params_fn *get_params;
	OSSL_FUNC_core_new_error_fn *new_error;
	OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
	OSSL_FUNC_core_vset_error_fn *vset_error;

	struct settings settings;
	struct digests *digests; /* digest.c */
	struct ciphers *ciphers; /* ciphers.c */
	struct macs *macs;	 /* mac.c */
	struct jobs *jobs;	 /* jobs.c */
};

#endif
