/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered.c - the answer is AF_ALG's, but a question about an algorithm that the
 * kernel lacks makes it start modprobe(8) twice, in every process that loads us. So the
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

/* /proc/crypto's line, with its name. */
#define LISTED "name         : %s\n"

#define ANY_KERNEL_HAS "sha256"

/* And with ciphers at all, these. */
static const char *const any_cipher[AFB_TYPES] = {
	[AFB_SKCIPHER] = "cbc(aes)",
	[AFB_AEAD] = "gcm(aes)",
};

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

/* "aes" of "cbc(aes)": the kernel makes the mode itself (crypto/cbc.c). */
static const char *innermost(const char *name, char *inner, size_t size)
{
	const char *open = strrchr(name, '(');

	if (!open)
		return name;
	snprintf(inner, size, "%.*s", (int)strcspn(open + 1, "),"), open + 1);
	return inner;
}

/* What the kernel says of itself, read when it is needed. */
struct lists {
	struct text loaded, aliases;
	bool aliases_read;
};

static bool could_make(struct lists *lists, const char *name)
{
	char buffer[64];
	const char *inner = innermost(name, buffer, sizeof(buffer));

	if (has_line(&lists->loaded, LISTED, inner))
		return true;
	if (!lists->aliases_read)
		lists->aliases = read_aliases();
	lists->aliases_read = true;
	return could_load(&lists->aliases, inner);
}

static bool is_offered(struct lists *lists, enum afb_type type,
		       const char *name)
{
	return has_line(&lists->loaded, LISTED, name) ||
	       (could_make(lists, name) && !afalg_lacks(type, name));
}

size_t offered_of(enum afb_type type, OSSL_ALGORITHM *offered,
		  const OSSL_ALGORITHM *all, size_t count)
{
	struct lists lists = { .aliases_read = false };
	bool any = !afalg_has(AFB_HASH, ANY_KERNEL_HAS);
	size_t i, n = 0;

	/* The kernel can have the algorithms, and AF_ALG not the type. */
	if (!any && type != AFB_HASH && afalg_lacks(type, any_cipher[type]))
		return 0;
	if (!any)
		lists.loaded = read_text("/proc/crypto");
	for (i = 0; i < count; i++)
		if (any ||
		    is_offered(&lists, type, all[i].algorithm_description))
			offered[n++] = all[i];
	free(lists.loaded.bytes);
	free(lists.aliases.bytes);
	return n;
}
