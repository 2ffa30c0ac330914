/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - see pieces.h. */
#include <string.h>

#include "pieces.h"

size_t pieces_bytes(const struct iovec *pieces, unsigned count)
{
	size_t bytes = 0;
	unsigned i;

	for (i = 0; i < count; i++)
		bytes += pieces[i].iov_len;
	return bytes;
}

void pieces_gather(void *to, const struct iovec *pieces, size_t offset,
		   size_t len)
{
	char *at = to;
	size_t part;

	for (; len; pieces++) {
		if (offset >= pieces->iov_len) {
			offset -= pieces->iov_len;
			continue;
		}
		part = pieces->iov_len - offset;
		if (part > len)
			part = len;
		memcpy(at, (const char *)pieces->iov_base + offset, part);
		at += part;
		len -= part;
		offset = 0;
	}
}

void pieces_scatter(const struct iovec *pieces, const void *from, size_t len)
{
	const char *at = from;
	size_t part;

	for (; len; pieces++) {
		part = pieces->iov_len < len ? pieces->iov_len : len;
		if (!part)
			continue;
		memcpy(pieces->iov_base, at, part);
		at += part;
		len -= part;
	}
}
