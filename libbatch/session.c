/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opening a session: finds out who can serve the algorithm, and what
 * to fall back on. Everything that depends on what this machine allows is
 * decided here, once, and told by the getters.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "counters.h"
#include "cpus.h"
#include "cut.h"
#include "key.h"
#include "log.h"
#include "rng.h"
#include "session.h"
#include "soft.h"
#include "stream_lane.h"

struct afb_session *session_get(struct afb_session *session)
{
	atomic_fetch_add_explicit(&session->users, 1, memory_order_relaxed);
	return session;
}

static void drop_idle_lanes(struct afb_session *session)
{
	unsigned i;

	for (i = 0; i < SESSION_IDLE_LANES; i++)
		if (session->idle[i])
			stream_lane_drop(session->idle[i]);
}

static void close_kernel(struct afb_session *session)
{
	if (session->rng >= 0)
		close(session->rng);
	if (session->tfm >= 0)
		close(session->tfm);
	session->rng = session->tfm = -1;
}

void session_put(struct afb_session *session)
{
	if (atomic_fetch_sub_explicit(&session->users, 1,
				      memory_order_acq_rel) != 1)
		return;
	drop_idle_lanes(session);
	close_kernel(session);
	soft_close(session->soft);
	OPENSSL_clear_free(session->key, session->key_len);
	free(session);
}

void afb_session_close(struct afb_session *session)
{
	if (!session)
		return;
	atomic_store_explicit(&session->closed, true, memory_order_relaxed);
	session_put(session);
}

/* 0, -ENOENT where libcrypto has no such algorithm, or -ENOMEM. */
static int soft_once(struct afb_session *session)
{
	struct soft *soft, *none = NULL;
	int ret;

	if (atomic_load_explicit(&session->soft, memory_order_acquire))
		return 0;
	if (!session->alg)
		return -ENOENT;
	ret = soft_open(&soft, session->alg, session->key, session->key_len);
	/* Another thread may have been faster. */
	if (!ret && !atomic_compare_exchange_strong(&session->soft, &none, soft))
		soft_close(soft);
	return ret;
}

struct soft *session_soft(struct afb_session *session)
{
	if (session->strict && session->backend != AFB_BACKEND_SOFT)
		return NULL;
	return soft_once(session) ? NULL : session->soft;
}

int soft_op(struct soft_scratch *scratch, const struct afb_op *op)
{
	const struct soft *soft = session_soft(op->session);

	return soft ? soft_run(scratch, soft, op) : -ENOENT;
}

static int learn_digest_size(struct afb_session *session)
{
	int size = opsocket_digest_size(session->tfm);

	if (size < 0)
		return size;
	if (session->alg && size != session->alg->digest_size)
		return -EIO;
	session->digest_size = size;
	return 0;
}

static int learn_send_max(struct afb_session *session)
{
	ssize_t size = opsocket_buffer_size(session->tfm);

	if (size < 0)
		return size;
	session->send_max = size;
	return 0;
}

/*
 * By the table, or for an algorithm it lacks by what /proc/crypto says after the
 * bind: an unknown IV length is the kernel's to check.
 */
static void learn_mode(struct afb_session *session)
{
	const struct afb_algorithm *alg = session->alg;
	const char *name = alg ? alg->kernel : NULL;

	if (alg) {
		session->block_size = alg->block_size;
		session->iv_len = alg->iv_len;
	} else if (session->driver.known) {
		name = session->driver.crypto.name;
		session->block_size = session->driver.crypto.block_size;
		session->iv_len = session->driver.crypto.iv_len;
	}
	session->iv_len_known = name;
	if (session->type == AFB_SKCIPHER && name && session->iv_len <= 16)
		session->mode = mode_of(name);
	session->has_units = session->type == AFB_SKCIPHER && name &&
			     mode_has_units(name);
}

static int set_data_unit(struct afb_session *session, size_t size)
{
	if (!size)
		return 0;
	if (!session->has_units || size < session->block_size)
		return -EINVAL;
	session->mode = MODE_XTS_UNITS;
	session->data_unit = size;
	return 0;
}

static int start_generator(struct afb_session *session)
{
	int fd = rng_open(session->tfm, session->key, session->key_len);

	if (fd < 0)
		return fd;
	session->rng = fd;
	return 0;
}

/* Key, tag length and sizes, as far as the type has them. */
static int set_up_tfm(struct afb_session *session)
{
	int ret = 0;

	if (session->type == AFB_RNG)
		return start_generator(session);
	/*
	 * The kernel's BLAKE2 would take one and libcrypto's would not: a MAC is
	 * what the table calls one.
	 */
	if (session->keyed && session->alg && !session->alg->key_max)
		return -ENOSYS;
	if (session->keyed)
		ret = opsocket_set_key(session->tfm, session->key,
				       session->key_len);
	if (!ret && session->type == AFB_AEAD)
		ret = opsocket_set_tag_len(session->tfm, session->tag_len);
	if (!ret)
		ret = session->type == AFB_HASH ? learn_digest_size(session) :
						  learn_send_max(session);
	return ret;
}

/*
 * A driver's name that the table lacks: /proc/crypto knows what it implements. Who
 * names a generator wants that one's bytes and no other's.
 */
static void learn_algorithm(struct afb_session *session)
{
	struct driver *driver = &session->driver;

	driver_learn(driver, session->type, session->name);
	if (!session->alg && session->type != AFB_RNG && driver->known)
		session->alg = afb_algorithm_find(session->type,
						  driver->crypto.name);
}

static int open_kernel(struct afb_session *session)
{
	enum afb_fallback why = AFB_FALLBACK_NONE;
	int ret;

	session->tfm = opsocket_tfm(session->type, session->name, &why);
	if (session->tfm < 0) {
		session->why = why;
		ret = session->tfm;
		session->tfm = -1;
		return ret;
	}
	learn_algorithm(session);
	ret = set_up_tfm(session);
	if (!ret) {
		af_alg_used();
		driver_try(&session->driver, session->type, session->name,
			   session->tfm);
		return 0;
	}
	session->why = fallback_after(ret, AFB_FALLBACK_KERNEL_ERROR);
	close_kernel(session);
	return ret;
}

/*
 * The same answers as the kernel's, but that it speaks of ENOSYS where a digest
 * is given a key, and of ENOKEY where a MAC has none.
 */
static int check_for_soft(const struct afb_session *session)
{
	const struct afb_algorithm *alg = session->alg;
	struct key_parts parts;
	int ret;

	if (!alg)
		return 0;
	if (!session->keyed && !key_is_optional(alg))
		return -EINVAL;
	ret = key_split(&parts, alg, session->key, session->key_len);
	return ret ? ret : key_check_tag(alg, session->tag_len);
}

/* Software in the kernel's place: @err is what stands in the way there. */
static int open_soft(struct afb_session *session, int err)
{
	int ret;

	if (session->strict && err)
		return err;
	/* A key that the kernel's algorithm cannot have, or lacks. */
	if (err == -ENOKEY ||
	    (err == -EINVAL && session->why == AFB_FALLBACK_KERNEL_ERROR))
		return -EINVAL;
	ret = check_for_soft(session);
	if (!ret)
		ret = soft_once(session);
	if (ret == -ENOENT && session->why == AFB_FALLBACK_NO_RESOURCES)
		return err;
	if (ret)
		return ret;
	session->backend = AFB_BACKEND_SOFT;
	session->digest_size = session->alg->digest_size;
	if (err)
		log_text("%s: %s (%s): libcrypto serves instead", session->name,
			 afb_fallback_text(session->why), strerror(-err));
	return 0;
}

static int choose(struct afb_session *session, enum afb_backend wanted)
{
	int err;

	if (wanted == AFB_BACKEND_SOFT)
		return open_soft(session, 0);
	err = open_kernel(session);
	if (err)
		return open_soft(session, err);

	/* A stream has one request at a time: blocking calls are its aio. */
	session->backend = AFB_BACKEND_SYNC;
	if (wanted == AFB_BACKEND_SYNC || wanted == AFB_BACKEND_AIO)
		return 0;
	err = uring_usable();
	if (!err) {
		session->backend = AFB_BACKEND_URING;
		return 0;
	}
	session->why = AFB_FALLBACK_NO_IO_URING;
	log_text("%s: %s (%s): blocking calls serve instead", session->name,
		 afb_fallback_text(session->why), strerror(-err));
	return session->strict ? err : 0;
}

static int check_params(const struct afb_session_params *params,
			enum afb_type type)
{
	if (params->size != sizeof(*params) ||
	    (unsigned)params->backend >= AFB_BACKENDS ||
	    (params->flags & ~AFB_STRICT) ||
	    (params->key_len && !params->key))
		return -EINVAL;
	/* A cipher without a key, or a tag where there can be none. */
	if ((type == AFB_SKCIPHER || type == AFB_AEAD) && !params->key_len)
		return -EINVAL;
	if (params->tag_len > 64 || (type != AFB_AEAD && params->tag_len))
		return -EINVAL;
	return 0;
}

static int take_params(struct afb_session *session,
		       const struct afb_session_params *params)
{
	session->strict = params->flags & AFB_STRICT;
	if (session->type == AFB_AEAD)
		session->tag_len = params->tag_len ? params->tag_len : 16;
	/* HMAC has keys of no bytes; elsewhere the pointer says nothing. */
	session->keyed = params->key_len ||
			 (params->key && session->alg &&
			  session->alg->form == AFB_FORM_MAC);
	if (!params->key_len)
		return 0;
	session->key = OPENSSL_memdup(params->key, params->key_len);
	if (!session->key)
		return -ENOMEM;
	session->key_len = params->key_len;
	return 0;
}

int afb_session_open(struct afb_session **opened, enum afb_type type,
		     const char *name, const struct afb_session_params *params)
{
	static const struct afb_session_params defaults = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	if (!params)
		params = &defaults;
	if ((unsigned)type >= AFB_TYPES ||
	    !name || !*name || strlen(name) > OPSOCKET_NAME_MAX)
		return -EINVAL;
	ret = check_params(params, type);
	if (ret)
		return ret;

	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	atomic_init(&session->users, 1);
	session->type = type;
	strcpy(session->name, name);
	session->alg = afb_algorithm_find(type, name);
	session->tfm = session->rng = -1;
	session->send_max = SIZE_MAX;
	session->overlap = cpus_allowed() > 1;

	ret = take_params(session, params);
	if (!ret)
		ret = choose(session, params->backend);
	if (!ret) {
		learn_mode(session);
		ret = set_data_unit(session, params->data_unit);
		session->part_max = cut_part_max(session);
	}
	if (ret) {
		session_put(session);
		return ret;
	}
	*opened = session;
	return 0;
}

size_t afb_session_digest_size(const struct afb_session *session)
{
	return session->digest_size;
}

enum afb_backend afb_session_backend(const struct afb_session *session)
{
	return session->backend;
}

enum afb_fallback afb_session_fallback(const struct afb_session *session)
{
	return session->why;
}

int afb_session_driver(const struct afb_session *session, char *driver,
		       size_t size)
{
	if (session->tfm >= 0 && !session->driver.known)
		return -ENOENT;
	snprintf(driver, size, "%s",
		 session->tfm < 0 ? "libcrypto" :
				    session->driver.crypto.driver);
	return 0;
}
