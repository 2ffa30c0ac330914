/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - can this process use io_uring and Linux AIO? Asked and not assumed:
 * a container's profile or a sysctl may deny what the kernel has.
 */
#include <errno.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend.h"
#include "counters.h"
#include "uring_setup.h"

int af_alg_usable(void)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static atomic_bool used;

void af_alg_used(void)
{
	atomic_store_explicit(&used, true, memory_order_relaxed);
}

bool af_alg_there(void)
{
	int error;

	if (atomic_load_explicit(&used, memory_order_relaxed))
		return true;
	error = af_alg_usable();
	return !error || error_is_shortage(error);
}

int uring_usable(void)
{
	struct io_uring ring;
	unsigned files = 1;
	int ret;

	ret = uring_setup(&ring, 1, false, &files);
	if (!ret)
		io_uring_queue_exit(&ring);
	return ret;
}

int aio_usable(void)
{
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context) < 0)
		return -errno;
	syscall(SYS_io_destroy, context);
	return 0;
}
