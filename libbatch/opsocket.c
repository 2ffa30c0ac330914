/* SPDX-License-Identifier: Apache-2.0 */
/* opsocket.c - see opsocket.h. */
#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "counters.h"
#include "opsocket.h"

static const char *type_name(enum afb_type type)
{
	switch (type) {
	case AFB_HASH:
		return "hash";
	case AFB_SKCIPHER:
		return "skcipher";
	case AFB_AEAD:
		return "aead";
	case AFB_RNG:
		return "rng";
	}
	return "";
}

int opsocket_tfm(enum afb_type type, const char *name, enum afb_fallback *why)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG };
	int fd, err;

	if (strlen(name) > OPSOCKET_NAME_MAX) {
		*why = AFB_FALLBACK_NOT_OFFERED;
		return -ENAMETOOLONG;
	}
	strcpy((char *)address.salg_type, type_name(type));
	strcpy((char *)address.salg_name, name);

	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err = errno;
		*why = fallback_after(-err, AFB_FALLBACK_NO_AF_ALG);
		return -err;
	}
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		/*
		 * ENOENT for an unknown type or algorithm; 6.12 says EINVAL or
		 * ELIBBAD for some names it cannot make sense of.
		 */
		err = errno;
		*why = fallback_after(-err, AFB_FALLBACK_NOT_OFFERED);
		close(fd);
		return -err;
	}
	return fd;
}

int opsocket_set_key(int tfm, const void *key, size_t len)
{
	return setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, len) < 0 ? -errno : 0;
}

int opsocket_set_tag_len(int tfm, size_t len)
{
	/* The length is the option's length: there is no value. */
	return setsockopt(tfm, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, len) < 0 ?
		       -errno :
		       0;
}

int opsocket_accept(int fd)
{
	int op;

	do
		op = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (op < 0 && errno == EINTR);
	return op < 0 ? -errno : op;
}

ssize_t opsocket_buffer_size(int tfm)
{
	static const int options[] = { SO_SNDBUF, SO_RCVBUF };
	ssize_t size = AFB_CIPHER_MAX;
	long page = sysconf(_SC_PAGESIZE);
	socklen_t len;
	int value, i;

	/* Op sockets begin with the same defaults as their tfm socket. */
	for (i = 0; i < 2; i++) {
		len = sizeof(value);
		if (getsockopt(tfm, SOL_SOCKET, options[i], &value, &len) < 0)
			return -errno;
		/* crypto/af_alg.c rounds down to pages, but for the first. */
		value = value < page ? page : value & -page;
		if (value < size)
			size = value;
	}
	return size;
}

static int send_part(int fd, const void *data, size_t len, int flags)
{
	ssize_t sent;

	do
		sent = send(fd, data, len, flags);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == len ? 0 : -EIO;
}

int opsocket_send(int fd, const void *data, size_t len, bool more)
{
	const char *at = data;
	int ret;

	for (; len > OPSOCKET_SEND_MAX; len -= OPSOCKET_SEND_MAX) {
		ret = send_part(fd, at, OPSOCKET_SEND_MAX, MSG_MORE);
		if (ret)
			return ret;
		at += OPSOCKET_SEND_MAX;
	}
	/* A message of no bytes is still a message. */
	return send_part(fd, at, len, more ? MSG_MORE : 0);
}

ssize_t opsocket_read_some(int fd, void *result, size_t size)
{
	ssize_t got;

	do
		got = read(fd, result, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int opsocket_read(int fd, void *result, size_t size)
{
	ssize_t got = opsocket_read_some(fd, result, size);

	if (got < 0)
		return got;
	return (size_t)got == size ? 0 : -EIO;
}

int opsocket_send_message(int fd, const struct msghdr *message)
{
	ssize_t sent;
	size_t size = 0, i;

	for (i = 0; i < message->msg_iovlen; i++)
		size += message->msg_iov[i].iov_len;
	do
		sent = sendmsg(fd, message, 0);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	/* There was room for all of it: the rest could not be read. */
	return (size_t)sent == size ? 0 : -EFAULT;
}

static int send_message(int fd, const struct iovec *in, unsigned in_cnt)
{
	unsigned i;
	int ret = 0;

	for (i = 0; i < in_cnt && !ret; i++)
		ret = opsocket_send(fd, in[i].iov_base, in[i].iov_len, true);
	return ret ? ret : opsocket_send(fd, NULL, 0, false);
}

int opsocket_digest(int tfm, const struct iovec *in, unsigned in_cnt,
		    void *digest, size_t size)
{
	int fd, ret;

	fd = opsocket_accept(tfm);
	if (fd < 0)
		return fd;
	ret = send_message(fd, in, in_cnt);
	if (!ret)
		ret = opsocket_read(fd, digest, size);
	close(fd);
	return ret;
}

int opsocket_digest_size(int tfm)
{
	char digest[AFB_DIGEST_MAX * 4];
	ssize_t got;
	int fd;

	/* Reading a fresh hash op socket gives the digest of no data. */
	fd = opsocket_accept(tfm);
	if (fd < 0)
		return fd;
	got = opsocket_read_some(fd, digest, sizeof(digest));
	if (got == 0 || got > AFB_DIGEST_MAX)
		got = -EIO;
	close(fd);
	return got;
}
