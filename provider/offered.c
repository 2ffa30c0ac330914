/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered.c - the answer is AF_ALG's, but a question about a hash that the kernel
 * lacks makes it start modprobe(8) twice, in every process that loads us. So the
 * kernel is asked only about what it does not list and could load.
 */
#include <config.h> /* _GNU_SOURCE: memmem */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "afalg.h"
#include "offered.h"

#define ANY_KERNEL_HAS "sha256"

struct text {
	char *bytes; /* NULL: cannot be read */
	size_t len, size;
};

static int grow(struct text *text)
{
	size_t size = text->size ? 4 * text->size : (size_t)64 << 10;
	char *bytes = realloc(text->bytes, size);

	if (!bytes)
		return 0;
	text->bytes = bytes;
	text->size = size;
	return 1;
}

/* /proc tells no file's size before it has been read. */
static struct text read_text(const char *path)
{
	struct text text = { NULL, 0, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t ret = 1;

	if (fd < 0)
		return text;
	while (ret > 0 && (text.len < text.size || grow(&text))) {
		do
			ret = read(fd, text.bytes + text.len,
				   text.size - text.len);
		while (ret < 0 && errno == EINTR);
		text.len += ret > 0 ? (size_t)ret : 0;
	}
	close(fd);
	if (ret) {
		free(text.bytes);
		text = (struct text){ NULL, 0, 0 };
	}
	return text;
}

static bool has_line(const struct text *text, const char *format,
		     const char *name)
{
	char line[96];
	int len = snprintf(line, sizeof(line), format, name);

	return text->bytes && memmem(text->bytes, text->len, line, (size_t)len);
}

static struct text read_aliases(void)
{
	struct utsname kernel;
	char path[128];

	if (uname(&kernel) < 0)
		return (struct text){ NULL, 0, 0 };
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.alias",
		 kernel.release);
	return read_text(path);
}

/* Where the modules cannot be seen, as in a container, only trying tells. */
static bool could_load(const struct text *aliases, const char *name)
{
	return !aliases->bytes || has_line(aliases, "alias crypto-%s ", name);
}

static size_t choose(OSSL_ALGORITHM *offered, const OSSL_ALGORITHM *all)
{
	struct text loaded = read_text("/proc/crypto");
	struct text aliases = { NULL, 0, 0 };
	bool aliases_read = false;
	size_t count = 0;
	const char *name;

	for (; all->algorithm_names; all++) {
		name = all->algorithm_description;
		if (!has_line(&loaded, "name         : %s\n", name)) {
			if (!aliases_read)
				aliases = read_aliases();
			aliases_read = true;
			if (!could_load(&aliases, name) || afalg_lacks(name))
				continue;
		}
		offered[count++] = *all;
	}
	free(loaded.bytes);
	free(aliases.bytes);
	return count;
}

size_t offered_hashes(OSSL_ALGORITHM *offered, const OSSL_ALGORITHM *all)
{
	size_t count = 0;

	if (afalg_has(ANY_KERNEL_HAS))
		return choose(offered, all);
	for (; all->algorithm_names; all++)
		offered[count++] = *all;
	return count;
}
