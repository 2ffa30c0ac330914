/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - an op in the form AF_ALG takes: one message to send, with what the
 * kernel must know in control messages, and one buffer to read the result into.
 *
 * The result is read straight into the caller's memory where that is one piece,
 * apart from the input, and every byte of it may be seen. An asynchronous driver's
 * is not, so that nothing of the caller's is written to behind its back. An AEAD's is read into
 * memory of our own: the kernel gives the AAD back before the text, and writes
 * plaintext before it has verified the tag. So is one of few bytes, and one that
 * replaces its input: it could not be repeated after a fork().
 */
#ifndef AFB_REQUEST_H
#define AFB_REQUEST_H

#include "control.h"
#include "nofork.h"
#include "op.h"

/* Belongs to a slot or a queue, and is used for one op after the other. */
struct request {
	struct msghdr message; /* valid until the op ends */
	void *result;
	size_t result_size; /* to read; at least 1 */
	unsigned forks; /* of this process, when it began */
	struct nofork bounce;
	_Alignas(struct cmsghdr) uint8_t control[CONTROL_SIZE];
};

/* 0 or -ENOMEM. @op has passed op_check(). */
int request_prepare(struct request *request, const struct afb_op *op);

/*
 * What became of it: @read is the number of bytes read or -errno. Puts the result
 * where the caller wants it, and returns its size or -errno.
 */
ssize_t request_finish(struct request *request, const struct afb_op *op,
		       ssize_t read);

/*
 * Was the result read straight into the caller's memory while the process forked?
 * Then it may have gone astray, and the op, whose input is as it was, has to be
 * done again.
 */
bool request_is_astray(const struct request *request);

/*
 * Leaves the memory that the result goes to as it is, for good: the kernel may
 * still write there.
 */
void request_abandon(struct request *request);

/* Wipes and frees what the request holds. */
void request_free(struct request *request);

#endif
