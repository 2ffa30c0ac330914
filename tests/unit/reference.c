/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - see reference.h. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/evp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "reference.h"

const char *const reference_digests[] = { "md5",    "sha1",   "sha224",
					  "sha256", "sha384", "sha512",
					  NULL };

size_t reference_digest(const char *kernel_name, const void *data, size_t len,
			uint8_t digest[AFB_DIGEST_MAX])
{
	unsigned size = 0;

	cr_assert(EVP_Digest(data, len, digest, &size,
			     EVP_get_digestbyname(kernel_name), NULL));
	return size;
}

uint32_t reference_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

void reference_fill(void *data, size_t len, uint32_t seed)
{
	uint32_t state = seed * 2654435761U + 1;
	uint8_t *at = data;

	while (len--)
		*at++ = reference_random(&state) >> 11;
}

bool kernel_expected(void)
{
	return getenv("AFALGBATCH_EXPECT_KERNEL") != NULL;
}

int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = -1; /* the folder's own */

	cr_assert_not_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void deny(unsigned call, bool check_family, unsigned family, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, family, 0,
			 check_family ? 1 : 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

void deny_io_uring(int error)
{
	deny(SYS_io_uring_setup, false, 0, error);
}

void deny_aio(int error)
{
	deny(SYS_io_setup, false, 0, error);
}

void deny_af_alg(int error)
{
	deny(SYS_socket, true, AF_ALG, error);
}
