/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - bursts of the model test. Holds every queue to its word: how many
 * ops it accepts, that each of them comes back once and right, and who served.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

/* Larger than any queue of ours, so that some bursts find no room. */
#define BURST_MAX (DEPTH_MAX + 40)

static struct model_queue *some_queue(struct model *model)
{
	unsigned first = rng_below(&model->rng, QUEUES), i;

	for (i = 0; i < QUEUES; i++) {
		struct model_queue *place =
			&model->queues[(first + i) % QUEUES];

		if (place->queue)
			return place;
	}
	return NULL;
}

/* ---- Opening and closing ------------------------------------------------ */

static void open_queue(struct model *model, struct model_queue *place)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct rng *rng = &model->rng;
	enum afb_backend got;
	int ret;

	memset(place, 0, sizeof(*place));
	place->fd = -1;
	params.backend = random_backend(model);
	params.depth = rng_range(rng, 1, rng_once_in(rng, 3) ? 5 : DEPTH_MAX);
	if (model->kernel && rng_once_in(rng, 4))
		params.flags |= AFB_STRICT;
	if (rng_once_in(rng, 3))
		params.flags |= AFB_IN_ORDER;
	ret = afb_queue_open(&place->queue, &params);
	if (ret)
		fail(model, "opening a queue by %s of %u gave %d",
		     afb_backend_name(params.backend), params.depth, ret);
	place->depth = params.depth;
	place->in_order = params.flags & AFB_IN_ORDER;
	got = afb_queue_backend(place->queue);
	if (params.backend == AFB_BACKEND_AUTO ?
		    model->kernel && got == AFB_BACKEND_SOFT :
		    got != params.backend)
		fail(model, "a queue by %s was wanted, one by %s came",
		     afb_backend_name(params.backend), afb_backend_name(got));
}

/* Ops that nobody reaps any more; their memory is ours again. */
static void drop_held(struct model *model, struct model_queue *place)
{
	while (place->held) {
		struct record *record = place->lent[--place->held];

		if (!record_is_untouched_or_right(record))
			fail(model,
			     "%zu bytes, dropped with their queue: neither "
			     "untouched nor right",
			     record->bytes);
		record_free(record);
		model->dropped++;
	}
}

static void close_queue(struct model *model, struct model_queue *place)
{
	if (!place->queue)
		return;
	afb_queue_close(place->queue);
	place->queue = NULL;
	drop_held(model, place);
}

void queue_step(struct model *model)
{
	struct model_queue *place =
		&model->queues[rng_below(&model->rng, QUEUES)];

	close_queue(model, place);
	open_queue(model, place);
}

void close_all_queues(struct model *model)
{
	unsigned i;

	for (i = 0; i < QUEUES; i++)
		close_queue(model, &model->queues[i]);
}

/* ---- Submitting --------------------------------------------------------- */

static void accept_record(struct model *model, struct model_queue *place,
			  struct record *record)
{
	record->queue = place - model->queues;
	record->turn = place->accepted++;
	record->place = place->held;
	place->lent[place->held++] = record;
	model->accepted++;
}

static unsigned random_burst(struct model *model, unsigned depth)
{
	struct rng *rng = &model->rng;

	if (rng_below(rng, 2))
		return rng_range(rng, 1, 6);
	if (rng_below(rng, 3))
		return rng_range(rng, 1, 40);
	return rng_range(rng, 1, depth + depth / 8 + 2);
}

/* What this queue makes of an op of that session. */
static void aim(struct record *record, const struct model_session *session,
		const struct model_queue *place)
{
	if (!session->kernel)
		record->kernel_may = false;
	if (!session->no_soft ||
	    afb_queue_backend(place->queue) != AFB_BACKEND_SOFT)
		return;
	record->not_served = true;
	record->kernel_may = false;
}

void submit_step(struct model *model)
{
	static struct record *records[BURST_MAX];
	static struct afb_op *ops[BURST_MAX];
	struct model_queue *place = some_queue(model);
	struct model_session *session;
	unsigned count, room, i;
	int got;

	if (!place || !some_session(model))
		return;
	count = random_burst(model, place->depth);
	for (i = 0; i < count; i++) {
		session = some_session(model);
		records[i] = record_new(&model->rng, &session->keyed,
					session->session);
		aim(records[i], session, place);
		ops[i] = &records[i]->op;
	}
	room = place->depth - place->held;
	got = afb_submit(place->queue, ops, count);
	if (got != (int)(count < room ? count : room))
		fail(model,
		     "%u ops for a queue of %u with %u in it: %d accepted",
		     count, place->depth, place->held, got);
	for (i = 0; i < (unsigned)got; i++)
		accept_record(model, place, records[i]);
	for (; i < count; i++) {
		model->refused++;
		record_free(records[i]);
	}
}

void flush_step(struct model *model)
{
	struct model_queue *place = some_queue(model);
	int ret = place ? afb_flush(place->queue) : 0;

	if (ret)
		fail(model, "flush gave %d", ret);
}

/* ---- Reaping ------------------------------------------------------------ */

static void take_back(struct model *model, struct model_queue *place,
		      struct record *record)
{
	unsigned at = record->place;

	if (record->queue != place - model->queues || at >= place->held ||
	    place->lent[at] != record)
		fail(model, "an op was reaped that was not in the queue");
	place->lent[at] = place->lent[--place->held];
	place->lent[at]->place = at;
}

static void judge(struct model *model, struct model_queue *place,
		  struct record *record)
{
	char text[128];
	const char *fault = record_fault(record, text, sizeof(text));
	const char *name = record->op.session ? record->name : "no session";

	if (fault)
		fail(model,
		     "%s by %s, %s%s, %zu bytes in %u pieces, to %u, "
		     "%zu AAD%s%s: %s",
		     name, afb_backend_name(afb_queue_backend(place->queue)),
		     record->op.kind == AFB_ENCRYPT ? "forwards" : "backwards",
		     record->in_place ? " in place" : "", record->bytes,
		     record->op.in_cnt, record->op.out_cnt, record->op.aad_len,
		     record->flaw ? ", " : "", record->flaw ? record->flaw : "",
		     fault);
	if (place->in_order && record->turn != place->reaped)
		fail(model,
		     "op %llu was reaped as number %llu of a queue in "
		     "order",
		     (unsigned long long)record->turn,
		     (unsigned long long)place->reaped);
	place->reaped++;
	model->reaped++;
	/* Software may know the algorithm behind a driver's name, too. */
	place->right += record->counts &&
			(!record->not_served || record->op.result >= 0);
	place->by_kernel += record->kernel_may;
	model->errors += record->result < 0;
}

static void reap(struct model *model, struct model_queue *place, unsigned max,
		 unsigned min, const struct timespec *timeout)
{
	static struct afb_op *done[BURST_MAX];
	unsigned held = place->held, due = min < held ? min : held;
	int got = afb_reap(place->queue, done, max, min, timeout), i;

	if (got < 0 || got > (int)max || (!timeout && got < (int)due))
		fail(model, "reaping %u to %u of %u%s gave %d", min, max, held,
		     timeout ? " with a limit" : "", got);
	for (i = 0; i < got; i++) {
		struct record *record = (struct record *)done[i];

		take_back(model, place, record);
		judge(model, place, record);
		record_free(record);
	}
}

void reap_step(struct model *model)
{
	struct model_queue *place = some_queue(model);
	struct rng *rng = &model->rng;
	struct timespec limit = { 0 };
	unsigned max, min;

	if (!place)
		return;
	max = rng_range(rng, rng_once_in(rng, 10) ? 0 : 1, place->depth + 10);
	min = rng_below(rng, 2) ? rng_range(rng, 0, max) : 0;
	if (rng_below(rng, 2))
		limit.tv_nsec = rng_below(rng, 3000000);
	reap(model, place, max, min, rng_below(rng, 2) ? &limit : NULL);
}

/* Sleeps on the descriptor until something has ended. */
void poll_step(struct model *model)
{
	struct model_queue *place = some_queue(model);
	struct pollfd poll_fd = { .events = POLLIN };
	uint64_t before = model->reaped;
	unsigned tries;
	int ret;

	if (!place)
		return;
	poll_fd.fd = afb_queue_fd(place->queue);
	if (poll_fd.fd < 0 || (place->fd >= 0 && place->fd != poll_fd.fd))
		fail(model, "the queue's descriptor is %d", poll_fd.fd);
	place->fd = poll_fd.fd;
	ret = afb_flush(place->queue);
	if (ret)
		fail(model, "flush gave %d", ret);
	for (tries = 0; place->held && model->reaped == before; tries++) {
		if (poll(&poll_fd, 1, 20000) != 1 || tries > 10000)
			fail(model,
			     "%u ops in the queue, and its descriptor says "
			     "nothing",
			     place->held);
		reap(model, place, BURST_MAX, 0, NULL);
	}
}

/* ---- Who served --------------------------------------------------------- */

static void check_counters(struct model *model, struct model_queue *place)
{
	struct afb_counters counters = AFB_COUNTERS;
	enum afb_backend backend = afb_queue_backend(place->queue);
	uint64_t kernel = 0;

	if (afb_queue_counters(place->queue, &counters))
		fail(model, "no counters");
	if (backend != AFB_BACKEND_SOFT)
		kernel = place->by_kernel;
	if (counters.messages[AFB_BACKEND_AUTO] != place->right ||
	    (backend != AFB_BACKEND_SOFT &&
	     counters.messages[backend] != kernel) ||
	    counters.messages[AFB_BACKEND_SOFT] != place->right - kernel)
		fail(model,
		     "by %s: %llu of %llu messages served by it and %llu "
		     "by libcrypto, where %llu of %llu should have been",
		     afb_backend_name(backend),
		     (unsigned long long)counters.messages[backend],
		     (unsigned long long)counters.messages[AFB_BACKEND_AUTO],
		     (unsigned long long)counters.messages[AFB_BACKEND_SOFT],
		     (unsigned long long)kernel,
		     (unsigned long long)place->right);
}

/* Reaps all there is. */
void drain_step(struct model *model)
{
	struct model_queue *place = some_queue(model);

	if (!place)
		return;
	reap(model, place, BURST_MAX, BURST_MAX, NULL);
	if (place->held)
		fail(model, "%u ops are left of a drained queue", place->held);
	check_counters(model, place);
	if (afb_queue_backend(place->queue) != AFB_BACKEND_SOFT)
		model->by_kernel += place->by_kernel - place->told;
	place->told = place->by_kernel;
}
