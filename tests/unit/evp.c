/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evp.c - see evp.h.
 */
#include "evp.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <openssl/err.h>

struct evp evp_open(const char *provider)
{
	struct evp evp = { .lib = OSSL_LIB_CTX_new() };

	cr_assert_not_null(evp.lib);
	evp.provider = OSSL_PROVIDER_load(evp.lib, provider);
	cr_assert_not_null(evp.provider, "%s does not load: %s", provider,
			   error_text());
	return evp;
}

void evp_close(struct evp *evp)
{
	OSSL_PROVIDER_unload(evp->provider);
	OSSL_LIB_CTX_free(evp->lib);
}

static void add_pair(EVP_MD *md, void *arg)
{
	struct pairs *pairs = arg;
	struct pair *pair = &pairs->pair[pairs->count++];

	cr_assert_leq(pairs->count, PAIRS_MAX);
	cr_assert(EVP_MD_up_ref(md));
	pair->ours = md;
	pair->name = EVP_MD_get0_name(md);
	pair->theirs = EVP_MD_fetch(pairs->theirs.lib, pair->name, NULL);
	cr_assert_not_null(pair->theirs, "default has no %s", pair->name);
}

struct pairs *pairs_open(void)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));

	cr_assert_not_null(pairs);
	pairs->ours = evp_open(OURS);
	pairs->theirs = evp_open(THEIRS);
	EVP_MD_do_all_provided(pairs->ours.lib, add_pair, pairs);
	cr_assert_gt(pairs->count, 0);
	return pairs;
}

void pairs_close(struct pairs *pairs)
{
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		EVP_MD_free(pairs->pair[i].ours);
		EVP_MD_free(pairs->pair[i].theirs);
	}
	evp_close(&pairs->ours);
	evp_close(&pairs->theirs);
	free(pairs);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

bool digest_chunks(struct digest *d, EVP_MD *md, const void *data, size_t len,
		   size_t chunk)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	const char *p = data;
	bool ok;

	ok = ctx && EVP_DigestInit_ex2(ctx, md, NULL);
	while (ok && len) {
		size_t n = chunk == WHOLE || chunk > len ? len : chunk;

		ok = EVP_DigestUpdate(ctx, p, n);
		p += n;
		len -= n;
	}
	ok = ok && EVP_DigestFinal_ex(ctx, d->bytes, &d->len);
	EVP_MD_CTX_free(ctx);
	return ok;
}

void expect_digest(const struct digest *want, const struct pair *pair,
		   const void *data, size_t len, size_t chunk)
{
	struct digest got;

	cr_assert(digest_chunks(&got, pair->ours, data, len, chunk),
		  "%s of %zu bytes by %zu: %s", pair->name, len, chunk,
		  error_text());
	cr_assert(digest_equal(&got, want),
		  "%s of %zu bytes by %zu is wrong: %s", pair->name, len, chunk,
		  digest_hex(&got));
}

void expect_same(const struct pair *pair, const void *data, size_t len,
		 size_t chunk)
{
	struct digest want;

	cr_assert(digest_chunks(&want, pair->theirs, data, len, WHOLE));
	expect_digest(&want, pair, data, len, chunk);
}

void expect_final(EVP_MD_CTX *ctx, const struct pair *pair, const void *data,
		  size_t len)
{
	struct digest got, want;

	cr_assert(digest_chunks(&want, pair->theirs, data, len, WHOLE));
	cr_assert(EVP_DigestFinal_ex(ctx, got.bytes, &got.len), "%s: %s",
		  pair->name, error_text());
	cr_assert(digest_equal(&got, &want), "%s of %zu bytes is wrong: %s",
		  pair->name, len, digest_hex(&got));
}

EVP_MD_CTX *begin(EVP_MD *md)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	cr_assert_not_null(ctx);
	cr_assert(EVP_DigestInit_ex2(ctx, md, NULL), "%s", error_text());
	return ctx;
}

void update(EVP_MD_CTX *ctx, const void *data, size_t len)
{
	cr_assert(EVP_DigestUpdate(ctx, data, len), "%s", error_text());
}

EVP_MD_CTX *dup_ctx(const EVP_MD_CTX *ctx)
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();

	cr_assert_not_null(copy);
	cr_assert(EVP_MD_CTX_copy_ex(copy, ctx), "%s", error_text());
	return copy;
}

const char *digest_hex(const struct digest *d)
{
	static char hex[2 * EVP_MAX_MD_SIZE + 1];
	unsigned i;

	hex[0] = '\0';
	for (i = 0; i < d->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", d->bytes[i]);
	return hex;
}

unsigned char *test_data(size_t len)
{
	unsigned char *data = malloc(len ? len : 1);
	uint64_t x = 0x2545f4914f6cdd1d;
	size_t i;

	cr_assert_not_null(data);
	for (i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = (unsigned char)(x >> 32);
	}
	return data;
}

int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3; /* ".", ".." and the one of opendir itself */
}

static struct rlimit allowed;

void fds_exhaust(void)
{
	struct rlimit none;
	int fd;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &allowed), 0);
	none = allowed;
	none.rlim_cur = 0;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = open("/dev/null", O_RDONLY);
	cr_assert_lt(fd, 0, "the file limit does not hold");
}

void fds_allow(void)
{
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &allowed), 0);
}

static int append_error(const char *line, size_t len, void *arg)
{
	char *text = arg;

	strncat(text, line, len);
	return 1;
}

const char *error_text(void)
{
	static char text[16384];

	text[0] = '\0';
	ERR_print_errors_cb(append_error, text);
	return text;
}
