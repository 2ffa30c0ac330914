// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine's ciphers: cbc(aes) and ctr(aes). Each tfm has a synchronous
 * software child, which the engine's thread asks for the bytes.
 */
#include <crypto/aes.h>
#include <crypto/internal/skcipher.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "jrsim.h"

struct jrsim_skcipher_ctx {
	struct crypto_skcipher *child;
};

struct jrsim_skcipher_request {
	struct jrsim_job job;
	struct skcipher_request subreq; /* last: the child's context follows */
};

static struct skcipher_request *prepare(struct crypto_async_request *base)
{
	struct skcipher_request *req = skcipher_request_cast(base);
	struct crypto_skcipher *tfm = crypto_skcipher_reqtfm(req);
	struct jrsim_skcipher_ctx *ctx = crypto_skcipher_ctx(tfm);
	struct jrsim_skcipher_request *rctx = skcipher_request_ctx(req);

	skcipher_request_set_tfm(&rctx->subreq, ctx->child);
	skcipher_request_set_callback(&rctx->subreq,
				      base->flags & CRYPTO_TFM_REQ_MAY_SLEEP,
				      NULL, NULL);
	skcipher_request_set_crypt(&rctx->subreq, req->src, req->dst,
				   req->cryptlen, req->iv);
	return &rctx->subreq;
}

static int work_encrypt(struct crypto_async_request *base)
{
	return crypto_skcipher_encrypt(prepare(base));
}

static int work_decrypt(struct crypto_async_request *base)
{
	return crypto_skcipher_decrypt(prepare(base));
}

static int submit(struct skcipher_request *req,
		  int (*work)(struct crypto_async_request *base))
{
	struct jrsim_skcipher_request *rctx = skcipher_request_ctx(req);

	rctx->job.request = &req->base;
	rctx->job.work = work;
	rctx->job.length = req->cryptlen;
	return jrsim_submit(&rctx->job);
}

static int jrsim_encrypt(struct skcipher_request *req)
{
	return submit(req, work_encrypt);
}

static int jrsim_decrypt(struct skcipher_request *req)
{
	return submit(req, work_decrypt);
}

static int jrsim_setkey(struct crypto_skcipher *tfm, const u8 *key,
			unsigned int keylen)
{
	struct jrsim_skcipher_ctx *ctx = crypto_skcipher_ctx(tfm);

	crypto_skcipher_clear_flags(ctx->child, CRYPTO_TFM_REQ_MASK);
	crypto_skcipher_set_flags(ctx->child, crypto_skcipher_get_flags(tfm) &
						      CRYPTO_TFM_REQ_MASK);
	return crypto_skcipher_setkey(ctx->child, key, keylen);
}

static int jrsim_init_tfm(struct crypto_skcipher *tfm)
{
	struct jrsim_skcipher_ctx *ctx = crypto_skcipher_ctx(tfm);
	struct crypto_skcipher *child;

	child = crypto_alloc_skcipher(crypto_tfm_alg_name(&tfm->base), 0,
				      JRSIM_FLAGS);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ctx->child = child;
	crypto_skcipher_set_reqsize(tfm,
				    sizeof(struct jrsim_skcipher_request) +
					    crypto_skcipher_reqsize(child));
	return 0;
}

static void jrsim_exit_tfm(struct crypto_skcipher *tfm)
{
	struct jrsim_skcipher_ctx *ctx = crypto_skcipher_ctx(tfm);

	crypto_free_skcipher(ctx->child);
}

static struct skcipher_alg algs[] = {
	{
		.base.cra_name = "cbc(aes)",
		.base.cra_driver_name = "cbc-aes-jrsim",
		.base.cra_priority = JRSIM_PRIORITY,
		.base.cra_flags = JRSIM_FLAGS,
		.base.cra_blocksize = AES_BLOCK_SIZE,
		.base.cra_ctxsize = sizeof(struct jrsim_skcipher_ctx),
		.base.cra_module = THIS_MODULE,
		.min_keysize = AES_MIN_KEY_SIZE,
		.max_keysize = AES_MAX_KEY_SIZE,
		.ivsize = AES_BLOCK_SIZE,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = jrsim_setkey,
		.encrypt = jrsim_encrypt,
		.decrypt = jrsim_decrypt,
		.init = jrsim_init_tfm,
		.exit = jrsim_exit_tfm,
	},
	{
		.base.cra_name = "ctr(aes)",
		.base.cra_driver_name = "ctr-aes-jrsim",
		.base.cra_priority = JRSIM_PRIORITY,
		.base.cra_flags = JRSIM_FLAGS,
		.base.cra_blocksize = 1,
		.base.cra_ctxsize = sizeof(struct jrsim_skcipher_ctx),
		.base.cra_module = THIS_MODULE,
		.min_keysize = AES_MIN_KEY_SIZE,
		.max_keysize = AES_MAX_KEY_SIZE,
		.ivsize = AES_BLOCK_SIZE,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = jrsim_setkey,
		.encrypt = jrsim_encrypt,
		.decrypt = jrsim_decrypt,
		.init = jrsim_init_tfm,
		.exit = jrsim_exit_tfm,
	},
};

void jrsim_skcipher_unregister(void)
{
	crypto_unregister_skciphers(algs, ARRAY_SIZE(algs));
}

int jrsim_skcipher_register(void)
{
	int i, err;

	err = crypto_register_skciphers(algs, ARRAY_SIZE(algs));
	for (i = 0; !err && i < ARRAY_SIZE(algs); i++) {
		err = jrsim_tested(algs[i].base.cra_driver_name);
		if (err)
			jrsim_skcipher_unregister();
	}
	return err;
}
