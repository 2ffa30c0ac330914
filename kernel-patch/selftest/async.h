/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of asynchronous requests share: AIO and io_uring without a
 * library, and a way to see a request in flight that does not depend on luck.
 * cryptd works on the CPU that submits, in a kernel thread of normal priority:
 * it cannot begin while a real-time task on that CPU does not sleep.
 */
#ifndef SELFTEST_ASYNC_H
#define SELFTEST_ASYNC_H

#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "afalg.h"

#define AIO_DEPTH 256

static aio_context_t aio;

static inline void real_time(bool on)
{
	struct sched_param param = { .sched_priority = on };

	if (sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param))
		bail("sched_setscheduler");
}

static inline void async_start(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		bail("sched_setaffinity");
	if (syscall(SYS_io_setup, AIO_DEPTH, &aio))
		bail("io_setup");
}

/* 0, or what io_submit says. It can complete at once or stay in flight. */
static inline int aio_readv(int fd, const struct iovec *vector, int count,
			    uint64_t id)
{
	struct iocb block = {
		.aio_lio_opcode = IOCB_CMD_PREADV,
		.aio_fildes = fd,
		.aio_buf = (uintptr_t)vector,
		.aio_nbytes = count,
		.aio_data = id,
	};
	struct iocb *list = &block;

	return syscall(SYS_io_submit, aio, 1, &list) == 1 ? 0 : -errno;
}

static inline int aio_read(int fd, void *data, size_t length, uint64_t id)
{
	struct iovec vector = { data, length };

	return aio_readv(fd, &vector, 1, id);
}

/* How many of count events came within the time. */
static inline int aio_reap(struct io_event *event, int count, int milliseconds)
{
	struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000,
	};

	return syscall(SYS_io_getevents, aio, milliseconds ? count : 0, count,
		       event, &time);
}

/* The result of the one request there is; -ETIME when it does not complete. */
static inline long aio_result(void)
{
	struct io_event event;

	return aio_reap(&event, 1, 20000) == 1 ? event.res : -ETIME;
}

/*
 * One read on its own: is it in flight when io_submit returns? Leaves the task
 * at real-time priority, so that it still is when the caller goes on.
 */
static inline bool aio_read_flies(int fd, void *data, size_t length)
{
	struct io_event event;
	int err;

	real_time(true);
	err = aio_read(fd, data, length, 0);
	if (err) {
		printf("# io_submit: %s\n", strerror(-err));
		return false;
	}
	if (!aio_reap(&event, 1, 0))
		return true;
	printf("# complete when io_submit returned, result %lld\n",
	       (long long)event.res);
	return false;
}

static inline short polled(int fd)
{
	struct pollfd one = { fd, POLLIN | POLLOUT, 0 };

	if (poll(&one, 1, 0) < 0)
		bail("poll");
	return one.revents;
}

/* Bytes that the socket has charged for kernel memory of its own. */
static inline unsigned int charged(int fd)
{
	unsigned int info[16] = { 0 };
	socklen_t length = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length))
		bail("SO_MEMINFO");
	return info[6];
}

/* The smallest ring that does: submit at once, then wait for completions. */
struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	unsigned int pending;
};

static inline void ring_open(struct ring *ring, unsigned int entries)
{
	struct io_uring_params params = { 0 };
	char *base;
	size_t length;

	ring->fd = syscall(SYS_io_uring_setup, entries, &params);
	if (ring->fd < 0)
		bail("io_uring_setup");
	length = params.sq_off.array + params.sq_entries * 4;
	if (length < params.cq_off.cqes + params.cq_entries * sizeof(*ring->cqe))
		length = params.cq_off.cqes +
			 params.cq_entries * sizeof(*ring->cqe);
	base = mmap(NULL, length, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
	ring->sqe = mmap(NULL, params.sq_entries * sizeof(*ring->sqe),
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			 ring->fd, IORING_OFF_SQES);
	if (base == MAP_FAILED || ring->sqe == MAP_FAILED)
		bail("mmap of the ring");
	ring->sq_tail = (void *)(base + params.sq_off.tail);
	ring->sq_mask = (void *)(base + params.sq_off.ring_mask);
	ring->sq_array = (void *)(base + params.sq_off.array);
	ring->cq_head = (void *)(base + params.cq_off.head);
	ring->cq_tail = (void *)(base + params.cq_off.tail);
	ring->cq_mask = (void *)(base + params.cq_off.ring_mask);
	ring->cqe = (void *)(base + params.cq_off.cqes);
	ring->pending = 0;
}

static inline struct io_uring_sqe *ring_sqe(struct ring *ring, int op, int fd,
					    uint64_t id)
{
	unsigned int index = (*ring->sq_tail + ring->pending) & *ring->sq_mask;
	struct io_uring_sqe *sqe = &ring->sqe[index];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = op;
	sqe->fd = fd;
	sqe->user_data = id;
	ring->sq_array[index] = index;
	ring->pending++;
	return sqe;
}

static inline void ring_read(struct ring *ring, int fd, void *data,
			     unsigned int length, uint64_t id)
{
	struct io_uring_sqe *sqe = ring_sqe(ring, IORING_OP_READ, fd, id);

	sqe->addr = (uintptr_t)data;
	sqe->len = length;
}

static inline void ring_submit(struct ring *ring, unsigned int wait)
{
	__atomic_store_n(ring->sq_tail, *ring->sq_tail + ring->pending,
			 __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, ring->pending, wait,
		    wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0) < 0)
		bail("io_uring_enter");
	ring->pending = 0;
}

/* False when there is no completion yet. */
static inline bool ring_reap(struct ring *ring, uint64_t *id, int *res)
{
	unsigned int head = *ring->cq_head;
	struct io_uring_cqe *cqe = &ring->cqe[head & *ring->cq_mask];

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*id = cqe->user_data;
	*res = cqe->res;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

#endif
