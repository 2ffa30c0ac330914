/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - see json.h. */
#include <stdio.h>

#include "json.h"

/*
 * The length of the UTF-8 sequence at @text, by Unicode's table of well-formed
 * ones (no overlong form, no surrogate, nothing above U+10FFFF); 0 if it is none.
 */
static int utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char low, high;   /* of the second */
		int length;
	} forms[] = {
		{ 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	unsigned i;
	int at;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*text < forms[i].first || *text > forms[i].last)
			continue;
		if (forms[i].length > 1 &&
		    (text[1] < forms[i].low || text[1] > forms[i].high))
			return 0;
		for (at = 2; at < forms[i].length; at++)
			if ((text[at] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static void write_string(const char *value)
{
	const unsigned char *at = (const unsigned char *)value;
	int len;

	putchar('"');
	while (*at) {
		len = utf8_length(at);
		if (!len)
			printf("\\ufffd");
		else if (*at == '"' || *at == '\\')
			printf("\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			printf("\\u%04x", *at);
		else
			printf("%.*s", len, (const char *)at);
		at += len ? len : 1;
	}
	putchar('"');
}

static void begin_value(struct json *json, const char *key)
{
	if (json->rest)
		putchar(',');
	if (json->depth)
		printf("\n%*s", 2 * (int)json->depth, "");
	json->rest = true;
	if (key) {
		write_string(key);
		printf(": ");
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	putchar(bracket);
	json->depth++;
	json->rest = false;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->rest)
		printf("\n%*s", 2 * (int)json->depth, "");
	json->rest = true;
	putchar(bracket);
	if (!json->depth)
		putchar('\n');
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (!value) {
		json_null(json, key);
		return;
	}
	begin_value(json, key);
	write_string(value);
}

void json_number(struct json *json, const char *key, long value)
{
	begin_value(json, key);
	printf("%ld", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	printf("%s", value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	printf("null");
}
