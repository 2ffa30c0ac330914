/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - see record.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define GUARD 16
#define GUARD_BYTE 0xa5
#define HASH_MAX (300U << 10)

/* A message before it has a place: its parts one behind the other. */
struct draft {
	const struct keyed *keyed;
	struct rng *rng;
	enum afb_kind kind;
	size_t aad_len, text_len, tag_len;
	uint8_t iv[AFB_IV_MAX];
	uint8_t *plain;	 /* AAD, text */
	uint8_t *cipher; /* AAD, text, tag */
	size_t in_len, out_len;
};

/* ---- The message -------------------------------------------------------- */

/*
 * Short ones mostly, for the guests' sake; edges of blocks, pages, socket
 * buffers and of the library's own limit more often than by chance.
 */
static size_t random_length(struct rng *rng, size_t max)
{
	static const unsigned edges[] = { 0,	 1,	16,	55,    64,
					  112,	 128,	255,	256,   512,
					  1024,	 2048,	4096,	8192,  16384,
					  32768, 65536, 131072, 212992 };
	enum { EDGES = sizeof(edges) / sizeof(edges[0]), CHEAP = 13 };
	unsigned dice = rng_below(rng, 1000);
	size_t len;

	if (dice < 600)
		len = rng_below(rng, 100);
	else if (dice < 800)
		len = edges[rng_below(rng, CHEAP)] + rng_below(rng, 3) - 1;
	else if (dice < 980)
		len = rng_below(rng, 2100);
	else if (dice < 990)
		len = rng_below(rng, 20000);
	else if (dice < 996)
		len = edges[rng_below(rng, EDGES)] + rng_below(rng, 3) - 1;
	else
		len = max - rng_below(rng, 3);
	/* One less than nothing. */
	if (len > HASH_MAX)
		len = 0;
	return len < max ? len : max;
}

static void random_iv(struct draft *draft)
{
	const struct algorithm *alg = draft->keyed->alg;
	unsigned length_bytes;

	rng_fill(draft->rng, draft->iv, sizeof(draft->iv));
	/* A counter near its end, where carries are. */
	if (alg->mode == MODE_CTR && rng_once_in(draft->rng, 3))
		memset(draft->iv + rng_below(draft->rng, 13), 0xff, 3);
	if (alg->mode == MODE_CTR && rng_once_in(draft->rng, 8))
		memset(draft->iv, 0xff, alg->iv_len);
	if (alg->mode != MODE_CCM)
		return;
	length_bytes =
		rng_range(draft->rng, draft->text_len > 65535 ? 3 : 2, 8);
	draft->iv[0] = length_bytes - 1;
	memset(draft->iv + 16 - length_bytes, 0, length_bytes);
}

static void random_sizes(struct draft *draft)
{
	const struct algorithm *alg = draft->keyed->alg;
	size_t max = AFB_CIPHER_MAX;

	/* Some are cut into requests. */
	if ((alg->mode == MODE_CBC || alg->mode == MODE_CTR) &&
	    rng_once_in(draft->rng, 30))
		max *= 3;
	if (alg->type == AFB_HASH) {
		draft->text_len = random_length(draft->rng, HASH_MAX);
		return;
	}
	if (alg->type == AFB_AEAD) {
		draft->tag_len = draft->keyed->tag_len;
		draft->aad_len = rng_once_in(draft->rng, 3) ?
					 0 :
					 rng_below(draft->rng, 40);
		if (rng_once_in(draft->rng, 50))
			draft->aad_len = random_length(draft->rng, 5000);
		max -= draft->aad_len + draft->tag_len;
	}
	draft->text_len = random_length(draft->rng, max);
	draft->text_len -= draft->text_len % alg->block;
	if (draft->text_len && draft->text_len < alg->min)
		draft->text_len = alg->min;
}

static void draft_message(struct draft *draft)
{
	size_t size;

	random_sizes(draft);
	random_iv(draft);
	draft->kind = rng_below(draft->rng, 2) ? AFB_DECRYPT : AFB_ENCRYPT;
	size = draft->aad_len + draft->text_len;
	draft->plain = malloc(size + 1);
	draft->cipher = malloc(size + draft->tag_len + AFB_DIGEST_MAX);
	rng_fill(draft->rng, draft->plain, size);
	draft->in_len = draft->out_len = draft->text_len;
	if (draft->keyed->alg->type == AFB_HASH) {
		draft->kind = AFB_ENCRYPT;
		draft->out_len = oracle_digest(draft->keyed, draft->plain, size,
					       draft->cipher);
		return;
	}
	memcpy(draft->cipher, draft->plain, draft->aad_len);
	oracle_encrypt(draft->keyed, draft->iv, draft->plain, draft->aad_len,
		       draft->plain + draft->aad_len, draft->text_len,
		       draft->cipher + draft->aad_len);
	draft->in_len += draft->aad_len;
	if (draft->kind == AFB_ENCRYPT)
		draft->out_len += draft->tag_len;
	else
		draft->in_len += draft->tag_len;
}

static const uint8_t *draft_in(const struct draft *draft)
{
	return draft->kind == AFB_ENCRYPT ? draft->plain : draft->cipher;
}

static const uint8_t *draft_out(const struct draft *draft)
{
	return (draft->kind == AFB_ENCRYPT ? draft->cipher : draft->plain) +
	       draft->aad_len;
}

/* ---- Its place ---------------------------------------------------------- */

/* Lengths of pieces whose sum is @len, some of them zero. Returns how many. */
static unsigned cut(struct rng *rng, struct iovec *pieces, size_t len)
{
	unsigned count = 1, i;
	size_t part;

	if (rng_once_in(rng, 3))
		count = rng_range(rng, 1, rng_once_in(rng, 4) ? PIECES_MAX : 4);
	for (i = 0; i + 1 < count; i++) {
		part = rng_once_in(rng, 5) ? 0 : rng_below(rng, len + 1);
		if (rng_once_in(rng, 2) && part > 40)
			part = rng_below(rng, 40);
		pieces[i].iov_len = part;
		len -= part;
	}
	pieces[count - 1].iov_len = len;
	return count;
}

/* Offsets for now, in place of addresses: guard bytes, any alignment. */
static size_t place_apart(struct rng *rng, struct iovec *pieces, unsigned count,
			  size_t at)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		at += GUARD + rng_below(rng, 16);
		pieces[i].iov_base = (void *)at;
		at += pieces[i].iov_len;
	}
	return at;
}

static size_t place_together(struct iovec *pieces, unsigned count, size_t at)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		pieces[i].iov_base = (void *)at;
		at += pieces[i].iov_len;
	}
	return at;
}

/* From offsets to addresses. A piece of nothing may have no address at all. */
static void settle(struct rng *rng, struct iovec *pieces, unsigned count,
		   uint8_t *memory, bool may_be_null)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		pieces[i].iov_base = memory + (size_t)pieces[i].iov_base;
		if (may_be_null && !pieces[i].iov_len && rng_below(rng, 2))
			pieces[i].iov_base = NULL;
	}
}

/* Copies @len bytes into the pieces as they lie in the block @memory. */
static void spread(const struct record *record, uint8_t *memory,
		   const struct iovec *pieces, const uint8_t *from, size_t len)
{
	size_t part;

	for (; len; pieces++) {
		part = pieces->iov_len < len ? pieces->iov_len : len;
		if (!part)
			continue;
		memcpy(memory + ((uint8_t *)pieces->iov_base - record->memory),
		       from, part);
		from += part;
		len -= part;
	}
}

static void lay_out(struct record *record, const struct draft *draft)
{
	struct afb_op *op = &record->op;
	struct rng *rng = draft->rng;
	bool hash = draft->keyed->alg->type == AFB_HASH;
	size_t room = rng_once_in(rng, 4) ? rng_below(rng, 30) : 0;
	size_t at, text;

	record->in_place = !hash && rng_once_in(rng, 3);
	op->in_cnt = cut(rng, record->in, draft->in_len);
	op->out_cnt = cut(rng, record->out, draft->out_len);
	if (hash) {
		op->out_cnt = 1;
		record->out[0].iov_len = draft->out_len;
	}
	record->out[op->out_cnt - 1].iov_len += room;
	if (record->in_place) {
		text = GUARD + rng_below(rng, 16) + draft->aad_len;
		at = place_together(record->in, op->in_cnt,
				    text - draft->aad_len);
		if (text + draft->out_len + room > at)
			at = text + draft->out_len + room;
		place_together(record->out, op->out_cnt, text);
	} else {
		at = place_apart(rng, record->in, op->in_cnt, 0);
		at = place_apart(rng, record->out, op->out_cnt, at);
	}
	record->size = at + GUARD;
}

static void draft_place(struct record *record, const struct draft *draft)
{
	struct afb_op *op = &record->op;
	struct rng *rng = draft->rng;
	size_t iv = 0;

	lay_out(record, draft);
	if (draft->keyed->alg->iv_len) {
		iv = record->size + rng_below(rng, 16);
		record->size = iv + AFB_IV_MAX + GUARD;
	}
	record->memory = malloc(record->size);
	memset(record->memory, GUARD_BYTE, record->size);
	settle(rng, record->in, op->in_cnt, record->memory, true);
	settle(rng, record->out, op->out_cnt, record->memory, op->out_cnt > 1);
	spread(record, record->memory, record->in, draft_in(draft),
	       draft->in_len);
	op->in = record->in;
	op->out = record->out;
	op->kind = draft->kind;
	op->aad_len = draft->aad_len;
	op->user = record;
	if (!iv)
		return;
	memcpy(record->memory + iv, draft->iv, sizeof(draft->iv));
	op->iv = record->memory + iv;
	op->iv_len = draft->keyed->alg->iv_len;
}

/* ---- What comes of it --------------------------------------------------- */

static void expect_success(struct record *record, const struct draft *draft)
{
	const struct keyed *keyed = draft->keyed;
	uint8_t *next;

	record->right = malloc(record->size);
	memcpy(record->right, record->memory, record->size);
	spread(record, record->right, record->out, draft_out(draft),
	       draft->out_len);
	record->result = draft->out_len;
	/* An empty text is no work for anybody. */
	record->counts = record->kernel_may =
		keyed->alg->type != AFB_SKCIPHER || draft->text_len;
	if (record->op.next_iv) {
		next = record->right +
		       ((uint8_t *)record->op.next_iv - record->memory);
		oracle_next_iv(keyed, draft->iv, draft->cipher, draft->text_len,
			       next);
	}
}

static void expect_error(struct record *record, int error, const char *flaw)
{
	free(record->right);
	record->right = malloc(record->size);
	memcpy(record->right, record->memory, record->size);
	record->result = error;
	record->counts = record->kernel_may = false;
	record->flaw = flaw;
}

/* One bit of AAD, text or tag is not what was sealed. */
static void damage(struct record *record, const struct draft *draft)
{
	size_t at = rng_below(draft->rng, draft->in_len);
	const struct iovec *piece = record->in;

	if (rng_once_in(draft->rng, 2))
		at = draft->in_len - 1 - at % draft->tag_len;
	for (; at >= piece->iov_len; piece++)
		at -= piece->iov_len;
	((uint8_t *)piece->iov_base)[at] ^= 1U << rng_below(draft->rng, 8);
	expect_error(record, -EBADMSG, "damaged");
}

/* Makes the input one piece of @len bytes that nobody is to look at. */
static void set_input(struct record *record, size_t len)
{
	record->op.in_cnt = 1;
	record->in[0].iov_base = record->memory;
	record->in[0].iov_len = len;
}

/* A length that the algorithm cannot have. */
static bool spoil_length(struct record *record, const struct draft *draft)
{
	const struct algorithm *alg = draft->keyed->alg;

	if (alg->type == AFB_AEAD && draft->kind == AFB_DECRYPT)
		set_input(record, draft->aad_len + draft->tag_len - 1);
	else if (alg->type == AFB_SKCIPHER && alg->min > 1 && draft->text_len)
		set_input(record, rng_range(draft->rng, 1, alg->min - 1));
	else if (alg->block > 1 && draft->text_len)
		set_input(record, draft->text_len - 1);
	else
		return false;
	expect_error(record, -EINVAL, "of a length it cannot have");
	/* A cipher of the kernel may work up to where it finds out. */
	record->spoils_output = alg->type == AFB_SKCIPHER;
	return true;
}

static bool spoil_iv(struct record *record, const struct draft *draft)
{
	static const unsigned lengths[] = { 0, 1, 8, 11, 13, 15, 17, 32, 33 };
	struct afb_op *op = &record->op;
	unsigned len = lengths[rng_below(draft->rng, 9)];

	if (draft->keyed->alg->type == AFB_HASH || len == op->iv_len)
		return false;
	/* A text of nothing is not looked at any closer by the kernel. */
	if (draft->keyed->alg->type == AFB_SKCIPHER && !draft->text_len)
		return false;
	if (!op->iv)
		op->iv = record->memory;
	op->iv_len = len;
	expect_error(record, -EINVAL, "with an IV of a wrong length");
	return true;
}

static bool spoil_cipher(struct record *record, const struct draft *draft)
{
	struct afb_op *op = &record->op;

	switch (rng_below(draft->rng, 4)) {
	case 0:
		return spoil_iv(record, draft);
	case 1:
		return spoil_length(record, draft);
	case 2:
		op->kind = 7;
		expect_error(record, -EINVAL, "of an unknown kind");
		return true;
	default:
		if (draft->keyed->alg->type != AFB_AEAD)
			return false;
		op->aad_len = draft->in_len + 1;
		expect_error(record, -EINVAL, "with more AAD than input");
		return true;
	}
}

static bool spoil(struct record *record, const struct draft *draft)
{
	struct afb_op *op = &record->op;

	switch (rng_below(draft->rng, 8)) {
	case 0:
		op->session = NULL;
		expect_error(record, -EINVAL, "without a session");
		return true;
	case 1:
		op->in = NULL;
		expect_error(record, -EINVAL, "without input");
		return true;
	case 2:
		if (!draft->out_len)
			return false;
		op->out_cnt = 1;
		record->out[0].iov_len = draft->out_len - 1;
		record->out[0].iov_base = record->memory;
		expect_error(record, -EINVAL, "with too little room");
		return true;
	default:
		return draft->keyed->alg->type != AFB_HASH &&
		       spoil_cipher(record, draft);
	}
}

static void ask_for_next_iv(struct record *record, const struct draft *draft)
{
	enum mode mode = draft->keyed->alg->mode;

	if (mode == MODE_CBC || mode == MODE_CTR)
		record->op.next_iv = (void *)record->op.iv;
}

struct record *record_new(struct rng *rng, const struct keyed *keyed,
			  struct afb_session *session)
{
	struct record *record = calloc(1, sizeof(*record));
	struct draft draft = { .keyed = keyed, .rng = rng };

	draft_message(&draft);
	draft_place(record, &draft);
	record->name = keyed->alg->kernel;
	record->op.session = session;
	record->bytes = draft.in_len;
	if (rng_once_in(rng, 3))
		ask_for_next_iv(record, &draft);
	expect_success(record, &draft);
	if (keyed->alg->type == AFB_AEAD && draft.kind == AFB_DECRYPT &&
	    rng_once_in(rng, 6))
		damage(record, &draft);
	else if (rng_once_in(rng, 15))
		spoil(record, &draft);
	free(draft.plain);
	free(draft.cipher);
	return record;
}

void record_free(struct record *record)
{
	free(record->memory);
	free(record->right);
	free(record);
}

/* ---- The verdict -------------------------------------------------------- */

/* Takes the output as it has become for right. */
static void excuse_output(struct record *record)
{
	const struct iovec *piece;
	unsigned i;

	for (i = 0; i < record->op.out_cnt; i++) {
		piece = &record->out[i];
		if (piece->iov_len)
			memcpy(record->right + ((uint8_t *)piece->iov_base -
						record->memory),
			       piece->iov_base, piece->iov_len);
	}
}

/* Nothing has been written there after all. */
static void excuse_next_iv(struct record *record)
{
	const struct afb_op *op = &record->op;

	if (op->next_iv)
		memcpy(record->right +
			       ((uint8_t *)op->next_iv - record->memory),
		       op->next_iv, op->iv_len);
}

const char *record_fault(struct record *record, char *text, size_t size)
{
	const struct afb_op *op = &record->op;
	size_t i;

	if (record->not_served && op->result == -ENOENT) {
		record->result = -ENOENT;
		excuse_output(record);
		excuse_next_iv(record);
	} else if (record->spoils_output) {
		excuse_output(record);
	}
	if (op->result != record->result) {
		snprintf(text, size, "result %zd, not %zd", op->result,
			 record->result);
		return text;
	}
	if (op->user != record)
		return "the caller's pointer was changed";
	for (i = 0; i < record->size; i++) {
		if (record->memory[i] == record->right[i])
			continue;
		snprintf(text, size, "byte %zu of its memory is %#x, not %#x",
			 i, record->memory[i], record->right[i]);
		return text;
	}
	return NULL;
}

bool record_is_untouched_or_right(const struct record *record)
{
	size_t i;

	if (record->in_place || record->op.next_iv || record->spoils_output ||
	    record->not_served)
		return true;
	for (i = 0; i < record->size; i++)
		if (record->memory[i] != record->right[i] &&
		    record->memory[i] != GUARD_BYTE)
			return false;
	return true;
}
