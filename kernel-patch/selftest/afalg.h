/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the selftests share: TAP output and the few AF_ALG and AIO calls they
 * make, without a library. What a test needs and cannot get, other than what it
 * tests, ends it at once.
 */
#ifndef SELFTEST_AFALG_H
#define SELFTEST_AFALG_H

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/if_alg.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

static int tap_number;
static int tap_failed;

static void __attribute__((noreturn, format(printf, 1, 2)))
bail(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(errno));
	fflush(stdout);
	_exit(1);
}

static inline void ok(bool pass, const char *name)
{
	printf("%sok %d - %s\n", pass ? "" : "not ", ++tap_number, name);
	tap_failed += !pass;
}

static inline void skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_number, name, why);
}

/*
 * The plan comes last. After a failure the exit can block for good, so all is
 * written before.
 */
static inline int finish(void)
{
	printf("1..%d\n", tap_number);
	fflush(stdout);
	return tap_failed != 0;
}

/* A bound socket, or -errno where the kernel does not have the algorithm. */
static inline int afalg_bind(const char *type, const char *name)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG };
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		bail("socket(AF_ALG)");
	strncpy((char *)address.salg_type, type, sizeof(address.salg_type) - 1);
	strncpy((char *)address.salg_name, name, sizeof(address.salg_name) - 1);
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

static inline void afalg_key(int fd, const uint8_t *key, socklen_t length)
{
	if (setsockopt(fd, SOL_ALG, ALG_SET_KEY, key, length))
		bail("ALG_SET_KEY");
}

static inline int afalg_accept(int fd)
{
	int op = accept(fd, NULL, NULL);

	if (op < 0)
		bail("accept");
	return op;
}

/* One message with operation, IV and, where assoclen is not 0, its length. */
static inline void afalg_send(int op, uint32_t operation, const uint8_t *iv,
			      uint32_t ivlen, uint32_t assoclen,
			      const void *data, size_t length, int flags)
{
	char control[CMSG_SPACE(4) + CMSG_SPACE(4 + 16) + CMSG_SPACE(4)] = { 0 };
	struct iovec vector = { (void *)data, length };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(4) + CMSG_SPACE(4 + ivlen) +
				  (assoclen ? CMSG_SPACE(4) : 0),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	ssize_t sent;

	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_OP;
	header->cmsg_len = CMSG_LEN(4);
	memcpy(CMSG_DATA(header), &operation, 4);
	header = CMSG_NXTHDR(&message, header);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_IV;
	header->cmsg_len = CMSG_LEN(4 + ivlen);
	memcpy(CMSG_DATA(header), &ivlen, 4);
	memcpy(CMSG_DATA(header) + 4, iv, ivlen);
	if (assoclen) {
		header = CMSG_NXTHDR(&message, header);
		header->cmsg_level = SOL_ALG;
		header->cmsg_type = ALG_SET_AEAD_ASSOCLEN;
		header->cmsg_len = CMSG_LEN(4);
		memcpy(CMSG_DATA(header), &assoclen, 4);
	}
	sent = sendmsg(op, &message, flags);
	if (sent != (ssize_t)length)
		bail("sendmsg gave %zd of %zu", sent, length);
}

/* The same bytes in every run; tests compare results, they do not need chance. */
static inline void fill(uint8_t *data, size_t length, uint32_t seed)
{
	while (length--) {
		seed = seed * 1664525 + 1013904223;
		*data++ = seed >> 24;
	}
}

#endif
