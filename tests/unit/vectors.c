/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.c - the answers of the standards, and of edge cases, from the files of
 * tests/vectors (see the README.md there), through every back end that offers the
 * algorithm. Each is also held against libcrypto's default provider: a slip in a
 * file is not taken for one of the library.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_run.h"
#include "reference.h"

#define FIELD_MAX 70000
#define KEY_MAX 512

struct vector {
	struct known known;
	struct bytes mac_key, tag;
	int error;
	bool any; /* of its lines has been seen */
	char algorithm[64];
	char where[320];
	uint8_t memory[7][FIELD_MAX];
};

static struct known_ways ways;
static unsigned vectors;

/* ---- Reading a file ------------------------------------------------------- */

static void begin(struct vector *vector)
{
	struct bytes *fields[] = {
		&vector->known.key,   &vector->known.iv,     &vector->known.aad,
		&vector->known.plain, &vector->known.cipher, &vector->mac_key,
		&vector->tag,
	};
	unsigned i;

	for (i = 0; i < 7; i++)
		*fields[i] = (struct bytes){ vector->memory[i], 0 };
	vector->known.algorithm = vector->algorithm;
	vector->known.tag_len = 0;
	vector->error = 0;
	vector->any = false;
}

static struct bytes *field_of(struct vector *vector, const char *name)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "key", offsetof(struct vector, known.key) },
		{ "mac_key", offsetof(struct vector, mac_key) },
		{ "iv", offsetof(struct vector, known.iv) },
		{ "aad", offsetof(struct vector, known.aad) },
		{ "plain", offsetof(struct vector, known.plain) },
		{ "cipher", offsetof(struct vector, known.cipher) },
		{ "digest", offsetof(struct vector, known.cipher) },
		{ "tag", offsetof(struct vector, tag) },
	};
	unsigned i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(name, fields[i].name))
			return (struct bytes *)((char *)vector +
						fields[i].offset);
	cr_assert_fail("%s: no field %s", vector->where, name);
	return NULL;
}

static void add(struct vector *vector, struct bytes *to, uint8_t byte)
{
	cr_assert_lt(to->len, (size_t)FIELD_MAX, "%s", vector->where);
	to->data[to->len++] = byte;
}

/* One of: hex digits, "text"; then perhaps *TIMES. Returns what follows. */
static const char *add_token(struct vector *vector, struct bytes *to,
			     const char *at)
{
	size_t start = to->len, len, i;
	unsigned long times = 1;
	unsigned byte;
	char *end;

	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			add(vector, to, *at);
		at++;
	} else {
		for (; isxdigit((unsigned char)*at); at += 2) {
			cr_assert_eq(sscanf(at, "%2x", &byte), 1);
			cr_assert(isxdigit((unsigned char)at[1]), "%s: odd hex",
				  vector->where);
			add(vector, to, byte);
		}
	}
	if (*at == '*') {
		times = strtoul(at + 1, &end, 10);
		at = end;
	}
	for (len = to->len - start; times > 1; times--)
		for (i = 0; i < len; i++)
			add(vector, to, to->data[start + i]);
	cr_assert(!*at || isspace((unsigned char)*at), "%s: %s", vector->where,
		  at);
	return at;
}

static void add_value(struct vector *vector, struct bytes *to, const char *at)
{
	for (;;) {
		while (isspace((unsigned char)*at))
			at++;
		if (!*at)
			return;
		at = add_token(vector, to, at);
	}
}

static void take_section(struct vector *vector, const char *line)
{
	char type[16];

	cr_assert_eq(sscanf(line, "[%15s %63[^]]", type, vector->algorithm), 2,
		     "%s", vector->where);
	if (!strcmp(type, "hash"))
		vector->known.type = AFB_HASH;
	else if (!strcmp(type, "skcipher"))
		vector->known.type = AFB_SKCIPHER;
	else
		vector->known.type = AFB_AEAD;
	cr_assert(vector->known.type != AFB_AEAD || !strcmp(type, "aead"));
}

static void take_error(struct vector *vector, const char *name)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = { { "EBADMSG", EBADMSG }, { "EINVAL", EINVAL } };
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!strncmp(name, errors[i].name, strlen(errors[i].name)))
			vector->error = -errors[i].error;
	cr_assert(vector->error, "%s: %s", vector->where, name);
}

/* ---- Running one ---------------------------------------------------------- */

/* The tag joins the ciphertext, and a MAC's key its cipher's. */
static void join(struct vector *vector)
{
	static uint8_t key[KEY_MAX];
	struct known *known = &vector->known;
	size_t i;

	known->tag_len = vector->tag.len;
	for (i = 0; i < vector->tag.len; i++)
		add(vector, &known->cipher, vector->tag.data[i]);
	if (strncmp(vector->algorithm, "authenc(", 8))
		return;
	cr_assert_lt(vector->mac_key.len + known->key.len + 8, (size_t)KEY_MAX);
	known->key.len =
		reference_authenc_key(key, &vector->mac_key, &known->key);
	known->key.data = key;
}

static void expect_reference(const struct vector *vector)
{
	static uint8_t memory[2 * FIELD_MAX];
	struct known again = vector->known;
	bool same;

	again.cipher.data = memory;
	if (!reference_encrypt(&again))
		return;
	same = again.cipher.len == vector->known.cipher.len &&
	       !memcmp(memory, vector->known.cipher.data, again.cipher.len);
	cr_assert_eq(same, vector->error != -EBADMSG,
		     "%s: libcrypto says otherwise", vector->where);
}

static void run_vector(struct vector *vector)
{
	if (!vector->any)
		return;
	join(vector);
	vectors++;
	if (vector->error != -EINVAL)
		expect_reference(vector);
	known_run_everywhere(&ways, &vector->known, vector->error,
			     vector->where);
	begin(vector);
}

static void take_field(struct vector *vector, struct bytes **field,
		       const char *line)
{
	char name[32];
	int at = 0;

	cr_assert_eq(sscanf(line, "%31[a-z_] =%n", name, &at), 1, "%s",
		     vector->where);
	cr_assert(at, "%s", vector->where);
	vector->any = true;
	if (!strcmp(name, "fails")) {
		take_error(vector, line + at + 1);
		return;
	}
	*field = field_of(vector, name);
	add_value(vector, *field, line + at);
}

static void run_file(const char *path)
{
	struct vector *vector = calloc(1, sizeof(*vector));
	struct bytes *field = NULL;
	char line[1024];
	FILE *file = fopen(path, "re");
	unsigned number;

	cr_assert(vector && file, "%s", path);
	begin(vector);
	for (number = 1; fgets(line, sizeof(line), file); number++) {
		if (!vector->any)
			snprintf(vector->where, sizeof(vector->where), "%s:%u",
				 path, number);
		if (line[0] == '#')
			continue;
		if (line[0] == '[')
			take_section(vector, line);
		else if (line[0] == '\n')
			run_vector(vector);
		else if (isspace((unsigned char)line[0]))
			add_value(vector, field, line);
		else
			take_field(vector, &field, line);
	}
	run_vector(vector);
	fclose(file);
	free(vector);
}

/* ---- All files ------------------------------------------------------------ */

/* As given to make check, or where the sources were when this was built. */
static const char *folder(void)
{
	const char *named = getenv("TEST_VECTORS");

	return named ? named : VECTORS_DIR;
}

static int is_vectors(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && !strcmp(entry->d_name + len - 4, ".txt");
}

Test(vectors, every_back_end_gives_the_answers_of_the_standards, .timeout = 500)
{
	struct dirent **entries;
	char path[300];
	int n = scandir(folder(), &entries, is_vectors, alphasort), i;

	cr_assert_gt(n, 0, "%s", folder());
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%.*s", folder(), 63,
			 entries[i]->d_name);
		run_file(path);
		free(entries[i]);
	}
	free(entries);
	known_end_everywhere(&ways);
	cr_log_info("%u vectors, run %u times by the kernel, %u by software",
		    vectors, ways.kernel_runs, ways.soft_runs);
	cr_assert_gt(vectors, 0U);
	cr_assert_gt(ways.soft_runs, 0U);
	cr_assert(ways.kernel_runs || !kernel_expected());
}
