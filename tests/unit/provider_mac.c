/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_mac.c - MACs of the provider equal those of OpenSSL's default provider,
 * and the RFCs' own, whatever the length, the pieces, the key and the order of
 * calls. M1 to M7 and G9 are cases that other projects' users met.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "afalgbatch.h"
#include "evp.h"

#define KIB ((size_t)1 << 10)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HMAC "HMAC", OSSL_MAC_PARAM_DIGEST
#define CMAC "CMAC", OSSL_MAC_PARAM_CIPHER

/* A MAC of a digest or cipher, in both providers. */
struct mac {
	const char *name;
	const char *param;
	const char *inside;
	size_t key_len;
};

static const struct mac macs[] = {
	{ HMAC, "MD5", 16 },	     { HMAC, "SHA1", 20 },
	{ HMAC, "SHA224", 1 },	     { HMAC, "SHA2-256", 32 },
	{ HMAC, "sha384", 200 },     { HMAC, "SHA-512", 128 },
	{ CMAC, "AES-128-CBC", 16 }, { CMAC, "aes192", 24 },
	{ CMAC, "AES-256-CBC", 32 },
};

static const struct mac hmac_sha256 = { HMAC, "SHA256", 3 };
static const struct mac cmac_aes = { CMAC, "AES-128-CBC", 16 };

static struct evp ours, theirs;

static void open_both(void)
{
	ours = evp_open(OURS);
	theirs = evp_open(THEIRS);
}

static void close_both(void)
{
	evp_close(&ours);
	evp_close(&theirs);
}

TestSuite(mac, .init = open_both, .fini = close_both, .timeout = 120);

static EVP_MAC_CTX *unset(const struct evp *evp, const char *name)
{
	EVP_MAC *mac = EVP_MAC_fetch(evp->lib, name, NULL);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);

	cr_assert_not_null(ctx, "%s: %s", name, error_text());
	EVP_MAC_free(mac);
	return ctx;
}

static int set_text(EVP_MAC_CTX *ctx, const char *param, const char *text)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(param, (char *)text, 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(ctx, params);
}

/* A context that knows what it is made of, and no key. */
static EVP_MAC_CTX *keyless(const struct evp *evp, const struct mac *mac)
{
	EVP_MAC_CTX *ctx = unset(evp, mac->name);

	cr_assert(set_text(ctx, mac->param, mac->inside), "%s: %s", mac->inside,
		  error_text());
	return ctx;
}

static EVP_MAC_CTX *keyed(const struct evp *evp, const struct mac *mac,
			  const void *key)
{
	EVP_MAC_CTX *ctx = keyless(evp, mac);

	cr_assert(EVP_MAC_init(ctx, key, mac->key_len, NULL), "%s: %s",
		  mac->inside, error_text());
	return ctx;
}

static void feed(EVP_MAC_CTX *ctx, const void *data, size_t len)
{
	cr_assert(EVP_MAC_update(ctx, data, len), "%s", error_text());
}

static struct digest finish(EVP_MAC_CTX *ctx)
{
	struct digest got = { .len = 0 };
	size_t len = 0;

	cr_assert(EVP_MAC_final(ctx, got.bytes, &len, sizeof(got.bytes)), "%s",
		  error_text());
	got.len = (unsigned)len;
	return got;
}

static struct digest reference(const struct mac *mac, const void *key,
			       const void *data, size_t len)
{
	EVP_MAC_CTX *ctx = keyed(&theirs, mac, key);
	struct digest want;

	feed(ctx, data, len);
	want = finish(ctx);
	EVP_MAC_CTX_free(ctx);
	return want;
}

/* Ends the message of @ctx, which has to be @data. */
static void expect_mac(EVP_MAC_CTX *ctx, const struct mac *mac, const void *key,
		       const void *data, size_t len)
{
	struct digest want = reference(mac, key, data, len);
	struct digest got = finish(ctx);

	cr_assert(digest_equal(&got, &want), "%s of %zu bytes is wrong: %s",
		  mac->inside, len, digest_hex(&got));
}

static void expect_hex(EVP_MAC_CTX *ctx, const char *want)
{
	struct digest got = finish(ctx);

	cr_assert_eq(strncmp(digest_hex(&got), want, strlen(want)), 0, "%s",
		     digest_hex(&got));
}

/* In a guest all messages so far must have been the kernel's. */
static void expect_kernel(void)
{
	struct afb_counters c = AFB_COUNTERS;

	if (!getenv("AFALGBATCH_EXPECT_KERNEL"))
		return;
	cr_assert_eq(afb_counters_get(&c), 0);
	cr_assert_gt(c.messages[AFB_BACKEND_AUTO], 0);
	cr_assert_eq(c.messages[AFB_BACKEND_SOFT], 0);
}

Test(mac, every_mac_in_pieces_of_no_pattern)
{
	static const size_t lengths[] = {
		0, 1, 15, 16, 17, 64, 129, 4097, 128 * KIB, 300 * KIB + 7
	};
	unsigned char *data = test_data(512 * KIB);
	size_t m, l, done, n;

	for (m = 0; m < COUNT(macs); m++) {
		EVP_MAC_CTX *ctx = keyed(&ours, &macs[m], data + 3);

		for (l = 0; l < COUNT(lengths); l++) {
			cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
			for (done = 0; done < lengths[l]; done += n) {
				n = 1 + data[done + m] * (data[m] + 1);
				if (n > lengths[l] - done)
					n = lengths[l] - done;
				feed(ctx, data + done, n);
			}
			expect_mac(ctx, &macs[m], data + 3, data, lengths[l]);
		}
		EVP_MAC_CTX_free(ctx);
	}
	free(data);
	expect_kernel();
}

struct vector {
	struct mac mac;
	const char *key, *data;
	size_t len;
	const char *want;
};

static void expect_vectors(const struct vector *vectors, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct vector *v = &vectors[i];
		EVP_MAC_CTX *ctx = keyed(&ours, &v->mac, v->key);

		feed(ctx, v->data, v->len);
		expect_hex(ctx, v->want);
		EVP_MAC_CTX_free(ctx);
	}
	expect_kernel();
}

/* RFC 2202, cases 2 of HMAC-MD5 and HMAC-SHA-1; RFC 4231, case 2 */
Test(mac, hmac_vectors_of_rfc_2202_and_4231)
{
#define JEFE "Jefe", "what do ya want for nothing?", 28
	static const struct vector vectors[] = {
		{ { HMAC, "MD5", 4 }, JEFE, "750c783e6ab0b503eaa86e310a5db738" },
		{ { HMAC, "SHA1", 4 },
		  JEFE,
		  "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
		{ { HMAC, "SHA224", 4 },
		  JEFE,
		  "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44" },
		{ { HMAC, "SHA256", 4 },
		  JEFE,
		  "5bdcc146bf60754e6a042426089575c7"
		  "5a003f089d2739839dec58b964ec3843" },
		{ { HMAC, "SHA384", 4 },
		  JEFE,
		  "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
		  "8e2240ca5e69e2c78b3239ecfab21649" },
		{ { HMAC, "SHA512", 4 },
		  JEFE,
		  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
		  "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737" },
	};

	expect_vectors(vectors, COUNT(vectors));
}

/* M7: RFC 4231, case 6, whose key is longer than a block */
Test(mac, long_hmac_key_is_hashed_first)
{
	const char data[] =
		"Test Using Larger Than Block-Size Key - Hash Key First";
	struct mac mac = { HMAC, "SHA256", 131 };
	unsigned char key[131];
	EVP_MAC_CTX *ctx;

	memset(key, 0xaa, sizeof(key));
	ctx = keyed(&ours, &mac, key);
	feed(ctx, data, strlen(data));
	expect_hex(ctx, "60e431591ee0b67f0d8a26aacbf5b77f"
			"8e0bc6213728c5140546040f0ee37f54");
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* RFC 4493, examples 1 to 4 */
Test(mac, cmac_vectors_of_rfc_4493)
{
#define RFC4493_KEY \
	"\x2b\x7e\x15\x16\x28\xae\xd2\xa6\xab\xf7\x15\x88\x09\xcf\x4f\x3c"
#define RFC4493_DATA                                                       \
	"\x6b\xc1\xbe\xe2\x2e\x40\x9f\x96\xe9\x3d\x7e\x11\x73\x93\x17\x2a" \
	"\xae\x2d\x8a\x57\x1e\x03\xac\x9c\x9e\xb7\x6f\xac\x45\xaf\x8e\x51" \
	"\x30\xc8\x1c\x46\xa3\x5c\xe4\x11\xe5\xfb\xc1\x19\x1a\x0a\x52\xef" \
	"\xf6\x9f\x24\x45\xdf\x4f\x9b\x17\xad\x2b\x41\x7b\xe6\x6c\x37\x10"
#define RFC4493 { CMAC, "AES-128-CBC", 16 }, RFC4493_KEY, RFC4493_DATA
	static const struct vector vectors[] = {
		{ RFC4493, 0, "bb1d6929e95937287fa37d129b756746" },
		{ RFC4493, 16, "070a16b46b4d4144f79bdd9dd04a287c" },
		{ RFC4493, 40, "dfa66747de9ae63030ca32611497c827" },
		{ RFC4493, 64, "51f0bebf7e3b9d92fc49741779363cfe" },
	};

	expect_vectors(vectors, COUNT(vectors));
}

/* M1 */
Test(mac, init_without_key_begins_anew_under_the_same_key)
{
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, "key");

	feed(ctx, "A", 1);
	expect_hex(ctx, "b1d20846db471249");
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	feed(ctx, "B", 1);
	expect_hex(ctx, "26828435f3d5f457");
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	feed(ctx, "forgotten", 9);
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	feed(ctx, "B", 1);
	expect_hex(ctx, "26828435f3d5f457");
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* M2 */
Test(mac, cmac_begins_anew_and_refuses_a_short_key)
{
	static const unsigned char zeros[16];
	EVP_MAC_CTX *ctx = keyed(&ours, &cmac_aes, zeros);

	expect_hex(ctx, "4387c14b46ef7e17");
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	feed(ctx, "B", 1);
	expect_hex(ctx, "4082a7015d7d3e3a");
	cr_assert_not(EVP_MAC_init(ctx, zeros, 15, NULL));
	cr_assert_neq(ERR_peek_error(), 0);
	cr_assert_not(EVP_MAC_update(ctx, (const unsigned char *)"B", 1));
	cr_assert(EVP_MAC_init(ctx, zeros, 16, NULL));
	feed(ctx, "B", 1);
	expect_hex(ctx, "4082a7015d7d3e3a");
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* M3 */
Test(mac, empty_hmac_key_is_a_key_and_none_is_an_error)
{
	EVP_MAC_CTX *ctx = keyless(&ours, &hmac_sha256);

	cr_assert_not(EVP_MAC_init(ctx, NULL, 0, NULL));
	cr_assert_neq(ERR_peek_error(), 0);
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"", 0, NULL));
	expect_hex(ctx, "b613679a0814d9ec");
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	expect_hex(ctx, "b613679a0814d9ec");
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* M4 */
Test(mac, empty_updates_between_data_change_nothing)
{
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, "key");

	feed(ctx, "", 0);
	feed(ctx, "ab", 2);
	feed(ctx, NULL, 0);
	feed(ctx, "c", 1);
	feed(ctx, "", 0);
	expect_mac(ctx, &hmac_sha256, "key", "abc", 3);
	EVP_MAC_CTX_free(ctx);
}

/* M5 */
Test(mac, new_keys_in_mid_stream_leave_nothing_of_the_old)
{
	unsigned char *data = test_data(2 * KIB);
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, data);
	int i, fds = 0;

	for (i = 0; i < 200; i++) {
		feed(ctx, data, i);
		cr_assert(EVP_MAC_init(ctx, data + i, 3, NULL));
		feed(ctx, data, 100);
		expect_mac(ctx, &hmac_sha256, data + i, data, 100);
		cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
		if (i == 10)
			fds = open_fds();
	}
	cr_assert_eq(open_fds(), fds);
	EVP_MAC_CTX_free(ctx);
	free(data);
	expect_kernel();
}

/* A copy goes its own way, and so does the original. */
static void expect_two(EVP_MAC_CTX *ctx, const struct mac *mac,
		       const unsigned char *data, size_t done, size_t len)
{
	EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(ctx);
	unsigned char *other = malloc(len);

	cr_assert_not_null(copy, "%s", error_text());
	cr_assert_not_null(other);
	memcpy(other, data, len);
	memset(other + done, 'x', len - done);
	feed(copy, other + done, len - done);
	feed(ctx, data + done, len - done);
	expect_mac(ctx, mac, data, data, len);
	expect_mac(copy, mac, data, other, len);
	cr_assert(EVP_MAC_init(copy, NULL, 0, NULL));
	feed(copy, data, len);
	expect_mac(copy, mac, data, data, len);
	EVP_MAC_CTX_free(copy);
	free(other);
}

Test(mac, dup_mid_stream_keeps_both_halves)
{
	static const size_t at[] = { 0, 1, 600, 128 * KIB + 1, 290 * KIB };
	unsigned char *data = test_data(300 * KIB);
	size_t m, i;

	for (m = 3; m < COUNT(macs); m += 3) {
		for (i = 0; i < COUNT(at); i++) {
			EVP_MAC_CTX *ctx = keyed(&ours, &macs[m], data);

			feed(ctx, data, at[i]);
			expect_two(ctx, &macs[m], data, at[i], 300 * KIB);
			EVP_MAC_CTX_free(ctx);
		}
	}
	free(data);
	expect_kernel();
}

Test(mac, dup_before_the_key_and_after_final_can_begin)
{
	EVP_MAC_CTX *ctx = keyless(&ours, &hmac_sha256);
	EVP_MAC_CTX *early = EVP_MAC_CTX_dup(ctx), *late;

	cr_assert_not_null(early);
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"key", 3, NULL));
	feed(ctx, "A", 1);
	expect_hex(ctx, "b1d20846db471249");
	late = EVP_MAC_CTX_dup(ctx);
	cr_assert_not_null(late);
	EVP_MAC_CTX_free(ctx);

	cr_assert_not(EVP_MAC_update(late, (const unsigned char *)"A", 1));
	cr_assert(EVP_MAC_init(late, NULL, 0, NULL));
	feed(late, "A", 1);
	expect_hex(late, "b1d20846db471249");
	cr_assert(EVP_MAC_init(early, (const unsigned char *)"key", 3, NULL));
	feed(early, "A", 1);
	expect_hex(early, "b1d20846db471249");
	EVP_MAC_CTX_free(late);
	EVP_MAC_CTX_free(early);
	expect_kernel();
}

static void *mac_in_thread(void *arg)
{
	EVP_MAC_CTX *ctx = arg;
	unsigned char out[32];
	size_t len;
	int i, right = 1;

	for (i = 0; i < 50; i++)
		right &= EVP_MAC_init(ctx, NULL, 0, NULL) &&
			 EVP_MAC_update(ctx, (const unsigned char *)"A", 1) &&
			 EVP_MAC_final(ctx, out, &len, sizeof(out)) &&
			 !memcmp(out, "\xb1\xd2\x08\x46\xdb\x47\x12\x49", 8);
	EVP_MAC_CTX_free(ctx);
	return right ? arg : NULL;
}

Test(mac, duplicates_share_their_key_between_threads)
{
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, "key");
	pthread_t threads[4];
	void *right;
	size_t i;

	for (i = 0; i < COUNT(threads); i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, mac_in_thread,
					    EVP_MAC_CTX_dup(ctx)),
			     0);
	EVP_MAC_CTX_free(ctx);
	for (i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &right);
		cr_assert_not_null(right);
	}
	expect_kernel();
}

Test(mac, sizes_are_those_of_default_in_every_state)
{
	size_t m, keyed_too;

	for (m = 0; m < COUNT(macs); m++) {
		EVP_MAC_CTX *a = keyless(&ours, &macs[m]);
		EVP_MAC_CTX *b = keyless(&theirs, &macs[m]);
		unsigned char *key = test_data(macs[m].key_len);

		/* The default provider's CMAC crashes without a key. */
		for (keyed_too = strcmp(macs[m].name, "HMAC") ? 1 : 0;
		     keyed_too < 2; keyed_too++) {
			if (keyed_too) {
				EVP_MAC_init(a, key, macs[m].key_len, NULL);
				EVP_MAC_init(b, key, macs[m].key_len, NULL);
			}
			cr_assert_eq(EVP_MAC_CTX_get_mac_size(a),
				     EVP_MAC_CTX_get_mac_size(b));
			cr_assert_eq(EVP_MAC_CTX_get_block_size(a),
				     EVP_MAC_CTX_get_block_size(b));
		}
		free(key);
		EVP_MAC_CTX_free(a);
		EVP_MAC_CTX_free(b);
	}
}

static void expect_params(const OSSL_PARAM *has, const OSSL_PARAM *all)
{
	for (; all->key; all++)
		cr_assert_not_null(OSSL_PARAM_locate_const(has, all->key), "%s",
				   all->key);
}

Test(mac, parameters_are_those_of_default)
{
	static const char *const names[] = { "HMAC", "CMAC" };
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		EVP_MAC *a = EVP_MAC_fetch(ours.lib, names[i], NULL);
		EVP_MAC *b = EVP_MAC_fetch(theirs.lib, names[i], NULL);

		expect_params(EVP_MAC_settable_ctx_params(a),
			      EVP_MAC_settable_ctx_params(b));
		expect_params(EVP_MAC_gettable_ctx_params(a),
			      EVP_MAC_gettable_ctx_params(b));
		EVP_MAC_free(a);
		EVP_MAC_free(b);
	}
}

/* As OpenSSL 3.0's does: the new digest waits for a key. */
Test(mac, new_digest_takes_effect_with_the_next_key)
{
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, "key");
	struct mac sha512 = { HMAC, "SHA512", 3 };

	cr_assert(set_text(ctx, OSSL_MAC_PARAM_DIGEST, "SHA512"));
	cr_assert(EVP_MAC_init(ctx, NULL, 0, NULL));
	expect_mac(ctx, &hmac_sha256, "key", "", 0);
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"key", 3, NULL));
	expect_mac(ctx, &sha512, "key", "", 0);
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

Test(mac, key_can_come_as_a_parameter)
{
	EVP_MAC_CTX *ctx = unset(&ours, "HMAC");
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, "key", 3),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
						 "SHA256", 0),
		OSSL_PARAM_construct_end(),
	};

	cr_assert(EVP_MAC_init(ctx, NULL, 0, params), "%s", error_text());
	feed(ctx, "A", 1);
	expect_hex(ctx, "b1d20846db471249");
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* G9 among them */
Test(mac, unknown_digests_and_ciphers_are_refused)
{
	char name[201] = "";
	EVP_MAC_CTX *hmac = unset(&ours, "HMAC"), *cmac = unset(&ours, "CMAC");
	size_t len;

	cr_assert_not(set_text(hmac, OSSL_MAC_PARAM_DIGEST, "AES-128-CBC"));
	cr_assert_not(set_text(cmac, OSSL_MAC_PARAM_CIPHER, "SHA256"));
	cr_assert_neq(ERR_peek_error(), 0);
	for (len = 62; len <= 200; len += len < 65 ? 1 : 45) {
		memset(name, 'a', len);
		name[len] = '\0';
		cr_assert_not(set_text(hmac, OSSL_MAC_PARAM_DIGEST, name));
	}
	cr_assert_not(EVP_MAC_init(hmac, (const unsigned char *)"k", 1, NULL));
	EVP_MAC_CTX_free(hmac);
	EVP_MAC_CTX_free(cmac);
}

Test(mac, what_the_kernel_lacks_is_computed_all_the_same)
{
	static const struct mac lacking[] = {
		{ HMAC, "SHA512-256", 20 },
		{ HMAC, "SHA512-224", 200 },
		{ CMAC, "DES-EDE3-CBC", 24 },
	};
	unsigned char *data = test_data(KIB);
	size_t i;

	for (i = 0; i < COUNT(lacking); i++) {
		EVP_MAC_CTX *ctx = keyed(&ours, &lacking[i], data);

		feed(ctx, data, 100);
		expect_two(ctx, &lacking[i], data, 100, KIB);
		EVP_MAC_CTX_free(ctx);
	}
	free(data);
}

Test(mac, property_query_for_the_digest_is_obeyed)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
						 "SHA256", 0),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES,
						 "fips=yes", 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC_CTX *ctx = unset(&ours, "HMAC");

	cr_assert_not(EVP_MAC_CTX_set_params(ctx, params));
	params[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES,
						     "provider=default", 0);
	cr_assert(EVP_MAC_CTX_set_params(ctx, params), "%s", error_text());
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"key", 3, NULL));
	expect_mac(ctx, &hmac_sha256, "key", "", 0);
	params[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES,
						     "?provider=" OURS, 0);
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"key", 3, params));
	expect_mac(ctx, &hmac_sha256, "key", "", 0);
	expect_kernel();
	EVP_MAC_CTX_free(ctx);
}

Test(mac, calls_out_of_order_are_refused)
{
	EVP_MAC_CTX *ctx = unset(&ours, "HMAC");
	unsigned char out[64];
	size_t len;

	cr_assert_not(EVP_MAC_init(ctx, (const unsigned char *)"k", 1, NULL));
	cr_assert_not(EVP_MAC_update(ctx, (const unsigned char *)"a", 1));
	cr_assert_not(EVP_MAC_final(ctx, out, &len, sizeof(out)));
	EVP_MAC_CTX_free(ctx);

	ctx = keyed(&ours, &hmac_sha256, "key");
	cr_assert_not(EVP_MAC_final(ctx, out, &len, 31));
	cr_assert(EVP_MAC_final(ctx, out, &len, 32));
	cr_assert_not(EVP_MAC_update(ctx, (const unsigned char *)"a", 1));
	cr_assert_not(EVP_MAC_final(ctx, out, &len, sizeof(out)));
	EVP_MAC_CTX_free(ctx);
	expect_kernel();
}

/* What libssl does with a record of TLS 1.2 that has its MAC inside. */
static struct digest mac_of_record(const struct evp *evp,
				   const unsigned char *record, size_t len,
				   size_t padded)
{
	EVP_MAC_CTX *ctx = keyed(evp, &hmac_sha256, "key");
	EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(ctx);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE,
					    &padded),
		OSSL_PARAM_construct_end(),
	};
	unsigned char header[13] = { [8] = 23, 3, 3 };
	struct digest got;

	header[11] = len >> 8;
	header[12] = len & 255;
	cr_assert(EVP_MAC_CTX_set_params(copy, params), "%s", error_text());
	feed(copy, header, sizeof(header));
	feed(copy, record, len);
	got = finish(copy);
	EVP_MAC_CTX_free(copy);
	EVP_MAC_CTX_free(ctx);
	return got;
}

Test(mac, tls_record_has_the_constant_time_mac_of_libcrypto)
{
	unsigned char *record = test_data(KIB);
	struct afb_counters c = AFB_COUNTERS;
	size_t len;

	for (len = 0; len < 256; len += 51) {
		struct digest a = mac_of_record(&ours, record, len, len + 300);
		struct digest b =
			mac_of_record(&theirs, record, len, len + 300);

		cr_assert(digest_equal(&a, &b), "%zu bytes", len);
	}
	cr_assert_eq(afb_counters_get(&c), 0);
	cr_assert_eq(c.messages[AFB_BACKEND_AUTO], 0, "AF_ALG saw a record");
	free(record);
}

Test(mac, without_a_descriptor_to_spare_the_mac_is_right)
{
	EVP_MAC_CTX *ctx = keyed(&ours, &hmac_sha256, "key");

	fds_exhaust();
	feed(ctx, "A", 1);
	expect_hex(ctx, "b1d20846db471249");
	cr_assert(EVP_MAC_init(ctx, (const unsigned char *)"kez", 3, NULL));
	feed(ctx, "A", 1);
	fds_allow();
	expect_mac(ctx, &hmac_sha256, "kez", "A", 1);
	EVP_MAC_CTX_free(ctx);
}

Test(mac, poly1305_is_left_to_other_providers)
{
	OSSL_PROVIDER *def;
	EVP_MAC *mac;

	cr_assert_null(EVP_MAC_fetch(ours.lib, "POLY1305", NULL));
	def = OSSL_PROVIDER_load(ours.lib, THEIRS);
	mac = EVP_MAC_fetch(ours.lib, "POLY1305", NULL);
	cr_assert_not_null(mac);
	cr_assert_str_eq(OSSL_PROVIDER_get0_name(EVP_MAC_get0_provider(mac)),
			 THEIRS);
	EVP_MAC_free(mac);
	OSSL_PROVIDER_unload(def);
}
