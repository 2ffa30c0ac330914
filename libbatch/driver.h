/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - what is known of the kernel's implementation behind a name: learned
 * when the first session of that name opens, and remembered for the others, which
 * may be one for each key.
 */
#ifndef AFB_DRIVER_H
#define AFB_DRIVER_H

#include "proc_crypto.h"

struct driver {
	bool known; /* /proc/crypto told; else the rest is zero */
	struct proc_crypto crypto;
	/*
	 * It works by itself, but AF_ALG waits for it: seen, not assumed. Worth
	 * a thread of the kernel's that does the waiting.
	 */
	bool blocking;
	bool tried; /* `blocking` has been learned */
};

/* After the bind, which makes what a name asks for. Any thread, as below. */
void driver_learn(struct driver *driver, enum afb_type type, const char *name);

/*
 * Learns whether the driver is `blocking` as well, by one request through @tfm,
 * which is bound to the name and has its key.
 */
void driver_try(struct driver *driver, enum afb_type type, const char *name,
		int tfm);

/* For the handlers of fork(). */
void driver_before_fork(void);
void driver_after_fork(bool in_child);

#endif
