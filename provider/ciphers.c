/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ciphers.c - OSSL_OP_CIPHER: the table of our ciphers, what is the same for all
 * contexts of one, and which of them the kernel has.
 */
#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "aead.h"
#include "cipher.h"
#include "ciphers.h"
#include "error.h"
#include "offered.h"
#include "provider.h"

#define KIND(c_name, ...) \
	ROW(c_name, AFB_SKCIPHER, cipher_##c_name##_functions, __VA_ARGS__)
#define KIND_AEAD(c_name, ...) \
	ROW(c_name, AFB_AEAD, aead_##c_name##_functions, __VA_ARGS__)
#define ROW(c_name, type, functions, names, kernel, mode, key_len, block_size, \
	    iv_len)                                                            \
	[CIPHER_ID_##c_name] = {                                               \
		CIPHER_ID_##c_name, type,   names,    kernel, mode, key_len,   \
		block_size,	    iv_len, functions                          \
	},
const struct cipher_kind cipher_kinds[CIPHER_COUNT] = { CIPHERS(KIND) AEADS(
	KIND_AEAD) };

EVP_CIPHER *ciphers_soft(const struct provider *prov,
			 const struct cipher_kind *kind)
{
	_Atomic(EVP_CIPHER *) *place = &prov->ciphers->soft[kind->id];
	EVP_CIPHER *soft = atomic_load(place), *mine;
	OSSL_LIB_CTX *lib;
	char name[32] = "";

	if (soft)
		return soft;
	lib = soft_lib_get(prov, &prov->ciphers->lib);
	strncat(name, kind->names, strcspn(kind->names, ":"));
	mine = lib ? EVP_CIPHER_fetch(lib, name, NULL) : NULL;
	if (!mine) {
		error_raise(prov, R_OPEN, "open %s in libcrypto", name);
		return NULL;
	}
	if (atomic_compare_exchange_strong(place, &soft, mine))
		return mine;
	EVP_CIPHER_free(mine);
	return soft;
}

/* ---- Constants ---------------------------------------------------------- */

const OSSL_PARAM *ciphers_gettable_params(void *provctx)
{
	static const OSSL_PARAM gettable[] = {
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CTS, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, NULL),
		OSSL_PARAM_END,
	};

	(void)provctx;
	return gettable;
}

static int set_size(OSSL_PARAM params[], const char *name, size_t size)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, name);

	return !p || OSSL_PARAM_set_size_t(p, size);
}

static int set_flag(OSSL_PARAM params[], const char *name, int flag)
{
	OSSL_PARAM *p = OSSL_PARAM_locate(params, name);

	return !p || OSSL_PARAM_set_int(p, flag);
}

int ciphers_get_params(OSSL_PARAM params[], enum cipher_id id)
{
	const struct cipher_kind *kind = &cipher_kinds[id];
	OSSL_PARAM *p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);

	return (!p || OSSL_PARAM_set_uint(p, kind->mode)) &&
	       set_size(params, OSSL_CIPHER_PARAM_KEYLEN, kind->key_len) &&
	       set_size(params, OSSL_CIPHER_PARAM_IVLEN, kind->iv_len) &&
	       set_size(params, OSSL_CIPHER_PARAM_BLOCK_SIZE,
			kind->block_size) &&
	       set_flag(params, OSSL_CIPHER_PARAM_AEAD,
			kind->type == AFB_AEAD) &&
	       set_flag(params, OSSL_CIPHER_PARAM_CUSTOM_IV,
			kind->type == AFB_AEAD ||
				kind->mode == EVP_CIPH_XTS_MODE) &&
	       set_flag(params, OSSL_CIPHER_PARAM_CTS, 0) &&
	       set_flag(params, OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, 0) &&
	       set_flag(params, OSSL_CIPHER_PARAM_HAS_RAND_KEY,
			kind->block_size == 8);
}

const OSSL_PARAM *ciphers_gettable_ctx(void *provctx, enum cipher_id id)
{
	EVP_CIPHER *soft = ciphers_soft(provctx, &cipher_kinds[id]);

	return soft ? EVP_CIPHER_gettable_ctx_params(soft) : NULL;
}

const OSSL_PARAM *ciphers_settable_ctx(void *provctx, enum cipher_id id)
{
	EVP_CIPHER *soft = ciphers_soft(provctx, &cipher_kinds[id]);

	return soft ? EVP_CIPHER_settable_ctx_params(soft) : NULL;
}

/* ---- What init and update check ----------------------------------------- */

int ciphers_check_key(const struct provider *prov,
		      const struct cipher_kind *kind, const void *key,
		      size_t len)
{
	if (!key || len == kind->key_len)
		return 1;
	error_raise(prov, R_KEY_LENGTH, "init %s: key of %zu bytes, not %u",
		    kind->kernel, len, kind->key_len);
	return 0;
}

int ciphers_check_room(const struct provider *prov,
		       const struct cipher_kind *kind, size_t len, size_t size)
{
	if (len <= size && len <= INT_MAX)
		return 1;
	error_raise(prov, R_OUTPUT_TOO_SMALL, "update %s: %zu bytes to %zu",
		    kind->kernel, len, size);
	return 0;
}

bool ciphers_askew(const unsigned char *out, const unsigned char *in,
		   size_t len)
{
	return out != in && out < in + len && in < out + len;
}

/* ---- A provider context's ----------------------------------------------- */

int ciphers_start(struct provider *prov)
{
	struct ciphers *ciphers = calloc(1, sizeof(*ciphers));
	unsigned id;

	if (!ciphers) {
		error_raise(prov, ERR_R_MALLOC_FAILURE, "ciphers");
		return 0;
	}
	for (id = 0; id < CIPHER_COUNT; id++) {
		ciphers->rows[id] = afb_algorithm_find(cipher_kinds[id].type,
						       cipher_kinds[id].kernel);
		ciphers->algorithms[id] = (OSSL_ALGORITHM){
			.algorithm_names = cipher_kinds[id].names,
			.property_definition = "provider=" PROVIDER_NAME,
			.implementation = cipher_kinds[id].functions,
			.algorithm_description = cipher_kinds[id].kernel,
		};
	}
	prov->ciphers = ciphers;
	return 1;
}

void ciphers_stop(struct provider *prov)
{
	struct ciphers *ciphers = prov->ciphers;
	unsigned id;

	queues_drop(&ciphers->queues);
	for (id = 0; id < CIPHER_COUNT; id++)
		EVP_CIPHER_free(atomic_load(&ciphers->soft[id]));
	soft_lib_drop(&ciphers->lib);
	free(atomic_load(&ciphers->offered));
	free(ciphers);
	prov->ciphers = NULL;
}

const OSSL_ALGORITHM *ciphers_algorithms(const struct provider *prov)
{
	struct ciphers *ciphers = prov->ciphers;
	OSSL_ALGORITHM *offered = atomic_load(&ciphers->offered), *mine;
	size_t n;

	if (prov->settings.backend == AFB_BACKEND_SOFT)
		return ciphers->algorithms;
	if (offered)
		return offered;
	mine = calloc(CIPHER_COUNT + 1, sizeof(*mine));
	if (!mine)
		return ciphers->algorithms;
	n = offered_of(AFB_SKCIPHER, mine, ciphers->algorithms, AEAD_FIRST);
	offered_of(AFB_AEAD, mine + n, ciphers->algorithms + AEAD_FIRST,
		   CIPHER_COUNT - AEAD_FIRST);
	if (atomic_compare_exchange_strong(&ciphers->offered, &offered, mine))
		return mine;
	free(mine);
	return offered;
}
