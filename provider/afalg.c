/* SPDX-License-Identifier: Apache-2.0 */
/* afalg.c - see afalg.h. */
#include <config.h> /* _GNU_SOURCE: accept4 */

#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afalg.h"

/* A socket of that name, or -errno. */
static int open_tfm(const char *name)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG,
					.salg_type = "hash" };
	int fd, err;

	if (strlen(name) >= sizeof(address.salg_name))
		return -ENOENT;
	strcpy((char *)address.salg_name, name);
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

bool afalg_has(const char *name)
{
	int tfm = open_tfm(name);

	if (tfm >= 0)
		close(tfm);
	return tfm >= 0;
}

bool afalg_lacks(const char *name)
{
	int tfm = open_tfm(name);

	if (tfm >= 0)
		close(tfm);
	/* 6.12 has other words than ENOENT for some names. */
	return tfm == -ENOENT || tfm == -EINVAL || tfm == -ELIBBAD;
}

static ssize_t hash_once(int tfm, const void *data, size_t len, void *out,
			 size_t size)
{
	int op = accept4(tfm, NULL, NULL, SOCK_CLOEXEC);
	ssize_t ret;

	if (op < 0)
		return -errno;
	ret = send(op, data, len, 0);
	if (ret >= 0)
		ret = recv(op, out, size, 0);
	if (ret < 0)
		ret = -errno;
	close(op);
	return ret;
}

ssize_t afalg_hash(const char *name, const void *key, size_t key_len,
		   const void *data, size_t len, void *out, size_t size)
{
	int tfm = open_tfm(name);
	ssize_t ret;

	if (tfm < 0)
		return tfm;
	if (key && setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, key_len) < 0)
		ret = -errno;
	else
		ret = hash_once(tfm, data, len, out, size);
	close(tfm);
	return ret;
}
