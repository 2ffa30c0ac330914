/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the state of a run of the model test. Sessions, queues and streams
 * are opened and closed at random; beside each stands what the library has been
 * told, from which follows what it must answer.
 */
#ifndef MODEL_H
#define MODEL_H

#include "oracle.h"
#include "record.h"
#include "rng.h"

#define SESSIONS 14
#define QUEUES 4
#define STREAMS 6
#define DEPTH_MAX 300

struct model_session {
	struct afb_session *session; /* NULL: a free place */
	struct keyed keyed;
	bool kernel;  /* not served by software alone */
	bool no_soft; /* never served by software */
};

struct model_queue {
	struct afb_queue *queue; /* NULL: a free place */
	unsigned depth;
	bool in_order;
	int fd;				/* for poll(2), -1 until asked for */
	struct record *lent[DEPTH_MAX]; /* accepted and not yet reaped */
	unsigned held;
	uint64_t accepted, reaped;
	uint64_t right, by_kernel; /* of those reaped: messages served */
	uint64_t told;		   /* of by_kernel, those the report has */
};

struct model_stream {
	struct afb_stream *stream; /* NULL: a free place */
	struct keyed keyed;
	uint8_t *data; /* all that it was fed */
	size_t len;
	bool final;
};

struct model {
	uint64_t seed, step;
	uint64_t ops_wanted;
	int backend; /* of everything opened; -1: one at random each time */
	enum afb_backend offered[AFB_BACKENDS]; /* to choose from */
	unsigned offered_count;
	bool kernel; /* AF_ALG is there and must serve */
	struct rng rng; /* of this step */

	struct model_session sessions[SESSIONS];
	struct model_queue queues[QUEUES];
	struct model_stream streams[STREAMS];

	/* What was done, for the report. */
	uint64_t accepted, reaped, dropped, errors, refused, finals;
	uint64_t by_kernel;
};

/* Ends the run: prints what happened at which step, and how to have it again. */
void fail(const struct model *model, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

enum afb_backend random_backend(struct model *model);

/* sessions.c */
void session_step(struct model *model);
struct model_session *some_session(struct model *model);
void close_all_sessions(struct model *model);

/* queues.c */
void queue_step(struct model *model);
void submit_step(struct model *model);
void flush_step(struct model *model);
void reap_step(struct model *model);
void poll_step(struct model *model);
void drain_step(struct model *model);
void close_all_queues(struct model *model);

/* streams.c */
void stream_step(struct model *model);
void close_all_streams(struct model *model);

#endif
