/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.c - the module's one exported function, and what the core asks of a
 * provider as a whole: its algorithms and its end.
 */
#include <config.h>

#include <stdlib.h>

#include "ciphers.h"
#include "debug.h"
#include "digest.h"
#include "error.h"
#include "jobs.h"
#include "mac.h"
#include "provider.h"
#include "seed.h"
#include "status.h"

/*
 * Without a property query, a fetch takes whichever provider's methods were put
 * in the core's store first. For the openssl command that is the default
 * provider, even with "-provider afalgbatch": the command looks for a digest of
 * its own name before it reads its options, and the core then loads the default
 * provider for want of any other. Methods that may not be stored are looked at
 * before the store is (OpenSSL 3.0, ossl_method_construct), so not to allow it
 * puts ours first. The price: "?provider=default" finds ours too, and only
 * "provider=default" does not; and a fetch costs some 20 microseconds where ours
 * is the only provider.
 */
static const OSSL_ALGORITHM *provider_query(void *ctx, int operation,
					    int *no_cache)
{
	const struct provider *prov = ctx;

	*no_cache = prov->settings.prefer;
	switch (operation) {
	case OSSL_OP_DIGEST:
		return digest_algorithms(prov);
	case OSSL_OP_CIPHER:
		return ciphers_algorithms(prov);
	case OSSL_OP_MAC:
		return mac_algorithms();
	case OSSL_OP_RAND:
		return seed_algorithms();
	}
	return NULL;
}

static void provider_teardown(void *ctx)
{
	struct provider *prov = ctx;

	mac_stop(prov);
	jobs_stop(prov);
	ciphers_stop(prov);
	digest_stop(prov);
	debug_stop(prov);
	free(prov);
}

static const OSSL_DISPATCH provider_functions[] = {
	{ OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))provider_teardown },
	{ OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))status_gettable },
	{ OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))status_get },
	{ OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))provider_query },
	{ OSSL_FUNC_PROVIDER_GET_REASON_STRINGS,
	  (void (*)(void))error_reason_strings },
	{ 0, NULL },
};

static void take_core_functions(struct provider *prov, const OSSL_DISPATCH *in)
{
	for (; in->function_id; in++) {
		switch (in->function_id) {
		case OSSL_FUNC_CORE_GET_PARAMS:
			prov->get_params = OSSL_FUNC_core_get_params(in);
			break;
		case OSSL_FUNC_CORE_NEW_ERROR:
			prov->new_error = OSSL_FUNC_core_new_error(in);
			break;
		case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
			prov->set_error_debug =
				OSSL_FUNC_core_set_error_debug(in);
			break;
		case OSSL_FUNC_CORE_VSET_ERROR:
			prov->vset_error = OSSL_FUNC_core_vset_error(in);
			break;
		}
	}
}

OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
		       const OSSL_DISPATCH **out, void **provctx)
{
	struct provider *prov = calloc(1, sizeof(*prov));

	if (!prov)
		return 0;
	prov->core = handle;
	take_core_functions(prov, in);
	if (!settings_read(prov))
		goto free_prov;
	debug_start(prov);
	if (!digest_start(prov))
		goto stop_debug;
	if (!ciphers_start(prov))
		goto stop_digests;
	if (!jobs_start(prov))
		goto stop_ciphers;
	if (!mac_start(prov))
		goto stop_jobs;

	*out = provider_functions;
	*provctx = prov;
	return 1;

stop_jobs:
	jobs_stop(prov);
stop_ciphers:
	ciphers_stop(prov);
stop_digests:
	digest_stop(prov);
stop_debug:
	debug_stop(prov);
free_prov:
	free(prov);
	return 0;
}
