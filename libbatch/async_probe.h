/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_probe.h - does AF_ALG hand a driver's request over and return, or does it
 * wait for the driver? /proc/crypto tells only what the driver could do. Asked by
 * one request that is looked at the moment the kernel has taken it.
 */
#ifndef AFB_ASYNC_PROBE_H
#define AFB_ASYNC_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "afalgbatch.h"

/*
 * Encrypts or digests 4 KiB of zeros on an op socket of @tfm, which has its key.
 * 1: the request was seen in flight. 0: it never was, in up to three tries; then
 * *waits tells whether AF_ALG waited each time, as it does for a driver that works
 * by itself: what the CPU does with its own instructions says of itself that it is
 * asynchronous, too (crypto/simd.c), and hardly ever is.
 *
 * Worth asking only where the driver says that it is asynchronous.
 *
 * -errno where it cannot be told: from io_uring_setup(2), accept(2), sendmsg(2) or
 * the driver; -ENOMEM; -ETIMEDOUT when a request did not end within ten seconds.
 * Any thread.
 */
int async_probe(enum afb_type type, int tfm, size_t iv_len, bool *waits);

#endif
