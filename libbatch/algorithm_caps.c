/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithm_caps.c - what is to be had for one algorithm: by the kernel, which is
 * asked for it with a key of zeros, and by libcrypto. Nothing is kept open.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "algorithms.h"
#include "async_probe.h"
#include "backend.h"
#include "counters.h"
#include "opsocket.h"
#include "proc_crypto.h"
#include "soft.h"

#define KEY_MAX 64

/*
 * /proc/crypto tells the longest key of an skcipher, and nothing of the others':
 * AES, ChaCha20 and XTS first, then with the salt or nonce that RFC 4106, RFC 4309
 * and RFC 7634 add, and Michael's MIC.
 */
static const size_t key_lens[] = { 16, 32, 64, 20, 19, 36, 24, 8 };

#define KEY_LENS (sizeof(key_lens) / sizeof(key_lens[0]))

static const uint8_t zeros[KEY_MAX];

/* ---- The kernel --------------------------------------------------------- */

/* What /proc/crypto says; after the bind, which makes what a name asks for. */
static void learn_driver(struct afb_algorithm_caps *caps,
			 struct proc_crypto *crypto, enum afb_type type,
			 const char *name)
{
	if (proc_crypto_find(crypto, type, name)) {
		memset(crypto, 0, sizeof(*crypto));
		return;
	}
	snprintf(caps->driver, sizeof(caps->driver), "%s", crypto->driver);
	caps->priority = crypto->priority;
	caps->driver_async = crypto->async;
	caps->digest_size = crypto->digest_size;
	caps->block_size = crypto->block_size;
	caps->iv_len = crypto->iv_len;
}

static int try_key(struct afb_algorithm_caps *caps, int tfm, const void *key,
		   size_t len)
{
	int ret = opsocket_set_key(tfm, key, len);

	if (!ret)
		caps->key_len = len;
	return ret;
}

static int give_key(struct afb_algorithm_caps *caps, int tfm,
		    const struct proc_crypto *crypto)
{
	uint8_t pair[KEY_AUTHENC_LEN];
	int ret = -EINVAL;
	unsigned i;

	if (crypto->max_key_len && crypto->max_key_len <= KEY_MAX)
		ret = try_key(caps, tfm, zeros, crypto->max_key_len);
	for (i = 0; i < KEY_LENS && ret == -EINVAL; i++)
		ret = try_key(caps, tfm, zeros, key_lens[i]);
	if (ret == -EINVAL) {
		key_authenc_zeros(pair);
		ret = try_key(caps, tfm, pair, sizeof(pair));
	}
	return ret;
}

/* A hash says itself that it needs a key: by its digest of nothing. */
static int set_up_hash(struct afb_algorithm_caps *caps, int tfm,
		       const struct proc_crypto *crypto)
{
	int size = opsocket_digest_size(tfm);

	if (size == -ENOKEY) {
		size = give_key(caps, tfm, crypto);
		if (!size)
			size = opsocket_digest_size(tfm);
	}
	if (size < 0)
		return size;
	caps->digest_size = size;
	return 0;
}

static int set_up(struct afb_algorithm_caps *caps, int tfm, enum afb_type type,
		  const struct proc_crypto *crypto)
{
	switch (type) {
	case AFB_HASH:
		return set_up_hash(caps, tfm, crypto);
	case AFB_SKCIPHER:
	case AFB_AEAD:
		return give_key(caps, tfm, crypto);
	case AFB_RNG:
		break;
	}
	return 0;
}

static void ask_kernel(struct afb_algorithm_caps *caps, enum afb_type type,
		       const char *name)
{
	struct proc_crypto crypto;
	bool waits;
	int tfm = opsocket_tfm(type, name, &caps->why);

	caps->driver_async = -ENOENT;
	if (tfm < 0) {
		caps->kernel = tfm;
		return;
	}
	learn_driver(caps, &crypto, type, name);
	caps->kernel = set_up(caps, tfm, type, &crypto);
	if (caps->kernel)
		caps->why =
			fallback_after(caps->kernel, AFB_FALLBACK_KERNEL_ERROR);
	else if (caps->driver_async == 1 && type != AFB_RNG)
		caps->kernel_async =
			async_probe(type, tfm, caps->iv_len, &waits);
	close(tfm);
}

/* ---- libcrypto ---------------------------------------------------------- */

static int soft_has(const struct afb_algorithm *alg, size_t key_len)
{
	uint8_t pair[KEY_AUTHENC_LEN];
	const uint8_t *key = zeros;
	struct soft *soft;
	int ret;

	if (alg->form == AFB_FORM_AUTHENC) {
		key_authenc_zeros(pair);
		key = pair;
		key_len = sizeof(pair);
	}
	ret = soft_open(&soft, alg, key, key_len);

	if (!ret)
		soft_close(soft);
	return ret;
}

/* With the key the kernel took, or the first that libcrypto takes. */
static void ask_libcrypto(struct afb_algorithm_caps *caps,
			  const struct afb_algorithm *alg)
{
	unsigned i;

	caps->soft = -ENOENT;
	if (!alg)
		return;
	caps->soft = soft_has(alg, caps->key_len);
	for (i = 0; i < KEY_LENS && caps->kernel && caps->soft == -ENOENT;
	     i++) {
		caps->soft = soft_has(alg, key_lens[i]);
		if (!caps->soft)
			caps->key_len = key_lens[i];
	}
	if (caps->soft || !caps->kernel)
		return;
	caps->digest_size = alg->digest_size;
	caps->block_size = alg->block_size;
	caps->iv_len = alg->iv_len;
}

/* ---- Both --------------------------------------------------------------- */

/* Down the list of back ends, as a session and a queue would go. */
static void choose(struct afb_algorithm_caps *caps, enum afb_type type)
{
	if (caps->kernel) {
		caps->backend = caps->soft ? AFB_BACKEND_AUTO :
					     AFB_BACKEND_SOFT;
		return;
	}
	/* The kernel's generators are read by blocking calls: see rng.h. */
	caps->backend = type == AFB_RNG ? AFB_BACKEND_SYNC : AFB_BACKEND_URING;
	if (type == AFB_RNG || !uring_usable())
		return;
	caps->why = AFB_FALLBACK_NO_IO_URING;
	caps->backend = aio_usable() ? AFB_BACKEND_SYNC : AFB_BACKEND_AIO;
}

int afb_algorithm_caps(struct afb_algorithm_caps *caps, enum afb_type type,
		       const char *name)
{
	if (!caps || caps->size != sizeof(*caps) ||
	    (unsigned)type >= AFB_TYPES || !name || !*name ||
	    strlen(name) > OPSOCKET_NAME_MAX)
		return -EINVAL;
	memset(caps, 0, sizeof(*caps));
	caps->size = sizeof(*caps);
	ask_kernel(caps, type, name);
	ask_libcrypto(caps, afb_algorithm_find(type, name));
	if (caps->kernel == -ENOMEM || caps->soft == -ENOMEM)
		return -ENOMEM;
	choose(caps, type);
	return 0;
}

const char *afb_algorithm_name(unsigned index, enum afb_type *type)
{
	unsigned i;

	/* A step at a time: @index may lie anywhere behind the table's end. */
	for (i = 0; i < index && afb_algorithms[i].kernel; i++)
		;
	if (!afb_algorithms[i].kernel)
		return NULL;
	if (type)
		*type = afb_algorithms[i].type;
	return afb_algorithms[i].kernel;
}
