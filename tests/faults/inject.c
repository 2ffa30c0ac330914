/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c - see inject.h.
 *
 * liburing and libaio make their system calls inline, so they are caught where the kernel
 * sees them: the filter sends SIGSYS for the ones that are counted, and the
 * handler either answers with the error or makes the call itself, from the one
 * address that the filter lets through.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <liburing.h>

#include "afalgbatch.h"
#include "inject.h"

const char *const fault_names[FAULT_KINDS] = {
	[FAULT_SOCKET] = "socket",
	[FAULT_BIND] = "bind",
	[FAULT_SETSOCKOPT] = "setsockopt",
	[FAULT_ACCEPT] = "accept",
	[FAULT_SEND] = "send",
	[FAULT_SENDMSG] = "sendmsg",
	[FAULT_RECVMSG] = "recvmsg",
	[FAULT_READ] = "read",
	[FAULT_OPEN] = "open",
	[FAULT_MMAP] = "mmap",
	[FAULT_AIO_SETUP] = "io_setup",
	[FAULT_AIO_SUBMIT] = "io_submit",
	[FAULT_AIO_GETEVENTS] = "io_getevents",
	[FAULT_URING_SETUP] = "io_uring_setup",
	[FAULT_URING_ENTER] = "io_uring_enter",
	[FAULT_URING_REGISTER] = "io_uring_register",
	[FAULT_MEMORY] = "memory",
	[FAULT_OBJECT] = "libcrypto_object",
	[FAULT_DIGEST] = "libcrypto_digest",
};

static struct fault fault;
static atomic_bool counting, fired;
static atomic_ulong counts[FAULT_KINDS];
static long held;

/* Counts a call; true if it is to fail. */
static bool strikes(enum fault_kind kind)
{
	unsigned long now;

	if (!counting)
		return false;
	now = ++counts[kind];
	if (kind != fault.kind || !fault.nth ||
	    (fault.always ? now < fault.nth : now != fault.nth))
		return false;
	fired = true;
	return true;
}

void inject_start(const struct fault *chosen)
{
	unsigned kind;

	fault = *chosen;
	for (kind = 0; kind < FAULT_KINDS; kind++)
		counts[kind] = 0;
	fired = false;
	counting = true;
}

void inject_stop(void)
{
	counting = false;
}

unsigned long inject_count(enum fault_kind kind)
{
	return counts[kind];
}

bool inject_fired(void)
{
	return fired;
}

bool fault_falls_short(const struct fault *which)
{
	return which->error == FAULT_SHORT || which->error == FAULT_SHORTER;
}

long inject_held(void)
{
	return held;
}

#ifdef __x86_64__

/* ---- System calls ------------------------------------------------------- */

/* A system call from a known address: after it is let_through_end. */
long let_through(long call, long a, long b, long c, long d, long e, long f);
extern const char let_through_end[];

__asm__(".pushsection .text\n"
	".globl let_through\n"
	".type let_through, @function\n"
	"let_through:\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"	syscall\n"
	".globl let_through_end\n"
	"let_through_end:\n"
	"	ret\n"
	".size let_through, . - let_through\n"
	".popsection\n");

static enum fault_kind kind_of(int call)
{
	switch (call) {
	case SYS_socket:
		return FAULT_SOCKET;
	case SYS_bind:
		return FAULT_BIND;
	case SYS_setsockopt:
		return FAULT_SETSOCKOPT;
	case SYS_accept:
	case SYS_accept4:
		return FAULT_ACCEPT;
	case SYS_sendto:
		return FAULT_SEND;
	case SYS_sendmsg:
		return FAULT_SENDMSG;
	case SYS_recvmsg:
		return FAULT_RECVMSG;
	case SYS_read:
		return FAULT_READ;
	case SYS_openat:
		return FAULT_OPEN;
	case SYS_mmap:
		return FAULT_MMAP;
	case SYS_io_setup:
		return FAULT_AIO_SETUP;
	case SYS_io_submit:
		return FAULT_AIO_SUBMIT;
	case SYS_io_getevents:
		return FAULT_AIO_GETEVENTS;
	case SYS_io_uring_setup:
		return FAULT_URING_SETUP;
	case SYS_io_uring_enter:
		return FAULT_URING_ENTER;
	case SYS_io_uring_register:
		return FAULT_URING_REGISTER;
	}
	return FAULT_KINDS;
}

/*
 * Makes a call do less. A submission that falls short does not wait either
 * (io_uring_enter in io_uring/io_uring.c). One request or two left out cut a chain
 * in different places.
 */
static void shorten(greg_t *regs)
{
	unsigned cut = fault.error == FAULT_SHORTER ? 2 : 1;

	if (regs[REG_RAX] == SYS_sendto) {
		regs[REG_RDX] /= 2;
	} else if (regs[REG_RAX] == SYS_io_submit) {
		regs[REG_RSI] = (regs[REG_RSI] + 1) / 2;
	} else if (regs[REG_RAX] == SYS_io_uring_enter && regs[REG_RSI] > cut) {
		regs[REG_RSI] -= cut;
		regs[REG_RDX] = 0;
		regs[REG_R10] &=
			~(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG);
		regs[REG_R8] = regs[REG_R9] = 0;
	}
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved_errno = errno;

	(void)signal;
	regs[REG_RAX] = info->si_syscall;
	if (!strikes(kind_of(info->si_syscall))) {
		;
	} else if (fault_falls_short(&fault)) {
		shorten(regs);
	} else {
		regs[REG_RAX] = -fault.error;
		return;
	}
	regs[REG_RAX] = let_through(regs[REG_RAX], regs[REG_RDI], regs[REG_RSI],
				    regs[REG_RDX], regs[REG_R10], regs[REG_R8],
				    regs[REG_R9]);
	errno = saved_errno;
}

#define LOAD(member)                       \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, member))
#define HIGH_WORD(member)                  \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, member) + 4)
#define SKIP_UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)
#define TRAP(call)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

int inject_install(void)
{
	struct sigaction action = { .sa_sigaction = trapped,
				    .sa_flags = SA_SIGINFO };
	uintptr_t site = (uintptr_t)let_through_end;
	struct sock_filter filter[] = {
		LOAD(instruction_pointer),
		SKIP_UNLESS(site, 3),
		HIGH_WORD(instruction_pointer),
		SKIP_UNLESS(site >> 32, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		LOAD(nr),
		/* Memory is mapped with descriptor -1, and is no concern. */
		SKIP_UNLESS(SYS_mmap, 4),
		LOAD(args[4]),
		SKIP_UNLESS(-1, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		TRAP(SYS_socket),
		TRAP(SYS_bind),
		TRAP(SYS_setsockopt),
		TRAP(SYS_accept),
		TRAP(SYS_accept4),
		TRAP(SYS_sendto),
		TRAP(SYS_sendmsg),
		TRAP(SYS_recvmsg),
		TRAP(SYS_read),
		TRAP(SYS_openat),
		TRAP(SYS_io_setup),
		TRAP(SYS_io_submit),
		TRAP(SYS_io_getevents),
		TRAP(SYS_io_uring_setup),
		TRAP(SYS_io_uring_enter),
		TRAP(SYS_io_uring_register),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	if (sigaction(SIGSYS, &action, NULL) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

#else

int inject_install(void)
{
	return -ENOSYS;
}

#endif

/* ---- Who calls ---------------------------------------------------------- */

struct range {
	uintptr_t inside; /* an address in it */
	uintptr_t first, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t first, end, low = UINTPTR_MAX, high = 0;
	struct range *range = data;
	unsigned i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		end = first + info->dlpi_phdr[i].p_memsz;
		low = first < low ? first : low;
		high = end > high ? end : high;
	}
	if (range->inside < low || range->inside >= high)
		return 0;
	range->first = low;
	range->end = high;
	return 1;
}

static struct range ours[3];

/* Before the library's first call, and so before there are threads. */
__attribute__((constructor)) static void find_ranges(void)
{
	static const char *const symbols[] = { "afb_version",
					       "io_uring_queue_exit",
					       "kcapi_md_init" };
	unsigned i;

	for (i = 0; i < 3; i++) {
		ours[i].inside = (uintptr_t)dlsym(RTLD_DEFAULT, symbols[i]);
		dl_iterate_phdr(find_range, &ours[i]);
	}
}

static bool is_ours(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;
	unsigned i;

	for (i = 0; i < 3; i++)
		if (at >= ours[i].first && at < ours[i].end)
			return true;
	return false;
}

#define CALLER_IS_OURS is_ours(__builtin_return_address(0))

/*
 * What the library has been given and has not given back. Seen by address: a
 * function that ends in free() leaves no return address of its own.
 */
static const void *holdings[4096];

static void *given(void *object, bool to_us)
{
	if (object && to_us && held < 4096)
		holdings[held++] = object;
	return object;
}

static void returned(const void *object)
{
	long i;

	for (i = held - 1; object && i >= 0; i--) {
		if (holdings[i] == object) {
			holdings[i] = holdings[--held];
			return;
		}
	}
}

/* ---- Memory ------------------------------------------------------------- */

/* A sanitizer has its own, and says itself what leaks. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* The names under which glibc lets others have its functions. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void __libc_free(void *block);

void *malloc(size_t size)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_MEMORY)) {
		errno = ENOMEM;
		return NULL;
	}
	return given(__libc_malloc(size), us);
}

void *calloc(size_t count, size_t size)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_MEMORY)) {
		errno = ENOMEM;
		return NULL;
	}
	return given(__libc_calloc(count, size), us);
}

/* Memory that a child of fork() does not have; libc's own maps are not seen. */
void *mmap(void *at, size_t size, int protection, int flags, int fd,
	   off_t offset)
{
	long ret;

	if (fd < 0 && CALLER_IS_OURS && strikes(FAULT_MEMORY)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	ret = syscall(SYS_mmap, at, size, protection, flags, fd, offset);
	return (void *)ret;
}

void free(void *block)
{
	returned(block);
	__libc_free(block);
}

#endif

/* ---- libcrypto ---------------------------------------------------------- */

#define NEXT(function)                                                  \
	({                                                              \
		static __typeof__(&function) next;                      \
		if (!next)                                              \
			next = (__typeof__(&function))dlsym(RTLD_NEXT,  \
							    #function); \
		next;                                                   \
	})

void *CRYPTO_malloc(size_t size, const char *file, int line)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_MEMORY))
		return NULL;
	return given(NEXT(CRYPTO_malloc)(size, file, line), us);
}

void CRYPTO_clear_free(void *block, size_t size, const char *file, int line)
{
	returned(block);
	NEXT(CRYPTO_clear_free)(block, size, file, line);
}

EVP_MD_CTX *EVP_MD_CTX_new(void)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_OBJECT))
		return NULL;
	return given(NEXT(EVP_MD_CTX_new)(), us);
}

void EVP_MD_CTX_free(EVP_MD_CTX *ctx)
{
	returned(ctx);
	NEXT(EVP_MD_CTX_free)(ctx);
}

EVP_MD *EVP_MD_fetch(OSSL_LIB_CTX *libctx, const char *name,
		     const char *properties)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_OBJECT))
		return NULL;
	return given(NEXT(EVP_MD_fetch)(libctx, name, properties), us);
}

void EVP_MD_free(EVP_MD *md)
{
	returned(md);
	NEXT(EVP_MD_free)(md);
}

OSSL_LIB_CTX *OSSL_LIB_CTX_new(void)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_OBJECT))
		return NULL;
	return given(NEXT(OSSL_LIB_CTX_new)(), us);
}

void OSSL_LIB_CTX_free(OSSL_LIB_CTX *libctx)
{
	returned(libctx);
	NEXT(OSSL_LIB_CTX_free)(libctx);
}

OSSL_PROVIDER *OSSL_PROVIDER_load(OSSL_LIB_CTX *libctx, const char *name)
{
	bool us = CALLER_IS_OURS;

	if (us && strikes(FAULT_OBJECT))
		return NULL;
	return given(NEXT(OSSL_PROVIDER_load)(libctx, name), us);
}

int OSSL_PROVIDER_unload(OSSL_PROVIDER *provider)
{
	returned(provider);
	return NEXT(OSSL_PROVIDER_unload)(provider);
}

int EVP_DigestInit_ex2(EVP_MD_CTX *ctx, const EVP_MD *md,
		       const OSSL_PARAM params[])
{
	if (CALLER_IS_OURS && strikes(FAULT_DIGEST))
		return 0;
	return NEXT(EVP_DigestInit_ex2)(ctx, md, params);
}

int EVP_DigestUpdate(EVP_MD_CTX *ctx, const void *data, size_t size)
{
	if (CALLER_IS_OURS && strikes(FAULT_DIGEST))
		return 0;
	return NEXT(EVP_DigestUpdate)(ctx, data, size);
}

int EVP_DigestFinal_ex(EVP_MD_CTX *ctx, unsigned char *digest, unsigned *size)
{
	if (CALLER_IS_OURS && strikes(FAULT_DIGEST))
		return 0;
	return NEXT(EVP_DigestFinal_ex)(ctx, digest, size);
}

int EVP_MD_CTX_copy_ex(EVP_MD_CTX *out, const EVP_MD_CTX *in)
{
	if (CALLER_IS_OURS && strikes(FAULT_DIGEST))
		return 0;
	return NEXT(EVP_MD_CTX_copy_ex)(out, in);
}
