/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - a message in several pieces: its length, and the copying between the
 * pieces and one buffer. The provider links it as well.
 */
#ifndef AFB_PIECES_H
#define AFB_PIECES_H

#include <stddef.h>
#include <sys/uio.h>

/* Bytes in all pieces. */
size_t pieces_bytes(const struct iovec *pieces, unsigned count);

/*
 * Copies @len bytes from @offset on out of the pieces, or into them from their first
 * on. They have to have as many.
 */
void pieces_gather(void *to, const struct iovec *pieces, size_t offset,
		   size_t len);
void pieces_scatter(const struct iovec *pieces, const void *from, size_t len);

#endif
