/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - digests and MACs in pieces, of the model test. A stream outlives
 * the session it was opened from more often than not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* More than the buffers of a stream hold, so that some spill. */
#define MESSAGE_MAX (400U << 10)

static struct model_stream *place_for(struct model *model, bool open)
{
	unsigned first = rng_below(&model->rng, STREAMS), i;

	for (i = 0; i < STREAMS; i++) {
		struct model_stream *place =
			&model->streams[(first + i) % STREAMS];

		if (open == !!place->stream)
			return place;
	}
	return NULL;
}

static void expect(struct model *model, const struct model_stream *place,
		   const char *call, ssize_t got, ssize_t right)
{
	if (got != right)
		fail(model, "stream %s: %s after %zu bytes gave %zd, not %zd",
		     place->keyed.alg->kernel, call, place->len, got, right);
}

static void open_stream(struct model *model)
{
	struct model_session *session = some_session(model);
	struct model_stream *place = place_for(model, false);
	int right = 0, got;

	if (!session || !place)
		return;
	if (session->keyed.alg->type != AFB_HASH)
		right = -EINVAL;
	place->keyed = session->keyed;
	place->len = 0;
	got = afb_stream_open(&place->stream, session->session);
	expect(model, place, "open", got, right);
	if (got) {
		place->stream = NULL;
		return;
	}
	place->data = malloc(MESSAGE_MAX);
	place->final = false;
}

static void close_stream(struct model_stream *place)
{
	afb_stream_close(place->stream);
	free(place->data);
	place->stream = NULL;
	place->data = NULL;
}

static size_t random_piece(struct rng *rng)
{
	unsigned dice = rng_below(rng, 100);

	if (dice < 60)
		return rng_below(rng, 200);
	if (dice < 90)
		return rng_below(rng, 3000);
	return rng_below(rng, dice < 97 ? 20000 : 200000);
}

static void update(struct model *model, struct model_stream *place)
{
	size_t len = random_piece(&model->rng);
	uint8_t *piece;

	if (len > MESSAGE_MAX - place->len)
		len = MESSAGE_MAX - place->len;
	piece = malloc(len);
	rng_fill(&model->rng, piece, len);
	expect(model, place, "update",
	       afb_stream_update(place->stream, len ? piece : NULL, len),
	       place->final ? -EINVAL : 0);
	if (!place->final) {
		memcpy(place->data + place->len, piece, len);
		place->len += len;
	}
	/* The library has taken it: it may be gone. */
	memset(piece, 0, len);
	free(piece);
}

static void finish(struct model *model, struct model_stream *place)
{
	uint8_t right[AFB_DIGEST_MAX], got[AFB_DIGEST_MAX + 1];
	size_t size =
		oracle_digest(&place->keyed, place->data, place->len, right);
	size_t room = size + rng_below(&model->rng, AFB_DIGEST_MAX - size + 1);

	if (rng_once_in(&model->rng, 5))
		expect(model, place, "final with too little room",
		       afb_stream_final(place->stream, got, size - 1), -EINVAL);
	memset(got, 0xa5, sizeof(got));
	if (place->final) {
		expect(model, place, "final after final",
		       afb_stream_final(place->stream, got, room), -EINVAL);
		return;
	}
	expect(model, place, "final",
	       afb_stream_final(place->stream, got, room), size);
	if (memcmp(got, right, size))
		fail(model, "stream %s: wrong digest of %zu bytes",
		     place->keyed.alg->kernel, place->len);
	if (got[size] != 0xa5)
		fail(model, "stream %s: written beyond its digest",
		     place->keyed.alg->kernel);
	place->final = true;
	model->finals++;
}

static void dup_stream(struct model *model, struct model_stream *from)
{
	struct model_stream *copy = place_for(model, false);

	if (!copy)
		return;
	copy->keyed = from->keyed;
	copy->len = from->len;
	copy->final = from->final;
	expect(model, from, "dup", afb_stream_dup(&copy->stream, from->stream),
	       0);
	copy->data = malloc(MESSAGE_MAX);
	memcpy(copy->data, from->data, from->len);
}

static void reset(struct model_stream *place)
{
	afb_stream_reset(place->stream);
	place->len = 0;
	place->final = false;
}

static void one_action(struct model *model)
{
	struct model_stream *place = place_for(model, true);
	unsigned dice = rng_below(&model->rng, 100);

	if (!place || dice < 8)
		open_stream(model);
	else if (dice < 65)
		update(model, place);
	else if (dice < 75)
		dup_stream(model, place);
	else if (dice < 88)
		finish(model, place);
	else if (dice < 95)
		reset(place);
	else
		close_stream(place);
}

void stream_step(struct model *model)
{
	unsigned i;

	/* Each is small beside a burst. */
	for (i = 0; i < 8; i++)
		one_action(model);
}

void close_all_streams(struct model *model)
{
	unsigned i;

	for (i = 0; i < STREAMS; i++)
		close_stream(&model->streams[i]);
}
