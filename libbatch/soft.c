/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.c - owns the library context. It lives while something fetched from it is
 * held, so that unloading the library leaves nothing behind.
 */
#include <errno.h>
#include <openssl/provider.h>
#include <pthread.h>

#include "soft.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OSSL_LIB_CTX *libctx; /* under lock, as the two below */
static OSSL_PROVIDER *provider;
static unsigned users;

static void libctx_put(void)
{
	if (--users)
		return;
	OSSL_PROVIDER_unload(provider);
	OSSL_LIB_CTX_free(libctx);
	provider = NULL;
	libctx = NULL;
}

static OSSL_LIB_CTX *libctx_get(void)
{
	if (users++)
		return libctx;
	libctx = OSSL_LIB_CTX_new();
	if (libctx)
		provider = OSSL_PROVIDER_load(libctx, "default");
	if (provider)
		return libctx;
	OSSL_LIB_CTX_free(libctx);
	libctx = NULL;
	users = 0;
	return NULL;
}

EVP_MD *soft_fetch(const struct afb_algorithm *alg)
{
	EVP_MD *md = NULL;

	pthread_mutex_lock(&lock);
	if (libctx_get()) {
		md = EVP_MD_fetch(libctx, alg->fetch, NULL);
		if (!md)
			libctx_put();
	}
	pthread_mutex_unlock(&lock);
	return md;
}

void soft_release(EVP_MD *md)
{
	if (!md)
		return;
	pthread_mutex_lock(&lock);
	EVP_MD_free(md);
	libctx_put();
	pthread_mutex_unlock(&lock);
}

int soft_digest(EVP_MD_CTX *scratch, const EVP_MD *md, const struct iovec *in,
		unsigned in_cnt, void *digest)
{
	unsigned i;

	if (!EVP_DigestInit_ex2(scratch, md, NULL))
		return -EIO;
	for (i = 0; i < in_cnt; i++)
		if (!EVP_DigestUpdate(scratch, in[i].iov_base, in[i].iov_len))
			return -EIO;
	return EVP_DigestFinal_ex(scratch, digest, NULL) ? 0 : -EIO;
}
