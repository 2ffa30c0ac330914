// SPDX-License-Identifier: GPL-2.0
/*
 * A message that a non-blocking send gave to an asynchronous driver is hashed
 * while the iocb that reads it is in flight, and neither another message nor a
 * hash in several parts on the same socket meets it. Everything else has the
 * bytes and the errors that it always had.
 */
#define _GNU_SOURCE
#include <sys/uio.h>

#include "async.h"

#define DIGEST 32
#define LENGTH 3000
#define MANY 150 /* more than may be in flight on a socket */
#define LONG 131072

static uint8_t text[2 * LONG], data[4096], expected[DIGEST];
static const uint8_t key[16] = "a key of 128 bit";
static int device, reference;

static const uint8_t *right(const void *from, size_t length)
{
	int op = afalg_accept(reference);
	const uint8_t *next = from;
	size_t part;

	while (length > 4096) {
		part = length - 4096 < 65536 ? length - 4096 : 65536;
		if (send(op, next, part, MSG_MORE) != (ssize_t)part)
			bail("reference");
		next += part;
		length -= part;
	}
	if (send(op, next, length, 0) != (ssize_t)length ||
	    read(op, expected, DIGEST) != DIGEST)
		bail("reference");
	close(op);
	return expected;
}

static bool is_right(const void *digest, const void *from, size_t length)
{
	return !memcmp(digest, right(from, length), DIGEST);
}

static void queue(int op, const void *from, size_t length)
{
	ssize_t sent = send(op, from, length, MSG_DONTWAIT);

	if (sent != (ssize_t)length)
		bail("a non-blocking send of %zu gave %zd", length, sent);
}

/* Sends, and reads with an iocb. The task is at real-time priority after it. */
static bool flies(int op, const void *from, size_t length, void *digest)
{
	memset(digest, 0, DIGEST);
	queue(op, from, length);
	return aio_read_flies(op, digest, DIGEST);
}

static void lengths(void)
{
	static const size_t length[] = { 1, 63, 64, 65, 2047, 2048, 2049, 4095,
					 4096, 4097, 65536, LONG, 212992 };
	int op = afalg_accept(device);
	unsigned int i, in_flight = 0, good = 0;
	unsigned int before = charged(op);

	for (i = 0; i < sizeof(length) / sizeof(*length); i++) {
		bool flew = flies(op, text + i, length[i], data);

		real_time(false);
		in_flight += flew;
		good += (!flew || aio_result() == DIGEST) &&
			is_right(data, text + i, length[i]);
	}
	printf("# %u lengths, %u in flight, %u right\n", i, in_flight, good);
	ok(in_flight == i, "digest_is_in_flight_after_io_submit");
	ok(good == i, "digests_of_all_lengths_are_right");
	ok(charged(op) == before, "their_memory_is_all_given_back");

	/* One byte above the send buffer has to be hashed at once. */
	queue(op, text, 212993);
	real_time(true);
	in_flight = aio_read_flies(op, data, DIGEST);
	real_time(false);
	ok(!in_flight && is_right(data, text, 212993),
	   "more_than_the_send_buffer_is_hashed_at_once");
	close(op);
}

static void several_on_one_socket(void)
{
	static uint8_t out[MANY][DIGEST];
	struct io_event event[MANY];
	int i, got, good = 0, op = afalg_accept(device);
	unsigned int before = charged(op);

	real_time(true);
	for (i = 0; i < 3; i++) {
		queue(op, text + i, LENGTH);
		if (aio_read(op, out[i], DIGEST, i))
			bail("io_submit");
	}
	got = aio_reap(event, 3, 0);
	real_time(false);
	printf("# %d of 3 complete after io_submit\n", got);
	ok(got == 0, "several_digests_fly_on_one_socket");
	got += aio_reap(event, 3 - got, 20000);
	for (i = 0; i < 3; i++)
		good += is_right(out[i], text + i, LENGTH);
	ok(got == 3 && good == 3, "several_digests_are_right");

	good = 0;
	memset(out, 0, sizeof(out));
	real_time(true);
	for (i = 0; i < MANY; i++) {
		queue(op, text + i, 100);
		if (aio_read(op, out[i], DIGEST, i))
			bail("io_submit");
	}
	real_time(false);
	got = aio_reap(event, MANY, 20000);
	for (i = 0; i < got; i++)
		good += event[i].res == DIGEST &&
			is_right(out[event[i].data], text + event[i].data, 100);
	printf("# %d complete, %d right\n", got, good);
	ok(got == MANY && good == MANY,
	   "more_digests_than_there_is_room_for_are_right");
	ok(charged(op) == before, "memory_is_back_where_it_was");
	close(op);
}

static void other_hashes_do_not_meet_it(void)
{
	int op = afalg_accept(device), clone;
	uint8_t one[DIGEST], two[DIGEST], three[DIGEST];
	bool flew, good;

	/* A hash in parts, with its state in the socket, around one in flight. */
	flew = flies(op, text, LENGTH, data);
	good = send(op, text, 1000, MSG_MORE) == 1000;
	clone = accept(op, NULL, NULL);
	good &= clone >= 0 && send(op, text + 1000, 500, 0) == 500 &&
		read(op, one, DIGEST) == DIGEST;
	good &= send(clone, text + 2000, 500, 0) == 500 &&
		read(clone, two, DIGEST) == DIGEST;
	good &= read(op, three, DIGEST) == DIGEST;
	real_time(false);
	good &= !flew || aio_result() == DIGEST;
	ok(flew && good && is_right(data, text, LENGTH),
	   "a_digest_in_flight_is_not_met_by_a_hash_in_parts");
	ok(good && is_right(one, text, 1500),
	   "a_hash_in_parts_is_not_met_by_a_digest_in_flight");
	ok(good && is_right(three, "", 0), "a_read_of_nothing_is_the_empty_hash");
	memcpy(data, text, 1000);
	memcpy(data + 1000, text + 2000, 500);
	ok(good && is_right(two, data, 1500),
	   "accept_in_flight_clones_the_hash_in_parts");
	close(clone);

	/* Queued, and not yet read: no state to clone. */
	queue(op, text, LENGTH);
	clone = accept(op, NULL, NULL);
	good = clone >= 0 && read(clone, one, DIGEST) == DIGEST &&
	       read(op, two, DIGEST) == DIGEST;
	ok(good && is_right(one, "", 0) && is_right(two, text, LENGTH),
	   "accept_of_a_queued_message_is_a_fresh_hash");
	close(clone);

	queue(op, text, LENGTH);
	queue(op, text + 1, LENGTH);
	flew = aio_read_flies(op, data, DIGEST);
	real_time(false);
	if (flew)
		aio_result();
	ok(flew && is_right(data, text + 1, LENGTH),
	   "a_second_send_replaces_the_first");

	queue(op, text, LENGTH);
	good = send(op, text, 10, MSG_MORE) == 10 &&
	       send(op, text + 10, 10, MSG_DONTWAIT) == 10 &&
	       read(op, one, DIGEST) == DIGEST;
	ok(good && is_right(one, text, 20),
	   "a_hash_in_parts_replaces_a_queued_message");

	queue(op, text, LENGTH);
	good = send(op, text, 0, 0) == 0 && read(op, one, DIGEST) == DIGEST;
	ok(good && is_right(one, "", 0),
	   "an_empty_send_replaces_a_queued_message");

	queue(op, text, LENGTH);
	good = recv(op, one, 5, MSG_DONTWAIT) == 5 &&
	       read(op, two, DIGEST) == DIGEST;
	right(text, LENGTH);
	ok(good && !memcmp(one, expected, 5) && is_right(two, "", 0),
	   "a_blocking_read_takes_a_queued_message");
	close(op);
}

static void sync_sends_are_sync(void)
{
	int op = afalg_accept(device);
	bool flew;

	if (send(op, text, LENGTH, 0) != LENGTH)
		bail("send");
	flew = aio_read_flies(op, data, DIGEST);
	real_time(false);
	ok(!flew && is_right(data, text, LENGTH),
	   "a_blocking_send_hashes_at_once");

	if (send(op, text, 1000, MSG_MORE | MSG_DONTWAIT) != 1000)
		bail("send");
	flew = aio_read_flies(op, data, DIGEST);
	real_time(false);
	ok(!flew && is_right(data, text, 1000),
	   "a_read_after_msg_more_hashes_at_once");
	close(op);

	op = afalg_accept(reference);
	flew = flies(op, text, LENGTH, data);
	real_time(false);
	ok(!flew && is_right(data, text, LENGTH),
	   "a_synchronous_driver_is_synchronous");
	close(op);
}

static void odd_buffers(void)
{
	uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec vector[4];
	int i, err, op = afalg_accept(device);
	long res;

	queue(op, text, LENGTH);
	if (aio_read(op, pages + 4096 - 7, DIGEST, 0))
		bail("io_submit");
	ok(aio_result() == DIGEST && is_right(pages + 4096 - 7, text, LENGTH),
	   "a_digest_across_two_pages");

	memset(pages, 0, 8192);
	queue(op, text, LENGTH);
	if (aio_read(op, pages, 5, 0))
		bail("io_submit");
	right(text, LENGTH);
	ok(aio_result() == 5 && !memcmp(pages, expected, 5) && !pages[5],
	   "a_short_buffer_gets_the_beginning");

	queue(op, text, LENGTH);
	if (aio_read(op, pages, 4096, 0))
		bail("io_submit");
	ok(aio_result() == DIGEST && is_right(pages, text, LENGTH),
	   "a_long_buffer_gets_one_digest");

	for (i = 0; i < 4; i++)
		vector[i] = (struct iovec){ pages + 2048 * i, 8 };
	queue(op, text, LENGTH);
	if (aio_readv(op, vector, 4, 0))
		bail("io_submit");
	res = aio_result();
	right(text, LENGTH);
	for (i = 0; i < 4; i++)
		if (memcmp(pages + 2048 * i, expected + 8 * i, 8))
			res = 0;
	ok(res == DIGEST, "a_buffer_in_pieces_is_filled");

	munmap(pages + 4096, 4096);
	queue(op, text, LENGTH);
	err = aio_read(op, pages + 4096 - 7, DIGEST, 0);
	res = err ? err : aio_result();
	ok(res == -EFAULT && read(op, data, DIGEST) == DIGEST &&
	   is_right(data, "", 0),
	   "a_bad_buffer_is_an_error_and_ends_the_message");
	ok(send(op, pages + 4000, 200, MSG_DONTWAIT) != 200,
	   "a_bad_message_is_an_error_of_the_send");
	munmap(pages, 4096);
	close(op);
}

static void socket_calls_in_flight(void)
{
	int op = afalg_accept(device), status;
	bool flew, busy;
	pid_t pid;

	flew = flies(op, text, LENGTH, data);
	close(op);
	real_time(false);
	ok(flew && aio_result() == DIGEST && is_right(data, text, LENGTH),
	   "close_in_flight_loses_nothing");

	op = afalg_accept(device);
	queue(op, text, LONG);
	close(op);

	op = afalg_accept(device);
	flew = flies(op, text, LENGTH, data);
	pid = fork();
	if (!pid)
		_exit(0);
	real_time(false);
	waitpid(pid, &status, 0);
	ok(flew && aio_result() == DIGEST && is_right(data, text, LENGTH),
	   "fork_in_flight_loses_nothing");

	pid = fork();
	if (!pid) {
		aio = 0;
		async_start();
		_exit(!flies(op, text, LENGTH, data));
	}
	waitpid(pid, &status, 0);
	queue(op, text, LENGTH);
	ok(WIFEXITED(status) && !WEXITSTATUS(status) &&
	   read(op, data, DIGEST) == DIGEST && is_right(data, text, LENGTH),
	   "exit_in_flight_leaves_the_socket_usable");

	flew = flies(op, text, LENGTH, data);
	busy = setsockopt(device, SOL_ALG, ALG_SET_KEY, key, 16) < 0 &&
	       errno == EBUSY;
	real_time(false);
	if (flew)
		aio_result();
	ok(flew && busy, "setkey_is_refused_in_flight");
	close(op);
}

static void full_driver_queue(void)
{
	enum { COUNT = 64 };
	static uint8_t out[COUNT][DIGEST];
	struct io_event event[COUNT];
	int i, got, good = 0, op[COUNT];

	memset(out, 0, sizeof(out));
	for (i = 0; i < COUNT; i++) {
		op[i] = afalg_accept(device);
		queue(op[i], text + i, LENGTH);
	}
	real_time(true);
	for (i = 0; i < COUNT; i++)
		if (aio_read(op[i], out[i], DIGEST, i))
			bail("io_submit");
	got = aio_reap(event, COUNT, 0);
	real_time(false);
	ok(got == 0, "digests_wait_for_a_full_queue_of_the_driver");
	got += aio_reap(event + got, COUNT - got, 20000);
	for (i = 0; i < got; i++)
		good += event[i].res == DIGEST &&
			is_right(out[event[i].data], text + event[i].data,
				 LENGTH);
	printf("# %d complete, %d right\n", got, good);
	ok(got == COUNT && good == COUNT,
	   "a_full_queue_of_the_driver_loses_nothing");
	for (i = 0; i < COUNT; i++)
		close(op[i]);
}

static void through_io_uring(void)
{
	struct iovec vector = { text, LENGTH };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	int res = 0, done = 0, op = afalg_accept(device);
	struct io_uring_sqe *sqe;
	bool flew = true, good = true;
	struct ring ring;
	uint64_t id;

	ring_open(&ring, 16);
	memset(data, 0, DIGEST);
	sqe = ring_sqe(&ring, IORING_OP_SENDMSG, op, 1);
	sqe->addr = (uintptr_t)&message;
	sqe->len = 1;
	sqe->flags = IOSQE_IO_LINK;
	ring_read(&ring, op, data, DIGEST, 2);
	real_time(true);
	ring_submit(&ring, 0);
	while (ring_reap(&ring, &id, &res)) {
		flew &= id == 1;
		good &= res == (id == 1 ? LENGTH : DIGEST);
		done++;
	}
	real_time(false);
	ok(flew && done == 1, "linked_send_and_read_fly_in_io_uring");
	while (done < 2) {
		ring_submit(&ring, 1);
		for (; ring_reap(&ring, &id, &res); done++)
			good &= res == DIGEST;
	}
	ok(good && is_right(data, text, LENGTH),
	   "the_digest_from_io_uring_is_right");

	/* In a thread of io_uring a send is a blocking one. */
	sqe = ring_sqe(&ring, IORING_OP_SENDMSG, op, 1);
	sqe->addr = (uintptr_t)&message;
	sqe->len = 1;
	sqe->flags = IOSQE_IO_LINK | IOSQE_ASYNC;
	ring_read(&ring, op, data, DIGEST, 2);
	for (done = 0; done < 2;) {
		ring_submit(&ring, 1);
		for (; ring_reap(&ring, &id, &res); done++)
			good &= res == (id == 1 ? LENGTH : DIGEST);
	}
	ok(good && is_right(data, text, LENGTH),
	   "a_send_from_a_thread_of_io_uring_works");
	close(ring.fd);
	close(op);
}

static void poll_tells(void)
{
	int op = afalg_accept(device);

	ok((polled(op) & (POLLIN | POLLOUT)) == (POLLIN | POLLOUT),
	   "always_ready_since_no_call_waits_for_another");
	close(op);
}

static void keyed(void)
{
	static const char name[] = "a_keyed_digest_flies_and_is_right";
	int fd = afalg_bind("hash", "cryptd(hmac(sha256-generic))");
	int known = afalg_bind("hash", "hmac(sha256-generic)");
	uint8_t want[DIGEST];
	bool flew, refused;
	int op, early;

	if (fd < 0 || known < 0) {
		skip(name, "no hmac(sha256-generic) or cryptd of it");
		return;
	}
	early = afalg_accept(fd);
	refused = send(early, text, LENGTH, MSG_DONTWAIT) < 0 &&
		  errno == ENOKEY;
	afalg_key(fd, key, sizeof(key));
	afalg_key(known, key, sizeof(key));
	op = afalg_accept(known);
	if (send(op, text, LENGTH, 0) != LENGTH ||
	    read(op, want, DIGEST) != DIGEST)
		bail("reference");
	close(op);
	op = afalg_accept(fd);
	flew = flies(op, text, LENGTH, data);
	real_time(false);
	if (flew)
		aio_result();
	ok(flew && !memcmp(data, want, DIGEST), name);
	flew = flies(early, text, LENGTH, data);
	real_time(false);
	if (flew)
		aio_result();
	ok(refused && flew && !memcmp(data, want, DIGEST),
	   "a_socket_from_before_the_key_needs_it_and_then_flies");
	close(early);
	close(op);
	close(fd);
	close(known);
}

int main(void)
{
	device = afalg_bind("hash", "cryptd(sha256-generic)");
	reference = afalg_bind("hash", "sha256-generic");
	if (device < 0 || reference < 0)
		bail("cryptd(sha256-generic)");
	fill(text, sizeof(text), 5);
	setvbuf(stdout, NULL, _IOLBF, 0);
	async_start();

	lengths();
	several_on_one_socket();
	other_hashes_do_not_meet_it();
	sync_sends_are_sync();
	odd_buffers();
	full_driver_queue();
	through_io_uring();
	poll_tells();
	keyed();
	socket_calls_in_flight();
	return finish();
}
