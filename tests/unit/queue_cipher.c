/* SPDX-License-Identifier: Apache-2.0 */
/* queue_cipher.c - bursts of cipher and AEAD ops against the default provider. */
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "messages.h"

#define TEXT_MAX ((size_t)9000)
#define DEPTH_MAX 1024
#define FRAME 64 /* room for AAD before the text and a tag behind it */

struct algorithm {
	enum afb_type type;
	const char *kernel;
	const char *openssl;
	size_t key_len, iv_len, block, min;
};

static const struct algorithm algorithms[] = {
	{ AFB_SKCIPHER, "ecb(aes)", "AES-128-ECB", 16, 0, 16, 0 },
	{ AFB_SKCIPHER, "cbc(aes)", "AES-128-CBC", 16, 16, 16, 0 },
	{ AFB_SKCIPHER, "cbc(aes)", "AES-256-CBC", 32, 16, 16, 0 },
	{ AFB_SKCIPHER, "ctr(aes)", "AES-192-CTR", 24, 16, 1, 0 },
	{ AFB_SKCIPHER, "xts(aes)", "AES-256-XTS", 64, 16, 1, 16 },
	{ AFB_AEAD, "gcm(aes)", "AES-128-GCM", 16, 12, 1, 0 },
	{ AFB_AEAD, "gcm(aes)", "AES-256-GCM", 32, 12, 1, 0 },
	{ AFB_AEAD, "rfc7539(chacha20,poly1305)", "ChaCha20-Poly1305", 32, 12,
	  1, 0 },
};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

/* One op, its data, and what must come out of encrypting it. */
struct record {
	struct afb_op op;
	struct iovec in, out;
	uint8_t iv[AFB_IV_MAX];
	size_t aad_len, len;
	uint8_t *plain;	 /* AAD, text */
	uint8_t *cipher; /* AAD, text, tag: right */
	uint8_t *result;
	bool ended;
};

static const uint8_t key[64] = "0123456789abcdefFEDCBA9876543210"
			       "another half: xts has 2 keys ..";
#define TAG 16

static struct afb_session *session_for(const struct algorithm *alg)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	params.key = key;
	params.key_len = alg->key_len;
	ret = afb_session_open(&session, alg->type, alg->kernel, &params);
	cr_assert_eq(ret, 0, "%s: %d", alg->kernel, ret);
	return session;
}

/* The right ciphertext, by the default provider. */
static void encrypt_by_reference(const struct algorithm *alg,
				 struct record *record)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, alg->openssl,
					      "provider=default");
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t *text = record->cipher + record->aad_len;
	int len = 0, more = 0;

	memcpy(record->cipher, record->plain, record->aad_len);
	cr_assert(EVP_EncryptInit_ex2(ctx, cipher, key, record->iv, NULL));
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	if (record->aad_len)
		cr_assert(EVP_EncryptUpdate(ctx, NULL, &len, record->plain,
					    record->aad_len));
	len = 0;
	if (record->len)
		cr_assert(EVP_EncryptUpdate(ctx, text, &len,
					    record->plain + record->aad_len,
					    record->len));
	cr_assert(EVP_EncryptFinal_ex(ctx, text + len, &more));
	if (alg->type == AFB_AEAD)
		cr_assert(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG,
					      text + record->len));
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
}

static void record_init(struct record *record, const struct algorithm *alg,
			uint32_t *random)
{
	size_t len = reference_random(random) % TEXT_MAX;
	unsigned seed = reference_random(random);

	if (seed % 4 == 0)
		len %= 70;
	len -= len % alg->block;
	if (len < alg->min)
		len = alg->min;
	memset(record, 0, sizeof(*record));
	record->len = len;
	if (alg->type == AFB_AEAD)
		record->aad_len = seed / 4 % (FRAME - TAG);
	record->plain = malloc(TEXT_MAX + FRAME);
	record->cipher = malloc(TEXT_MAX + FRAME + EVP_MAX_BLOCK_LENGTH);
	record->result = malloc(TEXT_MAX + FRAME);
	reference_fill(record->plain, record->aad_len + len, seed);
	reference_fill(record->iv, alg->iv_len, seed + 1);
	encrypt_by_reference(alg, record);
}

static void record_free(struct record *record)
{
	free(record->plain);
	free(record->cipher);
	free(record->result);
}

static size_t tag_len(const struct algorithm *alg)
{
	return alg->type == AFB_AEAD ? TAG : 0;
}

/* Encrypts `plain` or decrypts `cipher` into `result`, apart or in place. */
static void aim(struct record *record, const struct algorithm *alg,
		struct afb_session *session, enum afb_kind kind, bool in_place)
{
	size_t in_len = record->aad_len + record->len;
	uint8_t *from = record->plain;

	if (kind == AFB_DECRYPT) {
		in_len += tag_len(alg);
		from = record->cipher;
	}
	if (in_place) {
		memcpy(record->result, from, in_len);
		from = record->result;
		record->out.iov_base = from + record->aad_len;
	} else {
		memset(record->result, 0xee, TEXT_MAX + FRAME);
		record->out.iov_base = record->result;
	}
	record->in = (struct iovec){ from, in_len };
	record->out.iov_len = record->len;
	if (kind == AFB_ENCRYPT)
		record->out.iov_len += tag_len(alg);
	record->ended = false;
	record->op = (struct afb_op){ .session = session,
				      .in = &record->in,
				      .in_cnt = 1,
				      .out = &record->out,
				      .out_cnt = 1,
				      .kind = kind,
				      .iv = record->iv,
				      .iv_len = alg->iv_len,
				      .aad_len = record->aad_len,
				      .user = record };
}

static void run_records(struct afb_queue *queue, struct record *records,
			unsigned count)
{
	static struct afb_op *ops[DEPTH_MAX], *done[DEPTH_MAX];
	unsigned sent = 0, ended = 0, n, i;
	int got;

	while (ended < count) {
		n = count - sent < DEPTH_MAX ? count - sent : DEPTH_MAX;
		for (i = 0; i < n; i++)
			ops[i] = &records[sent + i].op;
		sent += afb_submit(queue, ops, n);
		/* As many at once as there can be: one wake-up a burst. */
		got = afb_reap(queue, done, DEPTH_MAX, sent - ended, NULL);
		cr_assert_gt(got, 0);
		for (i = 0; i < (unsigned)got; i++) {
			struct record *record = done[i]->user;

			cr_assert_not(record->ended);
			record->ended = true;
		}
		ended += got;
	}
}

static void expect_right(const struct record *record,
			 const struct algorithm *alg)
{
	const uint8_t *right = record->op.kind == AFB_ENCRYPT ?
				       record->cipher :
				       record->plain;

	cr_assert_eq(record->op.result, (ssize_t)record->out.iov_len,
		     "%s, %zu + %zu bytes, kind %d: %zd", alg->kernel,
		     record->aad_len, record->len, record->op.kind,
		     record->op.result);
	cr_assert_arr_eq(record->out.iov_base, right + record->aad_len,
			 record->out.iov_len);
}

Test(queue_cipher, every_algorithm_both_ways_equals_the_default_provider,
     .timeout = 300)
{
	enum { COUNT = 60 };
	static struct record records[COUNT];
	struct afb_queue *queue = queue_of(32);
	uint32_t random = 11;
	unsigned a, i, mode;

	for (a = 0; a < ALGORITHMS; a++) {
		const struct algorithm *alg = &algorithms[a];
		struct afb_session *session = session_for(alg);

		for (i = 0; i < COUNT; i++)
			record_init(&records[i], alg, &random);
		for (mode = 0; mode < 4; mode++) {
			for (i = 0; i < COUNT; i++)
				aim(&records[i], alg, session,
				    mode & 1 ? AFB_DECRYPT : AFB_ENCRYPT,
				    mode & 2);
			run_records(queue, records, COUNT);
			for (i = 0; i < COUNT; i++)
				expect_right(&records[i], alg);
		}
		for (i = 0; i < COUNT; i++)
			record_free(&records[i]);
		if (kernel_expected())
			cr_assert_neq(afb_session_backend(session),
				      AFB_BACKEND_SOFT, "%s", alg->kernel);
		afb_session_close(session);
	}
	afb_queue_close(queue);
}

Test(queue_cipher, wrong_tag_fails_that_op_alone_and_shows_no_plaintext)
{
	enum { COUNT = 24 };
	static struct record records[COUNT];
	struct afb_queue *queue = queue_of(COUNT);
	uint8_t untouched[TEXT_MAX];
	uint32_t random = 12;
	unsigned a, i;

	memset(untouched, 0xee, sizeof(untouched));
	for (a = 0; a < ALGORITHMS; a++) {
		const struct algorithm *alg = &algorithms[a];
		struct afb_session *session;

		if (alg->type != AFB_AEAD)
			continue;
		session = session_for(alg);
		for (i = 0; i < COUNT; i++) {
			record_init(&records[i], alg, &random);
			/* Anywhere: in the AAD, the text or the tag. */
			if (i % 3 == 0)
				records[i].cipher[i * 7 %
						  (records[i].aad_len +
						   records[i].len + TAG)] ^= 4;
			aim(&records[i], alg, session, AFB_DECRYPT, false);
		}
		run_records(queue, records, COUNT);
		for (i = 0; i < COUNT; i++) {
			if (i % 3) {
				expect_right(&records[i], alg);
			} else {
				cr_assert_eq(records[i].op.result, -EBADMSG);
				cr_assert_arr_eq(records[i].result, untouched,
						 records[i].len);
			}
			record_free(&records[i]);
		}
		afb_session_close(session);
	}
	afb_queue_close(queue);
}

Test(queue_cipher, empty_text_and_empty_aad_still_have_a_tag)
{
	const struct algorithm *alg = &algorithms[5];
	struct afb_session *session = session_for(alg);
	struct afb_queue *queue = queue_of(2);
	uint32_t random = 13;
	struct record record;

	record_init(&record, alg, &random);
	record.len = record.aad_len = 0;
	encrypt_by_reference(alg, &record);
	aim(&record, alg, session, AFB_ENCRYPT, false);
	run_records(queue, &record, 1);
	expect_right(&record, alg);
	aim(&record, alg, session, AFB_DECRYPT, false);
	run_records(queue, &record, 1);
	cr_assert_eq(record.op.result, 0);
	record.cipher[3] ^= 1;
	aim(&record, alg, session, AFB_DECRYPT, false);
	run_records(queue, &record, 1);
	cr_assert_eq(record.op.result, -EBADMSG);
	record_free(&record);
	afb_queue_close(queue);
	afb_session_close(session);
}

Test(queue_cipher, scattered_in_and_out_equal_one_piece)
{
	struct afb_queue *queue = queue_of(2);
	struct iovec in[8], out[8];
	uint32_t random = 14;
	struct record record;
	unsigned a, i;

	for (a = 0; a < ALGORITHMS; a++) {
		const struct algorithm *alg = &algorithms[a];
		struct afb_session *session = session_for(alg);
		size_t at_in = 0, at_out = 0;

		record_init(&record, alg, &random);
		while (record.len < 500) {
			record_free(&record);
			record_init(&record, alg, &random);
		}
		aim(&record, alg, session, AFB_ENCRYPT, false);
		for (i = 0; i < 8; i++) {
			in[i] = (struct iovec){ record.plain + at_in, i * 9 };
			out[i] = (struct iovec){ record.result + at_out,
						 i * 11 };
			if (i == 7) {
				in[i].iov_len = record.in.iov_len - at_in;
				out[i].iov_len = record.out.iov_len - at_out;
			}
			at_in += in[i].iov_len;
			at_out += out[i].iov_len;
		}
		record.op.in = in;
		record.op.out = out;
		record.op.in_cnt = record.op.out_cnt = 8;
		run_records(queue, &record, 1);
		expect_right(&record, alg);
		record_free(&record);
		afb_session_close(session);
	}
	afb_queue_close(queue);
}

Test(queue_cipher, bad_ops_and_parameters_are_refused)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session = NULL;
	struct afb_queue *queue = queue_of(8);
	struct afb_stream *stream;
	uint32_t random = 15;
	struct record record;
	unsigned i;

	params.key = key;
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     -EINVAL, "no key");
	params.key_len = 15;
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     -EINVAL, "15-byte key");
	params.key_len = 16;
	params.tag_len = 65;
	cr_assert_eq(afb_session_open(&session, AFB_AEAD, "gcm(aes)", &params),
		     -EINVAL, "tag");
	params.tag_len = 16;
	cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER, "cbc(aes)",
				      &params), -EINVAL, "tag of a cipher");
	cr_assert_null(session);

	session = session_for(&algorithms[5]);
	cr_assert_eq(afb_stream_open(&stream, session), -EINVAL);
	record_init(&record, &algorithms[5], &random);
	for (i = 0; i < 5; i++) {
		aim(&record, &algorithms[5], session, AFB_DECRYPT, false);
		if (i == 0)
			record.op.iv_len = 11;
		else if (i == 1)
			record.op.iv = NULL;
		else if (i == 2)
			record.op.aad_len = record.in.iov_len + 1;
		else if (i == 3)
			record.out.iov_len--;
		else
			record.op.kind = 7;
		if (i == 3 && !record.len)
			continue;
		run_records(queue, &record, 1);
		cr_assert_eq(record.op.result, -EINVAL, "%u: %zd", i,
			     record.op.result);
	}
	record_free(&record);
	afb_session_close(session);
	afb_queue_close(queue);
}

Test(queue_cipher, keyed_hash_equals_the_hmac_of_the_default_provider)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session, *keyless = NULL;
	struct afb_queue *queue = queue_of(16);
	struct message messages[16];
	struct afb_stream *stream;
	uint8_t right[AFB_DIGEST_MAX], mac[AFB_DIGEST_MAX], data[16 * 99];
	unsigned i, len;

	params.key = key;
	params.key_len = 20;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "hmac(sha256)",
				      &params), 0);
	reference_fill(data, sizeof(data), 17);
	for (i = 0; i < 16; i++)
		prepare(&messages[i], session, data, i * 99);
	run(queue, messages, 16);
	for (i = 0; i < 16; i++) {
		cr_assert(HMAC(EVP_sha256(), key, 20, data, i * 99, right,
			       &len));
		cr_assert_eq(messages[i].op.result, (ssize_t)len);
		cr_assert_arr_eq(messages[i].digest, right, len);
	}
	cr_assert_eq(afb_stream_open(&stream, session), 0);
	cr_assert_eq(afb_stream_update(stream, data, 7), 0);
	cr_assert_eq(afb_stream_update(stream, data + 7, 15 * 99 - 7), 0);
	cr_assert_eq(afb_stream_final(stream, mac, sizeof(mac)), 32);
	cr_assert_arr_eq(mac, right, 32);
	afb_stream_close(stream);
	afb_session_close(session);
	cr_assert_eq(afb_session_open(&keyless, AFB_HASH, "hmac(sha256)", NULL),
		     -EINVAL, "no key");
	afb_queue_close(queue);
}

static long voluntary_switches(void)
{
	struct rusage usage;

	cr_assert_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* What a burst that went deep into an asynchronous driver cost. */
struct cost {
	unsigned messages;
	struct afb_counters counters;
	long switches;
};

/*
 * Through an asynchronous driver, deep: what the library is for. By hand also
 * through another: see TEST_AEAD_DRIVER in CONTRIBUTING.md.
 */
static struct cost run_deep(enum afb_backend backend)
{
	const char *driver = getenv("TEST_AEAD_DRIVER");
	struct algorithm alg = {
		AFB_AEAD, "pcrypt(generic-gcm-aesni)", "AES-128-GCM", 16, 12, 1, 0
	};
	enum { COUNT = 1280 };
	struct record *records = calloc(COUNT, sizeof(*records));
	struct cost cost = { .messages = 2 * COUNT, .counters = AFB_COUNTERS };
	struct afb_session *session;
	struct afb_queue *queue;
	uint32_t random = 16;
	unsigned i, round;

	if (!kernel_expected())
		cr_skip_test("no kernel to be asynchronous");
	if (driver)
		alg.kernel = driver;
	queue = queue_of(128);
	if (afb_queue_backend(queue) != backend)
		cr_skip_test("not the back end of this test");
	session = session_for(&alg);
	for (i = 0; i < COUNT; i++)
		record_init(&records[i], &alg, &random);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < COUNT; i++)
			aim(&records[i], &alg, session,
			    round ? AFB_DECRYPT : AFB_ENCRYPT, false);
		cost.switches -= voluntary_switches();
		run_records(queue, records, COUNT);
		cost.switches += voluntary_switches();
		for (i = 0; i < COUNT; i++)
			expect_right(&records[i], &alg);
	}
	cr_assert_eq(afb_queue_counters(queue, &cost.counters), 0);
	cr_log_info("%.4f system calls and %.4f voluntary switches a message",
		    (double)cost.counters.system_calls / cost.messages,
		    (double)cost.switches / cost.messages);
	cr_assert_eq(cost.counters.messages[backend], cost.messages);
	cr_assert_eq(cost.counters.in_flight_max, 128);
	for (i = 0; i < COUNT; i++)
		record_free(&records[i]);
	free(records);
	afb_queue_close(queue);
	afb_session_close(session);
	return cost;
}

Test(queue_cipher, pcrypt_with_128_in_flight_costs_few_calls_and_switches,
     .timeout = 200)
{
	struct cost cost = run_deep(AFB_BACKEND_URING);

	if (getenv("TEST_AEAD_DRIVER"))
		return;
	cr_assert_leq(cost.counters.system_calls, cost.messages / 20);
	cr_assert_leq(cost.switches, cost.messages / 20);
}

Test(queue_cipher, aio_with_128_in_flight_costs_a_send_and_a_20th_call_each,
     .timeout = 200)
{
	struct cost cost = run_deep(AFB_BACKEND_AIO);

	if (getenv("TEST_AEAD_DRIVER"))
		return;
	/* The sends, and an accept for each lane. */
	cr_assert_geq(cost.counters.system_calls, cost.messages + 128);
	cost.counters.system_calls -= cost.messages + 128;
	cr_log_info("%.4f io_submit and io_getevents calls a message",
		    (double)cost.counters.system_calls / cost.messages);
	cr_assert_leq(cost.counters.system_calls, cost.messages / 20);
}

/* An aio queue takes a quarter of the descriptors, and no more. */
static void allow_files(rlim_t count)
{
	struct rlimit files;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_cur >= count)
		return;
	files.rlim_cur = count;
	if (files.rlim_max < count)
		files.rlim_max = count;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}

Test(queue_cipher, thousand_in_flight_through_pcrypt_lose_nothing,
     .timeout = 200)
{
	static const struct algorithm alg = {
		AFB_AEAD, "pcrypt(generic-gcm-aesni)", "AES-128-GCM", 16, 12, 1, 0
	};
	struct record *records = calloc(DEPTH_MAX, sizeof(*records));
	struct afb_counters counters = AFB_COUNTERS;
	struct afb_session *session;
	struct afb_queue *queue;
	uint32_t random = 18;
	unsigned i;

	if (!kernel_expected() || wanted_backend() == AFB_BACKEND_SYNC)
		cr_skip_test("needs an asynchronous kernel and way to it");
	allow_files(4 * DEPTH_MAX);
	session = session_for(&alg);
	queue = queue_of(DEPTH_MAX);
	for (i = 0; i < DEPTH_MAX; i++) {
		record_init(&records[i], &alg, &random);
		aim(&records[i], &alg, session, AFB_ENCRYPT, i % 2);
	}
	run_records(queue, records, DEPTH_MAX);
	for (i = 0; i < DEPTH_MAX; i++) {
		expect_right(&records[i], &alg);
		record_free(&records[i]);
	}
	cr_assert_eq(afb_queue_counters(queue, &counters), 0);
	cr_assert_eq(counters.messages[afb_queue_backend(queue)], DEPTH_MAX);
	cr_assert_eq(counters.messages[AFB_BACKEND_SOFT], 0);
	cr_assert_geq(counters.in_flight_max, 1000);
	free(records);
	afb_queue_close(queue);
	afb_session_close(session);
}
