/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - opens and closes sessions of the model test, without regard to
 * what queues and streams still do with them.
 */
#include <errno.h>
#include <string.h>

#include "model.h"

/* By algorithm, and by whether software was asked for. */
static bool absent[64][2];

static void random_key(struct model *model, struct keyed *keyed)
{
	struct rng *rng = &model->rng;
	const struct algorithm *alg = keyed->alg;

	keyed->key_len = alg->key_len;
	if (alg->mac && !alg->key_len)
		keyed->key_len = rng_range(rng, 1, KEY_MAX);
	rng_fill(rng, keyed->key, keyed->key_len);
	do
		keyed->tag_len = alg->tags ? rng_range(rng, 4, TAG_MAX) : 0;
	while (alg->tags && !(alg->tags >> keyed->tag_len & 1));
}

/* Whether libcrypto has it, as the library sees it. Not asked twice. */
static bool soft_lacks(const struct keyed *keyed)
{
	static enum { UNKNOWN, NO, YES } known[64];
	struct afb_session_params params = AFB_SESSION_PARAMS;
	unsigned index = keyed->alg - algorithms;
	struct afb_session *session = NULL;

	if (!keyed->alg->optional)
		return false;
	if (known[index] == UNKNOWN) {
		params.backend = AFB_BACKEND_SOFT;
		params.key = keyed->key;
		params.key_len = keyed->key_len;
		known[index] = afb_session_open(&session, keyed->alg->type,
						keyed->alg->kernel, &params) ?
				       YES :
				       NO;
		afb_session_close(session);
	}
	return known[index] == YES;
}

static void check_open(struct model *model, const struct model_session *place,
		       enum afb_backend wanted)
{
	const struct algorithm *alg = place->keyed.alg;
	uint8_t digest[AFB_DIGEST_MAX];
	size_t size = 0;

	if (alg->type == AFB_HASH)
		size = oracle_digest(&place->keyed, "", 0, digest);
	if (afb_session_digest_size(place->session) != size)
		fail(model, "%s: digest of %zu bytes, not %zu", alg->kernel,
		     afb_session_digest_size(place->session), size);
	if (model->kernel && wanted != AFB_BACKEND_SOFT && !place->kernel &&
	    !alg->optional)
		fail(model, "%s: no kernel serves it (%s)", alg->kernel,
		     afb_fallback_text(afb_session_fallback(place->session)));
}

static void open_session(struct model *model, struct model_session *place)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct rng *rng = &model->rng;
	unsigned index = rng_below(rng, algorithm_count);
	const struct algorithm *alg = &algorithms[index];
	bool soft;
	int ret;

	params.backend = random_backend(model);
	soft = params.backend == AFB_BACKEND_SOFT;
	place->keyed.alg = alg;
	random_key(model, &place->keyed);
	params.key = place->keyed.key;
	params.key_len = place->keyed.key_len;
	params.tag_len = place->keyed.tag_len;
	if (params.tag_len == 16 && rng_below(rng, 2))
		params.tag_len = 0;
	if (model->kernel && rng_once_in(rng, 4))
		params.flags = AFB_STRICT;
	if (absent[index][soft])
		return;
	ret = afb_session_open(&place->session, alg->type, alg->kernel,
			       &params);
	if (ret == -ENOENT && alg->optional) {
		absent[index][soft] = true;
		place->session = NULL;
		return;
	}
	if (ret)
		fail(model, "%s by %s, key of %zu, tag of %zu: opening gave %d",
		     alg->kernel, afb_backend_name(params.backend),
		     params.key_len, params.tag_len, ret);
	place->kernel = afb_session_backend(place->session) != AFB_BACKEND_SOFT;
	place->no_soft = place->kernel && (params.flags & AFB_STRICT ||
					   soft_lacks(&place->keyed));
	check_open(model, place, params.backend);
}

static void close_session(struct model_session *place)
{
	afb_session_close(place->session);
	place->session = NULL;
}

void session_step(struct model *model)
{
	unsigned i = rng_below(&model->rng, SESSIONS);

	close_session(&model->sessions[i]);
	open_session(model, &model->sessions[i]);
}

struct model_session *some_session(struct model *model)
{
	unsigned first = rng_below(&model->rng, SESSIONS), i;

	for (i = 0; i < SESSIONS; i++) {
		struct model_session *place =
			&model->sessions[(first + i) % SESSIONS];

		if (place->session)
			return place;
	}
	return NULL;
}

void close_all_sessions(struct model *model)
{
	unsigned i;

	for (i = 0; i < SESSIONS; i++)
		close_session(&model->sessions[i]);
}
