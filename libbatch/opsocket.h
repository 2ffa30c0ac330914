/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opsocket.h - the AF_ALG calls themselves, blocking. A tfm socket stands for an
 * algorithm and its key; op sockets accept()ed from it carry messages, one at a
 * time each. Every function retries EINTR, and returns -errno.
 */
#ifndef AFB_OPSOCKET_H
#define AFB_OPSOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "afalgbatch.h"

/* The longest algorithm name, by struct sockaddr_alg; without the NUL. */
#define OPSOCKET_NAME_MAX 63

/*
 * Most bytes given to one send. The kernel cuts a transfer just below 2 GiB,
 * which would end a message early; and a synchronous driver works through the
 * whole of a send without a pause.
 */
#define OPSOCKET_SEND_MAX (16UL << 20)

/*
 * A tfm socket for the algorithm, or -errno with *why telling what failed:
 * NO_AF_ALG, NOT_OFFERED or NO_RESOURCES.
 */
int opsocket_tfm(enum afb_type type, const char *name, enum afb_fallback *why);

/* Gives a tfm socket its key. -EINVAL: not of a length it can have. */
int opsocket_set_key(int tfm, const void *key, size_t len);

/* Sets the length of an AEAD's tags. -EINVAL: not one it can have. */
int opsocket_set_tag_len(int tfm, size_t len);

/*
 * Most bytes a cipher's op socket can take in and give back at once: what exceeds
 * the socket's buffers would wait for ever. -errno.
 */
ssize_t opsocket_buffer_size(int tfm);

/* Sends a message that has been prepared, whole. */
int opsocket_send_message(int fd, const struct msghdr *message);

/* Reads up to @size bytes; returns how many there were. */
ssize_t opsocket_read_some(int fd, void *result, size_t size);

/* An op socket of a tfm socket, or a clone of a hash op socket's state. */
int opsocket_accept(int fd);

/* Sends all of it. @more: the message goes on. */
int opsocket_send(int fd, const void *data, size_t len, bool more);

/* Reads a result of @size bytes; -EIO for one of another length. */
int opsocket_read(int fd, void *result, size_t size);

/* One whole hash message on a fresh op socket of @tfm. */
int opsocket_digest(int tfm, const struct iovec *in, unsigned in_cnt,
		    void *digest, size_t size);

/* The digest size of a keyless hash, asked of the kernel. */
int opsocket_digest_size(int tfm);

#endif
