// SPDX-License-Identifier: GPL-2.0
/*
 * transcript SEED SEQUENCES [blocks]: makes random calls on AF_ALG sockets, one after the
 * other, and prints each with its result, its errno and a checksum of what the
 * buffers hold after it. The same seed makes the same calls, so the output of
 * two kernels can be compared byte for byte. Calls that wait for good are ended
 * by a signal, which comes all the time: only such waits see it.
 *
 * With "blocks" behind it, ciphers are read in pieces of whole blocks. Stock 6.1
 * gives wrong bytes otherwise, see skcipher_rounded_output.c.
 *
 * AIO reads are made one at a time and are waited for: then the bytes and errors
 * of an asynchronous request must be those of a synchronous one. Poll is left
 * out for hash sockets, see README.md.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "../afalg.h"

#define ROOM 400000

enum kind { HASH, SKCIPHER, AEAD };

static struct algorithm {
	enum kind kind;
	const char *name;
	unsigned int keylen, ivlen;
	bool keyless;	/* leave it without a key */
	int fd;
} algorithm[] = {
	{ HASH, "sha256-generic", 0, 0, false, 0 },
	{ HASH, "cryptd(sha256-generic)", 0, 0, false, 0 },
	{ HASH, "cryptd(sha512-generic)", 0, 0, false, 0 },
	{ HASH, "crc32c-generic", 0, 0, false, 0 },
	{ HASH, "hmac(sha256-generic)", 16, 0, false, 0 },
	{ HASH, "cryptd(hmac(sha256-generic))", 16, 0, false, 0 },
	{ HASH, "cryptd(hmac(sha1-generic))", 16, 0, true, 0 },
	{ SKCIPHER, "cbc(aes-generic)", 16, 16, false, 0 },
	{ SKCIPHER, "cryptd(cbc(aes-generic))", 16, 16, false, 0 },
	{ SKCIPHER, "cryptd(cbc(aes-generic))", 16, 16, true, 0 },
	{ SKCIPHER, "cryptd(ctr(aes-generic))", 16, 16, false, 0 },
	{ SKCIPHER, "cryptd(ecb(aes-generic))", 16, 0, false, 0 },
	{ SKCIPHER, "ecb(aes-generic)", 16, 0, false, 0 },
	{ SKCIPHER, "cryptd(xts(ecb(aes-generic)))", 32, 16, false, 0 },
	{ SKCIPHER, "cryptd(cts(cbc(aes-generic)))", 16, 16, false, 0 },
	/* Asynchronous drivers that mostly complete at once. */
	{ SKCIPHER, "cbc(aes)", 16, 16, false, 0 },
	{ SKCIPHER, "xts(aes)", 32, 16, false, 0 },
	{ AEAD, "gcm_base(ctr(aes-generic),ghash-generic)", 16, 12, false, 0 },
	{ AEAD, "pcrypt(gcm_base(ctr(aes-generic),ghash-generic))", 16, 12,
	  false, 0 },
	{ AEAD, "gcm_base(cryptd(ctr(aes-generic)),ghash-generic)", 16, 12,
	  true, 0 },
};

#define ALGORITHMS (sizeof(algorithm) / sizeof(*algorithm))

static const uint8_t key[32] = "keys have 256 bits or fewer....";
static uint8_t *text, *buffer;	/* ROOM bytes each, then nothing mapped */
static aio_context_t aio;
static uint64_t state;
static bool blocks;

static uint32_t chance(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static size_t some_length(void)
{
	static const size_t length[] = { 0, 0, 1, 15, 16, 16, 17, 28, 31, 32,
					 32, 33, 44, 48, 64, 64, 100, 128, 160,
					 512, 1000, 2048, 2049, 4095, 4096,
					 4097, 9000, 65536, 70000, 300000 };
	size_t i = chance(sizeof(length) / sizeof(*length));

	/* The long ones take their time. */
	if (length[i] > 9000 && chance(4))
		i = 9;
	return length[i];
}

static int some_flags(void)
{
	return (chance(3) ? 0 : MSG_MORE) | (chance(2) ? MSG_DONTWAIT : 0);
}

static uint64_t checksum(const uint8_t *from, size_t length)
{
	uint64_t word, sum = 14695981039346656037u;

	for (; length >= 8; length -= 8, from += 8) {
		memcpy(&word, from, 8);
		sum = (sum ^ word ^ sum >> 29) * 1099511628211u;
	}
	return sum;
}

/*
 * length bytes, now and then with the end in no page, in up to three pieces; all
 * of it in units.
 */
static int some_vector(struct iovec *vector, uint8_t *base, size_t length,
		       size_t unit)
{
	size_t start = chance(2) ? 0 : chance(5000), part;
	int count = 0;

	if (!chance(15))
		start = ROOM - chance(length + 100);
	else if (start + length > ROOM)
		start = ROOM - length;
	start -= start % unit;
	length -= length % unit;
	while (count < 2 && length > unit && !chance(3)) {
		part = 1 + chance(length - 1);
		part += unit - 1 - (part - 1) % unit;
		vector[count++] = (struct iovec){ base + start, part };
		start += part;
		length -= part;
	}
	vector[count++] = (struct iovec){ base + start, length };
	return count;
}

static size_t put(char *control, size_t used, int level, int type,
		  const void *value, size_t length)
{
	struct cmsghdr *header = (void *)(control + used);

	header->cmsg_level = level;
	header->cmsg_type = type;
	header->cmsg_len = CMSG_LEN(length);
	memcpy(CMSG_DATA(header), value, length);
	return used + CMSG_SPACE(length);
}

static size_t some_control(const struct algorithm *a, char *control)
{
	uint32_t operation = chance(3) ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;
	uint32_t assoclen = chance(3) ? 16 : chance(40);
	uint32_t iv[1 + 8] = { a->ivlen };
	size_t used = 0;

	if (!chance(40))
		operation = 7;
	if (chance(30))
		used = put(control, used, SOL_ALG, ALG_SET_OP, &operation, 4);
	if (chance(4)) {
		if (!chance(30))
			iv[0] = chance(24);
		iv[1] = chance(1000);
		used = put(control, used, SOL_ALG, ALG_SET_IV, iv,
			   4 + a->ivlen);
	}
	if (a->kind == AEAD && chance(8))
		used = put(control, used, SOL_ALG, ALG_SET_AEAD_ASSOCLEN,
			   &assoclen, 4);
	if (!chance(60))
		used = put(control, used, chance(2) ? SOL_ALG : SOL_SOCKET, 77,
			   iv, 4);
	return used;
}

static void report(const char *call, long result, size_t asked)
{
	printf("%s %zu: %ld %s", call, asked, result,
	       result < 0 ? strerrorname_np(errno) : "");
}

static void do_sendmsg(const struct algorithm *a, int op)
{
	char control[256] = { 0 };
	struct iovec vector[3];
	struct msghdr message = { .msg_iov = vector, .msg_control = control };
	size_t length = some_length();
	int flags = some_flags();

	message.msg_iovlen = some_vector(vector, text, length, 1);
	if (a->kind == HASH ? !chance(10) : chance(6))
		message.msg_controllen = some_control(a, control);
	printf("flags %x control %zu ", flags, (size_t)message.msg_controllen);
	report("sendmsg", sendmsg(op, &message, flags), length);
}

static void do_send(int op)
{
	size_t length = some_length();
	struct iovec vector[3];
	int count = some_vector(vector, text, length, 1), flags = some_flags();

	if (!chance(4)) {
		report("writev", writev(op, vector, count), length);
	} else {
		printf("flags %x ", flags);
		report("send", send(op, vector[0].iov_base, vector[0].iov_len,
				    flags),
		       vector[0].iov_len);
	}
}

/* An AIO read that is waited for. */
static long aio_readv(int op, const struct iovec *vector, int count)
{
	struct iocb block = {
		.aio_lio_opcode = IOCB_CMD_PREADV,
		.aio_fildes = op,
		.aio_buf = (uintptr_t)vector,
		.aio_nbytes = count,
	};
	struct iocb *list = &block;
	struct io_event event;

	if (syscall(SYS_io_submit, aio, 1, &list) != 1)
		return -1;
	while (syscall(SYS_io_getevents, aio, 1, 1, &event, NULL) != 1)
		;
	if (event.res >= 0)
		return event.res;
	errno = -event.res;
	return -1;
}

static void do_receive(const struct algorithm *a, int op)
{
	static const int flag[] = { MSG_DONTWAIT, MSG_DONTWAIT, MSG_DONTWAIT, 0,
				    MSG_PEEK | MSG_DONTWAIT,
				    MSG_TRUNC | MSG_DONTWAIT };
	size_t length = chance(3) ? some_length() :
			a->kind == HASH ? 32 : 16 * chance(10);
	int flags = flag[chance(sizeof(flag) / sizeof(*flag))];
	struct iovec vector[3];
	struct msghdr message = { .msg_iov = vector };

	memset(buffer, 0xa5, ROOM);
	message.msg_iovlen = some_vector(vector, buffer, length,
					 blocks && a->kind == SKCIPHER ? 16 : 1);
	switch (chance(8)) {
	case 0:
		report("readv", readv(op, vector, message.msg_iovlen), length);
		break;
	case 1:
	case 2:
		report("aio", aio_readv(op, vector, message.msg_iovlen),
		       length);
		break;
	default:
		printf("flags %x ", flags);
		report("recvmsg", recvmsg(op, &message, flags), length);
		printf(" flags %x", message.msg_flags);
	}
	printf(" sum %016llx", (unsigned long long)checksum(buffer, ROOM));
}

static void do_other(const struct algorithm *a, int *op)
{
	struct pollfd one = { *op, POLLIN | POLLOUT | POLLPRI, 0 };
	int size, other;

	switch (chance(8)) {
	case 0:
		report("setkey", setsockopt(a->fd, SOL_ALG, ALG_SET_KEY, key,
					    a->keylen),
		       a->keylen);
		break;
	case 1:
		report("setkey on op", setsockopt(*op, SOL_ALG, ALG_SET_KEY,
						  key, 16), 16);
		break;
	case 2:
		size = 1 << (8 + chance(9));
		other = chance(2) ? SO_SNDBUF : SO_RCVBUF;
		report(other == SO_SNDBUF ? "sndbuf" : "rcvbuf",
		       setsockopt(*op, SOL_SOCKET, other, &size, sizeof(size)),
		       size);
		break;
	case 3:
	case 4:
	case 5:
		other = accept4(*op, NULL, NULL,
				chance(2) ? 0 : SOCK_CLOEXEC);
		report("accept", other < 0 ? -1 : 0, 0);
		if (other < 0)
			break;
		if (chance(2)) {
			close(*op);
			*op = other;
		} else {
			close(other);
		}
		break;
	default:
		if (a->kind == HASH)
			report("getsockname",
			       getsockname(*op, NULL, NULL), 0);
		else
			report("poll", poll(&one, 1, 0), one.revents);
	}
}

static void sequence(unsigned int number)
{
	struct algorithm *a = &algorithm[chance(ALGORITHMS)];
	int i, op, calls = 2 + chance(14);

	printf("%u %s", number, a->name);
	if (a->fd < 0) {
		printf(": not here\n");
		return;
	}
	op = accept(a->fd, NULL, NULL);
	report(" accept", op < 0 ? -1 : 0, 0);
	printf("\n");
	for (i = 0; i < calls && op >= 0; i++) {
		printf("%u.%d ", number, i);
		switch (chance(12)) {
		case 0:
			do_other(a, &op);
			break;
		case 1:
		case 2:
			do_send(op);
			break;
		case 3:
		case 4:
		case 5:
		case 6:
			do_sendmsg(a, op);
			break;
		default:
			do_receive(a, op);
		}
		printf("\n");
	}
	close(op);
}

static void on_alarm(int unused)
{
	(void)unused;
}

static uint8_t *room(void)
{
	size_t length = (ROOM + 4095) / 4096 * 4096;
	uint8_t *base = mmap(NULL, length + 65536, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || munmap(base + length, 65536))
		bail("mmap");
	return base + length - ROOM;
}

int main(int count, char **argument)
{
	struct itimerval always = { { 0, 5000 }, { 0, 5000 } };
	struct sigaction action = { .sa_handler = on_alarm };
	unsigned int i, sequences;
	uint64_t seed;

	if (count < 3)
		bail("usage: transcript SEED SEQUENCES [blocks]");
	blocks = count > 3;
	seed = strtoull(argument[1], NULL, 0);
	sequences = strtoul(argument[2], NULL, 0);
	text = room();
	buffer = room();
	fill(text, ROOM, 9);
	if (syscall(SYS_io_setup, 8, &aio))
		bail("io_setup");
	for (i = 0; i < ALGORITHMS; i++) {
		static const char *const type[] = { "hash", "skcipher",
						    "aead" };
		struct algorithm *a = &algorithm[i];

		a->fd = afalg_bind(type[a->kind], a->name);
		if (a->fd < 0)
			continue;
		if (a->keylen && !a->keyless)
			afalg_key(a->fd, key, a->keylen);
		if (a->kind == AEAD)
			setsockopt(a->fd, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL,
				   16);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &always, NULL);
	for (i = 0; i < sequences; i++) {
		state = seed * 1000003 + i;
		chance(1);
		chance(1);
		sequence(i);
	}
	return 0;
}
