/* SPDX-License-Identifier: Apache-2.0 */
/* rng.c - see rng.h. */
#include <errno.h>

#include "fork.h"
#include "rng.h"

/* crypto/algif_rng.c gives no more at once. */
#define READ_MAX ((size_t)128)

int rng_open(int tfm, const void *seed, size_t len)
{
	int ret = opsocket_set_key(tfm, seed, len);

	return ret ? ret : opsocket_accept(tfm);
}

static ssize_t fill_piece(int fd, const struct iovec *piece,
			  struct afb_counters *burst)
{
	char *at = piece->iov_base;
	size_t left = piece->iov_len;
	ssize_t got;

	while (left) {
		burst->system_calls++;
		got = opsocket_read_some(fd, at,
					 left < READ_MAX ? left : READ_MAX);
		if (got <= 0)
			return got ? got : -EIO;
		at += got;
		left -= got;
	}
	return piece->iov_len;
}

static ssize_t fill(int fd, const struct afb_op *op, struct afb_counters *burst)
{
	ssize_t filled = 0, ret;
	unsigned i;

	for (i = 0; i < op->out_cnt; i++) {
		ret = fill_piece(fd, &op->out[i], burst);
		if (ret < 0)
			return ret;
		filled += ret;
	}
	return filled;
}

/* What went astray because of a fork has left its place unfilled. */
ssize_t rng_fill(int fd, const struct afb_op *op, struct afb_counters *burst)
{
	unsigned forks;
	ssize_t ret;

	do {
		forks = fork_count();
		ret = fill(fd, op, burst);
	} while (ret >= 0 && forked_since(forks));
	return ret;
}
