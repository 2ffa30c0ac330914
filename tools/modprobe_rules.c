/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modprobe_rules.c - see modprobe_rules.h.
 *
 * A file of a name hides those of the same name in later folders, and so do
 * /lib and /usr/lib where they are one.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modprobe_rules.h"

static const char *const folders[] = {
	"/etc/modprobe.d",     "/run/modprobe.d", "/usr/local/lib/modprobe.d",
	"/usr/lib/modprobe.d", "/lib/modprobe.d",
};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

/* What is asked for, and the aliases by which the kernel asks. */
static const struct {
	const char *name, *module;
} modules[] = {
	{ "af_alg", "af_alg" },		{ "net_pf_38", "af_alg" },
	{ "algif_hash", "algif_hash" }, { "algif_skcipher", "algif_skcipher" },
	{ "algif_aead", "algif_aead" }, { "algif_rng", "algif_rng" },
};

struct reader {
	void (*tell)(void *user, const char *module, const char *file,
		     const char *rule);
	void *user;
};

/* modprobe makes no difference between '-' and '_'. */
static const char *module_of(char *word)
{
	char *at = word;
	unsigned i;

	while ((at = strchr(at, '-')))
		*at = '_';
	for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strcmp(word, modules[i].name))
			return modules[i].module;
	return NULL;
}

static bool is_bar(const char *command, const char *argument)
{
	if (!strcmp(command, "alias"))
		return argument && !strcmp(argument, "off");
	return !strcmp(command, "install") || !strcmp(command, "blacklist");
}

static void read_line(const struct reader *reader, const char *file,
		      const char *line)
{
	static const char blanks[] = " \t";
	char *copy = strdup(line), *rest = NULL;
	char *command, *name, *argument;
	const char *module;

	if (!copy)
		return;
	command = strtok_r(copy, blanks, &rest);
	name = strtok_r(NULL, blanks, &rest);
	argument = strtok_r(NULL, blanks, &rest);
	if (command && name && is_bar(command, argument)) {
		module = module_of(name);
		if (module)
			reader->tell(reader->user, module, file, line);
	}
	free(copy);
}

/* A line that ends with a backslash goes on in the next. */
static void read_file(const struct reader *reader, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *whole = NULL, *joined;
	size_t size = 0, len = 0;
	ssize_t got;

	if (!file)
		return;
	while ((got = getline(&line, &size, file)) > 0) {
		if (line[got - 1] == '\n')
			line[--got] = '\0';
		joined = realloc(whole, len + got + 1);
		if (!joined)
			break;
		whole = joined;
		memcpy(whole + len, line, got + 1);
		len += got;
		if (len && whole[len - 1] == '\\') {
			whole[len - 1] = ' ';
			continue;
		}
		read_line(reader, path, whole);
		len = 0;
	}
	if (len)
		read_line(reader, path, whole);
	free(whole);
	free(line);
	fclose(file);
}

static const char *base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static bool is_hidden(const glob_t *files, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (!strcmp(base_name(files->gl_pathv[i]),
			    base_name(files->gl_pathv[index])))
			return true;
	return false;
}

void modprobe_rules(void (*tell)(void *user, const char *module,
				 const char *file, const char *rule),
		    void *user)
{
	const struct reader reader = { tell, user };
	glob_t files = { 0 };
	char pattern[64];
	size_t i;

	for (i = 0; i < FOLDERS; i++) {
		snprintf(pattern, sizeof(pattern), "%s/*.conf", folders[i]);
		glob(pattern, i ? GLOB_APPEND : 0, NULL, &files);
	}
	for (i = 0; i < files.gl_pathc; i++)
		if (!is_hidden(&files, i))
			read_file(&reader, files.gl_pathv[i]);
	globfree(&files);
}
