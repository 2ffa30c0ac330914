/* SPDX-License-Identifier: Apache-2.0 */
/* afalg.c - see afalg.h. */
#include <config.h> /* _GNU_SOURCE: accept4 */

#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afalg.h"
#include "control.h"

/* A socket of that name, or -errno. */
static int open_tfm(enum afb_type type, const char *name)
{
	static const char *const types[AFB_TYPES] = {
		[AFB_HASH] = "hash",
		[AFB_SKCIPHER] = "skcipher",
		[AFB_AEAD] = "aead",
		[AFB_RNG] = "rng",
	};
	struct sockaddr_alg address = { .salg_family = AF_ALG };
	int fd, err;

	if (strlen(name) >= sizeof(address.salg_name))
		return -ENOENT;
	strcpy((char *)address.salg_name, name);
	strcpy((char *)address.salg_type, types[type]);
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

bool afalg_has(enum afb_type type, const char *name)
{
	int tfm = open_tfm(type, name);

	if (tfm >= 0)
		close(tfm);
	return tfm >= 0;
}

bool afalg_lacks(enum afb_type type, const char *name)
{
	int tfm = open_tfm(type, name);

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
	int tfm = open_tfm(AFB_HASH, name);
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

static ssize_t encrypt_once(int tfm, enum afb_type type,
			    const struct afalg_text *text, void *out,
			    size_t size)
{
	_Alignas(struct cmsghdr) unsigned char control[CONTROL_SIZE] = { 0 };
	struct iovec in = { (void *)text->text, text->len };
	struct msghdr message = { .msg_iov = &in,
				  .msg_iovlen = 1,
				  .msg_control = control };
	int op = accept4(tfm, NULL, NULL, SOCK_CLOEXEC);
	ssize_t ret;

	if (op < 0)
		return -errno;
	control_operation(&message, AFB_ENCRYPT);
	if (text->iv_len)
		control_iv(&message, text->iv, (uint32_t)text->iv_len);
	if (type == AFB_AEAD)
		control_aad_len(&message, (uint32_t)text->aad_len);
	ret = sendmsg(op, &message, 0);
	if (ret >= 0)
		ret = recv(op, out, size, 0);
	if (ret < 0)
		ret = -errno;
	close(op);
	return ret;
}

ssize_t afalg_encrypt(enum afb_type type, const char *name,
		      const struct afalg_text *text, void *out, size_t size)
{
	int tfm = open_tfm(type, name);
	ssize_t ret;

	if (tfm < 0)
		return tfm;
	if (setsockopt(tfm, SOL_ALG, ALG_SET_KEY, text->key, text->key_len) < 0)
		ret = -errno;
	else
		ret = encrypt_once(tfm, type, text, out, size);
	close(tfm);
	return ret;
}
