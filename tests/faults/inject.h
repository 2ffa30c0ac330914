/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - makes one chosen call of libafalgbatch fail. Calls are counted by
 * kind, as the library and those it is made of (liburing, libaio, libkcapi) make them:
 * system calls by a seccomp filter that traps, memory and libcrypto by functions
 * of the same name in this program. x86-64 and glibc.
 */
#ifndef TEST_INJECT_H
#define TEST_INJECT_H

#include <stdbool.h>

enum fault_kind {
	FAULT_SOCKET,
	FAULT_BIND,
	FAULT_SETSOCKOPT,
	FAULT_ACCEPT, /* accept and accept4 */
	FAULT_SEND,
	FAULT_SENDMSG,
	FAULT_RECVMSG,
	FAULT_READ,
	FAULT_OPEN,
	FAULT_MMAP, /* of files: the rings */
	FAULT_AIO_SETUP,
	FAULT_AIO_SUBMIT,
	FAULT_AIO_GETEVENTS,
	FAULT_URING_SETUP,
	FAULT_URING_ENTER,
	FAULT_URING_REGISTER,
	FAULT_SYSTEM_CALLS, /* that many kinds are system calls */
	FAULT_MEMORY = FAULT_SYSTEM_CALLS, /* malloc, calloc, OPENSSL_malloc,
					    * mmap without a file */
	FAULT_OBJECT, /* NULL from EVP_MD_fetch, EVP_MD_CTX_new, OSSL_* */
	FAULT_DIGEST, /* 0 from EVP_Digest*, EVP_MD_CTX_copy_ex */
	FAULT_KINDS,
};

/*
 * In the place of an errno: the call is made and does less than it was told to.
 * send: half of the bytes; io_submit: half of the requests; io_uring_enter: all
 * requests but the last, or but the last two, as the kernel does when it has no
 * memory for another.
 */
#define FAULT_SHORT (-1)
#define FAULT_SHORTER (-2)

struct fault {
	enum fault_kind kind;
	int error;
	unsigned long nth; /* the first to fail, from 1 on; 0: none */
	bool always;	   /* and all after it */
};

/* Is the call made, and does less? */
bool fault_falls_short(const struct fault *which);

/* What a kind is called. */
extern const char *const fault_names[FAULT_KINDS];

/* Once in a process, before any thread: installs the filter. 0 or -errno. */
int inject_install(void);

/* Counts from zero, and fails what @fault says, until inject_stop(). */
void inject_start(const struct fault *fault);
void inject_stop(void);

/* Calls of that kind since inject_start(). */
unsigned long inject_count(enum fault_kind kind);

/* Has the fault happened? */
bool inject_fired(void);

/* Blocks and libcrypto objects that the library holds now. */
long inject_held(void);

#endif
