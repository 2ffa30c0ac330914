/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac_inside.c - finds the row of the algorithm table for a MAC of that digest or
 * cipher. What has no row, such as SHA-512/256 or DES-EDE3-CBC, is libcrypto's: a
 * program that asks for HMAC cannot say which digests the provider must have.
 *
 * A property query chooses among implementations of the digest or cipher. AF_ALG's
 * has none but "provider=afalgbatch"; any other query is for libcrypto to answer,
 * so that "fips=yes" is never passed over in silence.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "error.h"
#include "mac_inside.h"
#include "provider.h"

/* The ciphers of CMACs that AF_ALG has, by all names of the default provider. */
static const struct {
	const char *names;
	const char *kernel;
	size_t key_len;
} ciphers[] = {
	{ "AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", "cmac(aes)", 16 },
	{ "AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", "cmac(aes)", 24 },
	{ "AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", "cmac(aes)", 32 },
	{ "CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2",
	  "cmac(camellia)", 16 },
	{ "CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3",
	  "cmac(camellia)", 24 },
	{ "CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4",
	  "cmac(camellia)", 32 },
};

/* Whether @name is one of the ':'-separated @names. */
static int is_one_of(const char *names, const char *name)
{
	size_t len = strlen(name);

	while (1) {
		size_t n = strcspn(names, ":");

		if (n == len && !strncasecmp(names, name, n))
			return 1;
		if (!names[n])
			return 0;
		names += n + 1;
	}
}

static void find_digest(struct mac_inside *inside)
{
	const struct afb_algorithm *alg;
	char hmac[64];

	for (alg = afb_algorithms; alg->kernel; alg++) {
		if (alg->type != AFB_HASH || !alg->openssl ||
		    !is_one_of(alg->openssl, inside->name))
			continue;
		snprintf(hmac, sizeof(hmac), "hmac(%s)", alg->kernel);
		inside->alg = afb_algorithm_find(AFB_HASH, hmac);
		return;
	}
}

static void find_cipher(struct mac_inside *inside)
{
	size_t i;

	for (i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++) {
		if (!is_one_of(ciphers[i].names, inside->name))
			continue;
		inside->alg = afb_algorithm_find(AFB_HASH, ciphers[i].kernel);
		inside->key_len = ciphers[i].key_len;
		return;
	}
}

static int query_is_ours(const char *query)
{
	return !*query || !strcmp(query, "provider=" PROVIDER_NAME) ||
	       !strcmp(query, "?provider=" PROVIDER_NAME);
}

/* What libcrypto alone has: its digest or cipher tells the sizes. */
static int find_soft(const struct provider *prov, enum mac_id id,
		     struct mac_inside *inside)
{
	OSSL_LIB_CTX *lib = soft_lib_get(prov, &prov->macs->soft);
	EVP_MD *md = NULL;
	EVP_CIPHER *cipher = NULL;

	if (!lib)
		return 0;
	if (id == MAC_HMAC) {
		md = EVP_MD_fetch(lib, inside->name, inside->query);
		if (md)
			inside->block_size = EVP_MD_get_block_size(md);
	} else {
		cipher = EVP_CIPHER_fetch(lib, inside->name, inside->query);
		if (cipher)
			inside->block_size = EVP_CIPHER_get_block_size(cipher);
	}
	EVP_MD_free(md);
	EVP_CIPHER_free(cipher);
	if (md || cipher)
		return 1;
	error_raise(prov, R_OPEN, "mac of %s: not known", inside->name);
	return 0;
}

int mac_inside_find(const struct provider *prov, enum mac_id id,
		    struct mac_inside *inside)
{
	inside->alg = NULL;
	inside->key_len = 0;
	if (query_is_ours(inside->query)) {
		if (id == MAC_HMAC)
			find_digest(inside);
		else
			find_cipher(inside);
	}
	if (!inside->alg)
		return find_soft(prov, id, inside);
	inside->block_size = inside->alg->block_size;
	return 1;
}
