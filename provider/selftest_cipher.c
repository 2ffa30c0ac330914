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
#include "cipher.h"
#include "debug.h"
#include "provider.h"
#include "selftest_cipher.h"

#define TEXT_LEN 80

/* More than the algorithm table has rows; one beyond would not be tested. */
#define ROWS 128

enum verdict { UNTRIED, RIGHT, WRONG };
static atomic_uchar verdicts[ROWS];

struct question {
	unsigned char key[EVP_MAX_KEY_LENGTH];
	unsigned char iv[EVP_MAX_IV_LENGTH];
	unsigned char text[TEXT_LEN];
};

/* Of no pattern that a wrong order of blocks could hide behind. */
static void ask(struct question *question)
{
	unsigned char *bytes = (unsigned char *)question;
	unsigned state = 1;
	size_t i;

	for (i = 0; i < sizeof(*question); i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(state >> 24);
	}
}

static bool ask_libcrypto(const struct provider *prov,
			  const struct afb_algorithm *alg,
			  const struct question *question, unsigned char *out)
{
	OSSL_LIB_CTX *lib = soft_lib_get(prov, &prov->ciphers->lib);
	unsigned bits = 8 * alg->key_max / (alg->keys ? alg->keys : 1);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher = NULL;
	char name[32];
	bool done;
	int len;

	snprintf(name, sizeof(name), alg->fetch, bits);
	if (lib && ctx)
		cipher = EVP_CIPHER_fetch(lib, name, NULL);
	done = cipher &&
	       EVP_EncryptInit_ex2(ctx, cipher, question->key, question->iv,
				   NULL) &&
	       EVP_EncryptUpdate(ctx, out, &len, question->text, TEXT_LEN) &&
	       len == TEXT_LEN;
	EVP_CIPHER_free(cipher);
	EVP_CIPHER_CTX_free(ctx);
	return done;
}

/* A kernel that cannot answer now may later: libbatch deals with its error. */
static enum verdict try_kernel(const struct provider *prov,
			       const struct afb_algorithm *alg)
{
	unsigned char got[TEXT_LEN], want[TEXT_LEN];
	struct question question;

	ask(&question);
	if (afalg_encrypt(alg->kernel, question.key, alg->key_max, question.iv,
			  alg->iv_len, question.text, TEXT_LEN,
			  got) != TEXT_LEN ||
	    !ask_libcrypto(prov, alg, &question, want))
		return UNTRIED;
	return memcmp(got, want, TEXT_LEN) ? WRONG : RIGHT;
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
