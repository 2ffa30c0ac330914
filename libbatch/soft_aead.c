/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_aead.c - AEADs that libcrypto has as such, with nonce and AAD in the form
 * the kernel's algorithm takes. Works in place, in memory of the library's own:
 * what is decrypted there is the caller's only after the tag was found right.
 */
#include <errno.h>
#include <string.h>

#include "op.h"
#include "soft.h"

#define NONCE_MAX 16

/* One op: what libcrypto is to hash, to encrypt and to call a nonce. */
struct work {
	EVP_CIPHER_CTX *ctx;
	const struct soft *soft;
	bool encrypt;
	bool ccm;
	struct key_parts key;
	uint8_t nonce[NONCE_MAX];
	size_t nonce_len;
	const uint8_t *aad;
	size_t aad_len;
	uint8_t *text;
	size_t text_len;
	uint8_t *tag;
	size_t tag_len;
};

static bool aad_is_allowed(const struct afb_algorithm *alg, size_t len)
{
	if (len < alg->aad_min)
		return false;
	return !alg->aad_max || (len <= alg->aad_max &&
				 (len - alg->aad_min) % alg->aad_step == 0);
}

/*
 * RFC 3610's form: the length of the length less one, the nonce, and a counter
 * that the kernel sets to zero whatever it is.
 */
static int take_ccm_iv(struct work *work, const uint8_t *iv)
{
	unsigned length_size = iv[0] + 1U;

	if (length_size < 2 || length_size > 8)
		return -EINVAL;
	if (length_size < 4 && work->text_len >> (8 * length_size))
		return -EOVERFLOW;
	work->nonce_len = 15 - length_size;
	memcpy(work->nonce, iv + 1, work->nonce_len);
	return 0;
}

static int take_iv(struct work *work, const struct afb_op *op)
{
	const struct afb_algorithm *alg = work->soft->alg;

	if (alg->form == AFB_FORM_CCM && !alg->salt_len)
		return take_ccm_iv(work, op->iv);
	if (alg->salt_len)
		memcpy(work->nonce, work->key.salt, alg->salt_len);
	memcpy(work->nonce + alg->salt_len, op->iv, alg->iv_len);
	work->nonce_len = alg->salt_len + alg->iv_len;
	return 0;
}

static int lay_out(struct work *work, const struct afb_op *op, uint8_t *data)
{
	const struct afb_algorithm *alg = work->soft->alg;

	if (!aad_is_allowed(alg, op->aad_len))
		return -EINVAL;
	work->encrypt = op->kind == AFB_ENCRYPT;
	work->ccm = alg->form == AFB_FORM_CCM;
	work->aad = data;
	work->aad_len = op->aad_len - alg->esp;
	work->text = data + op->aad_len;
	work->text_len = op_text_size(op);
	work->tag = work->text + work->text_len;
	work->tag_len = op->session->tag_len;
	if (alg->form == AFB_FORM_GMAC) {
		work->aad_len += work->text_len;
		work->text_len = 0;
	}
	return key_split(&work->key, alg, op->session->key,
			 op->session->key_len);
}

/* The lengths come before the key: CCM's first block has them. */
static bool begin(struct work *work)
{
	EVP_CIPHER_CTX *ctx = work->ctx;

	if (!EVP_CipherInit_ex2(ctx, work->soft->cipher, NULL, NULL,
				work->encrypt, NULL) ||
	    !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, work->nonce_len,
				 NULL))
		return false;
	if ((work->ccm || !work->encrypt) &&
	    !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, work->tag_len,
				 work->encrypt ? NULL : work->tag))
		return false;
	return EVP_CipherInit_ex2(ctx, NULL, work->key.cipher, work->nonce,
				  work->encrypt, NULL);
}

static bool take_aad(struct work *work)
{
	int len;

	if (work->ccm &&
	    !EVP_CipherUpdate(work->ctx, NULL, &len, NULL, work->text_len))
		return false;
	return !work->aad_len || EVP_CipherUpdate(work->ctx, NULL, &len,
						  work->aad, work->aad_len);
}

/* CCM is done, and its tag verified, in one update, also of no text. */
static bool crypt(struct work *work)
{
	int len = 0, more = 0;

	if ((work->text_len || work->ccm) &&
	    !EVP_CipherUpdate(work->ctx, work->text, &len, work->text,
			      work->text_len))
		return false;
	return work->ccm ||
	       EVP_CipherFinal_ex(work->ctx, work->text + len, &more);
}

int soft_aead_run(EVP_CIPHER_CTX *ctx, const struct soft *soft,
		  const struct afb_op *op, uint8_t *data)
{
	struct work work = { .ctx = ctx, .soft = soft };
	int ret = lay_out(&work, op, data);

	if (!ret)
		ret = take_iv(&work, op);
	if (ret)
		return ret;
	if (!begin(&work) || !take_aad(&work))
		return -EINVAL;
	if (!crypt(&work))
		return work.encrypt ? -EINVAL : -EBADMSG;
	if (work.encrypt && !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
						 work.tag_len, work.tag))
		return -EINVAL;
	return 0;
}
