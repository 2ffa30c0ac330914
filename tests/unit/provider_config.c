/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_config.c - the settings, from the environment and from openssl.cnf:
 * good ones work, bad ones are refused by name, and debug shows what it should
 * and nothing more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <openssl/err.h>

#include "evp.h"

#define SHA256_ABC \
	"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void expect_abc(OSSL_LIB_CTX *lib)
{
	EVP_MD *md = EVP_MD_fetch(lib, "SHA256", "provider=" OURS);
	struct digest d;

	cr_assert_not_null(md, "%s", error_text());
	cr_assert(digest_chunks(&d, md, "abc", 3, WHOLE), "%s", error_text());
	cr_assert_str_eq(digest_hex(&d), SHA256_ABC);
	EVP_MD_free(md);
}

static void unset_all(void)
{
	unsetenv("AFALGBATCH_PREFER");
	unsetenv("AFALGBATCH_THRESHOLD");
	unsetenv("AFALGBATCH_BACKEND");
	unsetenv("AFALGBATCH_DEBUG");
}

/* ---- stderr, while it goes to a file ---- */

static FILE *captured;
static int real_stderr;

static void capture_start(void)
{
	captured = tmpfile();
	cr_assert_not_null(captured);
	fflush(stderr);
	real_stderr = dup(STDERR_FILENO);
	cr_assert_geq(real_stderr, 0);
	cr_assert_eq(dup2(fileno(captured), STDERR_FILENO), STDERR_FILENO);
}

static const char *capture_stop(void)
{
	static char text[8192];
	size_t n;

	fflush(stderr);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	rewind(captured);
	n = fread(text, 1, sizeof(text) - 1, captured);
	text[n] = '\0';
	fclose(captured);
	return text;
}

/* What a load, one digest and an unload print. */
static const char *output_of_a_run(void)
{
	struct evp ours;

	capture_start();
	ours = evp_open(OURS);
	expect_abc(ours.lib);
	evp_close(&ours);
	return capture_stop();
}

/* ---- the environment ---- */

static void expect_refused(const char *const *words)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	const char *text;

	cr_assert_not_null(lib);
	cr_assert_null(OSSL_PROVIDER_load(lib, OURS));
	text = error_text();
	for (; *words; words++)
		cr_assert_not_null(strstr(text, *words), "no \"%s\" in: %s",
				   *words, text);
	OSSL_LIB_CTX_free(lib);
}

Test(config, unknown_backend_is_refused_by_name)
{
	static const char *const words[] = {
		"AFALGBATCH_BACKEND",
		"backend",
		"\"nonsense\"",
		"auto",
		"uring",
		"sync",
		"soft",
		NULL,
	};

	setenv("AFALGBATCH_BACKEND", "nonsense", 1);
	expect_refused(words);
}

Test(config, backend_names_are_exact)
{
	static const char *const bad[] = { "Auto", "uring ", " soft",
					   "sof",  "softy",  "3" };
	const char *words[] = { "backend", NULL, NULL };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("AFALGBATCH_BACKEND", bad[i], 1);
		words[1] = bad[i];
		expect_refused(words);
	}
}

Test(config, endless_value_is_refused_too)
{
	static const char *const words[] = { "backend", "xxxxxxxx", "soft",
					     NULL };
	char value[100001];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	setenv("AFALGBATCH_BACKEND", value, 1);
	expect_refused(words);
}

Test(config, unknown_debug_value_is_refused_by_name)
{
	static const char *const words[] = {
		"AFALGBATCH_DEBUG", "debug", "\"maybe\"", "yes", "no", NULL
	};

	setenv("AFALGBATCH_DEBUG", "maybe", 1);
	expect_refused(words);
}

Test(config, threshold_that_is_no_number_is_refused_by_name)
{
	static const char *const values[] = { "4k",  "-1",
					      " 1",  "0x10",
					      "1.5", "99999999999999999999" };
	const char *words[] = { "AFALGBATCH_THRESHOLD", "threshold", NULL,
				"bytes", NULL };
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		setenv("AFALGBATCH_THRESHOLD", values[i], 1);
		words[2] = values[i];
		expect_refused(words);
	}
}

Test(config, refused_provider_leaves_default_usable)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	OSSL_PROVIDER *theirs, *ours;
	EVP_MD *md;

	setenv("AFALGBATCH_BACKEND", "nonsense", 1);
	cr_assert_null(OSSL_PROVIDER_load(lib, OURS));
	theirs = OSSL_PROVIDER_load(lib, THEIRS);
	cr_assert_not_null(theirs);
	md = EVP_MD_fetch(lib, "SHA256", NULL);
	cr_assert_not_null(md);
	EVP_MD_free(md);

	setenv("AFALGBATCH_BACKEND", "soft", 1);
	ours = OSSL_PROVIDER_load(lib, OURS);
	cr_assert_not_null(ours, "%s", error_text());
	expect_abc(lib);
	OSSL_PROVIDER_unload(ours);
	OSSL_PROVIDER_unload(theirs);
	OSSL_LIB_CTX_free(lib);
}

/* A wish that the machine cannot fulfil still gives the right digest. */
Test(config, every_backend_name_gives_right_digests)
{
	static const char *const names[] = { "auto", "uring", "aio",
					     "sync", "soft",  "" };
	struct evp ours;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		setenv("AFALGBATCH_BACKEND", names[i], 1);
		ours = evp_open(OURS);
		expect_abc(ours.lib);
		evp_close(&ours);
	}
}

/* ---- prefer ---- */

static void expect_server(OSSL_LIB_CTX *lib, const char *query,
			  const char *provider)
{
	EVP_MD *md = EVP_MD_fetch(lib, "SHA256", query);

	cr_assert_not_null(md);
	cr_assert_str_eq(OSSL_PROVIDER_get0_name(EVP_MD_get0_provider(md)),
			 provider, "with %s", query ? query : "no query");
	EVP_MD_free(md);
}

/* A library context where default has served already, as in the command. */
static struct evp open_after_default(OSSL_PROVIDER **theirs)
{
	struct evp evp = evp_open(THEIRS);

	*theirs = evp.provider;
	expect_server(evp.lib, NULL, THEIRS);
	evp.provider = OSSL_PROVIDER_load(evp.lib, OURS);
	cr_assert_not_null(evp.provider, "%s", error_text());
	return evp;
}

Test(config, fetch_without_query_takes_ours_though_default_was_first)
{
	OSSL_PROVIDER *theirs;
	struct evp evp;

	unset_all();
	evp = open_after_default(&theirs);
	expect_server(evp.lib, NULL, OURS);
	expect_server(evp.lib, "?provider=" OURS, OURS);
	expect_server(evp.lib, "provider=" OURS, OURS);
	expect_server(evp.lib, "provider!=" OURS, THEIRS);
	expect_server(evp.lib, "provider=" THEIRS, THEIRS);
	OSSL_PROVIDER_unload(theirs);
	evp_close(&evp);
}

Test(config, prefer_no_leaves_the_order_to_openssl)
{
	OSSL_PROVIDER *theirs;
	struct evp evp;

	unset_all();
	setenv("AFALGBATCH_PREFER", "no", 1);
	evp = open_after_default(&theirs);
	expect_server(evp.lib, NULL, THEIRS);
	expect_server(evp.lib, "?provider=" OURS, OURS);
	expect_server(evp.lib, "?provider=" THEIRS, THEIRS);
	OSSL_PROVIDER_unload(theirs);
	evp_close(&evp);
}

/* ---- debug ---- */

Test(config, nothing_is_printed_without_debug)
{
	unset_all();
	cr_assert_str_empty(output_of_a_run());
	setenv("AFALGBATCH_DEBUG", "0", 1);
	cr_assert_str_empty(output_of_a_run());
	setenv("AFALGBATCH_DEBUG", "", 1);
	cr_assert_str_empty(output_of_a_run());
}

Test(config, debug_shows_backend_and_counters)
{
	const char *text;
	char *line, *copy;

	setenv("AFALGBATCH_DEBUG", "1", 1);
	text = output_of_a_run();
	cr_assert_not_null(strstr(text, "afalgbatch: sha256: back end "), "%s",
			   text);
	cr_assert_not_null(strstr(text, ", driver "), "%s", text);
	cr_assert_not_null(strstr(text, "afalgbatch: counters: messages 1 ("),
			   "%s", text);
	cr_assert_not_null(strstr(text, "), bytes 3, system calls "), "%s",
			   text);
	cr_assert_null(strstr(text, "sha512"), "%s", text);

	copy = strdup(text);
	for (line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
		cr_assert_eq(strncmp(line, "afalgbatch: ", 12), 0, "%s", line);
	free(copy);
}

Test(config, refusal_is_printed_even_without_debug)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	const char *text;

	unset_all();
	setenv("AFALGBATCH_BACKEND", "nonsense", 1);
	capture_start();
	cr_assert_null(OSSL_PROVIDER_load(lib, OURS));
	text = capture_stop();
	cr_assert_not_null(strstr(text, "afalgbatch: error: "), "%s", text);
	cr_assert_not_null(strstr(text, "\"nonsense\""), "%s", text);
	OSSL_LIB_CTX_free(lib);
}

Test(config, soft_does_not_count_as_a_fall_back)
{
	const char *text;

	setenv("AFALGBATCH_DEBUG", "1", 1);
	setenv("AFALGBATCH_BACKEND", "soft", 1);
	text = output_of_a_run();
	cr_assert_not_null(strstr(text, "sha256: back end soft, driver"), "%s",
			   text);
	cr_assert_null(strstr(text, "fell back"), "%s", text);
	cr_assert_null(strstr(text, "fall-backs"), "%s", text);
}

/* ---- openssl.cnf ---- */

static int load_cnf(OSSL_LIB_CTX *lib, const char *settings)
{
	char path[] = "/tmp/afalgbatch-cnf-XXXXXX";
	int fd = mkstemp(path);
	FILE *f;
	int ret;

	cr_assert_geq(fd, 0);
	f = fdopen(fd, "w");
	cr_assert_not_null(f);
	fprintf(f,
		"openssl_conf = init\n"
		"[init]\n"
		"providers = providers\n"
		"[providers]\n"
		"default = default_section\n"
		"afalgbatch = afalgbatch_section\n"
		"[default_section]\n"
		"activate = 1\n"
		"[afalgbatch_section]\n"
		"activate = 1\n"
		"%s",
		settings);
	fclose(f);
	ret = OSSL_LIB_CTX_load_config(lib, path);
	unlink(path);
	return ret;
}

Test(config, cnf_chooses_the_backend)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	const char *text;

	unset_all();
	capture_start();
	cr_assert(load_cnf(lib, "backend = soft\ndebug = yes\n"), "%s",
		  error_text());
	expect_abc(lib);
	OSSL_LIB_CTX_free(lib);
	text = capture_stop();
	cr_assert_not_null(strstr(text, "sha256: back end soft, driver"), "%s",
			   text);
	cr_assert_null(strstr(text, "fell back"), "%s", text);
}

Test(config, cnf_without_settings_is_silent_and_works)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();

	unset_all();
	capture_start();
	cr_assert(load_cnf(lib, ""), "%s", error_text());
	expect_abc(lib);
	OSSL_LIB_CTX_free(lib);
	cr_assert_str_empty(capture_stop());
}

Test(config, environment_wins_over_cnf)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	const char *text;

	setenv("AFALGBATCH_BACKEND", "soft", 1);
	setenv("AFALGBATCH_DEBUG", "1", 1);
	capture_start();
	cr_assert(load_cnf(lib, "backend = sync\ndebug = 0\n"), "%s",
		  error_text());
	expect_abc(lib);
	OSSL_LIB_CTX_free(lib);
	text = capture_stop();
	cr_assert_not_null(strstr(text, "sha256: back end soft, driver"), "%s",
			   text);
}

Test(config, cnf_with_unknown_backend_is_refused_by_name)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	const char *text;

	/* OpenSSL 3.0 drops the error, so stderr is what the user has. */
	unset_all();
	capture_start();
	load_cnf(lib, "backend = nonsense\n");
	text = capture_stop();
	cr_assert_not_null(strstr(text, "backend"), "%s", text);
	cr_assert_not_null(strstr(text, "configuration section"), "%s", text);
	cr_assert_not_null(strstr(text, "\"nonsense\""), "%s", text);
	cr_assert_not_null(strstr(text, "uring"), "%s", text);
	cr_assert_null(EVP_MD_fetch(lib, "SHA256", "provider=" OURS));
	OSSL_LIB_CTX_free(lib);
}
