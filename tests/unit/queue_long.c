/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_long.c - texts longer than one request, texts that go on in another op, and
 * texts of many data units, against one call of the default provider for the whole.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

#define LONG (3 * AFB_CIPHER_MAX + 2 * 4096 + 48)
#define PIECES 200

struct cipher {
	const char *kernel, *openssl;
	size_t key_len, iv_len, block;
};

static const struct cipher ciphers[] = {
	{ "ecb(aes)", "AES-128-ECB", 16, 0, 16 },
	{ "cbc(aes)", "AES-256-CBC", 32, 16, 16 },
	{ "ctr(aes)", "AES-128-CTR", 16, 16, 16 },
};
#define CIPHERS (sizeof(ciphers) / sizeof(ciphers[0]))

static const uint8_t key[64] = "0123456789abcdefFEDCBA9876543210"
			       "another half: xts has 2 keys ..";

/* The counter is about to carry into its upper half. */
static const uint8_t first_iv[16] = "iviviviv\xff\xff\xff\xff\xff\xff\xff\xfe";

static uint8_t plain[LONG], right[LONG + 16], work[LONG];

static struct afb_session *cipher_session(const char *name, size_t key_len,
					  size_t data_unit)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	params.key = key;
	params.key_len = key_len;
	params.data_unit = data_unit;
	cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER, name, &params),
		     0);
	return session;
}

static void encrypt_by_reference(const char *openssl, const uint8_t *iv,
				 const uint8_t *from, uint8_t *to, size_t len)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, openssl,
					      "provider=default");
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int got = 0;

	cr_assert(EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL));
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	cr_assert(EVP_EncryptUpdate(ctx, to, &got, from, len));
	cr_assert_eq((size_t)got, len);
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
}

/* Cuts @len bytes at @data into pieces of random lengths, some of them empty. */
static unsigned scatter(struct iovec *pieces, uint8_t *data, size_t len,
			uint32_t *random)
{
	unsigned i;
	size_t part;

	for (i = 0; i < PIECES - 1 && len; i++) {
		part = reference_random(random) % 9000;
		if (part > len || part % 5 == 0)
			part = part % 5 ? len : 0;
		pieces[i] = (struct iovec){ data, part };
		data += part;
		len -= part;
	}
	pieces[i] = (struct iovec){ data, len };
	return i + 1;
}

static void run_one(struct afb_queue *queue, struct afb_op *op, ssize_t result)
{
	struct afb_op *done;

	cr_assert_eq(afb_submit(queue, &op, 1), 1);
	cr_assert_eq(afb_reap(queue, &done, 1, 1, NULL), 1);
	cr_assert_eq(done, op);
	cr_assert_eq(op->result, result, "result %zd", op->result);
}

static void crypt_long(const struct cipher *cipher, enum afb_kind kind,
		       bool in_place, unsigned depth)
{
	struct afb_session *session =
		cipher_session(cipher->kernel, cipher->key_len, 0);
	struct iovec in[PIECES], out[PIECES];
	struct afb_queue *queue = queue_of(depth);
	uint8_t *from = kind == AFB_ENCRYPT ? plain : right;
	uint32_t random = depth + kind + 2 * in_place;
	struct afb_op op = { .session = session, .in = in, .out = out,
			     .kind = kind, .iv = first_iv,
			     .iv_len = cipher->iv_len };

	memset(work, 0xee, sizeof(work));
	if (in_place) {
		memcpy(work, from, LONG);
		from = work;
	}
	op.in_cnt = scatter(in, from, LONG, &random);
	op.out_cnt = scatter(out, work, LONG, &random);
	run_one(queue, &op, LONG);
	cr_assert_arr_eq(work, kind == AFB_ENCRYPT ? right : plain, LONG,
			 "%s, kind %d, in place %d", cipher->kernel, kind,
			 in_place);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_long, text_of_many_requests_equals_the_default_providers)
{
	unsigned i, way;

	reference_fill(plain, sizeof(plain), 1);
	for (i = 0; i < CIPHERS; i++) {
		encrypt_by_reference(ciphers[i].openssl, first_iv, plain, right,
				     LONG);
		for (way = 0; way < 8; way++)
			crypt_long(&ciphers[i],
				   way & 1 ? AFB_DECRYPT : AFB_ENCRYPT, way & 2,
				   way & 4 ? 3 : 128);
	}
}

/* A thousand pieces of a byte each leave no room for a whole part. */
Test(queue_long, text_in_tiny_pieces_is_cut_smaller)
{
	static struct iovec pieces[40000];
	struct afb_session *session = cipher_session("cbc(aes)", 32, 0);
	struct afb_queue *queue = queue_of(16);
	size_t tiny = 39999, i;
	struct iovec out = { work, LONG };
	struct afb_op op = { .session = session, .in = pieces, .out = &out,
			     .in_cnt = tiny + 1, .out_cnt = 1, .iv = first_iv,
			     .iv_len = 16 };

	reference_fill(plain, sizeof(plain), 2);
	encrypt_by_reference("AES-256-CBC", first_iv, plain, right, LONG);
	for (i = 0; i < tiny; i++)
		pieces[i] = (struct iovec){ plain + i, 1 };
	pieces[tiny] = (struct iovec){ plain + tiny, LONG - tiny };
	run_one(queue, &op, LONG);
	cr_assert_arr_eq(work, right, LONG);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* One text in many ops, each going on with the IV the one before left. */
static void crypt_chained(const struct cipher *cipher, enum afb_kind kind,
			  bool in_place)
{
	struct afb_session *session =
		cipher_session(cipher->kernel, cipher->key_len, 0);
	const uint8_t *source = kind == AFB_ENCRYPT ? plain : right;
	struct afb_queue *queue = queue_of(8);
	size_t at = 0, len;
	uint32_t random = 7;
	uint8_t iv[16];

	memcpy(iv, first_iv, 16);
	memcpy(work, source, LONG);
	while (at < LONG) {
		struct iovec out = { work + at, 0 };
		struct iovec in = { in_place ? out.iov_base :
					       (void *)(source + at), 0 };
		struct afb_op op = { .session = session, .in = &in,
				     .out = &out, .in_cnt = 1, .out_cnt = 1,
				     .kind = kind, .iv = iv,
				     .iv_len = cipher->iv_len, .next_iv = iv };

		len = reference_random(&random) % 20 * 16;
		if (random % 8 == 0)
			len = AFB_CIPHER_MAX + 32;
		if (len > LONG - at)
			len = LONG - at;
		in.iov_len = out.iov_len = len;
		run_one(queue, &op, len);
		at += len;
	}
	cr_assert_arr_eq(work, kind == AFB_ENCRYPT ? right : plain, LONG,
			 "%s, kind %d, in place %d", cipher->kernel, kind,
			 in_place);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_long, ops_chained_by_next_iv_equal_one_text)
{
	unsigned i, way;

	reference_fill(plain, sizeof(plain), 3);
	for (i = 0; i < CIPHERS; i++) {
		encrypt_by_reference(ciphers[i].openssl, first_iv, plain, right,
				     LONG);
		for (way = 0; way < 4; way++)
			crypt_chained(&ciphers[i],
				      way & 1 ? AFB_DECRYPT : AFB_ENCRYPT,
				      way & 2);
	}
}

static void add_one(uint8_t *number)
{
	unsigned i;

	for (i = 0; i < 16 && !++number[i]; i++)
		;
}

static void crypt_units(size_t unit, size_t len, enum afb_kind kind)
{
	struct afb_session *session = cipher_session("xts(aes)", 64, unit);
	struct afb_queue *queue = queue_of(64);
	uint8_t number[16] = "\xfe\xff\xff", expected[16], next[16];
	struct iovec in = { kind == AFB_ENCRYPT ? plain : right, len };
	struct iovec out = { work, len };
	struct afb_op op = { .session = session, .in = &in, .out = &out,
			     .in_cnt = 1, .out_cnt = 1, .kind = kind,
			     .iv = number, .iv_len = 16, .next_iv = next };
	size_t at, part;

	memcpy(expected, number, 16);
	for (at = 0; at < len; at += part) {
		part = len - at < unit ? len - at : unit;
		encrypt_by_reference("AES-256-XTS", expected, plain + at,
				     right + at, part);
		add_one(expected);
	}
	run_one(queue, &op, len);
	cr_assert_arr_eq(work, kind == AFB_ENCRYPT ? right : plain, len);
	cr_assert_arr_eq(next, expected, 16);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_long, xts_units_have_each_their_own_number)
{
	static const size_t units[] = { 16, 512, 520, 4096, 70000 };
	unsigned i;

	reference_fill(plain, sizeof(plain), 4);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		crypt_units(units[i], units[i], AFB_ENCRYPT);
		crypt_units(units[i], 9 * units[i] / 32 * 16 + 16, AFB_ENCRYPT);
		crypt_units(units[i], 9 * units[i] / 32 * 16 + 16, AFB_DECRYPT);
	}
}

Test(queue_long, data_units_are_for_xts_alone)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	params.key = key;
	params.key_len = 32;
	params.data_unit = 512;
	cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER, "cbc(aes)",
				      &params), -EINVAL);
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     -EINVAL);
	params.key_len = 0;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "sha256", &params),
		     -EINVAL);
	params.key_len = 32;
	params.data_unit = 15;
	cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER, "xts(aes)",
				      &params), -EINVAL);
}

Test(queue_long, text_that_cannot_go_on_has_no_next_iv)
{
	struct afb_session *session = cipher_session("xts(aes)", 32, 0);
	struct afb_queue *queue = queue_of(1);
	struct iovec text = { work, 32 };
	uint8_t next[16];
	struct afb_op op = { .session = session, .in = &text, .out = &text,
			     .in_cnt = 1, .out_cnt = 1, .iv = first_iv,
			     .iv_len = 16, .next_iv = next };

	run_one(queue, &op, -EINVAL);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* Long and short, more than the depth, two sessions: each comes back once. */
Test(queue_long, long_and_short_ops_share_a_queue)
{
	enum { OPS = 60 };
	static uint8_t results[OPS][AFB_CIPHER_MAX + 4096];
	struct afb_session *ctr = cipher_session("ctr(aes)", 16, 0);
	struct afb_queue *queue = queue_of(20);
	struct afb_op ops[OPS], *list[OPS], *done[OPS];
	struct iovec in[OPS], out[OPS];
	unsigned i, sent = 0, ended = 0;
	int got;

	reference_fill(plain, sizeof(plain), 5);
	encrypt_by_reference("AES-128-CTR", first_iv, plain, right, LONG);
	for (i = 0; i < OPS; i++) {
		size_t len = i % 3 ? 100 * i + 1 : AFB_CIPHER_MAX + i + 1;

		in[i] = (struct iovec){ plain, len };
		out[i] = (struct iovec){ results[i], len };
		ops[i] = (struct afb_op){ .session = ctr, .in = &in[i],
					  .out = &out[i], .in_cnt = 1,
					  .out_cnt = 1, .iv = first_iv,
					  .iv_len = 16 };
		list[i] = &ops[i];
	}
	while (ended < OPS) {
		sent += afb_submit(queue, list + sent, OPS - sent);
		got = afb_reap(queue, done, OPS, 1, NULL);
		cr_assert_gt(got, 0);
		ended += got;
	}
	cr_assert_eq(sent, OPS);
	for (i = 0; i < OPS; i++) {
		cr_assert_eq(ops[i].result, (ssize_t)in[i].iov_len);
		cr_assert_arr_eq(results[i], right, in[i].iov_len);
	}
	afb_queue_close(queue);
	afb_session_close(ctr);
}

/* Longer than any request can be: by software, or with its own error. */
Test(queue_long, aead_beyond_the_sockets_buffer_goes_to_software)
{
	static uint8_t sealed[LONG + 16], opened[LONG];
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_queue *queue = queue_of(4);
	struct afb_session *session;
	struct iovec in = { plain, LONG }, out = { sealed, LONG + 16 };
	struct afb_op op = { .in = &in, .out = &out, .in_cnt = 1, .out_cnt = 1,
			     .iv = first_iv, .iv_len = 12 };

	params.key = key;
	params.key_len = 16;
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     0);
	reference_fill(plain, sizeof(plain), 6);
	encrypt_by_reference("AES-128-GCM", first_iv, plain, right, LONG);
	op.session = session;
	run_one(queue, &op, LONG + 16);
	cr_assert_arr_eq(sealed, right, LONG);

	op.kind = AFB_DECRYPT;
	in = (struct iovec){ sealed, LONG + 16 };
	out = (struct iovec){ opened, LONG };
	run_one(queue, &op, LONG);
	cr_assert_arr_eq(opened, plain, LONG);
	afb_queue_close(queue);
	afb_session_close(session);
}

/* What encrypts must decrypt by the same way, up to the last byte. */
Test(queue_long, longest_aead_of_the_kernel_decrypts_there_too)
{
	static uint8_t sealed[AFB_CIPHER_MAX], opened[AFB_CIPHER_MAX];
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_queue *queue = queue_of(4);
	size_t len = AFB_CIPHER_MAX - 16;
	struct afb_session *session;
	struct iovec in = { plain, len }, out = { sealed, len + 16 };
	struct afb_op op = { .in = &in, .out = &out, .in_cnt = 1, .out_cnt = 1,
			     .iv = first_iv, .iv_len = 12 };

	params.key = key;
	params.key_len = 16;
	if (kernel_expected())
		params.flags = AFB_STRICT;
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     0);
	op.session = session;
	run_one(queue, &op, len + 16);
	op.kind = AFB_DECRYPT;
	in = (struct iovec){ sealed, len + 16 };
	out = (struct iovec){ opened, len };
	run_one(queue, &op, len);
	cr_assert_arr_eq(opened, plain, len);
	afb_queue_close(queue);
	afb_session_close(session);
}
