/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.c - in place, a part overwrites the block that the next part's IV is taken
 * from (CBC decryption). So each IV is taken when the part before it is made,
 * which is before that part can start.
 */
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "pieces.h"

/* A place in a list of pieces. */
struct cursor {
	const struct iovec *piece;
	unsigned left; /* pieces, this one with them */
	size_t offset;
};

struct part {
	struct afb_op op;
	struct cut *cut;
	struct part *next;    /* in the list of idle ones */
	struct iovec *pieces; /* its `in`, then its `out` */
	uint8_t iv[AFB_IV_MAX];
};

struct cut {
	struct cut *next, *next_made; /* idle ones; all */
	struct afb_op *op;
	struct cursor in, out;
	size_t left;   /* bytes not yet in a part */
	unsigned room; /* pieces a part can have of `in`, and of `out` */
	unsigned flying;
	bool serial;		/* a part's IV comes out of the part before */
	uint8_t iv[AFB_IV_MAX]; /* for the next part */
	struct served served;
	ssize_t error;
	struct part *idle;
	struct iovec *pieces; /* of all parts */
	struct part parts[CUT_WAYS];
};

/* ---- Pieces ------------------------------------------------------------- */

static struct cursor cursor_at(const struct iovec *pieces, unsigned count)
{
	return (struct cursor){ .piece = pieces, .left = count };
}

/* How much of @len bytes at most @room pieces hold. */
static size_t reach(struct cursor at, size_t len, unsigned room)
{
	size_t got = 0, part;

	for (; at.left && got < len && room; at.piece++, at.left--) {
		part = at.piece->iov_len - at.offset;
		at.offset = 0;
		got += part;
		room -= part > 0;
	}
	return got < len ? got : len;
}

/* Moves on by @len bytes; the pieces passed go to @to. Returns how many. */
static unsigned pass(struct cursor *at, size_t len, struct iovec *to)
{
	unsigned n = 0;
	size_t part;

	while (len) {
		part = at->piece->iov_len - at->offset;
		if (!part) {
			at->piece++;
			at->left--;
			at->offset = 0;
			continue;
		}
		if (part > len)
			part = len;
		to[n++] = (struct iovec){
			.iov_base = (char *)at->piece->iov_base + at->offset,
			.iov_len = part,
		};
		at->offset += part;
		len -= part;
	}
	return n;
}

/* ---- How large a part is ------------------------------------------------ */

size_t cut_part_max(const struct afb_session *session)
{
	size_t most = session->send_max;

	if (session->mode == MODE_WHOLE)
		return 0;
	if (session->mode == MODE_XTS_UNITS)
		return session->data_unit;
	if (most > AFB_CIPHER_MAX)
		most = AFB_CIPHER_MAX;
	return most - most % session->block_size;
}

bool cut_needed(const struct afb_op *op)
{
	size_t most = op->session->part_max;

	return most && op_text_size(op) > most;
}

/* The next part's bytes; 0 if a data unit is in too many pieces for a part. */
static size_t part_size(const struct cut *cut)
{
	const struct afb_session *session = cut->op->session;
	size_t most = session->part_max;
	size_t want = cut->left < most ? cut->left : most;
	size_t in = reach(cut->in, want, cut->room);
	size_t out = reach(cut->out, want, cut->room);
	size_t size = in < out ? in : out;

	if (size == want)
		return size;
	if (session->mode == MODE_XTS_UNITS)
		return 0;
	return size - size % session->block_size;
}

/* ---- IVs ---------------------------------------------------------------- */

/* @part has been made, and has not started. */
static void iv_after_making(struct cut *cut, const struct afb_op *part,
			    size_t size)
{
	const struct afb_session *session = part->session;

	if (session->mode == MODE_CTR)
		mode_count_up(cut->iv, part->iv_len, size / part->iv_len);
	else if (session->mode == MODE_XTS_UNITS)
		mode_number_up(cut->iv, part->iv_len, 1);
	else if (session->mode == MODE_CBC && part->kind == AFB_DECRYPT)
		pieces_gather(cut->iv, part->in, size - part->iv_len,
			      part->iv_len);
}

static void iv_after_end(struct cut *cut, const struct afb_op *part)
{
	if (cut->serial)
		pieces_gather(cut->iv, part->out,
			      op_text_size(part) - part->iv_len, part->iv_len);
}

/* ---- Parts -------------------------------------------------------------- */

/* NULL if there is none to be made now, or ever: then cut->error tells. */
static struct part *next_part(struct cut *cut)
{
	struct part *part = cut->idle;
	const struct afb_op *op = cut->op;
	size_t size;

	if (!cut->left || cut->error || !part || (cut->serial && cut->flying))
		return NULL;
	size = part_size(cut);
	if (!size) {
		cut->error = -EMSGSIZE;
		return NULL;
	}
	cut->idle = part->next;
	cut->flying++;
	cut->left -= size;
	memcpy(part->iv, cut->iv, op->iv_len);
	part->op = (struct afb_op){
		.session = op->session,
		.in = part->pieces,
		.out = part->pieces + cut->room,
		.in_cnt = pass(&cut->in, size, part->pieces),
		.out_cnt = pass(&cut->out, size, part->pieces + cut->room),
		.kind = op->kind,
		.iv = part->iv,
		.iv_len = op->iv_len,
		.lent.state = OP_PART,
	};
	iv_after_making(cut, &part->op, size);
	return part;
}

/* Those that can be had now, the first of them in front. */
static void push_parts(struct cut *cut, struct op_fifo *waiting)
{
	struct part *parts[CUT_WAYS];
	unsigned n = 0;

	while (n < CUT_WAYS && (parts[n] = next_part(cut)))
		n++;
	while (n)
		fifo_push_front(waiting, &parts[--n]->op);
}

/* ---- Beginning and end -------------------------------------------------- */

static void release(struct cutter *cutter, struct cut *cut)
{
	cut->next = cutter->idle;
	cutter->idle = cut;
	cutter->active--;
}

static struct cut *take(struct cutter *cutter)
{
	struct cut *cut = cutter->idle;

	if (cut) {
		cutter->idle = cut->next;
	} else {
		cut = OPENSSL_zalloc(sizeof(*cut));
		if (!cut)
			return NULL;
		cut->next_made = cutter->made;
		cutter->made = cut;
	}
	cutter->active++;
	return cut;
}

/* Room for the pieces of all parts, kept for the next op. */
static int reserve(struct cut *cut, const struct afb_op *op)
{
	unsigned most = op->in_cnt > op->out_cnt ? op->in_cnt : op->out_cnt;
	struct iovec *pieces;

	if (most > IOV_MAX)
		most = IOV_MAX;
	if (cut->room >= most)
		return 0;
	pieces = calloc(2UL * CUT_WAYS * most, sizeof(*pieces));
	if (!pieces)
		return -ENOMEM;
	free(cut->pieces);
	cut->pieces = pieces;
	cut->room = most;
	return 0;
}

static void set_up(struct cut *cut, struct afb_op *op)
{
	unsigned i;

	cut->op = op;
	cut->in = cursor_at(op->in, op->in_cnt);
	cut->out = cursor_at(op->out, op->out_cnt);
	cut->left = op_text_size(op);
	cut->flying = 0;
	cut->error = 0;
	cut->serial = op->session->mode == MODE_CBC && op->kind == AFB_ENCRYPT;
	cut->served = (struct served){ AFB_BACKEND_AUTO, AFB_FALLBACK_NONE };
	if (op->iv_len)
		memcpy(cut->iv, op->iv, op->iv_len);
	cut->idle = NULL;
	for (i = 0; i < CUT_WAYS; i++) {
		cut->parts[i].cut = cut;
		cut->parts[i].pieces = cut->pieces + 2UL * i * cut->room;
		cut->parts[i].next = cut->idle;
		cut->idle = &cut->parts[i];
	}
}

int cut_begin(struct cutter *cutter, struct afb_op *op, struct op_fifo *waiting)
{
	struct cut *cut;
	int ret;

	if (cutter->active == CUT_OPS)
		return -EAGAIN;
	cut = take(cutter);
	if (!cut)
		return -ENOMEM;
	ret = reserve(cut, op);
	if (!ret) {
		set_up(cut, op);
		push_parts(cut, waiting);
		ret = cut->flying ? 0 : cut->error;
	}
	if (ret)
		release(cutter, cut);
	return ret;
}

static void note(struct cut *cut, const struct served *served, ssize_t result)
{
	if (result < 0 && !cut->error)
		cut->error = result;
	if (served->backend > cut->served.backend)
		cut->served.backend = served->backend;
	if (cut->served.why == AFB_FALLBACK_NONE)
		cut->served.why = served->why;
}

struct afb_op *cut_part_ended(struct cutter *cutter, struct afb_op *ended,
			      struct op_fifo *waiting, struct served *served,
			      ssize_t *result)
{
	struct part *part = (struct part *)ended; /* its first member */
	struct cut *cut = part->cut;

	note(cut, served, *result);
	iv_after_end(cut, ended);
	part->next = cut->idle;
	cut->idle = part;
	cut->flying--;
	push_parts(cut, waiting);
	if (cut->flying)
		return NULL;
	*served = cut->served;
	*result = cut->error ? cut->error : (ssize_t)op_text_size(cut->op);
	release(cutter, cut);
	return cut->op;
}

void cut_free(struct cutter *cutter)
{
	struct cut *cut;

	while ((cut = cutter->made)) {
		cutter->made = cut->next_made;
		free(cut->pieces);
		OPENSSL_clear_free(cut, sizeof(*cut));
	}
	*cutter = (struct cutter){ 0 };
}
