// SPDX-License-Identifier: GPL-2.0
/*
 * A cipher request that needs nothing of its socket is in flight when the
 * submission returns, and nothing that happens to the socket meanwhile changes
 * its bytes. Everything else is synchronous, with the bytes and errors that it
 * always had.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "async.h"

#define DRIVER "cryptd(cbc(aes-generic))"
#define REFERENCE "cbc(aes-generic)"
#define LENGTH 4096
#define MANY 150 /* more than may be in flight on a socket */
#define LONG 131072
#define BLOCK 16

static const uint8_t key[16] = "a key of 128 bit";
static uint8_t text[LONG], expected[LONG], data[LONG + 4096];
static int device, reference;

static void iv_of(uint8_t *iv, uint32_t number)
{
	memset(iv, 0, BLOCK);
	memcpy(iv, &number, sizeof(number));
}

static void send_iv(int op, uint32_t number, const void *from, size_t length,
		    int flags)
{
	uint8_t iv[BLOCK];

	iv_of(iv, number);
	afalg_send(op, ALG_OP_ENCRYPT, iv, BLOCK, 0, from, length, flags);
}

/* What must come out: one message of that IV, however it was sent and read. */
static const uint8_t *right(uint32_t number, size_t length)
{
	int op = afalg_accept(reference);
	size_t done = 0;
	ssize_t got;

	send_iv(op, number, text, length, 0);
	while (done < length) {
		got = read(op, expected + done, length - done);
		if (got <= 0)
			bail("reference");
		done += got;
	}
	close(op);
	return expected;
}

static bool is_right(const uint8_t *got, uint32_t number, size_t length)
{
	return !memcmp(got, right(number, length), length);
}

static void flies_and_is_right(void)
{
	int op = afalg_accept(device);
	bool flies;
	long res;

	memset(data, 0, LENGTH);
	send_iv(op, 1, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	real_time(false);
	ok(flies, "request_is_in_flight_after_io_submit");
	res = flies ? aio_result() : LENGTH;
	ok(res == LENGTH && is_right(data, 1, LENGTH),
	   "its_bytes_are_right");
	close(op);
}

static void another_iv_does_not_reach_it(void)
{
	int op = afalg_accept(device);
	bool flies, first, second;

	memset(data, 0, 2 * LENGTH);
	send_iv(op, 1, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	send_iv(op, 2, text, LENGTH, 0);
	real_time(false);
	first = (!flies || aio_result() == LENGTH) && is_right(data, 1, LENGTH);
	second = read(op, data, LENGTH) == LENGTH && is_right(data, 2, LENGTH);
	ok(flies && first && second, "another_iv_does_not_reach_it");
	close(op);
}

/* The same from another thread, all the time. */
static volatile bool stop;

static void *set_ivs(void *arg)
{
	char control[CMSG_SPACE(4) + CMSG_SPACE(4 + BLOCK)] = { 0 };
	struct msghdr message = {
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int op = *(int *)arg;

	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_OP;
	header->cmsg_len = CMSG_LEN(4);
	*(uint32_t *)CMSG_DATA(header) = ALG_OP_ENCRYPT;
	header = CMSG_NXTHDR(&message, header);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_IV;
	header->cmsg_len = CMSG_LEN(4 + BLOCK);
	*(uint32_t *)CMSG_DATA(header) = BLOCK;
	memset(CMSG_DATA(header) + 4, 0xff, BLOCK);
	/* No data, and more to come: refused while a message is complete. */
	while (!stop)
		sendmsg(op, &message, MSG_MORE | MSG_DONTWAIT);
	return NULL;
}

static void ivs_from_another_thread_do_not_reach_it(void)
{
	enum { ROUNDS = 400 };
	int i, wrong = 0, op = afalg_accept(device);
	static uint8_t want[LENGTH];
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t two;

	memcpy(want, right(7, LENGTH), LENGTH);
	CPU_ZERO(&two);
	CPU_SET(1, &two);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(two), &two);
	stop = false;
	if (pthread_create(&thread, &attr, set_ivs, &op))
		bail("pthread_create");
	for (i = 0; i < ROUNDS; i++) {
		struct io_event event;

		send_iv(op, 7, text, LENGTH, 0);
		if (aio_read(op, data, LENGTH, 0))
			bail("io_submit");
		if (aio_reap(&event, 1, 20000) != 1)
			bail("io_getevents");
		if (event.res != LENGTH || memcmp(data, want, LENGTH))
			wrong++;
	}
	stop = true;
	pthread_join(thread, NULL);
	printf("# %d of %d wrong\n", wrong, ROUNDS);
	ok(!wrong, "ivs_from_another_thread_do_not_reach_it");
	close(op);
}

static void several_on_one_socket(void)
{
	static uint8_t out[MANY][512];
	struct io_event event[MANY];
	int i, got, good = 0, op = afalg_accept(device);
	unsigned int before = charged(op);

	memset(out, 0, sizeof(out));
	for (i = 0; i < MANY; i++) {
		send_iv(op, i, text, 512, 0);
		if (aio_read(op, out[i], 512, i))
			bail("io_submit");
	}
	got = aio_reap(event, MANY, 20000);
	for (i = 0; i < got; i++)
		good += event[i].res == 512 &&
			is_right(out[event[i].data], event[i].data, 512);
	printf("# %d complete, %d right\n", got, good);
	ok(got == MANY && good == MANY, "many_on_one_socket_are_all_right");
	ok(charged(op) == before, "their_memory_is_all_given_back");
	close(op);
}

static void two_fly_on_one_socket(void)
{
	int op = afalg_accept(device);
	struct io_event event[2];
	bool flies, second = false;
	int got;

	send_iv(op, 1, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	if (flies) {
		send_iv(op, 2, text, LENGTH, 0);
		second = !aio_read(op, data + LENGTH, LENGTH, 1) &&
			 !aio_reap(event, 2, 0);
	}
	real_time(false);
	got = flies ? aio_reap(event, 2, 20000) : 0;
	ok(second && got == 2 && is_right(data, 1, LENGTH) &&
	   is_right(data + LENGTH, 2, LENGTH),
	   "a_second_message_flies_on_the_same_socket");
	close(op);
}

/* A full receive buffer makes a request wait, not fail. */
static void receive_buffer_is_shared(void)
{
	static uint8_t out[8][LENGTH * 2];
	int i, got, good = 0, small = 8192, op = afalg_accept(device);
	struct io_event event[8];

	/* The kernel doubles it: two messages fill it. */
	if (setsockopt(op, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)))
		bail("SO_RCVBUF");
	memset(out, 0, sizeof(out));
	for (i = 0; i < 8; i++) {
		send_iv(op, i, text, LENGTH * 2, 0);
		if (aio_read(op, out[i], LENGTH * 2, i))
			bail("io_submit");
	}
	got = aio_reap(event, 8, 20000);
	for (i = 0; i < got; i++)
		good += event[i].res == LENGTH * 2 &&
			is_right(out[event[i].data], event[i].data, LENGTH * 2);
	ok(good == 8, "a_full_receive_buffer_makes_wait_and_not_fail");
	close(op);
}

static void chain_goes_on_behind_it(void)
{
	int op = afalg_accept(device);
	bool flies, good;

	right(3, 3 * LENGTH);
	memset(data, 0, 3 * LENGTH);
	send_iv(op, 3, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	/* No IV: this goes on where the one in flight will end. */
	if (send(op, text + LENGTH, LENGTH, 0) != LENGTH)
		bail("send");
	good = read(op, data + LENGTH, LENGTH) == LENGTH;
	real_time(false);
	good &= !flies || aio_result() == LENGTH;
	if (send(op, text + 2 * LENGTH, LENGTH, 0) != LENGTH)
		bail("send");
	good &= read(op, data + 2 * LENGTH, LENGTH) == LENGTH;
	ok(flies && good && !memcmp(data, expected, 3 * LENGTH),
	   "a_send_without_an_iv_goes_on_behind_it");
	close(op);
}

static void last_of_several_is_what_goes_on(void)
{
	enum { COUNT = 6 };
	int i, got, op = afalg_accept(device);
	struct io_event event[COUNT];
	bool good = true;

	for (i = 0; i < COUNT; i++) {
		send_iv(op, i, text, LENGTH, 0);
		good &= !aio_read(op, data, LENGTH, i);
	}
	if (send(op, text + LENGTH, LENGTH, 0) != LENGTH)
		bail("send");
	good &= read(op, data, LENGTH) == LENGTH;
	got = aio_reap(event, COUNT, 20000);
	right(COUNT - 1, 2 * LENGTH);
	ok(good && got == COUNT && !memcmp(data, expected + LENGTH, LENGTH),
	   "the_last_of_several_is_what_goes_on");
	close(op);
}

static void pieces(void)
{
	int op = afalg_accept(device);
	bool flies;
	long res;

	memset(data, 0, LENGTH);
	send_iv(op, 4, text, 1000, MSG_MORE);
	if (send(op, text + 1000, 2000, MSG_MORE) != 2000 ||
	    send(op, text + 3000, LENGTH - 3000, 0) != LENGTH - 3000)
		bail("send");
	flies = aio_read_flies(op, data, LENGTH);
	real_time(false);
	res = flies ? aio_result() : LENGTH;
	ok(flies && res == LENGTH && is_right(data, 4, LENGTH),
	   "a_message_sent_in_pieces_flies_when_it_is_complete");

	/* Still incomplete: whole blocks of what is there, at once. */
	memset(data, 0, LENGTH);
	send_iv(op, 4, text, 1000, MSG_MORE);
	flies = aio_read_flies(op, data, 992);
	real_time(false);
	if (flies)
		aio_result();
	if (send(op, text + 1000, LENGTH - 1000, 0) != LENGTH - 1000)
		bail("send");
	res = read(op, data + 992, LENGTH - 992);
	ok(!flies && res == LENGTH - 992 && is_right(data, 4, LENGTH),
	   "a_read_before_the_end_of_the_message_is_synchronous");

	memset(data, 0, LENGTH);
	send_iv(op, 5, text, LENGTH, 0);
	flies = aio_read_flies(op, data, 1024);
	if (!flies)
		flies = aio_read_flies(op, data + 1024, LENGTH - 1024);
	real_time(false);
	ok(!flies && is_right(data, 5, LENGTH),
	   "reads_of_parts_are_synchronous_and_go_on");
	close(op);
}

static void on_alarm(int unused)
{
	(void)unused;
}

static void one_iocb_one_message(void)
{
	struct itimerval soon = { { 0, 0 }, { 2, 0 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	int op = afalg_accept(device);
	struct itimerval left;
	bool flies;
	long res;

	/* Where it is synchronous, it waits for more than there is. */
	sigaction(SIGALRM, &action, NULL);
	send_iv(op, 6, text, LENGTH, 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	flies = aio_read_flies(op, data, 2 * LENGTH);
	real_time(false);
	setitimer(ITIMER_REAL, &never, &left);
	res = flies ? aio_result() : LENGTH;
	ok(flies && res == LENGTH && is_right(data, 6, LENGTH),
	   "an_iocb_with_a_longer_buffer_takes_one_message");

	/* In many pieces, so that more than one list of pages is needed. */
	{
		struct iovec vector[64];
		int i;

		memset(data, 0, LENGTH);
		for (i = 0; i < 64; i++)
			vector[i] = (struct iovec){ data + i * 64, 64 };
		send_iv(op, 6, text, 1024, 0);
		if (aio_readv(op, vector, 16, 0))
			bail("io_submit");
		ok(aio_result() == 1024 && is_right(data, 6, 1024),
		   "a_buffer_in_pieces_is_filled");
	}
	close(op);
}

static void socket_calls_in_flight(void)
{
	int op = afalg_accept(device), status;
	bool flies, busy, refused;
	pid_t pid;

	send_iv(op, 8, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	busy = setsockopt(device, SOL_ALG, ALG_SET_KEY, key, 16) < 0 &&
	       errno == EBUSY;
	refused = accept(op, NULL, NULL) < 0 && errno == EOPNOTSUPP;
	real_time(false);
	if (flies)
		aio_result();
	ok(flies && busy, "setkey_is_refused_in_flight");
	ok(flies && refused, "accept_is_refused_in_flight");

	memset(data, 0, LENGTH);
	send_iv(op, 9, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	close(op);
	real_time(false);
	ok(flies && aio_result() == LENGTH && is_right(data, 9, LENGTH),
	   "close_in_flight_loses_nothing");

	op = afalg_accept(device);
	memset(data, 0, LENGTH);
	send_iv(op, 10, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	pid = fork();
	if (!pid)
		_exit(0);
	real_time(false);
	waitpid(pid, &status, 0);
	/* fork() may give the page to the child: GUP pins keep it here. */
	ok(flies && aio_result() == LENGTH && is_right(data, 10, LENGTH),
	   "fork_in_flight_loses_nothing");

	pid = fork();
	if (!pid) {
		aio = 0;
		async_start();
		send_iv(op, 11, text, LENGTH, 0);
		_exit(!aio_read_flies(op, data, LENGTH));
	}
	waitpid(pid, &status, 0);
	send_iv(op, 12, text, LENGTH, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status) &&
	   read(op, data, LENGTH) == LENGTH && is_right(data, 12, LENGTH),
	   "exit_in_flight_leaves_the_socket_usable");
	close(op);
}

static void full_driver_queue(void)
{
	enum { COUNT = 64 };
	static uint8_t out[COUNT][1024];
	struct io_event event[COUNT];
	int i, got, good = 0, op[COUNT];

	memset(out, 0, sizeof(out));
	for (i = 0; i < COUNT; i++) {
		op[i] = afalg_accept(device);
		send_iv(op[i], i, text, 1024, 0);
	}
	real_time(true);
	for (i = 0; i < COUNT; i++)
		if (aio_read(op[i], out[i], 1024, i))
			bail("io_submit");
	real_time(false);
	got = aio_reap(event, COUNT, 20000);
	for (i = 0; i < got; i++)
		good += event[i].res == 1024 &&
			is_right(out[event[i].data], event[i].data, 1024);
	printf("# %d complete, %d right\n", got, good);
	ok(got == COUNT && good == COUNT,
	   "a_full_queue_of_the_driver_loses_nothing");
	for (i = 0; i < COUNT; i++)
		close(op[i]);
}

static void odd_messages(void)
{
	int op = afalg_accept(device);
	unsigned int before;
	long res;
	int err;

	send_iv(op, 13, text, LENGTH, 0);
	before = charged(op);
	err = aio_read(op, (void *)16, LENGTH, 0);
	res = err ? err : aio_result();
	ok(res == -EFAULT && charged(op) == before &&
	   read(op, data, LENGTH) == LENGTH && is_right(data, 13, LENGTH),
	   "a_bad_buffer_leaves_the_message_queued");

	send_iv(op, 14, text, LENGTH - 1, 0);
	err = aio_read(op, data, LENGTH, 0);
	res = err ? err : aio_result();
	ok(res == -EINVAL, "a_partial_block_is_the_error_of_the_driver");

	send_iv(op, 15, text, 0, 0);
	err = aio_read(op, data, LENGTH, 0);
	res = err ? err : aio_result();
	ok(res == 0, "an_empty_message_gives_nothing");
	close(op);

	/* All of the receive buffer is there after hundreds of requests. */
	op = afalg_accept(device);
	before = charged(op);
	for (err = 0; err < 300; err++) {
		send_iv(op, err, text, LENGTH, 0);
		if (aio_read(op, err % 3 ? data : (void *)16, LENGTH, 0))
			bail("io_submit");
		aio_result();
		if (err % 3 == 0 && read(op, data, LENGTH) != LENGTH)
			bail("read");
	}
	memset(data, 0, LONG);
	send_iv(op, 16, text, LONG, 0);
	if (aio_read(op, data, LONG, 0))
		bail("io_submit");
	ok(aio_result() == LONG && is_right(data, 16, LONG),
	   "128_kib_still_fit_after_hundreds_of_requests");
	ok(charged(op) == before, "memory_is_back_where_it_was");
	close(op);
}

static void poll_tells(void)
{
	int op = afalg_accept(device);
	bool flies, idle, in_flight, queued, after;

	send_iv(op, 17, text, LENGTH, 0);
	idle = polled(op) & POLLIN;
	flies = aio_read_flies(op, data, LENGTH);
	in_flight = polled(op) & POLLIN;
	/* One that can fly along is readable, one that has to wait is not. */
	send_iv(op, 18, text, LENGTH, 0);
	queued = polled(op) & POLLIN;
	real_time(false);
	if (flies)
		aio_result();
	after = polled(op) & POLLIN;
	ok(flies && idle && !in_flight && queued && after,
	   "readable_unless_a_read_would_wait");
	if (read(op, data, LENGTH) != LENGTH)
		bail("read");

	send_iv(op, 19, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	if (send(op, text, LENGTH, 0) != LENGTH)
		bail("send");
	queued = polled(op) & POLLIN;
	real_time(false);
	if (flies) {
		struct pollfd one = { op, POLLIN, 0 };

		after = poll(&one, 1, 20000) == 1;
		aio_result();
	}
	ok(flies && !queued && after,
	   "poll_wakes_when_the_read_can_go_on");
	close(op);
}

static void through_io_uring(void)
{
	char control[2][CMSG_SPACE(4) + CMSG_SPACE(4 + BLOCK)] = { 0 };
	struct iovec vector = { text, LENGTH };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	int res = 0, left, right_ones = 0, op = afalg_accept(device);
	struct cmsghdr *header;
	struct io_uring_sqe *sqe;
	bool flies, good = true;
	struct ring ring;
	uint64_t id;

	message.msg_control = control[0];
	message.msg_controllen = sizeof(control[0]);
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_OP;
	header->cmsg_len = CMSG_LEN(4);
	*(uint32_t *)CMSG_DATA(header) = ALG_OP_ENCRYPT;
	header = CMSG_NXTHDR(&message, header);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_IV;
	header->cmsg_len = CMSG_LEN(4 + BLOCK);
	*(uint32_t *)CMSG_DATA(header) = BLOCK;
	iv_of(CMSG_DATA(header) + 4, 20);

	ring_open(&ring, 16);
	memset(data, 0, 2 * LENGTH);
	sqe = ring_sqe(&ring, IORING_OP_SENDMSG, op, 1);
	sqe->addr = (uintptr_t)&message;
	sqe->len = 1;
	sqe->flags = IOSQE_IO_LINK;
	ring_read(&ring, op, data, LENGTH, 2);
	real_time(true);
	ring_submit(&ring, 0);
	flies = true;
	while (ring_reap(&ring, &id, &res)) {
		good &= res == LENGTH;
		flies &= id == 1;
	}
	/* Goes on behind the one in flight: NOWAIT first, then poll, then it. */
	if (flies && send(op, text + LENGTH, LENGTH, 0) == LENGTH) {
		ring_read(&ring, op, data + LENGTH, LENGTH, 3);
		ring_submit(&ring, 0);
	}
	real_time(false);
	ok(flies && good, "linked_send_and_read_fly_in_io_uring");
	for (left = flies ? 2 : 0; left; left--) {
		if (!ring_reap(&ring, &id, &res)) {
			ring_submit(&ring, 1);
			ring_reap(&ring, &id, &res);
		}
		right_ones += res == LENGTH;
	}
	ok(right_ones == 2 && is_right(data, 20, 2 * LENGTH),
	   "io_uring_waits_without_a_thread_for_what_goes_on_behind");
	close(ring.fd);
	close(op);
}

/* One at a time as ever, on a driver that has nothing asynchronous. */
static void synchronous_driver(void)
{
	int op = afalg_accept(reference);
	bool flies;

	memset(data, 0, LENGTH);
	send_iv(op, 21, text, LENGTH, 0);
	flies = aio_read_flies(op, data, LENGTH);
	real_time(false);
	ok(!flies && is_right(data, 21, LENGTH),
	   "a_synchronous_driver_is_synchronous");
	close(op);
}

int main(void)
{
	device = afalg_bind("skcipher", DRIVER);
	reference = afalg_bind("skcipher", REFERENCE);
	if (device < 0 || reference < 0)
		bail(DRIVER);
	afalg_key(device, key, sizeof(key));
	afalg_key(reference, key, sizeof(key));
	fill(text, LONG, 3);
	setvbuf(stdout, NULL, _IOLBF, 0);
	async_start();

	flies_and_is_right();
	another_iv_does_not_reach_it();
	two_fly_on_one_socket();
	several_on_one_socket();
	receive_buffer_is_shared();
	chain_goes_on_behind_it();
	last_of_several_is_what_goes_on();
	pieces();
	one_iocb_one_message();
	full_driver_queue();
	odd_messages();
	poll_tells();
	through_io_uring();
	synchronous_driver();
	socket_calls_in_flight();
	ivs_from_another_thread_do_not_reach_it();
	return finish();
}
