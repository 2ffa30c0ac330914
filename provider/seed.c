/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.c - OSSL_OP_RAND: AFALG-SEED, the kernel's generator "stdrng" as a source of
 * seeds for OpenSSL's own. Nobody gets it without asking for it by that name, and
 * software never stands in: its generator would be seeded by what it is to seed.
 *
 * What it claims of itself is modest. A generator's output has no more entropy than
 * its state. The kernel's DRBGs are made for 256 bits (crypto/drbg.c, but for those of
 * SHA-1, AES-128 and AES-192) and seeded by the jitter source and the kernel's random
 * pool; of any other driver nothing is known, and 128 bits are claimed. And a byte of
 * a seed counts as four bits, so that a seed is twice as long as it would have to be.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "afalgbatch.h"
#include "error.h"
#include "provider.h"
#include "seed.h"

#define GENERATOR "stdrng"
#define BITS_PER_BYTE 4
#define REQUEST_MAX ((size_t)1 << 16)

struct seed_ctx {
	const struct provider *prov;
	struct afb_session *session; /* NULL until instantiated */
	unsigned strength;
	int state;
};

static void *seed_newctx(void *provctx, void *parent,
			 const OSSL_DISPATCH *parent_functions)
{
	struct seed_ctx *ctx;

	(void)parent_functions;
	if (parent) {
		error_raise(provctx, R_OPEN, "a seed source has no parent");
		return NULL;
	}
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx) {
		error_raise(provctx, ERR_R_MALLOC_FAILURE, "open seed source");
		return NULL;
	}
	ctx->prov = provctx;
	ctx->state = EVP_RAND_STATE_UNINITIALISED;
	return ctx;
}

static int seed_uninstantiate(void *vctx)
{
	struct seed_ctx *ctx = vctx;

	afb_session_close(ctx->session);
	ctx->session = NULL;
	ctx->state = EVP_RAND_STATE_UNINITIALISED;
	return 1;
}

static void seed_freectx(void *vctx)
{
	if (!vctx)
		return;
	seed_uninstantiate(vctx);
	free(vctx);
}

static unsigned strength_of(const struct afb_session *session)
{
	static const char *const weak[] = { "sha1", "aes128", "aes192" };
	char driver[64];
	size_t i;

	if (afb_session_driver(session, driver, sizeof(driver)) < 0 ||
	    strncmp(driver, "drbg_", 5))
		return 128;
	for (i = 0; i < sizeof(weak) / sizeof(weak[0]); i++)
		if (strstr(driver, weak[i]))
			return 128;
	return 256;
}

static int seed_instantiate(void *vctx, unsigned strength, int resistance,
			    const unsigned char *text, size_t text_len,
			    const OSSL_PARAM params[])
{
	struct afb_session_params session = AFB_SESSION_PARAMS;
	struct seed_ctx *ctx = vctx;
	int ret;

	(void)resistance;
	(void)text;
	(void)text_len;
	(void)params;
	seed_uninstantiate(ctx);
	session.backend = AFB_BACKEND_SYNC;
	session.flags = AFB_STRICT;
	ret = afb_session_open(&ctx->session, AFB_RNG, GENERATOR, &session);
	if (ret < 0) {
		ctx->session = NULL;
		ctx->state = EVP_RAND_STATE_ERROR;
		error_raise_errno(ctx->prov, R_OPEN, "open", GENERATOR, ret);
		return 0;
	}
	ctx->strength = strength_of(ctx->session);
	if (strength > ctx->strength) {
		error_raise(ctx->prov, R_STRENGTH, "%s has %u bits, not %u",
			    GENERATOR, ctx->strength, strength);
		seed_uninstantiate(ctx);
		return 0;
	}
	ctx->state = EVP_RAND_STATE_READY;
	return 1;
}

/* A queue of the call's own: seeds are rare, and any thread may ask for one. */
static ssize_t read_kernel(const struct seed_ctx *ctx, unsigned char *out,
			   size_t len)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct iovec to = { out, len };
	struct afb_op op = { .session = ctx->session,
			     .out = &to,
			     .out_cnt = 1 };
	struct afb_op *ops = &op;
	struct afb_queue *queue;
	int ret;

	params.depth = 1;
	params.backend = AFB_BACKEND_SYNC;
	ret = afb_queue_open(&queue, &params);
	if (ret < 0)
		return ret;
	afb_submit(queue, &ops, 1);
	ret = afb_reap(queue, &ops, 1, 1, NULL);
	afb_queue_close(queue);
	return ret < 0 ? ret : op.result;
}

static int fill(struct seed_ctx *ctx, unsigned char *out, size_t len)
{
	ssize_t ret;

	if (ctx->state != EVP_RAND_STATE_READY) {
		error_raise(ctx->prov, R_NOT_RUNNING, "read %s", GENERATOR);
		return 0;
	}
	ret = read_kernel(ctx, out, len);
	if (ret >= 0 && (size_t)ret == len)
		return 1;
	OPENSSL_cleanse(out, len);
	ctx->state = EVP_RAND_STATE_ERROR;
	error_raise_errno(ctx->prov, R_FINAL, "read", GENERATOR,
			  ret < 0 ? (int)ret : -EIO);
	return 0;
}

static int has_strength(const struct seed_ctx *ctx, unsigned strength)
{
	if (strength <= ctx->strength)
		return 1;
	error_raise(ctx->prov, R_STRENGTH, "%s has %u bits, not %u", GENERATOR,
		    ctx->strength, strength);
	return 0;
}

static int seed_generate(void *vctx, unsigned char *out, size_t len,
			 unsigned strength, int resistance,
			 const unsigned char *text, size_t text_len)
{
	struct seed_ctx *ctx = vctx;

	(void)resistance;
	(void)text;
	(void)text_len;
	return has_strength(ctx, strength) && fill(ctx, out, len);
}

/* The kernel reseeds its generator by its own rules. */
static int seed_reseed(void *vctx, int resistance, const unsigned char *entropy,
		       size_t entropy_len, const unsigned char *text,
		       size_t text_len)
{
	const struct seed_ctx *ctx = vctx;

	(void)resistance;
	(void)entropy;
	(void)entropy_len;
	(void)text;
	(void)text_len;
	return ctx->state == EVP_RAND_STATE_READY;
}

static size_t seed_get_seed(void *vctx, unsigned char **out, int entropy,
			    size_t min_len, size_t max_len, int resistance,
			    const unsigned char *text, size_t text_len)
{
	struct seed_ctx *ctx = vctx;
	size_t len = (entropy + BITS_PER_BYTE - 1) / BITS_PER_BYTE;

	(void)resistance;
	(void)text;
	(void)text_len;
	if (entropy < 0 || !has_strength(ctx, (unsigned)entropy))
		return 0;
	if (len < min_len)
		len = min_len;
	if (!len || len > max_len) {
		error_raise(ctx->prov, R_STRENGTH,
			    "%d bits of %s need %zu bytes, not %zu", entropy,
			    GENERATOR, len, max_len);
		return 0;
	}
	*out = OPENSSL_secure_malloc(len);
	if (!*out) {
		error_raise(ctx->prov, ERR_R_MALLOC_FAILURE, "seed");
		return 0;
	}
	if (fill(ctx, *out, len))
		return len;
	OPENSSL_secure_clear_free(*out, len);
	*out = NULL;
	return 0;
}

static void seed_clear_seed(void *vctx, unsigned char *out, size_t len)
{
	(void)vctx;
	OPENSSL_secure_clear_free(out, len);
}

/* Nothing is shared between two calls but the session, which locks itself. */
static int seed_enable_locking(void *vctx)
{
	(void)vctx;
	return 1;
}

static const OSSL_PARAM *seed_gettable_ctx_params(void *vctx, void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
		OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
		OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
		OSSL_PARAM_END,
	};

	(void)vctx;
	(void)provctx;
	return gettable;
}

static int seed_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
	const struct seed_ctx *ctx = vctx;
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STATE);
	if (p && !OSSL_PARAM_set_int(p, ctx->state))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
	if (p && !OSSL_PARAM_set_uint(p, ctx->strength))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
	return !p || OSSL_PARAM_set_size_t(p, REQUEST_MAX);
}

static const OSSL_DISPATCH seed_functions[] = {
	{ OSSL_FUNC_RAND_NEWCTX, (void (*)(void))seed_newctx },
	{ OSSL_FUNC_RAND_FREECTX, (void (*)(void))seed_freectx },
	{ OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))seed_instantiate },
	{ OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))seed_uninstantiate },
	{ OSSL_FUNC_RAND_GENERATE, (void (*)(void))seed_generate },
	{ OSSL_FUNC_RAND_RESEED, (void (*)(void))seed_reseed },
	{ OSSL_FUNC_RAND_GET_SEED, (void (*)(void))seed_get_seed },
	{ OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))seed_clear_seed },
	{ OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))seed_enable_locking },
	{ OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS,
	  (void (*)(void))seed_gettable_ctx_params },
	{ OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))seed_get_ctx_params },
	{ 0, NULL },
};

const OSSL_ALGORITHM *seed_algorithms(void)
{
	static const OSSL_ALGORITHM algorithms[] = {
		{ "AFALG-SEED", "provider=" PROVIDER_NAME, seed_functions,
		  GENERATOR },
		{ NULL, NULL, NULL, NULL },
	};

	return algorithms;
}
