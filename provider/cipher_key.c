/* SPDX-License-Identifier: Apache-2.0 */
/* cipher_key.c - see cipher_key.h. */
#include <config.h>

#include <string.h>

#include <openssl/crypto.h>

#include "cipher_key.h"
#include "ciphers.h"
#include "debug.h"
#include "error.h"
#include "provider.h"

static struct cipher_key *new_key(const struct provider *prov,
				  const struct cipher_kind *kind,
				  const unsigned char *bytes)
{
	struct cipher_key *key = OPENSSL_zalloc(sizeof(*key));

	if (!key) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "key of %s",
			    kind->kernel);
		return NULL;
	}
	key->prov = prov;
	key->kind = kind;
	atomic_init(&key->users, 1);
	memcpy(key->bytes, bytes, kind->key_len);
	return key;
}

struct cipher_key *cipher_key_get(struct cipher_key *key)
{
	if (key)
		atomic_fetch_add_explicit(&key->users, 1, memory_order_relaxed);
	return key;
}

void cipher_key_put(struct cipher_key *key)
{
	if (!key || atomic_fetch_sub_explicit(&key->users, 1,
					      memory_order_acq_rel) != 1)
		return;
	session_drop(&key->slot);
	OPENSSL_clear_free(key, sizeof(*key));
}

static bool is_same(const struct cipher_key *key, const unsigned char *bytes)
{
	return !CRYPTO_memcmp(key->bytes, bytes, key->kind->key_len);
}

int cipher_key_change(struct cipher_key **key, const struct provider *prov,
		      const struct cipher_kind *kind,
		      const unsigned char *bytes)
{
	if (*key && is_same(*key, bytes))
		return 1;
	cipher_key_put(*key);
	*key = new_key(prov, kind, bytes);
	return !!*key;
}

/* The session of a cipher's first key speaks for those that follow. */
static void tell_once(const struct cipher_key *key, struct afb_session *session)
{
	uint64_t bit = (uint64_t)1 << key->kind->id;

	if (!(atomic_fetch_or(&key->prov->ciphers->told, bit) & bit))
		debug_session(key->prov, key->kind->kernel, session);
}

/* For this kind of cipher, or for want of a descriptor or the like? */
static bool is_for_good(const struct afb_session *session)
{
	enum afb_fallback why = afb_session_fallback(session);

	return why != AFB_FALLBACK_NO_RESOURCES &&
	       why != AFB_FALLBACK_KERNEL_ERROR;
}

static struct afb_session *open_session(struct cipher_key *key)
{
	struct ciphers *ciphers = key->prov->ciphers;
	unsigned id = key->kind->id;
	struct afb_session *session;
	bool opened;

	session = session_get(key->prov, &key->slot, ciphers->rows[id],
			      key->bytes, key->kind->key_len, &opened);
	if (opened)
		tell_once(key, session);
	if (!session || afb_session_backend(session) != AFB_BACKEND_SOFT)
		return session;
	if (is_for_good(session))
		atomic_fetch_or(&ciphers->soft_only, (uint64_t)1 << id);
	return NULL;
}

struct afb_session *cipher_key_session(struct cipher_key *key)
{
	uint64_t bit = (uint64_t)1 << key->kind->id;
	struct afb_session *session;

	if (atomic_load_explicit(&key->useless, memory_order_relaxed) ||
	    atomic_load_explicit(&key->prov->ciphers->soft_only,
				 memory_order_relaxed) &
		    bit)
		return NULL;
	session = open_session(key);
	if (!session)
		atomic_store(&key->useless, true);
	return session;
}
