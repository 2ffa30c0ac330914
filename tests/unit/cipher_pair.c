/* SPDX-License-Identifier: Apache-2.0 */
/* cipher_pair.c - see cipher_pair.h. */
#include "cipher_pair.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/err.h>

#include "afalgbatch.h"

static struct evp ours, theirs;

void cipher_pairs_open(const char *threshold)
{
	setenv("AFALGBATCH_THRESHOLD", threshold, 1);
	ours = evp_open(OURS);
	theirs = evp_open(THEIRS);
}

void cipher_pairs_close(void)
{
	evp_close(&ours);
	evp_close(&theirs);
}

struct visit {
	void (*call)(const char *name);
	bool aead;
	unsigned count;
};

static void visit(EVP_CIPHER *cipher, void *arg)
{
	bool aead = EVP_CIPHER_get_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER;
	struct visit *all = arg;

	if (aead != all->aead)
		return;
	all->count++;
	all->call(EVP_CIPHER_get0_name(cipher));
}

static void each(void (*call)(const char *name), bool aead)
{
	struct visit all = { call, aead, 0 };

	EVP_CIPHER_do_all_provided(ours.lib, visit, &all);
	cr_assert_gt(all.count, 0);
}

void each_cipher(void (*call)(const char *name))
{
	each(call, false);
}

void each_aead(void (*call)(const char *name))
{
	each(call, true);
}

static EVP_CIPHER_CTX *context(const struct evp *evp, const char *name)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(evp->lib, name, NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	cr_assert(cipher && ctx, "%s: %s", name, error_text());
	cr_assert(EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, 1, NULL), "%s",
		  error_text());
	EVP_CIPHER_free(cipher);
	return ctx;
}

struct cipher_pair pair_new(const char *name, size_t room)
{
	struct cipher_pair pair = {
		.name = name,
		.ours = context(&ours, name),
		.theirs = context(&theirs, name),
		.got = malloc(room),
		.want = malloc(room),
		.room = room,
	};

	cr_assert(pair.got && pair.want);
	return pair;
}

void pair_free(struct cipher_pair *pair)
{
	EVP_CIPHER_CTX_free(pair->ours);
	EVP_CIPHER_CTX_free(pair->theirs);
	free(pair->got);
	free(pair->want);
}

/* IVs and the place in the key stream are the same at every moment. */
static void expect_same_state(const struct cipher_pair *pair)
{
	unsigned char a[128] = { 0 }, b[128] = { 0 };
	size_t n = (size_t)EVP_CIPHER_CTX_get_iv_length(pair->theirs);

	EVP_CIPHER_CTX_get_updated_iv(pair->ours, a, sizeof(a));
	EVP_CIPHER_CTX_get_updated_iv(pair->theirs, b, sizeof(b));
	cr_assert_eq(memcmp(a, b, n), 0, "%s: updated IV", pair->name);
	EVP_CIPHER_CTX_get_original_iv(pair->ours, a, sizeof(a));
	EVP_CIPHER_CTX_get_original_iv(pair->theirs, b, sizeof(b));
	cr_assert_eq(memcmp(a, b, n), 0, "%s: original IV", pair->name);
	cr_assert_eq(EVP_CIPHER_CTX_get_num(pair->ours),
		     EVP_CIPHER_CTX_get_num(pair->theirs), "%s: num",
		     pair->name);
}

/* Of a call that gave @got and @want, and put so many bytes out. */
static int agree(struct cipher_pair *pair, const char *call, int got, int want,
		 int got_len, int want_len)
{
	cr_assert_eq(got, want, "%s: %s gave %d, not %d: %s", pair->name, call,
		     got, want, error_text());
	if (want <= 0) {
		ERR_clear_error();
		return want;
	}
	cr_assert_eq(got_len, want_len, "%s: %s put out %d bytes, not %d",
		     pair->name, call, got_len, want_len);
	cr_assert_eq(memcmp(pair->got + pair->out_len,
			    pair->want + pair->out_len, (size_t)want_len),
		     0, "%s: %s of %d bytes, after %zu", pair->name, call,
		     want_len, pair->out_len);
	pair->out_len += (size_t)want_len;
	expect_same_state(pair);
	return want;
}

int pair_init(struct cipher_pair *pair, const void *key, const void *iv,
	      int enc)
{
	pair->out_len = 0;
	return agree(pair, "init",
		     EVP_CipherInit_ex2(pair->ours, NULL, key, iv, enc, NULL),
		     EVP_CipherInit_ex2(pair->theirs, NULL, key, iv, enc, NULL),
		     0, 0);
}

int pair_update(struct cipher_pair *pair, const void *data, size_t len)
{
	int a = 0, b = 0, got, want;

	cr_assert_leq(pair->out_len + len + EVP_MAX_BLOCK_LENGTH, pair->room);
	got = EVP_CipherUpdate(pair->ours, pair->got + pair->out_len, &a, data,
			       (int)len);
	want = EVP_CipherUpdate(pair->theirs, pair->want + pair->out_len, &b,
				data, (int)len);
	return agree(pair, "update", got, want, a, b);
}

int pair_update_in_place(struct cipher_pair *pair, const void *data, size_t len)
{
	unsigned char *x = pair->got + pair->out_len;
	unsigned char *y = pair->want + pair->out_len;
	int a = 0, b = 0, got, want;

	memcpy(x, data, len);
	memcpy(y, data, len);
	got = EVP_CipherUpdate(pair->ours, x, &a, x, (int)len);
	want = EVP_CipherUpdate(pair->theirs, y, &b, y, (int)len);
	return agree(pair, "update in place", got, want, a, b);
}

int pair_raw(struct cipher_pair *pair, const void *data, size_t len)
{
	int got = EVP_Cipher(pair->ours, pair->got + pair->out_len, data,
			     (unsigned)len);
	int want = EVP_Cipher(pair->theirs, pair->want + pair->out_len, data,
			      (unsigned)len);

	return agree(pair, "EVP_Cipher", got, want, got, want);
}

int pair_final(struct cipher_pair *pair)
{
	int a = 0, b = 0, got, want;

	got = EVP_CipherFinal_ex(pair->ours, pair->got + pair->out_len, &a);
	want = EVP_CipherFinal_ex(pair->theirs, pair->want + pair->out_len, &b);
	return agree(pair, "final", got, want, a, b);
}

struct cipher_pair pair_dup(const struct cipher_pair *pair)
{
	struct cipher_pair copy = pair_new(pair->name, pair->room);

	cr_assert(EVP_CIPHER_CTX_copy(copy.ours, pair->ours), "%s",
		  error_text());
	cr_assert(EVP_CIPHER_CTX_copy(copy.theirs, pair->theirs));
	return copy;
}

int pair_aad(struct cipher_pair *pair, const void *data, size_t len)
{
	int a = 0, b = 0, got, want;

	got = EVP_CipherUpdate(pair->ours, NULL, &a, data, (int)len);
	want = EVP_CipherUpdate(pair->theirs, NULL, &b, data, (int)len);
	cr_assert(want <= 0 || a == b);
	return agree(pair, "AAD", got, want, 0, 0);
}

/* A ctrl of both, whose memory they may change, from the same beginning. */
static int both(struct cipher_pair *pair, const char *call, int ctrl, int len,
		void *memory)
{
	unsigned char a[64] = { 0 }, b[64] = { 0 };
	size_t size = memory ? (size_t)len : 0;
	int got, want;

	cr_assert_leq(size, sizeof(a));
	if (size) {
		memcpy(a, memory, size);
		memcpy(b, memory, size);
	}
	got = EVP_CIPHER_CTX_ctrl(pair->ours, ctrl, len, memory ? a : NULL);
	want = EVP_CIPHER_CTX_ctrl(pair->theirs, ctrl, len, memory ? b : NULL);
	cr_assert_eq(memcmp(a, b, sizeof(a)), 0, "%s: %s", pair->name, call);
	if (size)
		memcpy(memory, a, size);
	return agree(pair, call, got, want, 0, 0);
}

int pair_set_tag(struct cipher_pair *pair, const void *tag, int len)
{
	return both(pair, "set tag", EVP_CTRL_AEAD_SET_TAG, len, (void *)tag);
}

int pair_get_tag(struct cipher_pair *pair, void *tag, int len)
{
	return both(pair, "get tag", EVP_CTRL_AEAD_GET_TAG, len, tag);
}

int pair_set_iv_len(struct cipher_pair *pair, int len)
{
	return both(pair, "set IV length", EVP_CTRL_AEAD_SET_IVLEN, len, NULL);
}

uint64_t kernel_texts(void)
{
	struct afb_counters c = AFB_COUNTERS;

	cr_assert_eq(afb_counters_get(&c), 0);
	return c.messages[AFB_BACKEND_AUTO] - c.messages[AFB_BACKEND_SOFT];
}
