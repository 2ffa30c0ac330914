/* SPDX-License-Identifier: Apache-2.0 */
/* known_run.c - see known_run.h. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_run.h"
#include "reference.h"

#define PIECES 6

enum layout {
	IN_PLACE = 1,
	IN_PIECES = 2,
	LAYOUTS = 4,
};

/* One op and its memory. */
struct trial {
	struct afb_op op;
	struct iovec in[PIECES], out[PIECES];
	uint8_t *input, *output;
	size_t input_len, result_len;
	uint8_t *memory;
};

static bool open_queue(struct known_way *way)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;

	if (way->queue)
		return true;
	params.backend = way->backend;
	params.flags = AFB_STRICT;
	if (afb_queue_open(&way->queue, &params))
		way->queue = NULL;
	return way->queue;
}

static bool open_way(struct known_way *way, const struct known *known)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	int ret;

	if (!strcmp(way->missing, known->algorithm) || !open_queue(way))
		return false;
	params.backend = way->backend;
	params.flags = AFB_STRICT;
	params.key = known->key.data;
	params.key_len = known->key.len;
	params.tag_len = known->tag_len;
	ret = afb_session_open(&way->session, known->type, known->algorithm,
			       &params);
	/* Not there has many names, but none of them is a wrong key's. */
	cr_assert(!ret || ret == -ENOENT ||
			  (ret != -EINVAL && way->backend != AFB_BACKEND_SOFT),
		  "%s: %d", known->algorithm, ret);
	if (ret && way->backend != AFB_BACKEND_SOFT)
		snprintf(way->missing, sizeof(way->missing), "%s",
			 known->algorithm);
	return !ret;
}

static void close_way(struct known_way *way)
{
	struct afb_counters counters = AFB_COUNTERS;

	cr_assert_eq(afb_queue_counters(way->queue, &counters), 0);
	cr_assert_eq(counters.messages[way->backend], way->ops);
	cr_assert_eq(counters.messages[AFB_BACKEND_AUTO], way->ops);
	afb_session_close(way->session);
}

static void end_way(struct known_way *way)
{
	afb_queue_close(way->queue);
	way->queue = NULL;
	way->ops = 0;
}

/* Odd lengths, an empty piece among them; the last takes the rest. */
static unsigned cut(struct iovec *pieces, uint8_t *data, size_t len,
		    unsigned step)
{
	unsigned i;
	size_t part;

	for (i = 0; i < PIECES; i++) {
		part = i == 2 ? 0 : step * i + 1;
		if (part > len || i == PIECES - 1)
			part = len;
		pieces[i] = (struct iovec){ data, part };
		data += part;
		len -= part;
	}
	return PIECES;
}

static void set_up(struct trial *trial, const struct known_way *way,
		   const struct known *known, enum afb_kind kind, int layout)
{
	const struct bytes *text = &known->plain;
	size_t room = known->aad.len + known->plain.len + known->cipher.len;

	trial->result_len = known->cipher.len;
	if (kind == AFB_DECRYPT) {
		text = &known->cipher;
		trial->result_len = known->plain.len;
	}
	trial->memory = malloc(2 * room + AFB_DIGEST_MAX);
	cr_assert_not_null(trial->memory);
	memset(trial->memory, 0xee, 2 * room + AFB_DIGEST_MAX);
	trial->input = trial->memory;
	memcpy(trial->input, known->aad.data, known->aad.len);
	memcpy(trial->input + known->aad.len, text->data, text->len);
	trial->input_len = known->aad.len + text->len;
	trial->output = layout & IN_PLACE ? trial->input + known->aad.len :
					    trial->input + room;

	trial->op = (struct afb_op){
		.session = way->session,
		.in = trial->in,
		.out = trial->out,
		.in_cnt = 1,
		.out_cnt = 1,
		.kind = kind,
		.iv = known->iv.data,
		.iv_len = known->iv.len,
		.aad_len = known->aad.len,
	};
	trial->in[0] = (struct iovec){ trial->input, trial->input_len };
	trial->out[0] = (struct iovec){ trial->output, trial->result_len };
	if (!(layout & IN_PIECES))
		return;
	trial->op.in_cnt = cut(trial->in, trial->input, trial->input_len, 3);
	if (known->type != AFB_HASH)
		trial->op.out_cnt =
			cut(trial->out, trial->output, trial->result_len, 2);
}

static void run_op(struct afb_queue *queue, struct afb_op *op)
{
	struct afb_op *ended;

	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	cr_assert_eq(afb_reap(queue, &ended, 1, 1, NULL), 1);
	cr_assert_eq(ended, op);
}

static void run_one(struct known_way *way, const struct known *known,
		    enum afb_kind kind, int layout, int error,
		    const char *where)
{
	const struct bytes *right = kind == AFB_ENCRYPT ? &known->cipher :
							  &known->plain;
	const char *backend = afb_backend_name(way->backend);
	struct trial trial;
	size_t i;

	set_up(&trial, way, known, kind, layout);
	run_op(way->queue, &trial.op);
	if (error) {
		cr_assert_eq(trial.op.result, error, "%s: %s, %d, %d: %zd",
			     where, backend, kind, layout, trial.op.result);
		/* Nothing of it is shown. */
		for (i = 0; !(layout & IN_PLACE) && i < right->len; i++)
			cr_assert_eq(trial.output[i], 0xee, "%s: %s", where,
				     backend);
	} else {
		cr_assert_eq(trial.op.result, (ssize_t)right->len,
			     "%s: %s, %d, %d: %zd", where, backend, kind,
			     layout, trial.op.result);
		cr_assert_arr_eq(trial.output, right->data, right->len,
				 "%s: %s, %d, %d", where, backend, kind,
				 layout);
		way->ops += known->type != AFB_SKCIPHER || right->len;
	}
	free(trial.memory);
}

/* In pieces of all sizes, with a copy made half-way. */
static void run_stream(struct known_way *way, const struct known *known,
		       const char *where)
{
	struct afb_stream *streams[2];
	uint8_t digest[AFB_DIGEST_MAX];
	size_t at, part, len = known->plain.len, size = known->cipher.len;
	int i;

	cr_assert_eq(afb_stream_open(&streams[0], way->session), 0);
	for (at = 0; at < len / 2; at += part) {
		part = at % 7 + 1;
		if (part > len / 2 - at)
			part = len / 2 - at;
		cr_assert_eq(afb_stream_update(streams[0],
					       known->plain.data + at, part),
			     0);
	}
	cr_assert_eq(afb_stream_dup(&streams[1], streams[0]), 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(afb_stream_update(streams[i],
					       known->plain.data + at,
					       len - at),
			     0);
		cr_assert_eq(afb_stream_final(streams[i], digest,
					      sizeof(digest)),
			     (ssize_t)size, "%s: %s", where,
			     afb_backend_name(way->backend));
		cr_assert_arr_eq(digest, known->cipher.data, size,
				 "%s: stream, %s", where,
				 afb_backend_name(way->backend));
		afb_stream_close(streams[i]);
	}
}

static void run_all_layouts(struct known_way *way, const struct known *known,
			    int error, const char *where)
{
	bool hash = known->type == AFB_HASH;
	int layout;

	for (layout = 0; layout < LAYOUTS; layout++) {
		if (hash && layout & IN_PLACE)
			continue;
		if (error != -EBADMSG)
			run_one(way, known, AFB_ENCRYPT, layout, error, where);
		if (!hash && (!error || error == -EBADMSG))
			run_one(way, known, AFB_DECRYPT, layout, error, where);
	}
	if (hash && !error)
		run_stream(way, known, where);
}

struct afb_session *known_keep_context(void)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	params.backend = AFB_BACKEND_SOFT;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "md5", &params), 0);
	return session;
}

void known_run_everywhere(struct known_ways *ways, const struct known *known,
			  int error, const char *where)
{
	struct known_way *way;
	int backend;

	if (!ways->kept)
		ways->kept = known_keep_context();
	for (backend = AFB_BACKEND_AUTO + 1; backend < AFB_BACKENDS;
	     backend++) {
		way = &ways->by[backend];
		way->backend = backend;
		if (!open_way(way, known))
			continue;
		run_all_layouts(way, known, error, where);
		close_way(way);
		if (backend == AFB_BACKEND_SOFT)
			ways->soft_runs++;
		else
			ways->kernel_runs++;
	}
}

void known_end_everywhere(struct known_ways *ways)
{
	int backend;

	for (backend = 0; backend < AFB_BACKENDS; backend++)
		end_way(&ways->by[backend]);
	afb_session_close(ways->kept);
	ways->kept = NULL;
}
