/* SPDX-License-Identifier: Apache-2.0 */
/* proc_crypto.c - see proc_crypto.h. Entries end with an empty line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc_crypto.h"

struct entry {
	struct proc_crypto crypto;
	bool has_type; /* it is of one of the four types */
	bool internal; /* not for users: bind(2) does not find it */
};

static void take_type(struct entry *entry, const char *value)
{
	static const struct {
		const char *name;
		enum afb_type type;
	} types[] = {
		{ "shash", AFB_HASH },	      { "ahash", AFB_HASH },
		{ "skcipher", AFB_SKCIPHER }, { "lskcipher", AFB_SKCIPHER },
		{ "aead", AFB_AEAD },	      { "rng", AFB_RNG },
	};
	unsigned i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(value, types[i].name))
			continue;
		entry->has_type = true;
		entry->crypto.type = types[i].type;
	}
}

static void take_line(struct entry *entry, const char *key, const char *value)
{
	struct proc_crypto *crypto = &entry->crypto;
	unsigned long number = strtoul(value, NULL, 10);

	if (!strcmp(key, "name"))
		snprintf(crypto->name, sizeof(crypto->name), "%s", value);
	else if (!strcmp(key, "driver"))
		snprintf(crypto->driver, sizeof(crypto->driver), "%s", value);
	else if (!strcmp(key, "type"))
		take_type(entry, value);
	else if (!strcmp(key, "priority"))
		crypto->priority = number;
	else if (!strcmp(key, "async"))
		crypto->async = !strcmp(value, "yes");
	else if (!strcmp(key, "internal"))
		entry->internal = !strcmp(value, "yes");
	else if (!strcmp(key, "blocksize"))
		crypto->block_size = number;
	else if (!strcmp(key, "ivsize"))
		crypto->iv_len = number;
	else if (!strcmp(key, "digestsize"))
		crypto->digest_size = number;
	else if (!strcmp(key, "max keysize"))
		crypto->max_key_len = number;
}

/* Keys are padded with spaces, and "max keysize" has one inside. */
static void trim_end(char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
}

/* The next entry; false at the file's end. */
static bool read_entry(FILE *file, struct entry *entry)
{
	char line[256], key[32], value[PROC_CRYPTO_NAME];
	bool any = false;

	memset(entry, 0, sizeof(*entry));
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '\n')
			return true;
		any = true;
		if (sscanf(line, "%31[^:] : %127s", key, value) != 2)
			continue;
		trim_end(key);
		take_line(entry, key, value);
	}
	return any;
}

int proc_crypto_find(struct proc_crypto *found, enum afb_type type,
		     const char *name)
{
	FILE *file = fopen("/proc/crypto", "re");
	struct entry entry;
	int ret = -ENOENT;

	if (!file)
		return -ENOENT;
	while (read_entry(file, &entry)) {
		if (!entry.has_type || entry.internal ||
		    entry.crypto.type != type)
			continue;
		if (strcmp(entry.crypto.driver, name) &&
		    (strcmp(entry.crypto.name, name) ||
		     (!ret && entry.crypto.priority <= found->priority)))
			continue;
		*found = entry.crypto;
		ret = 0;
		if (!strcmp(found->driver, name))
			break;
	}
	fclose(file);
	return ret;
}
