// SPDX-License-Identifier: GPL-2.0
/*
 * Four threads make random calls on the same few op sockets, most of them with
 * requests in flight. Which bytes come out is nobody's to say, but every request
 * completes, the sockets work afterwards and have all of their memory back, and
 * the kernel does not complain (the runner looks at its log).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/uio.h>

#include "async.h"

#define THREADS 4
#define SOCKETS 3
#define CALLS 4000
#define DEPTH 32

static int op[2 * SOCKETS];	/* hashes, then ciphers */
static unsigned int before[2 * SOCKETS];
static uint8_t text[16384];
static const uint8_t key[16] = "a key of 128 bit";
static int lost;

struct thread {
	pthread_t id;
	uint32_t seed;
	uint8_t data[DEPTH][4096];
};

static uint32_t chance(struct thread *t, uint32_t below)
{
	t->seed = t->seed * 1664525 + 1013904223;
	return (t->seed >> 8) % below;
}

static void send_something(struct thread *t, int which)
{
	char control[CMSG_SPACE(4) + CMSG_SPACE(4 + 16)] = { 0 };
	struct iovec vector = { text, 16 * chance(t, 256) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (which >= SOCKETS && chance(t, 5)) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_ALG;
		header->cmsg_type = ALG_SET_OP;
		header->cmsg_len = CMSG_LEN(4);
		*(uint32_t *)CMSG_DATA(header) = ALG_OP_ENCRYPT;
		header = CMSG_NXTHDR(&message, header);
		header->cmsg_level = SOL_ALG;
		header->cmsg_type = ALG_SET_IV;
		header->cmsg_len = CMSG_LEN(4 + 16);
		*(uint32_t *)CMSG_DATA(header) = 16;
		memset(CMSG_DATA(header) + 4, chance(t, 256), 16);
	}
	sendmsg(op[which], &message,
		MSG_DONTWAIT | (chance(t, 6) ? 0 : MSG_MORE));
}

static void *thread(void *arg)
{
	struct thread *t = arg;
	struct io_event event[DEPTH];
	struct timespec patience = { .tv_sec = 30 };
	struct iocb block[DEPTH], *list;
	int call, which, in_flight = 0, got, clone;
	aio_context_t own = 0;

	if (syscall(SYS_io_setup, DEPTH, &own))
		bail("io_setup");
	for (call = 0; call < CALLS; call++) {
		which = chance(t, 2 * SOCKETS);
		switch (chance(t, 8)) {
		case 0:
			recv(op[which], t->data[0], 4096, MSG_DONTWAIT);
			break;
		case 1:
			polled(op[which]);
			clone = accept4(op[which], NULL, NULL, SOCK_NONBLOCK);
			if (clone >= 0)
				close(clone);
			break;
		case 2:
		case 3:
		case 4:
			send_something(t, which);
			break;
		default:
			send_something(t, which);
			memset(&block[in_flight], 0, sizeof(*block));
			list = &block[in_flight];
			list->aio_lio_opcode = IOCB_CMD_PREAD;
			list->aio_fildes = op[which];
			list->aio_buf = (uintptr_t)t->data[in_flight];
			list->aio_nbytes = chance(t, 9) ? 4096 : 48;
			if (syscall(SYS_io_submit, own, 1, &list) == 1)
				in_flight++;
		}
		if (in_flight == DEPTH || (in_flight && !chance(t, 40))) {
			got = syscall(SYS_io_getevents, own, in_flight,
				      in_flight, event, &patience);
			if (got != in_flight) {
				__atomic_fetch_add(&lost, in_flight - got,
						   __ATOMIC_RELAXED);
				return NULL;
			}
			in_flight = 0;
		}
	}
	/* The rest is in flight while the context goes away. */
	syscall(SYS_io_destroy, own);
	return NULL;
}

int main(void)
{
	static struct thread t[THREADS];
	static uint8_t out[2][4096];
	int i, good = 0, fresh, hash, cipher;

	hash = afalg_bind("hash", "cryptd(sha256-generic)");
	cipher = afalg_bind("skcipher", "cryptd(cbc(aes-generic))");
	if (hash < 0 || cipher < 0)
		bail("cryptd");
	afalg_key(cipher, key, sizeof(key));
	fill(text, sizeof(text), 1);
	for (i = 0; i < 2 * SOCKETS; i++) {
		op[i] = accept4(i < SOCKETS ? hash : cipher, NULL, NULL,
				SOCK_NONBLOCK);
		if (op[i] < 0)
			bail("accept");
		before[i] = charged(op[i]);
	}
	for (i = 0; i < THREADS; i++) {
		t[i].seed = i + 1;
		if (pthread_create(&t[i].id, NULL, thread, &t[i]))
			bail("pthread_create");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i].id, NULL);
	ok(!lost, "every_request_completes");

	for (i = 0; i < 2 * SOCKETS; i++) {
		/* A message may be queued or incomplete: take it out. */
		send(op[i], text, 16, MSG_DONTWAIT);
		while (recv(op[i], out[0], 4096, MSG_DONTWAIT) > 0 &&
		       i >= SOCKETS)
			;
		if (charged(op[i]) != before[i])
			printf("# socket %d has %u bytes, had %u\n", i,
			       charged(op[i]), before[i]);
		else
			good++;
	}
	ok(good == 2 * SOCKETS, "the_sockets_have_their_memory_back");

	good = 0;
	fresh = afalg_accept(hash);
	for (i = 0; i < SOCKETS; i++)
		good += send(op[i], text, 999, 0) == 999 &&
			recv(op[i], out[0], 32, 0) == 32 &&
			send(fresh, text, 999, 0) == 999 &&
			recv(fresh, out[1], 32, 0) == 32 &&
			!memcmp(out[0], out[1], 32);
	close(fresh);
	fresh = afalg_accept(cipher);
	for (; i < 2 * SOCKETS; i++) {
		afalg_send(op[i], ALG_OP_ENCRYPT, key, 16, 0, text, 4096, 0);
		afalg_send(fresh, ALG_OP_ENCRYPT, key, 16, 0, text, 4096, 0);
		good += recv(op[i], out[0], 4096, 0) == 4096 &&
			recv(fresh, out[1], 4096, 0) == 4096 &&
			!memcmp(out[0], out[1], 4096);
	}
	ok(good == 2 * SOCKETS, "the_sockets_still_give_the_right_bytes");
	return finish();
}
