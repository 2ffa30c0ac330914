// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine's digests: md5, sha1, sha256 and hmac of each. Each tfm has a
 * software child, a shash. Its state is in the request, so that a hash in
 * several parts is several jobs that go on with each other's state; only the
 * beginning and the copies of the state are no work for the engine.
 */
#include <crypto/internal/hash.h>
#include <crypto/md5.h>
#include <crypto/sha1.h>
#include <crypto/sha2.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "jrsim.h"

struct jrsim_hash_ctx {
	struct crypto_shash *child;
};

struct jrsim_hash_request {
	struct jrsim_job job;
	struct shash_desc desc; /* last: the child's state follows */
};

static struct shash_desc *desc_of(struct ahash_request *req)
{
	struct jrsim_hash_ctx *ctx = crypto_ahash_ctx(crypto_ahash_reqtfm(req));
	struct jrsim_hash_request *rctx = ahash_request_ctx(req);

	rctx->desc.tfm = ctx->child;
	return &rctx->desc;
}

static int work_update(struct crypto_async_request *base)
{
	struct ahash_request *req = ahash_request_cast(base);

	return shash_ahash_update(req, desc_of(req));
}

static int work_final(struct crypto_async_request *base)
{
	struct ahash_request *req = ahash_request_cast(base);

	return crypto_shash_final(desc_of(req), req->result);
}

static int work_finup(struct crypto_async_request *base)
{
	struct ahash_request *req = ahash_request_cast(base);

	return shash_ahash_finup(req, desc_of(req));
}

static int work_digest(struct crypto_async_request *base)
{
	struct ahash_request *req = ahash_request_cast(base);

	return shash_ahash_digest(req, desc_of(req));
}

static int submit(struct ahash_request *req, unsigned int length,
		  int (*work)(struct crypto_async_request *base))
{
	struct jrsim_hash_request *rctx = ahash_request_ctx(req);

	rctx->job.request = &req->base;
	rctx->job.work = work;
	rctx->job.length = length;
	return jrsim_submit(&rctx->job);
}

static int jrsim_update(struct ahash_request *req)
{
	return submit(req, req->nbytes, work_update);
}

static int jrsim_final(struct ahash_request *req)
{
	return submit(req, 0, work_final);
}

static int jrsim_finup(struct ahash_request *req)
{
	return submit(req, req->nbytes, work_finup);
}

static int jrsim_digest(struct ahash_request *req)
{
	return submit(req, req->nbytes, work_digest);
}

static int jrsim_init(struct ahash_request *req)
{
	return crypto_shash_init(desc_of(req));
}

static int jrsim_export(struct ahash_request *req, void *out)
{
	return crypto_shash_export(desc_of(req), out);
}

static int jrsim_import(struct ahash_request *req, const void *in)
{
	return crypto_shash_import(desc_of(req), in);
}

static int jrsim_setkey(struct crypto_ahash *tfm, const u8 *key,
			unsigned int keylen)
{
	struct jrsim_hash_ctx *ctx = crypto_ahash_ctx(tfm);

	return crypto_shash_setkey(ctx->child, key, keylen);
}

static int jrsim_init_tfm(struct crypto_ahash *tfm)
{
	struct jrsim_hash_ctx *ctx = crypto_ahash_ctx(tfm);
	struct crypto_shash *child;

	child = crypto_alloc_shash(crypto_ahash_alg_name(tfm), 0, JRSIM_FLAGS);
	if (IS_ERR(child))
		return PTR_ERR(child);
	/* The size that was registered is what callers make room for. */
	if (crypto_shash_statesize(child) != crypto_ahash_statesize(tfm)) {
		crypto_free_shash(child);
		return -EINVAL;
	}
	ctx->child = child;
	crypto_ahash_set_reqsize(tfm, sizeof(struct jrsim_hash_request) +
					      crypto_shash_descsize(child));
	return 0;
}

static void jrsim_exit_tfm(struct crypto_ahash *tfm)
{
	struct jrsim_hash_ctx *ctx = crypto_ahash_ctx(tfm);

	crypto_free_shash(ctx->child);
}

/* What the algorithms do not share. */
static const struct {
	const char *name;
	const char *driver;
	unsigned int digestsize;
	unsigned int statesize;
	unsigned int blocksize;
	bool keyed;
} hashes[] = {
	{ "md5", "md5-jrsim", MD5_DIGEST_SIZE, sizeof(struct md5_state),
	  MD5_HMAC_BLOCK_SIZE, false },
	{ "sha1", "sha1-jrsim", SHA1_DIGEST_SIZE, sizeof(struct sha1_state),
	  SHA1_BLOCK_SIZE, false },
	{ "sha256", "sha256-jrsim", SHA256_DIGEST_SIZE,
	  sizeof(struct sha256_state), SHA256_BLOCK_SIZE, false },
	{ "hmac(md5)", "hmac-md5-jrsim", MD5_DIGEST_SIZE,
	  sizeof(struct md5_state), MD5_HMAC_BLOCK_SIZE, true },
	{ "hmac(sha1)", "hmac-sha1-jrsim", SHA1_DIGEST_SIZE,
	  sizeof(struct sha1_state), SHA1_BLOCK_SIZE, true },
	{ "hmac(sha256)", "hmac-sha256-jrsim", SHA256_DIGEST_SIZE,
	  sizeof(struct sha256_state), SHA256_BLOCK_SIZE, true },
};

static struct ahash_alg algs[ARRAY_SIZE(hashes)];

static void describe(struct ahash_alg *alg, int i)
{
	struct crypto_alg *base = &alg->halg.base;

	alg->init = jrsim_init;
	alg->update = jrsim_update;
	alg->final = jrsim_final;
	alg->finup = jrsim_finup;
	alg->digest = jrsim_digest;
	alg->export = jrsim_export;
	alg->import = jrsim_import;
	alg->init_tfm = jrsim_init_tfm;
	alg->exit_tfm = jrsim_exit_tfm;
	if (hashes[i].keyed)
		alg->setkey = jrsim_setkey;
	alg->halg.digestsize = hashes[i].digestsize;
	alg->halg.statesize = hashes[i].statesize;
	strscpy(base->cra_name, hashes[i].name, sizeof(base->cra_name));
	strscpy(base->cra_driver_name, hashes[i].driver,
		sizeof(base->cra_driver_name));
	base->cra_priority = JRSIM_PRIORITY;
	base->cra_flags = JRSIM_FLAGS;
	base->cra_blocksize = hashes[i].blocksize;
	base->cra_ctxsize = sizeof(struct jrsim_hash_ctx);
	base->cra_module = THIS_MODULE;
}

void jrsim_hash_unregister(void)
{
	crypto_unregister_ahashes(algs, ARRAY_SIZE(algs));
}

int jrsim_hash_register(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(algs); i++)
		describe(&algs[i], i);
	err = crypto_register_ahashes(algs, ARRAY_SIZE(algs));
	for (i = 0; !err && i < ARRAY_SIZE(algs); i++) {
		err = jrsim_tested(algs[i].halg.base.cra_driver_name);
		if (err)
			jrsim_hash_unregister();
	}
	return err;
}
