/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - what the kernel lets this process do, asked and not assumed. */
#include <errno.h>
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend.h"
#include "uring_setup.h"

int af_alg_usable(void)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
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

int afb_caps(struct afb_caps *caps)
{
	if (caps->size != sizeof(*caps))
		return -EINVAL;
	caps->af_alg = af_alg_usable();
	caps->io_uring = uring_usable();
	return 0;
}
