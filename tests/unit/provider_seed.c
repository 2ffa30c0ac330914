/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_seed.c - the kernel's generator seeds OpenSSL's for who asks for it, and
 * for nobody else. R3 is a case that other projects' users met.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include "afalgbatch.h"
#include "evp.h"

#define SEED "AFALG-SEED"

static struct evp ours;
static OSSL_PROVIDER *theirs;

static void open_ours(void)
{
	ours = evp_open(OURS);
	theirs = OSSL_PROVIDER_load(ours.lib, THEIRS);
	cr_assert_not_null(theirs);
}

static void close_ours(void)
{
	OSSL_PROVIDER_unload(theirs);
	evp_close(&ours);
}

TestSuite(seed, .init = open_ours, .fini = close_ours, .timeout = 60);

static uint64_t messages(enum afb_backend backend)
{
	struct afb_counters c = AFB_COUNTERS;

	cr_assert_eq(afb_counters_get(&c), 0);
	return c.messages[backend];
}

static EVP_RAND_CTX *generator(const char *name, EVP_RAND_CTX *parent)
{
	EVP_RAND *rand = EVP_RAND_fetch(ours.lib, name, NULL);
	EVP_RAND_CTX *ctx;

	cr_assert_not_null(rand, "%s: %s", name, error_text());
	ctx = EVP_RAND_CTX_new(rand, parent);
	cr_assert_not_null(ctx);
	EVP_RAND_free(rand);
	return ctx;
}

/* Ready, or the test ends here because there is no kernel to ask. */
static EVP_RAND_CTX *seed_source(void)
{
	EVP_RAND_CTX *ctx = generator(SEED, NULL);

	if (EVP_RAND_instantiate(ctx, 0, 0, NULL, 0, NULL))
		return ctx;
	cr_assert_null(getenv("AFALGBATCH_EXPECT_KERNEL"), "%s", error_text());
	EVP_RAND_CTX_free(ctx);
	cr_skip_test("AF_ALG has no generator");
}

Test(seed, bytes_come_from_the_kernel)
{
	EVP_RAND_CTX *ctx = seed_source();
	unsigned char a[1000] = "", b[1000] = "";

	cr_assert(EVP_RAND_generate(ctx, a, sizeof(a), 0, 0, NULL, 0));
	cr_assert(EVP_RAND_generate(ctx, b, sizeof(b), 0, 0, NULL, 0));
	cr_assert_neq(memcmp(a, b, sizeof(a)), 0);
	/* The last bytes were filled, too. */
	cr_assert_neq(memcmp(a + 984, b + 984, 16), 0);
	cr_assert_eq(messages(AFB_BACKEND_SYNC), 2);
	cr_assert_eq(messages(AFB_BACKEND_SOFT), 0);
	EVP_RAND_CTX_free(ctx);
}

Test(seed, strength_is_that_of_the_driver_and_no_more)
{
	EVP_RAND_CTX *ctx = seed_source();
	unsigned strength = EVP_RAND_get_strength(ctx);
	unsigned char out[16];

	cr_assert(strength == 128 || strength == 256);
	cr_assert_not(
		EVP_RAND_generate(ctx, out, sizeof(out), 257, 0, NULL, 0));
	cr_assert_neq(ERR_peek_error(), 0);
	cr_assert_not(EVP_RAND_instantiate(ctx, 257, 0, NULL, 0, NULL));
	cr_assert_not(EVP_RAND_generate(ctx, out, sizeof(out), 0, 0, NULL, 0));
	cr_assert(EVP_RAND_instantiate(ctx, strength, 0, NULL, 0, NULL));
	EVP_RAND_CTX_free(ctx);
}

/* R3 */
Test(seed, without_the_kernel_it_fails_and_gives_nothing)
{
	EVP_RAND_CTX *ctx = generator(SEED, NULL);
	unsigned char out[16] = "";

	fds_exhaust();
	cr_assert_not(EVP_RAND_instantiate(ctx, 0, 0, NULL, 0, NULL));
	fds_allow();
	cr_assert_neq(ERR_peek_error(), 0);
	cr_assert_eq(EVP_RAND_get_state(ctx), EVP_RAND_STATE_ERROR);
	cr_assert_not(EVP_RAND_generate(ctx, out, sizeof(out), 0, 0, NULL, 0));
	cr_assert_eq(messages(AFB_BACKEND_AUTO), 0);
	EVP_RAND_CTX_free(ctx);
}

Test(seed, drbg_of_default_takes_it_as_its_parent)
{
	EVP_RAND_CTX *parent = seed_source();
	EVP_RAND_CTX *drbg = generator("CTR-DRBG", parent);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string("cipher", "AES-256-CTR", 0),
		OSSL_PARAM_construct_end(),
	};
	unsigned char out[64];

	cr_assert(EVP_RAND_instantiate(drbg, 256, 0, NULL, 0, params), "%s",
		  error_text());
	cr_assert_eq(messages(AFB_BACKEND_SYNC), 1);
	cr_assert(EVP_RAND_generate(drbg, out, sizeof(out), 0, 1, NULL, 0),
		  "%s", error_text());
	cr_assert_gt(messages(AFB_BACKEND_SYNC), 1, "nothing was reseeded");
	EVP_RAND_CTX_free(drbg);
	EVP_RAND_CTX_free(parent);
}

Test(seed, library_context_uses_it_when_told)
{
	unsigned char out[32];

	EVP_RAND_CTX_free(seed_source());
	cr_assert(RAND_set_seed_source_type(ours.lib, SEED, "provider=" OURS));
	cr_assert_eq(RAND_bytes_ex(ours.lib, out, sizeof(out), 0), 1, "%s",
		     error_text());
	cr_assert_gt(messages(AFB_BACKEND_SYNC), 0);
}

Test(seed, nobody_gets_it_unasked)
{
	unsigned char out[32];

	cr_assert_eq(RAND_bytes_ex(ours.lib, out, sizeof(out), 0), 1, "%s",
		     error_text());
	cr_assert_eq(RAND_priv_bytes_ex(ours.lib, out, sizeof(out), 0), 1);
	cr_assert_eq(messages(AFB_BACKEND_AUTO), 0);
	cr_assert_null(EVP_RAND_fetch(ours.lib, "SEED-SRC", "provider=" OURS));
	cr_assert_null(EVP_RAND_fetch(ours.lib, "CTR-DRBG", "provider=" OURS));
}
