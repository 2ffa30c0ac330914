/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_names.c - each digest has every name and OID, and the sizes and
 * flags, that it has in OpenSSL's default provider; and property queries choose
 * between the two as they should.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/core.h>
#include <openssl/core_names.h>
#include <openssl/err.h>

#include "afalgbatch.h"
#include "evp.h"

static const OSSL_ALGORITHM *digests_of(const struct evp *evp)
{
	const OSSL_ALGORITHM *algs;
	int no_cache;

	algs = OSSL_PROVIDER_query_operation(evp->provider, OSSL_OP_DIGEST,
					     &no_cache);
	cr_assert_not_null(algs);
	return algs;
}

/* Whether the ':'-separated @names has the @len characters at @name. */
static bool has_name(const char *names, const char *name, size_t len)
{
	while (1) {
		size_t n = strcspn(names, ":");

		if (n == len && !strncasecmp(names, name, len))
			return true;
		if (!names[n])
			return false;
		names += n + 1;
	}
}

static bool has_names(const char *names, const char *subset)
{
	while (1) {
		size_t n = strcspn(subset, ":");

		if (!has_name(names, subset, n))
			return false;
		if (!subset[n])
			return true;
		subset += n + 1;
	}
}

Test(names, list_equals_that_of_default)
{
	struct evp ours = evp_open(OURS), theirs = evp_open(THEIRS);
	const OSSL_ALGORITHM *a, *b;

	/*
	 * The lists themselves: EVP adds names of its own to what a provider
	 * says, and would hide one that is missing.
	 */
	for (a = digests_of(&ours); a->algorithm_names; a++) {
		size_t first = strcspn(a->algorithm_names, ":");

		for (b = digests_of(&theirs); b->algorithm_names; b++)
			if (has_name(b->algorithm_names, a->algorithm_names,
				     first))
				break;
		cr_assert_not_null(b->algorithm_names, "default has no %s",
				   a->algorithm_names);
		cr_assert(has_names(a->algorithm_names, b->algorithm_names) &&
				  has_names(b->algorithm_names,
					    a->algorithm_names),
			  "%s, but default has %s", a->algorithm_names,
			  b->algorithm_names);
		cr_assert_str_eq(a->property_definition, "provider=" OURS);
	}
	evp_close(&ours);
	evp_close(&theirs);
}

Test(names, first_six_digests_are_offered)
{
	static const char *const names[] = { "MD5",    "SHA1",	 "SHA224",
					     "SHA256", "SHA384", "SHA512" };
	struct evp ours = evp_open(OURS);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EVP_MD *md = EVP_MD_fetch(ours.lib, names[i], NULL);

		cr_assert_not_null(md, "%s", names[i]);
		EVP_MD_free(md);
	}
	evp_close(&ours);
}

/* G6: what the kernel lacks is not in our list. */
Test(names, every_digest_that_is_offered_is_the_kernels, .timeout = 60)
{
	struct pairs *pairs = pairs_open();
	struct afb_counters c = AFB_COUNTERS;
	size_t i;

	for (i = 0; i < pairs->count; i++)
		expect_same(&pairs->pair[i], "abc", 3, WHOLE);
	cr_assert_eq(afb_counters_get(&c), 0);
	cr_assert_eq(c.messages[AFB_BACKEND_AUTO], pairs->count);
	if (getenv("AFALGBATCH_EXPECT_KERNEL"))
		cr_assert_eq(c.messages[AFB_BACKEND_SOFT], 0);
	pairs_close(pairs);
}

static void fetch_by_name(const char *name, void *arg)
{
	const struct pairs *pairs = arg;
	const OSSL_PROVIDER *from;
	EVP_MD *md;

	md = EVP_MD_fetch(pairs->ours.lib, name, "provider=" OURS);
	cr_assert_not_null(md, "%s is not found", name);
	from = EVP_MD_get0_provider(md);
	cr_assert_str_eq(OSSL_PROVIDER_get0_name(from), OURS);
	EVP_MD_free(md);
}

Test(names, every_name_of_default_fetches_ours)
{
	struct pairs *pairs = pairs_open();
	OSSL_PROVIDER *theirs;
	size_t i;

	/* The default provider beside ours must not get in the way. */
	theirs = OSSL_PROVIDER_load(pairs->ours.lib, THEIRS);
	cr_assert_not_null(theirs);
	for (i = 0; i < pairs->count; i++)
		cr_assert(EVP_MD_names_do_all(pairs->pair[i].theirs,
					      fetch_by_name, pairs));
	OSSL_PROVIDER_unload(theirs);
	pairs_close(pairs);
}

Test(names, sizes_and_flags_equal_those_of_default)
{
	struct pairs *pairs = pairs_open();
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		const struct pair *p = &pairs->pair[i];

		cr_assert_eq(EVP_MD_get_size(p->ours),
			     EVP_MD_get_size(p->theirs), "%s", p->name);
		cr_assert_eq(EVP_MD_get_block_size(p->ours),
			     EVP_MD_get_block_size(p->theirs), "%s", p->name);
		cr_assert_eq(EVP_MD_get_flags(p->ours),
			     EVP_MD_get_flags(p->theirs), "%s", p->name);
		cr_assert_eq(EVP_MD_get_type(p->ours),
			     EVP_MD_get_type(p->theirs), "%s", p->name);
	}
	pairs_close(pairs);
}

/* Which parameters can be read is part of the interface too. */
Test(names, gettable_parameters_equal_those_of_default)
{
	struct pairs *pairs = pairs_open();
	const OSSL_PARAM *p, *q;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		q = EVP_MD_gettable_params(pairs->pair[i].ours);
		cr_assert_not_null(q);
		p = EVP_MD_gettable_params(pairs->pair[i].theirs);
		for (; p->key; p++)
			cr_assert_not_null(OSSL_PARAM_locate_const(q, p->key),
					   "%s lacks %s", pairs->pair[i].name,
					   p->key);
	}
	pairs_close(pairs);
}

/* G4 */
Test(names, strict_query_for_a_digest_we_lack_fails)
{
	struct evp ours = evp_open(OURS);
	OSSL_PROVIDER *theirs = OSSL_PROVIDER_load(ours.lib, THEIRS);

	cr_assert_not_null(theirs);
	cr_assert_null(EVP_MD_fetch(ours.lib, "SHA512-256", "provider=" OURS));
	cr_assert_neq(ERR_peek_error(), 0);
	OSSL_PROVIDER_unload(theirs);
	evp_close(&ours);
}

static void expect_provider(OSSL_LIB_CTX *lib, const char *digest,
			    const char *query, const char *provider)
{
	EVP_MD *md = EVP_MD_fetch(lib, digest, query);

	cr_assert_not_null(md, "%s with %s", digest, query);
	cr_assert_str_eq(OSSL_PROVIDER_get0_name(EVP_MD_get0_provider(md)),
			 provider);
	EVP_MD_free(md);
}

/* G5 */
Test(names, preference_takes_ours_or_else_default)
{
	struct evp ours = evp_open(OURS);
	OSSL_PROVIDER *theirs = OSSL_PROVIDER_load(ours.lib, THEIRS);

	cr_assert_not_null(theirs);
	expect_provider(ours.lib, "SHA256", "?provider=" OURS, OURS);
	expect_provider(ours.lib, "SHA512-256", "?provider=" OURS, THEIRS);
	expect_provider(ours.lib, "SHA256", "provider=" THEIRS, THEIRS);
	OSSL_PROVIDER_unload(theirs);
	evp_close(&ours);
}

Test(names, provider_tells_its_name_version_and_status)
{
	struct evp ours = evp_open(OURS);
	char *name = NULL, *version = NULL, *build = NULL;
	int status = 0;
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, &name, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build, 0),
		OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, &status),
		OSSL_PARAM_END,
	};

	cr_assert(OSSL_PROVIDER_get_params(ours.provider, params));
	cr_assert_str_eq(name, OURS);
	cr_assert(version && *version);
	cr_assert(build && *build);
	cr_assert_eq(status, 1);
	evp_close(&ours);
}

/* "openssl list -providers -verbose" prints no other value than this one. */
Test(names, build_information_tells_the_back_end_that_serves)
{
	struct evp ours = evp_open(OURS);
	char *build = NULL, *backend = NULL, end[32];
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build, 0),
		OSSL_PARAM_utf8_ptr("afalgbatch-backend", &backend, 0),
		OSSL_PARAM_END,
	};

	cr_assert(OSSL_PROVIDER_get_params(ours.provider, params));
	snprintf(end, sizeof(end), ", back end %s", backend);
	cr_assert_not_null(strstr(build, end), "%s", build);
	if (!getenv("AFALGBATCH_BACKEND"))
		cr_assert_str_eq(backend, getenv("AFALGBATCH_EXPECT_KERNEL") ?
						  "uring" :
						  "soft");
	evp_close(&ours);
}

Test(names, parameters_tell_the_processs_counters)
{
	struct pairs *pairs = pairs_open();
	uint64_t kernel = 99, soft = 99, bytes = 99;
	OSSL_PARAM params[] = {
		OSSL_PARAM_uint64("afalgbatch-kernel-messages", &kernel),
		OSSL_PARAM_uint64("afalgbatch-soft-messages", &soft),
		OSSL_PARAM_uint64("afalgbatch-bytes", &bytes),
		OSSL_PARAM_END,
	};

	cr_assert(OSSL_PROVIDER_get_params(pairs->ours.provider, params));
	cr_assert_eq(kernel + soft + bytes, 0);
	expect_same(&pairs->pair[0], "abc", 3, WHOLE);
	cr_assert(OSSL_PROVIDER_get_params(pairs->ours.provider, params));
	cr_assert_eq(kernel + soft, 1);
	cr_assert_eq(bytes, 3);
	if (getenv("AFALGBATCH_EXPECT_KERNEL"))
		cr_assert_eq(kernel, 1);
	pairs_close(pairs);
}
