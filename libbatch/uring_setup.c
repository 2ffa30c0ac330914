/* SPDX-License-Identifier: Apache-2.0 */
/* uring_setup.c - see uring_setup.h. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "uring_setup.h"

/*
 * EXT_ARG (5.11) waits with a time-out in the same system call. CQE_SKIP (5.17)
 * keeps the successful accept and send of an op silent: one completion per op.
 */
#define FEATURES (IORING_FEAT_EXT_ARG | IORING_FEAT_CQE_SKIP)

#define FLAG_SETS 3

/*
 * SUBMIT_ALL (5.18): a request that the kernel refuses does not keep those behind
 * it from being submitted. The rest best first. With DEFER_TASKRUN (6.1)
 * completions wait until the thread asks for them, so that waiting for N results
 * wakes it once; it needs SINGLE_ISSUER.
 */
static const unsigned own_sets[FLAG_SETS] = {
	IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER |
		IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
	IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN |
		IORING_SETUP_TASKRUN_FLAG,
	IORING_SETUP_SUBMIT_ALL,
};

/* A thread of the kernel's submits, and completions need no call either. */
static const unsigned polled_sets[FLAG_SETS] = {
	IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SQPOLL |
		IORING_SETUP_SINGLE_ISSUER,
	IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SQPOLL,
	IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SQPOLL,
};

/* How long that thread looks for work before it has to be woken. */
#define SQPOLL_IDLE_MS 20

/* Every op ends with one completion, so the queue for them cannot overflow. */
static int init(struct io_uring *ring, unsigned ops, bool sqpoll)
{
	const unsigned *flag_sets = sqpoll ? polled_sets : own_sets;
	struct io_uring_params params;
	int ret = -EINVAL;
	unsigned i;

	for (i = 0; i < FLAG_SETS && ret == -EINVAL; i++) {
		memset(&params, 0, sizeof(params));
		params.flags = flag_sets[i] | IORING_SETUP_CQSIZE |
			       IORING_SETUP_CLAMP;
		params.cq_entries = ops * URING_STEPS;
		params.sq_thread_idle = SQPOLL_IDLE_MS;
		ret = io_uring_queue_init_params(ops * URING_STEPS, ring,
						 &params);
	}
	if (ret)
		return ret == -EINVAL ? -ENOSYS : ret;
	if ((params.features & FEATURES) == FEATURES)
		return 0;
	io_uring_queue_exit(ring);
	return -ENOSYS;
}

/* The kernel refuses a table larger than RLIMIT_NOFILE (io_uring/rsrc.c). */
static int register_files(struct io_uring *ring, unsigned *files)
{
	struct rlimit limit;
	int ret;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && *files > limit.rlim_cur)
		*files = limit.rlim_cur ? limit.rlim_cur : 1;
	for (;;) {
		ret = io_uring_register_files_sparse(ring, *files);
		if (!ret || *files == 1)
			return ret == -EINVAL ? -ENOSYS : ret;
		if (ret != -EMFILE && ret != -ENOMEM)
			return ret == -EINVAL ? -ENOSYS : ret;
		*files /= 2;
	}
}

int uring_setup(struct io_uring *ring, unsigned ops, bool sqpoll,
		unsigned *files)
{
	int ret;

	/* Memory for a large ring may be short where a small one still fits. */
	do
		ret = init(ring, ops, sqpoll);
	while (ret == -ENOMEM && (ops /= 2) > 0);
	if (ret)
		return ret;
	ret = register_files(ring, files);
	if (ret)
		io_uring_queue_exit(ring);
	return ret;
}
