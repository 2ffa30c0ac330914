/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - OSSL_OP_DIGEST. A context is a libbatch stream: newctx opens it,
 * init begins a message, update feeds it, final ends it, and init may follow
 * again. Names and sizes come from the algorithm table.
 *
 * A new digest needs its entry in that table and its line in DIGESTS;
 * digest_start() refuses to start while only the first is there.
 */
#include <config.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include "algorithms.h"
#include "debug.h"
#include "digest.h"
#include "error.h"
#include "offered.h"
#include "provider.h"
#include "session.h"

/*
 * X(C name, kernel's name, whether an AlgorithmIdentifier for it has its
 * parameters absent, as OpenSSL's default provider sees it)
 */
#define DIGESTS(X)                       \
	X(md5, "md5", 0)                 \
	X(sha1, "sha1", 1)               \
	X(sha224, "sha224", 1)           \
	X(sha256, "sha256", 1)           \
	X(sha384, "sha384", 1)           \
	X(sha512, "sha512", 1)           \
	X(sha3_224, "sha3-224", 1)       \
	X(sha3_256, "sha3-256", 1)       \
	X(sha3_384, "sha3-384", 1)       \
	X(sha3_512, "sha3-512", 1)       \
	X(sm3, "sm3", 0)                 \
	X(rmd160, "rmd160", 0)           \
	X(blake2b_512, "blake2b-512", 0) \
	X(blake2s_256, "blake2s-256", 0)

#define ID(c_name, ...) ID_##c_name,
enum digest_id { DIGESTS(ID) DIGEST_COUNT };

/* What is fixed when the module is built. */
struct digest_kind {
	const char *kernel;
	int algid_absent;
	const OSSL_DISPATCH *functions;
};
static const struct digest_kind kinds[DIGEST_COUNT];

/* What a provider context has, by digest_id. */
struct digests {
	const struct afb_algorithm *table[DIGEST_COUNT];
	struct session_slot sessions[DIGEST_COUNT];
	OSSL_ALGORITHM algorithms[DIGEST_COUNT + 1];
	_Atomic(OSSL_ALGORITHM *) offered; /* NULL until asked for */
};

struct digest_ctx {
	const struct provider *prov;
	const struct afb_algorithm *alg;
	struct afb_stream *stream;
	bool lost; /* a copy into it failed; until init */
};

static void *digest_newctx(const struct provider *prov, enum digest_id id)
{
	const struct afb_algorithm *alg = prov->digests->table[id];
	struct afb_session *session;
	struct digest_ctx *ctx;
	bool opened;
	int ret;

	session = session_get(prov, &prov->digests->sessions[id], alg, NULL, 0,
			      &opened);
	if (!session)
		return NULL;
	if (opened)
		debug_session(prov, alg->kernel, session);
	ctx = malloc(sizeof(*ctx));
	if (!ctx) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "open %s", alg->kernel);
		return NULL;
	}
	ctx->prov = prov;
	ctx->alg = alg;
	ctx->lost = false;
	ret = afb_stream_open(&ctx->stream, session);
	if (ret < 0) {
		error_raise_errno(prov, R_OPEN, "open", alg->kernel, ret);
		free(ctx);
		return NULL;
	}
	return ctx;
}

static void digest_freectx(void *vctx)
{
	struct digest_ctx *ctx = vctx;

	if (!ctx)
		return;
	afb_stream_close(ctx->stream);
	free(ctx);
}

static void *digest_dupctx(void *vctx)
{
	const struct digest_ctx *ctx = vctx;
	struct digest_ctx *copy = malloc(sizeof(*copy));
	int ret;

	if (!copy) {
		error_raise(ctx->prov, ERR_R_MALLOC_FAILURE, "duplicate %s",
			    ctx->alg->kernel);
		return NULL;
	}
	*copy = *ctx;
	ret = afb_stream_dup(&copy->stream, ctx->stream);
	if (ret < 0) {
		error_raise_errno(ctx->prov, R_DUP, "duplicate",
				  ctx->alg->kernel, ret);
		free(copy);
		return NULL;
	}
	return copy;
}

#ifdef OSSL_FUNC_DIGEST_COPYCTX
/* It cannot tell of a failure: the next call on @vout does. */
static void digest_copyctx(void *vout, void *vin)
{
	const struct digest_ctx *in = vin;
	struct digest_ctx *out = vout;
	struct afb_stream *copy;
	int ret = in->lost ? -ENOMEM : afb_stream_dup(&copy, in->stream);

	out->lost = ret < 0;
	if (ret < 0) {
		error_raise_errno(in->prov, R_DUP, "copy", in->alg->kernel,
				  ret);
		return;
	}
	afb_stream_close(out->stream);
	out->stream = copy;
}

#define COPYCTX { OSSL_FUNC_DIGEST_COPYCTX, (void (*)(void))digest_copyctx },
#else
#define COPYCTX
#endif

/* No parameter is known, and unknown ones are the caller's to send. */
static int digest_init(void *vctx, const OSSL_PARAM params[])
{
	struct digest_ctx *ctx = vctx;

	(void)params;
	ctx->lost = false;
	afb_stream_reset(ctx->stream);
	return 1;
}

static int digest_update(void *vctx, const unsigned char *in, size_t len)
{
	struct digest_ctx *ctx = vctx;
	int ret = ctx->lost ? -ENOMEM : afb_stream_update(ctx->stream, in, len);

	if (ret < 0) {
		error_raise_errno(ctx->prov, R_UPDATE, "update",
				  ctx->alg->kernel, ret);
		return 0;
	}
	return 1;
}

static int digest_final(void *vctx, unsigned char *out, size_t *len,
			size_t size)
{
	struct digest_ctx *ctx = vctx;
	ssize_t ret;

	if (size < ctx->alg->digest_size) {
		error_raise(ctx->prov, R_OUTPUT_TOO_SMALL,
			    "final %s: %zu bytes for a digest of %u",
			    ctx->alg->kernel, size, ctx->alg->digest_size);
		return 0;
	}
	ret = ctx->lost ? -ENOMEM : afb_stream_final(ctx->stream, out, size);
	if (ret < 0) {
		error_raise_errno(ctx->prov, R_FINAL, "final", ctx->alg->kernel,
				  (int)ret);
		return 0;
	}
	*len = (size_t)ret;
	return 1;
}

static const OSSL_PARAM *digest_gettable_params(void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL),
		OSSL_PARAM_int(OSSL_DIGEST_PARAM_XOF, NULL),
		OSSL_PARAM_int(OSSL_DIGEST_PARAM_ALGID_ABSENT, NULL),
		OSSL_PARAM_END,
	};

	(void)provctx;
	return gettable;
}

/* The core calls this without any context, even before the first newctx. */
static int digest_get_params(OSSL_PARAM params[], enum digest_id id)
{
	const struct afb_algorithm *alg =
		afb_algorithm_find(AFB_HASH, kinds[id].kernel);
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_BLOCK_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, alg->block_size))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, alg->digest_size))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_XOF);
	if (p && !OSSL_PARAM_set_int(p, 0))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_ALGID_ABSENT);
	return !p || OSSL_PARAM_set_int(p, kinds[id].algid_absent);
}

/*
 * newctx and get_params are not told which digest they are for, so each digest
 * has its own pair, and nothing else of its own.
 */
#define FUNCTIONS(c_name, ...)                                                 \
	static void *c_name##_newctx(void *provctx)                            \
	{                                                                      \
		return digest_newctx(provctx, ID_##c_name);                    \
	}                                                                      \
	static int c_name##_get_params(OSSL_PARAM params[])                    \
	{                                                                      \
		return digest_get_params(params, ID_##c_name);                 \
	}                                                                      \
	static const OSSL_DISPATCH c_name##_functions[] = {                    \
		{ OSSL_FUNC_DIGEST_NEWCTX, (void (*)(void))c_name##_newctx },  \
		{ OSSL_FUNC_DIGEST_GET_PARAMS,                                 \
		  (void (*)(void))c_name##_get_params },                       \
		{ OSSL_FUNC_DIGEST_FREECTX, (void (*)(void))digest_freectx },  \
		{ OSSL_FUNC_DIGEST_DUPCTX, (void (*)(void))digest_dupctx },    \
		COPYCTX{ OSSL_FUNC_DIGEST_INIT, (void (*)(void))digest_init }, \
		{ OSSL_FUNC_DIGEST_UPDATE, (void (*)(void))digest_update },    \
		{ OSSL_FUNC_DIGEST_FINAL, (void (*)(void))digest_final },      \
		{ OSSL_FUNC_DIGEST_GETTABLE_PARAMS,                            \
		  (void (*)(void))digest_gettable_params },                    \
		{ 0, NULL },                                                   \
	};
DIGESTS(FUNCTIONS)

#define KIND(c_name, kernel, algid_absent) \
	[ID_##c_name] = { kernel, algid_absent, c_name##_functions },
static const struct digest_kind kinds[DIGEST_COUNT] = { DIGESTS(KIND) };

static int find_kind(const char *kernel)
{
	int id;

	for (id = 0; id < DIGEST_COUNT; id++)
		if (!strcmp(kinds[id].kernel, kernel))
			return id;
	return -1;
}

int digest_start(struct provider *prov)
{
	const struct afb_algorithm *alg;
	struct digests *digests;
	OSSL_ALGORITHM *next;
	int id;

	digests = calloc(1, sizeof(*digests));
	if (!digests) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "digests");
		return 0;
	}
	next = digests->algorithms;
	for (alg = afb_algorithms; alg->kernel; alg++) {
		if (alg->type != AFB_HASH || !alg->openssl)
			continue;
		id = find_kind(alg->kernel);
		if (id < 0 || digests->table[id]) {
			error_raise(prov, ERR_R_INTERNAL_ERROR,
				    "%s has no functions, or two entries",
				    alg->kernel);
			free(digests);
			return 0;
		}
		digests->table[id] = alg;
		*next++ = (OSSL_ALGORITHM){
			.algorithm_names = alg->openssl,
			.property_definition = "provider=" PROVIDER_NAME,
			.implementation = kinds[id].functions,
			.algorithm_description = alg->kernel,
		};
	}
	prov->digests = digests;
	return 1;
}

void digest_stop(struct provider *prov)
{
	int id;

	for (id = 0; id < DIGEST_COUNT; id++)
		session_drop(&prov->digests->sessions[id]);
	free(atomic_load(&prov->digests->offered));
	free(prov->digests);
	prov->digests = NULL;
}

const OSSL_ALGORITHM *digest_algorithms(const struct provider *prov)
{
	struct digests *digests = prov->digests;
	OSSL_ALGORITHM *offered = atomic_load(&digests->offered), *mine;

	if (prov->settings.backend == AFB_BACKEND_SOFT)
		return digests->algorithms;
	if (offered)
		return offered;
	mine = calloc(DIGEST_COUNT + 1, sizeof(*mine));
	if (!mine)
		return digests->algorithms;
	offered_of(AFB_HASH, mine, digests->algorithms, DIGEST_COUNT);
	if (atomic_compare_exchange_strong(&digests->offered, &offered, mine))
		return mine;
	free(mine);
	return offered;
}
