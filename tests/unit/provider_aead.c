/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_aead.c - the provider's AEAD does what that of OpenSSL's default provider
 * does, whatever the length, the pieces and the order of calls. A1 to A11 and S13 are
 * cases that other projects' users met.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/err.h>

#include "cipher_pair.h"

#define KIB ((size_t)1 << 10)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SIZE (300 * KIB)
#define TAG 16

static unsigned char *data;
static const unsigned char *key, *iv;
static uint32_t state = 7;

static void open_all(void)
{
	cipher_pairs_open("64");
	data = test_data(SIZE);
	key = data + 1000;
	iv = data + 2000;
}

static void close_all(void)
{
	cipher_pairs_close();
	free(data);
}

TestSuite(aead, .init = open_all, .fini = close_all, .timeout = 200);

static size_t below(size_t limit)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % limit;
}

/* In a guest the kernel must have had some of it. */
static void expect_kernel(void)
{
	if (getenv("AFALGBATCH_EXPECT_KERNEL"))
		cr_assert_gt(kernel_texts(), 0);
}

static const size_t lengths[] = { 0,	  1,	  15,	 63,	64,
				  100,	  4096,	  65535, 65536, 65537,
				  131040, 131072, 200000 };

static bool is_ccm(const struct cipher_pair *pair)
{
	return strstr(pair->name, "CCM");
}

/* Begins a message; CCM's lengths have to be said before. */
static void start(struct cipher_pair *pair, int enc, const void *tag)
{
	if (is_ccm(pair)) {
		cr_assert_eq(pair_init(pair, NULL, NULL, enc), 1);
		cr_assert_eq(pair_set_iv_len(pair, 12), 1);
		cr_assert_eq(pair_set_tag(pair, tag, TAG), 1);
	}
	cr_assert_eq(pair_init(pair, key, iv, enc), 1);
	if (tag && !is_ccm(pair))
		cr_assert_eq(pair_set_tag(pair, tag, TAG), 1);
}

static void feed_aad(struct cipher_pair *pair, size_t aad_len, size_t len)
{
	if (!aad_len)
		return;
	if (is_ccm(pair))
		cr_assert_eq(pair_aad(pair, NULL, len), 1);
	cr_assert_eq(pair_aad(pair, data + 7, aad_len), 1);
}

/* ---- Messages ----------------------------------------------------------- */

static void seal(struct cipher_pair *pair, size_t aad_len, size_t len,
		 unsigned char *tag)
{
	start(pair, 1, NULL);
	feed_aad(pair, aad_len, len);
	cr_assert_eq(pair_update(pair, data, len), 1);
	cr_assert_eq(pair_final(pair), 1);
	cr_assert_eq(pair_get_tag(pair, tag, TAG), 1);
}

/* Opens what seal() has made, with the tag known before the text. */
static bool unseal(struct cipher_pair *pair, size_t aad_len, const void *sealed,
		   size_t len, const unsigned char *tag)
{
	bool fine;

	start(pair, 0, tag);
	feed_aad(pair, aad_len, len);
	fine = pair_update(pair, sealed, len) > 0;
	/* CCM has refused a wrong tag by now. */
	return pair_final(pair) > 0 && fine;
}

/* The same, and the tag comes after the text, as it cannot with CCM. */
static bool unseal_late(struct cipher_pair *pair, size_t aad_len,
			const void *sealed, size_t len,
			const unsigned char *tag)
{
	start(pair, 0, NULL);
	feed_aad(pair, aad_len, len);
	cr_assert_eq(pair_update(pair, sealed, len), 1);
	cr_assert_eq(pair_set_tag(pair, tag, TAG), 1);
	return pair_final(pair) > 0;
}

static void whole_messages(const char *name)
{
	bool ccm = strstr(name, "CCM");
	struct cipher_pair pair;
	unsigned char *sealed = malloc(SIZE), tag[TAG];
	size_t i;

	/* libcrypto 3.0 has no tag for an empty text in CCM. */
	for (i = ccm; i < COUNT(lengths); i++) {
		size_t len = lengths[i], aad_len = i % 3 * 13;

		pair = pair_new(name, SIZE);
		seal(&pair, aad_len, len, tag);
		memcpy(sealed, pair.want, len);
		cr_assert(unseal(&pair, aad_len, sealed, len, tag));
		cr_assert_eq(memcmp(pair.got, data, len), 0);
		cr_assert(ccm || unseal_late(&pair, aad_len, sealed, len, tag));
		/* A7 */
		tag[i % TAG] ^= 1;
		cr_assert_not(unseal(&pair, aad_len, sealed, len, tag));
		tag[i % TAG] ^= 1;
		cr_assert_not(unseal(&pair, aad_len + 1, sealed, len, tag));
		pair_free(&pair);
	}
	free(sealed);
}

/* A7, A11, S13 */
Test(aead, whole_messages_of_any_length)
{
	each_aead(whole_messages);
	expect_kernel();
}

static void pieces(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned char tag[TAG] = { 0 };
	size_t done, n;
	unsigned i;

	/* In CCM one update is the message. */
	if (is_ccm(&pair)) {
		pair_free(&pair);
		return;
	}
	for (i = 0; i < 10; i++) {
		cr_assert_eq(pair_init(&pair, key, iv, i < 8), 1);
		for (done = 0; done < 60 * i; done += n) {
			n = 1 + below(50);
			cr_assert_eq(pair_aad(&pair, data + done, n), 1);
		}
		if (i >= 8)
			cr_assert_eq(pair_set_tag(&pair, tag, TAG), 1);
		for (done = 0; done < 9000; done += n) {
			n = below(below(3) ? 3000 : 20);
			cr_assert_eq(pair_update(&pair, data + done, n), 1);
		}
		pair_final(&pair);
		if (i < 8)
			cr_assert_eq(pair_get_tag(&pair, tag, TAG), 1);
	}
	pair_free(&pair);
}

Test(aead, aad_and_text_in_pieces)
{
	each_aead(pieces);
}

static bool unseal_in_place(struct cipher_pair *pair, const void *sealed,
			    size_t len, const unsigned char *tag)
{
	bool fine;

	start(pair, 0, tag);
	fine = pair_update_in_place(pair, sealed, len) > 0;
	return pair_final(pair) > 0 && fine;
}

static void in_place(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned char sealed[5000], tag[TAG];

	start(&pair, 1, NULL);
	cr_assert_eq(pair_update_in_place(&pair, data, 5000), 1);
	cr_assert_eq(pair_final(&pair), 1);
	cr_assert_eq(pair_get_tag(&pair, tag, TAG), 1);
	memcpy(sealed, pair.want, 5000);
	cr_assert(unseal_in_place(&pair, sealed, 5000, tag));
	/* With a bad tag both put out the same, and fail. */
	tag[0] ^= 1;
	cr_assert_not(unseal_in_place(&pair, sealed, 5000, tag));
	pair_free(&pair);
}

Test(aead, in_place)
{
	each_aead(in_place);
	expect_kernel();
}

/* ---- Tags and IVs ------------------------------------------------------- */

/* A1, A2 */
Test(aead, gcm_with_ivs_of_other_lengths)
{
	static const int iv_lengths[] = { 1, 8, 11, 12, 13, 16, 128, 129 };
	struct cipher_pair pair = pair_new("AES-128-GCM", SIZE);
	unsigned char tag[TAG];
	size_t i;

	for (i = 0; i < COUNT(iv_lengths); i++) {
		if (pair_set_iv_len(&pair, iv_lengths[i]) <= 0)
			continue;
		cr_assert_eq(pair_init(&pair, key, iv, 1), 1);
		cr_assert_eq(pair_update(&pair, data, 1000), 1);
		cr_assert_eq(pair_final(&pair), 1);
		cr_assert_eq(pair_get_tag(&pair, tag, TAG), 1);
	}
	/* The length comes after the IV, which is none any more. */
	cr_assert_eq(pair_set_iv_len(&pair, 12), 1);
	cr_assert_eq(pair_init(&pair, key, iv, 0), 1);
	EVP_CIPHER_CTX_ctrl(pair.ours, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL);
	EVP_CIPHER_CTX_ctrl(pair.theirs, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL);
	cr_assert_leq(pair_update(&pair, data, 1000), 0);
	pair_free(&pair);
}

/* A10 */
Test(aead, tags_of_other_lengths)
{
	unsigned char sealed[1000], tag[32] = { 0 }, part[32];
	struct cipher_pair pair;
	int n;

	for (n = 0; n <= 17; n++) {
		pair = pair_new("AES-256-GCM", SIZE);
		seal(&pair, 5, sizeof(sealed), tag);
		memcpy(sealed, pair.want, sizeof(sealed));
		pair_get_tag(&pair, memcpy(part, tag, sizeof(part)), n);
		pair_free(&pair);
		pair = pair_new("AES-256-GCM", SIZE);
		cr_assert_eq(pair_init(&pair, key, iv, 0), 1);
		pair_set_tag(&pair, tag, n);
		cr_assert_eq(pair_aad(&pair, data + 7, 5), 1);
		cr_assert_eq(pair_update(&pair, sealed, sizeof(sealed)), 1);
		pair_final(&pair);
		pair_free(&pair);
	}
	expect_kernel();
}

/* A8 */
Test(aead, gcm_wants_an_iv_for_each_message)
{
	struct cipher_pair pair = pair_new("AES-192-GCM", SIZE);
	unsigned char tag[TAG];

	seal(&pair, 0, 1000, tag);
	cr_assert_leq(pair_update(&pair, data, 1000), 0);
	cr_assert_leq(pair_aad(&pair, data, 10), 0);
	cr_assert_leq(pair_final(&pair), 0);
	cr_assert_eq(pair_init(&pair, NULL, NULL, 1), 1);
	cr_assert_leq(pair_update(&pair, data, 1000), 0);
	cr_assert_eq(pair_init(&pair, NULL, iv + 1, 1), 1);
	cr_assert_eq(pair_update(&pair, data, 1000), 1);
	pair_free(&pair);
	expect_kernel();
}

/* A9 */
static void no_tag(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned char tag[TAG];

	/* In CCM one update is the message. */
	if (is_ccm(&pair)) {
		pair_free(&pair);
		return;
	}
	cr_assert_eq(pair_init(&pair, key, iv, 0), 1);
	pair_update(&pair, data, 1000);
	pair_final(&pair);
	/* Nor is there one to get before the end. */
	cr_assert_eq(pair_init(&pair, key, iv, 1), 1);
	cr_assert_eq(pair_update(&pair, data, 1000), 1);
	if (strcmp(name, "ChaCha20-Poly1305"))
		cr_assert_leq(pair_get_tag(&pair, tag, TAG), 0);
	pair_free(&pair);
}

Test(aead, no_tag_before_there_is_one)
{
	each_aead(no_tag);
}

/* A6: CCM's lengths come first, and its one text after its AAD. */
static void ccm_by_lengths(struct cipher_pair *pair, int iv_len, int tag_len)
{
	unsigned char tag[32] = { 0 };

	if (pair_init(pair, NULL, NULL, 1) <= 0 ||
	    pair_set_iv_len(pair, iv_len) <= 0 ||
	    pair_set_tag(pair, NULL, tag_len) <= 0)
		return;
	cr_assert_eq(pair_init(pair, key, iv, 1), 1);
	cr_assert_eq(pair_aad(pair, NULL, 1000), 1);
	cr_assert_eq(pair_aad(pair, data, 30), 1);
	cr_assert_eq(pair_update(pair, data, 1000), 1);
	cr_assert_eq(pair_final(pair), 1);
	cr_assert_eq(pair_get_tag(pair, tag, tag_len), 1);
}

Test(aead, ccm_with_ivs_and_tags_of_any_length)
{
	struct cipher_pair pair;
	int n, m;

	for (n = 6; n <= 14; n++) {
		for (m = 2; m <= 17; m++) {
			pair = pair_new("AES-128-CCM", SIZE);
			ccm_by_lengths(&pair, n, m);
			pair_free(&pair);
		}
	}
	expect_kernel();
}

/* Kernel and libcrypto take turns, with lengths told and untold. */
static void one_after_the_other(const char *name)
{
	static const size_t sizes[] = { 1000, 20, 700, 30, 40, 5000 };
	struct cipher_pair pair = pair_new(name, SIZE);
	unsigned char sealed[5000], tag[TAG];
	unsigned i;

	for (i = 0; i < 60; i++) {
		size_t len = sizes[below(COUNT(sizes))];
		size_t aad_len = below(2) * 20;

		iv = data + 2000 + i;
		seal(&pair, aad_len, len, tag);
		memcpy(sealed, pair.want, len);
		if (below(2))
			continue;
		cr_assert(unseal(&pair, aad_len, sealed, len, tag));
		cr_assert_eq(memcmp(pair.got, data, len), 0);
	}
	pair_free(&pair);
}

Test(aead, messages_one_after_the_other)
{
	each_aead(one_after_the_other);
	expect_kernel();
}

Test(aead, ccm_wants_its_calls_in_order)
{
	struct cipher_pair pair = pair_new("AES-256-CCM", SIZE);

	/* AAD before the length of the text. */
	start(&pair, 1, NULL);
	cr_assert_leq(pair_aad(&pair, data, 30), 0);
	/* Another length than was said. */
	start(&pair, 1, NULL);
	cr_assert_eq(pair_aad(&pair, NULL, 2000), 1);
	cr_assert_eq(pair_aad(&pair, data, 30), 1);
	pair_update(&pair, data, 1000);
	pair_free(&pair);
}

/* What it says of updates without input or without output is theirs, too. */
static void no_pointers(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE);

	start(&pair, 1, NULL);
	pair_aad(&pair, NULL, 20);
	pair_aad(&pair, data, 20);
	pair_update(&pair, NULL, 0);
	pair_free(&pair);
}

Test(aead, updates_without_input)
{
	each_aead(no_pointers);
}

/* ---- Calls in any order ------------------------------------------------- */

/*
 * A tag is asked for at the end of a message, and given for each decryption. Before
 * that the default provider has the last message's, which ours need not have.
 */
static void some_call(struct cipher_pair *pair)
{
	unsigned char tag[TAG] = { 9 };
	int enc = below(3) ? 1 : 0;

	switch (below(8)) {
	case 0:
		pair_aad(pair, data + below(9), 1 + below(40));
		break;
	case 1:
		pair_final(pair);
		break;
	case 2:
		if (pair_final(pair) > 0)
			pair_get_tag(pair, tag, TAG);
		break;
	case 3:
		pair_set_tag(pair, tag, TAG);
		break;
	case 4:
		pair_init(pair, below(2) ? key : NULL, below(3) ? iv : NULL,
			  enc);
		if (!enc)
			pair_set_tag(pair, tag, TAG);
		break;
	case 5:
		pair_set_iv_len(pair, below(3) ? 12 : 8);
		pair_init(pair, NULL, iv, -1);
		break;
	default:
		pair_update(pair, data + below(99), below(600));
	}
}

Test(aead, gcm_with_calls_of_no_order)
{
	unsigned i, k;

	for (i = 0; i < 300; i++) {
		struct cipher_pair pair = pair_new("AES-128-GCM", 64 * KIB);

		pair_init(&pair, key, iv, 1);
		for (k = 0; k < 20; k++) {
			some_call(&pair);
			if (below(12))
				continue;
			struct cipher_pair copy = pair_dup(&pair);

			some_call(&copy);
			some_call(&copy);
			pair_free(&copy);
		}
		pair_free(&pair);
	}
	expect_kernel();
}

static void duplicate(const char *name)
{
	struct cipher_pair pair = pair_new(name, SIZE), copy;
	unsigned char tag[TAG];

	/* In CCM one update is the message. */
	if (is_ccm(&pair)) {
		pair_free(&pair);
		return;
	}
	cr_assert_eq(pair_init(&pair, key, iv, 1), 1);
	cr_assert_eq(pair_aad(&pair, data, 20), 1);
	copy = pair_dup(&pair);
	cr_assert_eq(pair_update(&copy, data, 1000), 1);
	pair_free(&copy);
	cr_assert_eq(pair_update(&pair, data, 3000), 1);
	copy = pair_dup(&pair);
	cr_assert_eq(pair_update(&copy, data, 2000), 1);
	cr_assert_eq(pair_final(&copy), 1);
	cr_assert_eq(pair_get_tag(&copy, tag, TAG), 1);
	pair_free(&copy);
	cr_assert_eq(pair_final(&pair), 1);
	cr_assert_eq(pair_get_tag(&pair, tag, TAG), 1);
	pair_free(&pair);
}

Test(aead, duplicates_go_their_own_ways)
{
	each_aead(duplicate);
	expect_kernel();
}

/* ---- TLS ---------------------------------------------------------------- */

static int tls_record(EVP_CIPHER_CTX *ctx, unsigned char *record, size_t len,
		      int enc)
{
	unsigned char header[13] = { 0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3 };
	size_t payload = len - (enc ? TAG : 0);

	header[11] = (unsigned char)(payload >> 8);
	header[12] = (unsigned char)payload;
	cr_assert_eq(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD,
					 sizeof(header), header),
		     TAG);
	return EVP_Cipher(ctx, record, record, (unsigned)len);
}

Test(aead, records_of_tls_1_2)
{
	struct cipher_pair pair = pair_new("AES-128-GCM", SIZE);
	unsigned char a[5000], b[5000], fixed[4] = "salt";
	size_t len;

	for (len = 24; len < sizeof(a); len += 991) {
		EVP_CIPHER_CTX *both[2] = { pair.ours, pair.theirs };
		int i;

		cr_assert_eq(pair_init(&pair, key, NULL, 1), 1);
		for (i = 0; i < 2; i++) {
			unsigned char whole[12] = "saltIV000001";

			cr_assert_gt(EVP_CIPHER_CTX_ctrl(
					     both[i], EVP_CTRL_GCM_SET_IV_FIXED,
					     -1, whole),
				     0);
		}
		memcpy(a, data, len);
		memcpy(b, data, len);
		cr_assert_eq(tls_record(pair.ours, a, len, 1), (int)len);
		cr_assert_eq(tls_record(pair.theirs, b, len, 1), (int)len);
		cr_assert_eq(memcmp(a, b, len), 0);
		cr_assert_eq(pair_init(&pair, key, NULL, 0), 1);
		for (i = 0; i < 2; i++)
			cr_assert_gt(EVP_CIPHER_CTX_ctrl(
					     both[i], EVP_CTRL_GCM_SET_IV_FIXED,
					     sizeof(fixed), fixed),
				     0);
		cr_assert_eq(tls_record(pair.ours, a, len, 0),
			     tls_record(pair.theirs, b, len, 0));
		cr_assert_eq(memcmp(a, b, len), 0);
	}
	pair_free(&pair);
}

/* ---- What they say of themselves ---------------------------------------- */

static void constants(const char *name)
{
	struct cipher_pair pair = pair_new(name, 64);
	const EVP_CIPHER *a = EVP_CIPHER_CTX_get0_cipher(pair.ours);
	const EVP_CIPHER *b = EVP_CIPHER_CTX_get0_cipher(pair.theirs);

	cr_assert_eq(EVP_CIPHER_get_mode(a), EVP_CIPHER_get_mode(b));
	cr_assert_eq(EVP_CIPHER_get_flags(a), EVP_CIPHER_get_flags(b));
	cr_assert_eq(EVP_CIPHER_get_key_length(a),
		     EVP_CIPHER_get_key_length(b));
	cr_assert_eq(EVP_CIPHER_get_iv_length(a), EVP_CIPHER_get_iv_length(b));
	cr_assert_eq(EVP_CIPHER_get_block_size(a),
		     EVP_CIPHER_get_block_size(b));
	cr_assert_eq(EVP_CIPHER_get_type(a), EVP_CIPHER_get_type(b), "%s",
		     name);
	pair_free(&pair);
}

Test(aead, sizes_and_flags_equal_those_of_default)
{
	each_aead(constants);
}
