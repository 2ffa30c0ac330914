/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft_kernel.c - for every algorithm of the library's table: the kernel, the
 * library's software and libcrypto by itself give the same bytes, and the same
 * keys and tags are refused.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "known_run.h"
#include "reference.h"

#define TEXT_MAX 3000
#define KEY_MAX 300
#define ROUNDS 12

static uint8_t key[KEY_MAX], iv[AFB_IV_MAX], aad[64], plain[TEXT_MAX],
	cipher[TEXT_MAX + 2 * AFB_DIGEST_MAX];
static uint32_t state = 31;

static size_t below(size_t limit)
{
	return reference_random(&state) % limit;
}

static void scramble(struct bytes *bytes, size_t len)
{
	bytes->len = len;
	reference_fill(bytes->data, len, reference_random(&state));
}

static void choose_key(struct known *known, const struct afb_algorithm *alg)
{
	static uint8_t parts[2][KEY_MAX];
	struct bytes mac_key = { parts[0], 0 }, cipher_key = { parts[1], 0 };
	unsigned steps = 0;

	if (alg->key_step)
		steps = (alg->key_max - alg->key_min) / alg->key_step;
	if (steps > 200)
		steps = 200;
	scramble(&cipher_key, alg->key_min + alg->key_step * below(steps + 1) +
				      alg->salt_len);
	if (alg->form == AFB_FORM_AUTHENC) {
		scramble(&mac_key, below(100));
		known->key.len =
			reference_authenc_key(key, &mac_key, &cipher_key);
	} else {
		memcpy(key, cipher_key.data, cipher_key.len);
		known->key.len = cipher_key.len;
	}
}

/* A length that the algorithm's text can have. */
static size_t choose_length(const struct afb_algorithm *alg)
{
	size_t len = below(4) ? below(200) : below(TEXT_MAX);
	bool stolen = strstr(alg->kernel, "xts") || strstr(alg->kernel, "cts");

	if (alg->type == AFB_HASH)
		return len;
	if (stolen)
		return len < 16 ? 16 + len : len;
	return len / alg->block_size * alg->block_size;
}

static size_t choose_tag(const struct afb_algorithm *alg)
{
	size_t len;

	do
		len = 1 + below(64);
	while (!(alg->tags >> (len - 1) & 1));
	return len;
}

static void choose(struct known *known, const struct afb_algorithm *alg)
{
	*known = (struct known){
		.type = alg->type,
		.algorithm = alg->kernel,
		.key = { key, 0 },
		.iv = { iv, 0 },
		.aad = { aad, 0 },
		.plain = { plain, 0 },
		.cipher = { cipher, 0 },
	};
	choose_key(known, alg);
	scramble(&known->iv, alg->iv_len);
	scramble(&known->plain, choose_length(alg));
	/* A counter that wraps at 32 bits, and perhaps at more. */
	if (alg->form == AFB_FORM_CHACHA && below(2))
		memset(iv, 0xff, 4 + below(5));
	if (alg->form == AFB_FORM_CCM && !alg->salt_len)
		iv[0] = 1 + below(7);
	if (alg->type != AFB_AEAD)
		return;
	known->tag_len = choose_tag(alg);
	if (alg->aad_max)
		scramble(&known->aad, alg->aad_min + alg->aad_step * below(2));
	else
		scramble(&known->aad,
			 alg->aad_min + below(sizeof(aad) - alg->aad_min));
	/* The IV's place there is the caller's to fill, with what he likes. */
}

Test(soft_kernel, random_messages_agree_with_libcrypto_everywhere,
     .timeout = 500)
{
	static struct known_ways ways;
	const struct afb_algorithm *alg;
	struct known known;
	unsigned round;

	for (alg = afb_algorithms; alg->kernel; alg++) {
		if (alg->type == AFB_RNG)
			continue;
		for (round = 0; round < ROUNDS; round++) {
			choose(&known, alg);
			if (reference_encrypt(&known))
				known_run_everywhere(&ways, &known, 0,
						     alg->kernel);
		}
	}
	known_end_everywhere(&ways);
	cr_log_info("%u by the kernel, %u by software", ways.kernel_runs,
		    ways.soft_runs);
	cr_assert_gt(ways.soft_runs, 0U);
	cr_assert(ways.kernel_runs || !kernel_expected());
}

static int try_open(const struct afb_algorithm *alg, enum afb_backend backend,
		    const void *session_key, size_t key_len, size_t tag_len)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	params.backend = backend;
	params.flags = AFB_STRICT;
	params.key = session_key;
	params.key_len = key_len;
	params.tag_len = tag_len;
	ret = afb_session_open(&session, alg->type, alg->kernel, &params);
	if (!ret)
		afb_session_close(session);
	return ret;
}

/* What the table says, without the kernel's and libcrypto's gaps. */
static bool key_fits(const struct afb_algorithm *alg, size_t len)
{
	if (!alg->key_max || len < (size_t)alg->key_min + alg->salt_len)
		return false;
	len -= alg->salt_len;
	return len <= alg->key_max && (len - alg->key_min) % alg->key_step == 0;
}

static void expect_same(const struct afb_algorithm *alg, bool good,
			const uint8_t *session_key, size_t key_len,
			size_t tag_len)
{
	static const struct afb_algorithm *missing;
	int soft, kernel;

	soft = try_open(alg, AFB_BACKEND_SOFT, session_key, key_len, tag_len);
	if (good)
		cr_assert(soft == 0 || soft == -ENOENT, "%s, %zu, %zu: %d",
			  alg->kernel, key_len, tag_len, soft);
	else
		cr_assert_eq(soft, -EINVAL, "%s, %zu, %zu: %d", alg->kernel,
			     key_len, tag_len, soft);
	/* Each question after what is not there has the kernel seek modules. */
	if (!kernel_expected() || alg == missing)
		return;
	kernel = try_open(alg, AFB_BACKEND_SYNC, session_key, key_len, tag_len);
	/* The second of a MAC that the kernel has and gives no key. */
	if (kernel == -ENOENT || (kernel == -ENOSYS && alg->key_min))
		missing = alg;
	else
		cr_assert_eq(kernel == 0, good,
			     "%s, %zu, %zu: %d by the kernel", alg->kernel,
			     key_len, tag_len, kernel);
}

/* Around every length that any cipher's key or key with a salt has. */
static const size_t key_lengths[] = {
	1,  7,	8,  15, 16, 17, 19, 20, 21, 23, 24, 25, 27, 28,
	31, 32, 33, 35, 36, 37, 47, 48, 49, 63, 64, 65, 80,
};
#define KEY_LENGTHS (sizeof(key_lengths) / sizeof(key_lengths[0]))

Test(soft_kernel, keys_and_tags_are_refused_alike, .timeout = 300)
{
	struct afb_session *kept = known_keep_context();
	const struct afb_algorithm *alg;
	size_t len, tag, i;

	for (alg = afb_algorithms; alg->kernel; alg++) {
		tag = alg->type == AFB_AEAD ? choose_tag(alg) : 0;
		if (alg->type == AFB_RNG || alg->form == AFB_FORM_AUTHENC)
			continue;
		for (i = 0; i < KEY_LENGTHS; i++)
			expect_same(alg, key_fits(alg, key_lengths[i]), key,
				    key_lengths[i], tag);
		if (alg->type != AFB_AEAD)
			continue;
		len = alg->key_min + alg->salt_len;
		for (tag = 1; tag <= 18; tag++)
			expect_same(alg, alg->tags >> (tag - 1) & 1, key, len,
				    tag);
		expect_same(alg, false, key, len, 64);
	}
	afb_session_close(kept);
}

Test(soft_kernel, malformed_keys_of_authenc_are_refused_alike, .timeout = 100)
{
	const struct afb_algorithm *alg =
		afb_algorithm_find(AFB_AEAD, "authenc(hmac(sha256),cbc(aes))");
	struct bytes mac_key = { plain, 20 }, cipher_key = { plain, 16 };
	size_t len = reference_authenc_key(key, &mac_key, &cipher_key), i;
	struct afb_session *kept = known_keep_context();
	uint8_t bad[KEY_MAX];

	for (i = 1; i <= 32; i++)
		expect_same(alg, true, key, len, i);
	expect_same(alg, false, key, len, 33);
	for (i = 1; i < 8 + 16; i++)
		expect_same(alg, false, key, i, 12);
	/* No MAC key at all: HMAC does with that. */
	expect_same(alg, true, key, 8 + 16, 12);
	for (i = 0; i < 8; i++) {
		memcpy(bad, key, len);
		bad[i] ^= 2;
		expect_same(alg, false, bad, len, 12);
	}
	afb_session_close(kept);
}

Test(soft_kernel, hmac_has_keys_of_no_bytes_and_needs_one)
{
	const struct afb_algorithm *alg =
		afb_algorithm_find(AFB_HASH, "hmac(sha256)");
	struct known known = { .type = AFB_HASH,
			       .algorithm = alg->kernel,
			       .key = { key, 0 },
			       .iv = { iv, 0 },
			       .aad = { aad, 0 },
			       .plain = { plain, 3 },
			       .cipher = { cipher, 0 } };
	static struct known_ways ways;

	cr_assert(reference_encrypt(&known));
	known_run_everywhere(&ways, &known, 0, alg->kernel);
	known_end_everywhere(&ways);
	cr_assert_eq(try_open(alg, AFB_BACKEND_SOFT, NULL, 0, 0), -EINVAL);
	if (kernel_expected())
		cr_assert_neq(try_open(alg, AFB_BACKEND_SYNC, NULL, 0, 0), 0);
}

/* A driver's name is not in the table; what it implements is. */
Test(soft_kernel, driver_by_name_has_software_to_fall_back_on)
{
	static const char *const drivers[] = {
		"cbc(aes-generic)",
		"cbc-aes-aesni",
		"cryptd(cbc(aes-generic))",
	};
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_queue_params queue_params = AFB_QUEUE_PARAMS;
	struct iovec in = { plain, 48 }, out = { cipher, 48 };
	struct afb_session *session;
	struct afb_op op, *ended = &op;
	struct afb_queue *queue;
	uint8_t right[48];
	struct known known = {
		.type = AFB_SKCIPHER,
		.algorithm = "cbc(aes)",
		.key = { key, 16 },
		.iv = { iv, 16 },
		.plain = { plain, 48 },
		.cipher = { right, 0 },
	};
	unsigned i;

	if (!kernel_expected())
		cr_skip_test("no kernel drivers here");
	cr_assert(reference_encrypt(&known));
	params.key = key;
	params.key_len = 16;
	queue_params.backend = AFB_BACKEND_SOFT;
	cr_assert_eq(afb_queue_open(&queue, &queue_params), 0);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(afb_session_open(&session, AFB_SKCIPHER,
					      drivers[i], &params),
			     0, "%s", drivers[i]);
		op = (struct afb_op){ .session = session,
				      .in = &in,
				      .out = &out,
				      .in_cnt = 1,
				      .out_cnt = 1,
				      .iv = iv,
				      .iv_len = 16 };
		cr_assert_eq(afb_submit(queue, &ended, 1), 1);
		cr_assert_eq(afb_reap(queue, &ended, 1, 1, NULL), 1);
		cr_assert_eq(op.result, 48, "%s: %zd", drivers[i], op.result);
		cr_assert_arr_eq(cipher, right, 48);
		afb_session_close(session);
	}
	afb_queue_close(queue);
}
