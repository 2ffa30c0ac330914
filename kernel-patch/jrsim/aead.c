// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine's AEAD: gcm(aes). Each tfm has a synchronous software child, which
 * the engine's thread asks for the bytes and for the verdict on the tag.
 */
#include <crypto/aes.h>
#include <crypto/gcm.h>
#include <crypto/internal/aead.h>
#include <linux/err.h>
#include <linux/module.h>

#include "jrsim.h"

struct jrsim_aead_ctx {
	struct crypto_aead *child;
};

struct jrsim_aead_request {
	struct jrsim_job job;
	struct aead_request subreq; /* last: the child's context follows */
};

static struct aead_request *prepare(struct crypto_async_request *base)
{
	struct aead_request *req = aead_request_cast(base);
	struct jrsim_aead_ctx *ctx = crypto_aead_ctx(crypto_aead_reqtfm(req));
	struct jrsim_aead_request *rctx = aead_request_ctx(req);

	aead_request_set_tfm(&rctx->subreq, ctx->child);
	aead_request_set_callback(&rctx->subreq,
				  base->flags & CRYPTO_TFM_REQ_MAY_SLEEP, NULL,
				  NULL);
	aead_request_set_crypt(&rctx->subreq, req->src, req->dst, req->cryptlen,
			       req->iv);
	aead_request_set_ad(&rctx->subreq, req->assoclen);
	return &rctx->subreq;
}

static int work_encrypt(struct crypto_async_request *base)
{
	return crypto_aead_encrypt(prepare(base));
}

static int work_decrypt(struct crypto_async_request *base)
{
	return crypto_aead_decrypt(prepare(base));
}

static int submit(struct aead_request *req,
		  int (*work)(struct crypto_async_request *base))
{
	struct jrsim_aead_request *rctx = aead_request_ctx(req);

	rctx->job.request = &req->base;
	rctx->job.work = work;
	rctx->job.length = req->assoclen + req->cryptlen;
	return jrsim_submit(&rctx->job);
}

static int jrsim_encrypt(struct aead_request *req)
{
	return submit(req, work_encrypt);
}

static int jrsim_decrypt(struct aead_request *req)
{
	return submit(req, work_decrypt);
}

static int jrsim_setkey(struct crypto_aead *tfm, const u8 *key,
			unsigned int keylen)
{
	struct jrsim_aead_ctx *ctx = crypto_aead_ctx(tfm);

	crypto_aead_clear_flags(ctx->child, CRYPTO_TFM_REQ_MASK);
	crypto_aead_set_flags(ctx->child,
			      crypto_aead_get_flags(tfm) & CRYPTO_TFM_REQ_MASK);
	return crypto_aead_setkey(ctx->child, key, keylen);
}

static int jrsim_setauthsize(struct crypto_aead *tfm, unsigned int authsize)
{
	struct jrsim_aead_ctx *ctx = crypto_aead_ctx(tfm);

	return crypto_aead_setauthsize(ctx->child, authsize);
}

static int jrsim_init_tfm(struct crypto_aead *tfm)
{
	struct jrsim_aead_ctx *ctx = crypto_aead_ctx(tfm);
	struct crypto_aead *child;

	child = crypto_alloc_aead(crypto_tfm_alg_name(&tfm->base), 0,
				  JRSIM_FLAGS);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ctx->child = child;
	crypto_aead_set_reqsize(tfm, sizeof(struct jrsim_aead_request) +
					     crypto_aead_reqsize(child));
	return 0;
}

static void jrsim_exit_tfm(struct crypto_aead *tfm)
{
	struct jrsim_aead_ctx *ctx = crypto_aead_ctx(tfm);

	crypto_free_aead(ctx->child);
}

static struct aead_alg gcm = {
	.base.cra_name = "gcm(aes)",
	.base.cra_driver_name = "gcm-aes-jrsim",
	.base.cra_priority = JRSIM_PRIORITY,
	.base.cra_flags = JRSIM_FLAGS,
	.base.cra_blocksize = 1,
	.base.cra_ctxsize = sizeof(struct jrsim_aead_ctx),
	.base.cra_module = THIS_MODULE,
	.ivsize = GCM_AES_IV_SIZE,
	.maxauthsize = AES_BLOCK_SIZE,
	.chunksize = AES_BLOCK_SIZE,
	.setkey = jrsim_setkey,
	.setauthsize = jrsim_setauthsize,
	.encrypt = jrsim_encrypt,
	.decrypt = jrsim_decrypt,
	.init = jrsim_init_tfm,
	.exit = jrsim_exit_tfm,
};

void jrsim_aead_unregister(void)
{
	crypto_unregister_aead(&gcm);
}

int jrsim_aead_register(void)
{
	int err = crypto_register_aead(&gcm);

	if (err)
		return err;
	err = jrsim_tested(gcm.base.cra_driver_name);
	if (err)
		jrsim_aead_unregister();
	return err;
}
