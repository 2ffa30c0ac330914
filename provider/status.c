/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - "openssl list -providers -verbose" prints the values of OpenSSL's own
 * parameters alone, so the back end is in the build information as well.
 */
#include <config.h>

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/opensslv.h>
#include <openssl/params.h>

#include "afalgbatch.h"
#include "provider.h"
#include "status.h"

#define BACKEND "afalgbatch-backend"
#define KERNEL_MESSAGES "afalgbatch-kernel-messages"
#define SOFT_MESSAGES "afalgbatch-soft-messages"
#define BYTES "afalgbatch-bytes"
#define SYSTEM_CALLS "afalgbatch-system-calls"
#define WAITS "afalgbatch-waits"

const OSSL_PARAM *status_gettable(void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0),
		OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
		OSSL_PARAM_utf8_ptr(BACKEND, NULL, 0),
		OSSL_PARAM_uint64(KERNEL_MESSAGES, NULL),
		OSSL_PARAM_uint64(SOFT_MESSAGES, NULL),
		OSSL_PARAM_uint64(BYTES, NULL),
		OSSL_PARAM_uint64(SYSTEM_CALLS, NULL),
		OSSL_PARAM_uint64(WAITS, NULL),
		OSSL_PARAM_END,
	};

	(void)provctx;
	return gettable;
}

/* What a queue would be served by now: libbatch decides when one is opened. */
static enum afb_backend backend_now(const struct provider *prov)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	enum afb_backend backend = prov->settings.backend;
	struct afb_queue *queue;

	params.depth = 1;
	params.backend = backend;
	if (afb_queue_open(&queue, &params) < 0)
		return backend;
	backend = afb_queue_backend(queue);
	afb_queue_close(queue);
	return backend;
}

static const char *build_info(enum afb_backend backend)
{
#define INFO(name) \
	PACKAGE_VERSION " for OpenSSL " OPENSSL_VERSION_STR ", back end " name
	static const char *const infos[AFB_BACKENDS] = {
		[AFB_BACKEND_AUTO] = INFO("auto"),
		[AFB_BACKEND_URING] = INFO("uring"),
		[AFB_BACKEND_AIO] = INFO("aio"),
		[AFB_BACKEND_SYNC] = INFO("sync"),
		[AFB_BACKEND_SOFT] = INFO("soft"),
	};

	return infos[backend];
}

static int get_text(OSSL_PARAM params[], const char *key, const char *text)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, key);

	return !p || OSSL_PARAM_set_utf8_ptr(p, text);
}

static int get_number(OSSL_PARAM params[], const char *key, uint64_t number)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, key);

	return !p || OSSL_PARAM_set_uint64(p, number);
}

static int get_backend(const struct provider *prov, OSSL_PARAM params[])
{
	enum afb_backend backend;

	if (!OSSL_PARAM_locate(params, BACKEND) &&
	    !OSSL_PARAM_locate(params, OSSL_PROV_PARAM_BUILDINFO))
		return 1;
	backend = backend_now(prov);
	return get_text(params, BACKEND, afb_backend_name(backend)) &&
	       get_text(params, OSSL_PROV_PARAM_BUILDINFO, build_info(backend));
}

static int get_counters(OSSL_PARAM params[])
{
	struct afb_counters c = AFB_COUNTERS;
	uint64_t soft;

	if (afb_counters_get(&c) < 0)
		return 0;
	soft = c.messages[AFB_BACKEND_SOFT];
	return get_number(params, KERNEL_MESSAGES,
			  c.messages[AFB_BACKEND_AUTO] - soft) &&
	       get_number(params, SOFT_MESSAGES, soft) &&
	       get_number(params, BYTES, c.bytes) &&
	       get_number(params, SYSTEM_CALLS, c.system_calls) &&
	       get_number(params, WAITS, c.waits);
}

int status_get(void *provctx, OSSL_PARAM params[])
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);

	return (!p || OSSL_PARAM_set_int(p, 1)) &&
	       get_text(params, OSSL_PROV_PARAM_NAME, PROVIDER_NAME) &&
	       get_text(params, OSSL_PROV_PARAM_VERSION, PACKAGE_VERSION) &&
	       get_backend(provctx, params) && get_counters(params);
}
