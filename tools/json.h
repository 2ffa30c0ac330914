/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes one JSON value (RFC 8259) on stdout, an indented line for each
 * member. @key is NULL for an element of an array and for the whole.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>

/* Starts as zero. */
struct json {
	unsigned depth;
	bool rest; /* something stands before, on this level */
};

/* @bracket is '{' or '['; json_close() takes '}' or ']'. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/* Any bytes: what is no UTF-8 becomes U+FFFD. NULL is null. */
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, long value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
