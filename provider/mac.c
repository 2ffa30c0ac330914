/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac.c - OSSL_OP_MAC: HMAC and CMAC. A context has a key, shared with its
 * duplicates, and a libbatch stream of the key's session for the message under
 * way. Two things are libcrypto's instead: a digest or cipher that AF_ALG lacks,
 * and TLS's MAC then encrypt, which must take the same time for every padding.
 *
 * Poly1305 is not offered. AF_ALG's takes no key, so libcrypto's would serve every
 * message, and the default provider is that already.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "afalgbatch.h"
#include "error.h"
#include "mac.h"
#include "mac_key.h"
#include "provider.h"

struct mac_ctx {
	const struct provider *prov;
	enum mac_id id;
	struct mac_inside inside; /* for the next key */
	struct mac_key *key;	  /* NULL: none yet */
	struct afb_stream *stream;
	EVP_MAC_CTX *soft; /* serves instead of the stream, if not NULL */
	size_t tls_size;   /* of TLS's record with its padding; 0: no record */
	bool running;	   /* between init and final */
};

static void *mac_newctx(const struct provider *prov, enum mac_id id)
{
	struct mac_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "open mac");
		return NULL;
	}
	ctx->prov = prov;
	ctx->id = id;
	return ctx;
}

static void *hmac_newctx(void *provctx)
{
	return mac_newctx(provctx, MAC_HMAC);
}

static void *cmac_newctx(void *provctx)
{
	return mac_newctx(provctx, MAC_CMAC);
}

static void drop_key(struct mac_ctx *ctx)
{
	afb_stream_close(ctx->stream);
	EVP_MAC_CTX_free(ctx->soft);
	mac_key_put(ctx->key);
	ctx->stream = NULL;
	ctx->soft = NULL;
	ctx->key = NULL;
	ctx->running = false;
}

static void mac_freectx(void *vctx)
{
	struct mac_ctx *ctx = vctx;

	if (!ctx)
		return;
	drop_key(ctx);
	free(ctx);
}

static int dup_message(struct mac_ctx *copy, const struct mac_ctx *ctx)
{
	int ret;

	if (ctx->soft) {
		copy->soft = EVP_MAC_CTX_dup(ctx->soft);
		if (!copy->soft)
			error_raise(ctx->prov, R_DUP, "duplicate mac of %s",
				    ctx->key->inside.name);
		return !!copy->soft;
	}
	if (!ctx->stream)
		return 1;
	ret = afb_stream_dup(&copy->stream, ctx->stream);
	if (ret < 0)
		error_raise_errno(ctx->prov, R_DUP, "duplicate mac of",
				  ctx->key->inside.name, ret);
	return ret == 0;
}

static void *mac_dupctx(void *vctx)
{
	const struct mac_ctx *ctx = vctx;
	struct mac_ctx *copy = malloc(sizeof(*copy));

	if (!copy) {
		error_raise(ctx->prov, ERR_R_MALLOC_FAILURE, "duplicate mac");
		return NULL;
	}
	*copy = *ctx;
	copy->key = mac_key_get(ctx->key);
	copy->stream = NULL;
	copy->soft = NULL;
	if (dup_message(copy, ctx))
		return copy;
	mac_freectx(copy);
	return NULL;
}

static int begin_soft(struct mac_ctx *ctx)
{
	afb_stream_close(ctx->stream);
	ctx->stream = NULL;
	if (ctx->soft && !ctx->tls_size)
		return EVP_MAC_init(ctx->soft, NULL, 0, NULL);
	EVP_MAC_CTX_free(ctx->soft);
	ctx->soft = mac_key_soft(ctx->key, ctx->tls_size);
	return !!ctx->soft;
}

static int begin_stream(struct mac_ctx *ctx)
{
	int ret;

	EVP_MAC_CTX_free(ctx->soft);
	ctx->soft = NULL;
	if (ctx->stream) {
		afb_stream_reset(ctx->stream);
		return 1;
	}
	ret = afb_stream_open(&ctx->stream, ctx->key->session);
	if (ret < 0)
		error_raise_errno(ctx->prov, R_OPEN, "open mac of",
				  ctx->key->inside.name, ret);
	return ret == 0;
}

static int begin(struct mac_ctx *ctx)
{
	ctx->running = false;
	if (!ctx->key) {
		error_raise(ctx->prov, R_NO_KEY, "init mac: no key yet");
		return 0;
	}
	ctx->running = ctx->key->session && !ctx->tls_size ? begin_stream(ctx) :
							     begin_soft(ctx);
	return ctx->running;
}

static int set_key(struct mac_ctx *ctx, const unsigned char *bytes, size_t len)
{
	struct mac_key *key;

	if (!ctx->inside.name[0]) {
		error_raise(ctx->prov, R_NO_INSIDE, "init mac: no %s yet",
			    ctx->id == MAC_HMAC ? "digest" : "cipher");
		return 0;
	}
	if (ctx->key && mac_key_is(ctx->key, &ctx->inside, bytes, len))
		return begin(ctx);
	key = mac_key_new(ctx->prov, ctx->id, &ctx->inside, bytes, len);
	drop_key(ctx);
	ctx->key = key;
	return key && begin(ctx);
}

static const char *inside_param(enum mac_id id)
{
	return id == MAC_HMAC ? OSSL_MAC_PARAM_DIGEST : OSSL_MAC_PARAM_CIPHER;
}

static int set_inside(struct mac_ctx *ctx, const OSSL_PARAM params[])
{
	struct mac_inside inside = { .name = "" };
	char *name = inside.name, *query = inside.query;
	const OSSL_PARAM *p;

	p = OSSL_PARAM_locate_const(params, inside_param(ctx->id));
	if (!p)
		return 1;
	if (!OSSL_PARAM_get_utf8_string(p, &name, sizeof(inside.name)))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_PROPERTIES);
	if (p && p->data &&
	    !OSSL_PARAM_get_utf8_string(p, &query, sizeof(inside.query)))
		return 0;
	if (!mac_inside_find(ctx->prov, ctx->id, &inside))
		return 0;
	ctx->inside = inside;
	return 1;
}

/* libssl sets this on a context that has its key and no data yet. */
static int set_tls_size(struct mac_ctx *ctx, const OSSL_PARAM params[])
{
	const OSSL_PARAM *p =
		OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_TLS_DATA_SIZE);

	if (!p || ctx->id != MAC_HMAC)
		return 1;
	if (!OSSL_PARAM_get_size_t(p, &ctx->tls_size))
		return 0;
	return !ctx->key || begin(ctx);
}

static int mac_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
	struct mac_ctx *ctx = vctx;
	const OSSL_PARAM *p;

	if (!params)
		return 1;
	if (!set_inside(ctx, params))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY);
	if (p && (p->data_type != OSSL_PARAM_OCTET_STRING ||
		  !set_key(ctx, p->data, p->data_size)))
		return 0;
	return set_tls_size(ctx, params);
}

static int mac_init(void *vctx, const unsigned char *key, size_t len,
		    const OSSL_PARAM params[])
{
	struct mac_ctx *ctx = vctx;

	if (!mac_set_ctx_params(ctx, params))
		return 0;
	return key ? set_key(ctx, key, len) : begin(ctx);
}

static int is_running(const struct mac_ctx *ctx, const char *operation)
{
	if (!ctx->running)
		error_raise(ctx->prov, R_NOT_RUNNING, "%s mac: no init before",
			    operation);
	return ctx->running;
}

static int mac_update(void *vctx, const unsigned char *in, size_t len)
{
	struct mac_ctx *ctx = vctx;
	int ret;

	if (!is_running(ctx, "update"))
		return 0;
	if (ctx->soft)
		return EVP_MAC_update(ctx->soft, in, len);
	ret = afb_stream_update(ctx->stream, in, len);
	if (ret < 0)
		error_raise_errno(ctx->prov, R_UPDATE, "update mac of",
				  ctx->key->inside.name, ret);
	return ret == 0;
}

static int mac_final(void *vctx, unsigned char *out, size_t *len, size_t size)
{
	struct mac_ctx *ctx = vctx;
	ssize_t ret;

	if (!is_running(ctx, "final"))
		return 0;
	if (size < ctx->key->size) {
		error_raise(ctx->prov, R_OUTPUT_TOO_SMALL,
			    "final mac of %s: %zu bytes for a MAC of %zu",
			    ctx->key->inside.name, size, ctx->key->size);
		return 0;
	}
	ctx->running = false;
	if (ctx->soft)
		return EVP_MAC_final(ctx->soft, out, len, size);
	ret = afb_stream_final(ctx->stream, out, size);
	if (ret < 0) {
		error_raise_errno(ctx->prov, R_FINAL, "final mac of",
				  ctx->key->inside.name, (int)ret);
		return 0;
	}
	*len = (size_t)ret;
	return 1;
}

static const OSSL_PARAM *mac_gettable_ctx_params(void *vctx, void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_SIZE, NULL),
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_END,
	};

	(void)vctx;
	(void)provctx;
	return gettable;
}

/* Without a key there is no size yet, as in the default provider. */
static int mac_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
	const struct mac_ctx *ctx = vctx;
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_MAC_PARAM_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, ctx->key ? ctx->key->size : 0))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_MAC_PARAM_BLOCK_SIZE);
	return !p || OSSL_PARAM_set_size_t(p, ctx->inside.block_size);
}

/* The flags of HMAC are for a digest's hardware, and nothing to us. */
static const OSSL_PARAM *hmac_settable_ctx_params(void *vctx, void *provctx)
{
	static const OSSL_PARAM settable[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
		OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_NOINIT, NULL),
		OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_ONESHOT, NULL),
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, NULL),
		OSSL_PARAM_END,
	};

	(void)vctx;
	(void)provctx;
	return settable;
}

static const OSSL_PARAM *cmac_settable_ctx_params(void *vctx, void *provctx)
{
	static const OSSL_PARAM settable[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_CIPHER, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
		OSSL_PARAM_END,
	};

	(void)vctx;
	(void)provctx;
	return settable;
}

#define FUNCTIONS(mac)                                                  \
	static const OSSL_DISPATCH mac##_functions[] = {                \
		{ OSSL_FUNC_MAC_NEWCTX, (void (*)(void))mac##_newctx }, \
		{ OSSL_FUNC_MAC_FREECTX, (void (*)(void))mac_freectx }, \
		{ OSSL_FUNC_MAC_DUPCTX, (void (*)(void))mac_dupctx },   \
		{ OSSL_FUNC_MAC_INIT, (void (*)(void))mac_init },       \
		{ OSSL_FUNC_MAC_UPDATE, (void (*)(void))mac_update },   \
		{ OSSL_FUNC_MAC_FINAL, (void (*)(void))mac_final },     \
		{ OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS,                    \
		  (void (*)(void))mac_gettable_ctx_params },            \
		{ OSSL_FUNC_MAC_GET_CTX_PARAMS,                         \
		  (void (*)(void))mac_get_ctx_params },                 \
		{ OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS,                    \
		  (void (*)(void))mac##_settable_ctx_params },          \
		{ OSSL_FUNC_MAC_SET_CTX_PARAMS,                         \
		  (void (*)(void))mac_set_ctx_params },                 \
		{ 0, NULL },                                            \
	};
FUNCTIONS(hmac)
FUNCTIONS(cmac)

const OSSL_ALGORITHM *mac_algorithms(void)
{
	static const OSSL_ALGORITHM algorithms[] = {
		{ "HMAC", "provider=" PROVIDER_NAME, hmac_functions, "hmac" },
		{ "CMAC", "provider=" PROVIDER_NAME, cmac_functions, "cmac" },
		{ NULL, NULL, NULL, NULL },
	};

	return algorithms;
}

int mac_start(struct provider *prov)
{
	prov->macs = calloc(1, sizeof(*prov->macs));
	if (!prov->macs)
		error_raise(prov, ERR_R_MALLOC_FAILURE, "macs");
	return !!prov->macs;
}

void mac_stop(struct provider *prov)
{
	soft_lib_drop(&prov->macs->soft);
	free(prov->macs);
	prov->macs = NULL;
}
