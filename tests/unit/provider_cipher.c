/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_cipher.c - the provider's ciphers do what those of OpenSSL's default
 * provider do, whatever the length, the pieces and the order of calls. C2 to C20, G6
 * and S13 are cases that other projects' users met.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "cipher_pair.h"

#define KIB ((size_t)1 << 10)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SIZE (300 * KIB)
#define LONG_ENOUGH "64"

static unsigned char *data;
static const unsigned char *key, *iv;
static uint32_t state = 7;

static void open_all(void)
{
	cipher_pairs_open(LONG_ENOUGH);
	data = test_data(SIZE);
	key = data + 1000;
	iv = data + 2000;
}

static void close_all(void)
{
	cipher_pairs_close();
	free(data);
}

TestSuite(cipher, .init = open_all, .fini = close_all, .timeout = 200);

static size_t below(size_t limit)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % limit;
}

static bool is_xts(const char *name)
{
	return strstr(name, "XTS");
}

/* In a guest the kernel must have had some of it. */
static void expect_kernel(void)
{
	if (getenv("AFALGBATCH_EXPECT_KERNEL"))
		cr_assert_gt(kernel_texts(), 0);
}

static void set_padding(struct cipher_pair *pair, int padding)
{
	EVP_CIPHER_CTX_set_padding(pair->ours, padding);
	EVP_CIPHER_CTX_set_padding(pair->theirs, padding);
}

/* ---- Texts -------------------------------------------------------------- */

static size_t some_length(void)
{
	switch (below(4)) {
	case 0:
		return below(40);
	case 1:
		return 16 * below(300);
	case 2:
		return below(20000);
	}
	return 60 + below(9);
}

static void in_pieces(struct cipher_pair *pair, int enc, int padding)
{
	size_t done, n;
	int ret = 1;

	cr_assert(pair_init(pair, key, iv, enc));
	set_padding(pair, padding);
	for (done = 0; done < 60000 && ret > 0; done += n) {
		n = some_length();
		ret = pair_update(pair, data + done, n);
	}
	pair_final(pair);
}

static void any_pieces(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned i;

	for (i = 0; i < 12; i++)
		in_pieces(&pair, i & 1, i >> 1 & 1);
	pair_free(&pair);
}

/* C2, C3, C8, C10, C13, S13 */
Test(cipher, every_cipher_in_pieces_of_no_pattern)
{
	each_cipher(any_pieces);
	expect_kernel();
}

static void long_text(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE + 64);
	int enc;

	for (enc = 0; enc < 2; enc++) {
		cr_assert(pair_init(&pair, key, iv, enc));
		cr_assert_eq(pair_update(&pair, data, SIZE - 16), 1);
		pair_final(&pair);
	}
	pair_free(&pair);
}

Test(cipher, text_longer_than_a_request_of_the_kernels)
{
	each_cipher(long_text);
	expect_kernel();
}

static void in_place(const char *name)
{
	struct cipher_pair pair = pair_new(name, 64 * KIB);
	size_t n = is_xts(name) ? 1 : 3, i;
	int enc;

	for (enc = 0; enc < 2; enc++) {
		cr_assert(pair_init(&pair, key, iv, enc));
		set_padding(&pair, 0);
		for (i = 0; i < n; i++)
			cr_assert_eq(pair_update_in_place(&pair, data,
							  4096 + 16 * i),
				     1);
		pair_final(&pair);
	}
	pair_free(&pair);
}

/* C15 */
Test(cipher, in_place)
{
	each_cipher(in_place);
	expect_kernel();
}

/* C20 */
Test(cipher, every_alignment)
{
	struct cipher_pair pair = pair_new("AES-128-CBC", 64 * KIB);
	size_t i;

	for (i = 0; i < 64; i++) {
		cr_assert(pair_init(&pair, key, iv, 1));
		pair.out_len = 63 - i;
		cr_assert_eq(pair_update(&pair, data + i, 1600), 1);
	}
	pair_free(&pair);
	expect_kernel();
}

/* C9, C10: the counter is 128 bits wide, whoever counts. */
Test(cipher, counter_carries_over_all_its_bytes)
{
	struct cipher_pair pair = pair_new("AES-128-CTR", 64 * KIB);
	unsigned char start[16];
	unsigned i;

	for (i = 0; i < 16; i++) {
		memset(start, 0xff, sizeof(start));
		memset(start, 0x5a, i);
		start[15] = 0xfd;
		cr_assert(pair_init(&pair, key, start, 1));
		cr_assert_eq(pair_update(&pair, data, 1), 1);
		cr_assert_eq(pair_update(&pair, data, 15 + 160), 1);
		cr_assert_eq(pair_update(&pair, data, 16), 1);
	}
	pair_free(&pair);
	expect_kernel();
}

/* S13 */
Test(cipher, threshold_is_no_border_that_shows)
{
	struct cipher_pair pair = pair_new("AES-256-CBC", 64 * KIB);
	size_t n;

	for (n = 60; n < 70; n++) {
		cr_assert(pair_init(&pair, key, iv, n & 1));
		cr_assert_eq(pair_update(&pair, data, n), 1);
		cr_assert_eq(pair_update(&pair, data, 80 - n), 1);
		pair_final(&pair);
	}
	pair_free(&pair);
	expect_kernel();
}

/* ---- Calls in any order ------------------------------------------------- */

static void begin_again(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned i;

	cr_assert(pair_init(&pair, key, iv, 1));
	for (i = 0; i < 40; i++) {
		pair_update(&pair, data + i, some_length());
		if (below(3) == 0)
			pair_final(&pair);
		cr_assert(pair_init(&pair, below(3) ? NULL : key + below(5),
				    below(2) ? NULL : iv + below(5),
				    below(3) ? 1 : 0));
	}
	pair_free(&pair);
}

/* C12 */
Test(cipher, init_again_with_any_of_key_and_iv)
{
	each_cipher(begin_again);
	expect_kernel();
}

static void duplicate(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE), copy;
	unsigned i;

	copy = pair_dup(&pair);
	pair_free(&copy);
	for (i = 0; i < 8; i++) {
		cr_assert(pair_init(&pair, key, iv, i & 1));
		pair_update(&pair, data, some_length());
		copy = pair_dup(&pair);
		pair_update(&pair, data + 77, some_length());
		pair_update(&copy, data + 99, some_length());
		pair_final(&copy);
		pair_free(&copy);
		pair_update(&pair, data + 55, some_length());
		pair_final(&pair);
	}
	pair_free(&pair);
}

/* C17, C18 */
Test(cipher, duplicates_go_their_own_ways)
{
	each_cipher(duplicate);
	expect_kernel();
}

static void raw_blocks(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned i;

	cr_assert(pair_init(&pair, key, iv, 1));
	for (i = 0; i < 6; i++)
		pair_raw(&pair, data + i, i ? 1600 * i : 16);
	/* A partial block waits meanwhile. */
	pair_update(&pair, data, 5);
	pair_raw(&pair, data, 1600);
	pair_update(&pair, data, 11);
	pair_free(&pair);
}

Test(cipher, blocks_by_EVP_Cipher)
{
	each_cipher(raw_blocks);
	expect_kernel();
}

/* ---- What is refused ---------------------------------------------------- */

static void without_key(const char *name)
{
	struct cipher_pair pair = pair_new(name, 64 * KIB);

	cr_assert_leq(pair_update(&pair, data, 1600), 0);
	cr_assert_leq(pair_raw(&pair, data, 1600), 0);
	pair_free(&pair);
}

Test(cipher, text_before_a_key)
{
	each_cipher(without_key);
}

/* C16 */
static void wrong_key_length(const char *name)
{
	struct cipher_pair pair = pair_new(name, 64 * KIB);
	int n = EVP_CIPHER_CTX_get_key_length(pair.theirs);

	cr_assert_eq(EVP_CIPHER_CTX_set_key_length(pair.ours, n - 1),
		     EVP_CIPHER_CTX_set_key_length(pair.theirs, n - 1));
	ERR_clear_error();
	cr_assert_eq(EVP_CIPHER_CTX_set_key_length(pair.ours, n), 1);
	pair_free(&pair);
}

Test(cipher, length_of_a_key_is_fixed)
{
	each_cipher(wrong_key_length);
}

/* C5 to C7 */
Test(cipher, xts_refuses_what_it_cannot_do)
{
	static const size_t lengths[] = { 0, 1, 15, 16, 17, 100, 4097 };
	struct cipher_pair pair = pair_new("AES-128-XTS", 64 * KIB);
	unsigned char same[32] = { 0 };
	size_t i;

	cr_assert_leq(pair_init(&pair, same, iv, 1), 0);
	cr_assert(pair_init(&pair, same, iv, 0));
	for (i = 0; i < COUNT(lengths); i++) {
		cr_assert(pair_init(&pair, key, iv, 1));
		pair_update(&pair, data, lengths[i]);
	}
	pair_free(&pair);
	expect_kernel();
}

/* I9 */
Test(cipher, half_a_block_without_padding)
{
	struct cipher_pair pair = pair_new("AES-256-CBC", 64 * KIB);

	cr_assert(pair_init(&pair, key, iv, 1));
	set_padding(&pair, 0);
	cr_assert_eq(pair_update(&pair, data, 1605), 1);
	cr_assert_leq(pair_final(&pair), 0);
	pair_free(&pair);
}

/* ---- TLS ---------------------------------------------------------------- */

static void set_tls(EVP_CIPHER_CTX *ctx, unsigned version, size_t mac_size)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION,
					  &version),
		OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE,
					    &mac_size),
		OSSL_PARAM_construct_end(),
	};

	cr_assert(EVP_CIPHER_CTX_set_params(ctx, params), "%s", error_text());
}

static void expect_same_mac(const struct cipher_pair *pair, size_t size)
{
	unsigned char *a = NULL, *b = NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC,
					       (void **)&a, 0),
		OSSL_PARAM_construct_end(),
	};

	cr_assert(EVP_CIPHER_CTX_get_params(pair->ours, params));
	params[0].data = &b;
	cr_assert(EVP_CIPHER_CTX_get_params(pair->theirs, params));
	cr_assert(a && b && !memcmp(a, b, size));
}

Test(cipher, records_of_tls)
{
	struct cipher_pair pair = pair_new("AES-128-CBC", 64 * KIB);
	size_t n;

	for (n = 1; n < 2100; n += 47) {
		unsigned char record[4096];

		cr_assert(pair_init(&pair, key, iv, 1));
		set_tls(pair.ours, 0x0303, 20);
		set_tls(pair.theirs, 0x0303, 20);
		memcpy(record, data, 16 + n + 20);
		cr_assert_eq(pair_update_in_place(&pair, record, 16 + n + 20),
			     1);
		memcpy(record, pair.want, pair.out_len);

		cr_assert(pair_init(&pair, key, iv, 0));
		cr_assert_eq(pair_update_in_place(&pair, record,
						  (16 + n + 20) / 16 * 16 + 16),
			     1);
		expect_same_mac(&pair, 20);
	}
	pair_free(&pair);
}

/* ---- Processes and threads ---------------------------------------------- */

static void *encrypt_much(void *arg)
{
	struct cipher_pair pair = pair_new("AES-128-CTR", SIZE);
	unsigned i;

	(void)arg;
	for (i = 0; i < 60; i++) {
		cr_assert(pair_init(&pair, key + i % 4, iv + i, 1));
		cr_assert_eq(pair_update(&pair, data, 1000 + 16 * i), 1);
	}
	pair_free(&pair);
	return NULL;
}

Test(cipher, threads_share_the_provider)
{
	pthread_t threads[6];
	size_t i;

	for (i = 0; i < COUNT(threads); i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, encrypt_much,
					    NULL),
			     0);
	for (i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	expect_kernel();
}

Test(cipher, child_goes_on_where_its_parent_was)
{
	struct cipher_pair pair = pair_new("AES-192-CBC", SIZE);
	int status;
	pid_t child;

	cr_assert(pair_init(&pair, key, iv, 1));
	cr_assert_eq(pair_update(&pair, data, 1605), 1);
	child = fork();
	cr_assert_eq(pair_update(&pair, data, 4000), 1);
	cr_assert_eq(pair_final(&pair), 1);
	if (!child)
		_exit(0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	pair_free(&pair);
	expect_kernel();
}

Test(cipher, without_descriptors_libcrypto_serves)
{
	struct cipher_pair pair = pair_new("AES-128-CBC", SIZE);

	fds_exhaust();
	cr_assert(pair_init(&pair, key, iv, 1));
	cr_assert_eq(pair_update(&pair, data, 20000), 1);
	cr_assert_eq(pair_final(&pair), 1);
	fds_allow();
	pair_free(&pair);
}

/* ---- What the ciphers say of themselves --------------------------------- */

static void constants(const char *name)
{
	struct cipher_pair pair = pair_new(name, 64);
	const EVP_CIPHER *a = EVP_CIPHER_CTX_get0_cipher(pair.ours);
	const EVP_CIPHER *b = EVP_CIPHER_CTX_get0_cipher(pair.theirs);
	const OSSL_PARAM *p, *q;

	cr_assert_eq(EVP_CIPHER_get_mode(a), EVP_CIPHER_get_mode(b));
	cr_assert_eq(EVP_CIPHER_get_flags(a), EVP_CIPHER_get_flags(b));
	cr_assert_eq(EVP_CIPHER_get_key_length(a),
		     EVP_CIPHER_get_key_length(b));
	cr_assert_eq(EVP_CIPHER_get_iv_length(a), EVP_CIPHER_get_iv_length(b));
	cr_assert_eq(EVP_CIPHER_get_block_size(a),
		     EVP_CIPHER_get_block_size(b));
	cr_assert_eq(EVP_CIPHER_get_type(a), EVP_CIPHER_get_type(b), "%s",
		     name);
	q = EVP_CIPHER_gettable_params(a);
	for (p = EVP_CIPHER_gettable_params(b); p->key; p++)
		cr_assert_not_null(OSSL_PARAM_locate_const(q, p->key));
	q = EVP_CIPHER_settable_ctx_params(a);
	for (p = EVP_CIPHER_settable_ctx_params(b); p->key; p++)
		cr_assert_not_null(OSSL_PARAM_locate_const(q, p->key));
	pair_free(&pair);
}

Test(cipher, sizes_and_flags_equal_those_of_default)
{
	each_cipher(constants);
}
