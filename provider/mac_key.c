/* SPDX-License-Identifier: Apache-2.0 */
/* mac_key.c - see mac_key.h. */
#include <config.h>

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "debug.h"
#include "error.h"
#include "mac_key.h"
#include "provider.h"
#include "session.h"

EVP_MAC_CTX *mac_key_soft(const struct mac_key *key, size_t tls_size)
{
	static const char *const macs[] = {
		[MAC_HMAC] = "HMAC", [MAC_CMAC] = "CMAC"
	};
	static const char *const parameters[] = {
		[MAC_HMAC] = OSSL_MAC_PARAM_DIGEST,
		[MAC_CMAC] = OSSL_MAC_PARAM_CIPHER
	};
	const struct mac_inside *inside = &key->inside;
	const char *query = inside->alg ? "" : inside->query;
	OSSL_LIB_CTX *lib = soft_lib_get(key->prov, &key->prov->macs->soft);
	EVP_MAC *mac = lib ? EVP_MAC_fetch(lib, macs[key->id], NULL) : NULL;
	EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(parameters[key->id],
						 (char *)inside->name, 0),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES,
						 (char *)query, 0),
		OSSL_PARAM_construct_end(),
		OSSL_PARAM_construct_end(),
	};

	if (tls_size)
		params[2] = OSSL_PARAM_construct_size_t(
			OSSL_MAC_PARAM_TLS_DATA_SIZE, &tls_size);
	EVP_MAC_free(mac);
	if (ctx && EVP_MAC_init(ctx, key->bytes, key->len, params))
		return ctx;
	EVP_MAC_CTX_free(ctx);
	error_raise(key->prov, R_OPEN, "open %s of %s in libcrypto",
		    macs[key->id], inside->name);
	return NULL;
}

/* The session of an algorithm's first key speaks for those that follow. */
static void tell_once(const struct mac_key *key)
{
	size_t row = key->inside.alg - afb_algorithms;
	uint64_t bit = (uint64_t)1 << row % 64;

	if (!(atomic_fetch_or(&key->prov->macs->told, bit) & bit))
		debug_session(key->prov, key->inside.alg->kernel, key->session);
}

static int open_session(struct mac_key *key)
{
	const struct afb_algorithm *alg = key->inside.alg;

	key->session = session_open(key->prov, alg, key->bytes, key->len);
	if (!key->session)
		return 0;
	tell_once(key);
	key->size = afb_session_digest_size(key->session);
	return 1;
}

/* libcrypto checks the key as it takes it. */
static int open_soft(struct mac_key *key)
{
	EVP_MAC_CTX *soft = mac_key_soft(key, 0);

	if (!soft)
		return 0;
	key->size = EVP_MAC_CTX_get_mac_size(soft);
	EVP_MAC_CTX_free(soft);
	return 1;
}

struct mac_key *mac_key_new(const struct provider *prov, enum mac_id id,
			    const struct mac_inside *inside,
			    const unsigned char *bytes, size_t len)
{
	struct mac_key *key;

	if (inside->key_len && len != inside->key_len) {
		error_raise(prov, R_KEY_LENGTH, "key of %s: %zu bytes, not %zu",
			    inside->name, len, inside->key_len);
		return NULL;
	}
	key = OPENSSL_zalloc(sizeof(*key) + len);
	if (!key) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "key of %s",
			    inside->name);
		return NULL;
	}
	key->prov = prov;
	atomic_init(&key->users, 1);
	key->id = id;
	key->inside = *inside;
	key->len = len;
	if (len)
		memcpy(key->bytes, bytes, len);
	if (inside->alg ? open_session(key) : open_soft(key))
		return key;
	mac_key_put(key);
	return NULL;
}

struct mac_key *mac_key_get(struct mac_key *key)
{
	if (key)
		atomic_fetch_add_explicit(&key->users, 1, memory_order_relaxed);
	return key;
}

void mac_key_put(struct mac_key *key)
{
	if (!key || atomic_fetch_sub_explicit(&key->users, 1,
					      memory_order_acq_rel) != 1)
		return;
	afb_session_close(key->session);
	OPENSSL_clear_free(key, sizeof(*key) + key->len);
}

int mac_key_is(const struct mac_key *key, const struct mac_inside *inside,
	       const unsigned char *bytes, size_t len)
{
	return key->inside.alg == inside->alg &&
	       !strcmp(key->inside.name, inside->name) &&
	       !strcmp(key->inside.query, inside->query) && key->len == len &&
	       !CRYPTO_memcmp(key->bytes, bytes, len);
}
