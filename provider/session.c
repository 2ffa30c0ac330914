/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens sessions without a lock: threads that race each open one,
 * the first to store its own wins, and the others close theirs. A mutex held
 * across the opening would stay locked in the child of a fork() at that moment.
 */
#include <config.h>

#include "error.h"
#include "selftest.h"
#include "session.h"

struct afb_session *session_open(const struct provider *prov,
				 const struct afb_algorithm *alg,
				 const unsigned char *key, size_t len)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	params.backend = selftest_backend(prov, alg);
	params.key = key;
	params.key_len = len;
	ret = afb_session_open(&session, alg->type, alg->kernel, &params);
	if (ret < 0) {
		error_raise_errno(prov, R_OPEN, "open", alg->kernel, ret);
		return NULL;
	}
	return session;
}

struct afb_session *session_get(const struct provider *prov,
				struct session_slot *slot,
				const struct afb_algorithm *alg,
				const unsigned char *key, size_t len,
				bool *opened)
{
	struct afb_session *session = atomic_load(&slot->session);
	struct afb_session *mine;

	*opened = false;
	if (session)
		return session;
	mine = session_open(prov, alg, key, len);
	if (!mine)
		return NULL;
	*opened =
		atomic_compare_exchange_strong(&slot->session, &session, mine);
	if (*opened)
		return mine;
	afb_session_close(mine);
	return session;
}

void session_drop(struct session_slot *slot)
{
	afb_session_close(atomic_exchange(&slot->session, NULL));
}
