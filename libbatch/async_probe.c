/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_probe.c - see async_probe.h.
 *
 * The message is sent first, and without waiting, as io_uring sends it. Then the
 * read is submitted alone, with no word to the ring about completions: one that
 * AF_ALG works off at once is complete when io_uring_enter(2) returns. With
 * IORING_SETUP_DEFER_TASKRUN a later completion cannot show before it is asked
 * for, however fast the driver is. Rings without it leave a race that a driver can
 * win, which is what the further tries are for.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "async_probe.h"
#include "control.h"
#include "nofork.h"
#include "opsocket.h"
#include "uring_setup.h"

#define TEXT_LEN 4096
/* What every AEAD takes: rfc4106(...) and its kin take no other length but 20. */
#define AAD_LEN 16
#define TAG_MAX 64
#define TRIES 3

static const struct __kernel_timespec limit = { .tv_sec = 10 };

struct trial {
	struct io_uring ring;
	int fd;
	struct msghdr message;
	struct iovec in;
	_Alignas(struct cmsghdr) uint8_t control[CONTROL_SIZE];
	struct nofork result;
	bool lost; /* the kernel may still write to the result */
};

#define RESULT_MAX (AAD_LEN + TEXT_LEN + TAG_MAX)

static const uint8_t text[AAD_LEN + TEXT_LEN];

/* "ccm(...)" has the size of its length field, less one, in the first byte. */
static const uint8_t iv[AFB_IV_MAX] = { 3 };

static void prepare(struct trial *trial, enum afb_type type, size_t iv_len)
{
	struct msghdr *message = &trial->message;

	trial->in.iov_base = (uint8_t *)text;
	trial->in.iov_len = type == AFB_AEAD ? AAD_LEN + TEXT_LEN : TEXT_LEN;
	message->msg_iov = &trial->in;
	message->msg_iovlen = 1;
	if (type == AFB_HASH)
		return;
	message->msg_control = trial->control;
	control_operation(message, AFB_ENCRYPT);
	if (iv_len)
		control_iv(message, iv, iv_len);
	if (type == AFB_AEAD)
		control_aad_len(message, AAD_LEN);
}

static int send_text(const struct trial *trial)
{
	ssize_t sent;

	do
		sent = sendmsg(trial->fd, &trial->message, MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == trial->in.iov_len ? 0 : -EIO;
}

/* The read's result, when it has one. */
static int await(struct trial *trial)
{
	struct __kernel_timespec time = limit;
	struct io_uring_cqe *cqe;
	int ret;

	trial->lost = true;
	do
		ret = io_uring_wait_cqe_timeout(&trial->ring, &cqe, &time);
	while (ret == -EINTR);
	if (ret)
		return ret == -ETIME ? -ETIMEDOUT : ret;
	trial->lost = false;
	ret = cqe->res;
	io_uring_cqe_seen(&trial->ring, cqe);
	return ret;
}

static int submit_read(struct trial *trial)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&trial->ring);
	int ret;

	io_uring_prep_read(sqe, trial->fd, trial->result.at, RESULT_MAX, 0);
	do
		ret = io_uring_submit(&trial->ring);
	while (ret == -EINTR);
	if (ret < 0)
		return ret;
	return ret == 1 ? 0 : -EAGAIN;
}

/*
 * How often this thread has given way to another: by sleeping, or because the one
 * that does the driver's work came at once.
 */
static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return 0;
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* One request: 1, 0 or -errno. */
static int try_once(struct trial *trial, bool *waited)
{
	long before = switches();
	bool in_flight;
	int ret;

	ret = send_text(trial);
	if (!ret)
		ret = submit_read(trial);
	if (ret)
		return ret;
	in_flight = !io_uring_cq_ready(&trial->ring);
	*waited = switches() != before;
	ret = await(trial);
	return ret < 0 ? ret : in_flight;
}

static int try_thrice(struct trial *trial, int tfm, bool *waits)
{
	bool waited = false;
	int i, ret;

	trial->fd = opsocket_accept(tfm);
	if (trial->fd < 0)
		return trial->fd;
	*waits = true;
	for (i = 0, ret = 0; i < TRIES && !ret; i++) {
		ret = try_once(trial, &waited);
		*waits &= waited;
	}
	close(trial->fd);
	return ret;
}

int async_probe(enum afb_type type, int tfm, size_t iv_len, bool *waits)
{
	struct trial trial = { .fd = -1 };
	unsigned files = 1;
	int ret;

	if (iv_len > AFB_IV_MAX)
		return -EINVAL;
	ret = nofork_reserve(&trial.result, RESULT_MAX);
	if (ret)
		return ret;
	prepare(&trial, type, iv_len);
	ret = uring_setup(&trial.ring, 1, false, &files);
	if (!ret) {
		ret = try_thrice(&trial, tfm, waits);
		io_uring_queue_exit(&trial.ring);
	}
	/* Nothing can take a lost request's memory back from the kernel. */
	if (trial.lost)
		nofork_abandon(&trial.result);
	nofork_free(&trial.result);
	return ret;
}
