/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_cipher.c - the answer is that of libcrypto's default provider, which has
 * every one of our ciphers and passes its own tests; for a key of each algorithm's
 * longest length, and a text of several blocks so that chaining shows. There is one
 * kernel, so the verdict is the module's and not a provider context's.
 */
#include <config.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "afalg.h"
#include "ciphers.h"
#include "debug.h"
#include "provider.h"
#include "selftest_cipher.h"

#define AAD_LEN 16 /* of an AEAD, in front of the text */
#define TEXT_LEN 80
#define CCM_NONCE_LEN 13
#define RESULT_MAX (AAD_LEN + TEXT_LEN + AEAD_TAG_LEN)

/* More than the algorithm table has rows; one beyond would not be tested. */
#define ROWS 128

enum verdict { UNTRIED, RIGHT, WRONG };
static atomic_uchar verdicts[ROWS];

struct question {
	unsigned char key[EVP_MAX_KEY_LENGTH];
	unsigned char iv[EVP_MAX_IV_LENGTH];
	unsigned char text[AAD_LEN + TEXT_LEN];
};

/* Of no pattern that a wrong order of blocks could hide behind. */
static void ask(struct question *question, const struct afb_algorithm *alg)
{
	unsigned char *bytes = (unsigned char *)question;
	unsigned state = 1;
	size_t i;

	for (i = 0; i < sizeof(*question); i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(state >> 24);
	}
	/* RFC 3610's form, for a nonce of 13 bytes. */
	if (alg->form == AFB_FORM_CCM)
		question->iv[0] = 14 - CCM_NONCE_LEN;
}

static EVP_CIPHER *fetch(OSSL_LIB_CTX *lib, const struct afb_algorithm *alg)
{
	unsigned bits = 8 * alg->key_max / (alg->keys ? alg->keys : 1);
	char name[32];

	snprintf(name, sizeof(name), alg->fetch, bits);
	return EVP_CIPHER_fetch(lib, name, NULL);
}

static bool begin(EVP_CIPHER_CTX *ctx, EVP_CIPHER *cipher,
		  const struct afb_algorithm *alg,
		  const struct question *question)
{
	int n;

	if (alg->form != AFB_FORM_CCM)
		return EVP_EncryptInit_ex2(ctx, cipher, question->key,
					   question->iv, NULL);
	return EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL) &&
	       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, CCM_NONCE_LEN,
				   NULL) > 0 &&
	       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, AEAD_TAG_LEN,
				   NULL) > 0 &&
	       EVP_EncryptInit_ex2(ctx, NULL, question->key, question->iv + 1,
				   NULL) &&
	       EVP_EncryptUpdate(ctx, NULL, &n, NULL, TEXT_LEN);
}

/* AAD, text and tag, as the kernel gives them. */
static bool encrypt(EVP_CIPHER_CTX *ctx, const struct question *question,
		    size_t aad_len, unsigned char *out)
{
	const unsigned char *text = question->text + aad_len;
	int n;

	memcpy(out, question->text, aad_len);
	if (aad_len &&
	    !EVP_EncryptUpdate(ctx, NULL, &n, question->text, (int)aad_len))
		return false;
	out += aad_len;
	if (!EVP_EncryptUpdate(ctx, out, &n, text, TEXT_LEN) || n != TEXT_LEN)
		return false;
	return !aad_len || (EVP_EncryptFinal_ex(ctx, out + TEXT_LEN, &n) &&
			    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
						AEAD_TAG_LEN, out + TEXT_LEN));
}

static bool ask_libcrypto(const struct provider *prov,
			  const struct afb_algorithm *alg,
			  const struct question *question, size_t aad_len,
			  unsigned char *out)
{
	OSSL_LIB_CTX *lib = soft_lib_get(prov, &prov->ciphers->lib);
	EVP_CIPHER *cipher = lib ? fetch(lib, alg) : NULL;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	bool done;

	done = cipher && ctx && begin(ctx, cipher, alg, question) &&
	       encrypt(ctx, question, aad_len, out);
	EVP_CIPHER_free(cipher);
	EVP_CIPHER_CTX_free(ctx);
	return done;
}

/* A kernel that cannot answer now may later: libbatch deals with its error. */
static enum verdict try_kernel(const struct provider *prov,
			       const struct afb_algorithm *alg)
{
	unsigned char got[RESULT_MAX], want[RESULT_MAX];
	size_t aad_len = alg->type == AFB_AEAD ? AAD_LEN : 0;
	size_t size = aad_len ? RESULT_MAX : TEXT_LEN;
	struct question question;
	struct afalg_text text = { question.key,      question.iv,
				   question.text,     alg->key_max,
				   alg->iv_len,	      aad_len,
				   aad_len + TEXT_LEN };

	ask(&question, alg);
	if (afalg_encrypt(alg->type, alg->kernel, &text, got, size) !=
		    (ssize_t)size ||
	    !ask_libcrypto(prov, alg, &question, aad_len, want))
		return UNTRIED;
	return memcmp(got, want, size) ? WRONG : RIGHT;
}

bool selftest_cipher_fails(const struct provider *prov,
			   const struct afb_algorithm *alg)
{
	size_t row = (size_t)(alg - afb_algorithms);
	unsigned char before = UNTRIED;
	enum verdict verdict;

	if (row >= ROWS)
		return false;
	verdict = atomic_load(&verdicts[row]);
	if (verdict != UNTRIED)
		return verdict == WRONG;
	verdict = try_kernel(prov, alg);
	if (atomic_compare_exchange_strong(&verdicts[row], &before, verdict) &&
	    verdict == WRONG)
		debug_print(prov,
			    "%s: the kernel's answer is wrong: libcrypto "
			    "serves instead",
			    alg->kernel);
	return verdict == WRONG;
}
