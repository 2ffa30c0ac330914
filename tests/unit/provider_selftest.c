/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider_selftest.c - a kernel that computes wrongly is not used: the answers that
 * the provider's self-test reads are spoilt on their way from AF_ALG.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include "afalgbatch.h"
#include "evp.h"

static bool spoil;
static unsigned answers;

/* The self-test's recv(2); libbatch reads its op sockets by other calls. */
ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	ssize_t ret = syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL);

	if (ret > 0) {
		answers++;
		if (spoil)
			((unsigned char *)buf)[ret - 1] ^= 1;
	}
	return ret;
}

static uint64_t messages(enum afb_backend backend)
{
	struct afb_counters c = AFB_COUNTERS;

	cr_assert_eq(afb_counters_get(&c), 0);
	return c.messages[backend];
}

static void expect_served(bool by_kernel)
{
	if (!answers) {
		cr_assert_null(getenv("AFALGBATCH_EXPECT_KERNEL"));
		cr_skip_test("no AF_ALG, or AFALGBATCH_BACKEND=soft");
	}
	cr_assert_eq(messages(AFB_BACKEND_AUTO), 1);
	cr_assert_eq(messages(AFB_BACKEND_SOFT), by_kernel ? 0 : 1);
}

static void digest_of_abc(void)
{
	struct evp ours = evp_open(OURS);
	EVP_MD *md = EVP_MD_fetch(ours.lib, "SHA256", NULL);
	struct digest got;

	cr_assert(digest_chunks(&got, md, "abc", 3, WHOLE), "%s", error_text());
	cr_assert_eq(strncmp(digest_hex(&got), "ba7816bf8f01cfea", 16), 0);
	EVP_MD_free(md);
	evp_close(&ours);
}

static void hmac_of_a(void)
{
	struct evp ours = evp_open(OURS);
	unsigned char out[32];
	size_t len;

	cr_assert(EVP_Q_mac(ours.lib, "HMAC", NULL, "SHA256", NULL, "key", 3,
			    (const unsigned char *)"A", 1, out, sizeof(out),
			    &len));
	cr_assert_eq(memcmp(out, "\xb1\xd2\x08\x46\xdb\x47\x12\x49", 8), 0);
	evp_close(&ours);
}

/* CCM's lengths have to be said before its key. */
static void encrypt_page(const struct evp *evp, const char *name,
			 const unsigned char *data, unsigned char *out)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(evp->lib, name, NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	cr_assert(EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL), "%s",
		  error_text());
	if (strstr(name, "CCM")) {
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, NULL);
	}
	cr_assert(EVP_EncryptInit_ex2(ctx, NULL, data, data, NULL));
	cr_assert(EVP_EncryptUpdate(ctx, out, &n, data, 8192));
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
}

static void cipher_of_a_page(const char *name)
{
	struct evp ours = evp_open(OURS), theirs = evp_open(THEIRS);
	unsigned char *data = test_data(8192), got[8192], want[8192];

	encrypt_page(&ours, name, data, got);
	encrypt_page(&theirs, name, data, want);
	cr_assert_eq(memcmp(got, want, sizeof(got)), 0, "%s", name);
	free(data);
	evp_close(&ours);
	evp_close(&theirs);
}

static const char *const ciphers[] = { "AES-128-CBC", "AES-256-CTR",
				       "AES-128-XTS", "AES-128-GCM",
				       "AES-256-CCM", "ChaCha20-Poly1305" };
#define CIPHERS (sizeof(ciphers) / sizeof(ciphers[0]))

static unsigned ask_all_ciphers(void)
{
	size_t i;

	for (i = 0; i < CIPHERS; i++)
		cipher_of_a_page(ciphers[i]);
	if (!answers)
		cr_skip_test("no AF_ALG, or AFALGBATCH_BACKEND=soft");
	return answers;
}

Test(selftest, right_answer_lets_the_kernel_serve)
{
	digest_of_abc();
	expect_served(true);
	cr_assert_eq(answers, 1);
}

Test(selftest, right_ciphers_let_the_kernel_serve)
{
	cr_assert_eq(ask_all_ciphers(), CIPHERS);
	cr_assert_eq(messages(AFB_BACKEND_AUTO), CIPHERS);
	cr_assert_eq(messages(AFB_BACKEND_SOFT), 0);
}

/* What libcrypto does in the provider itself, no counter of libbatch's has. */
Test(selftest, wrong_ciphers_put_libcrypto_in_the_kernels_place)
{
	spoil = true;
	cr_assert_eq(ask_all_ciphers(), CIPHERS);
	cr_assert_eq(messages(AFB_BACKEND_AUTO), 0);
}

Test(selftest, wrong_digest_puts_libcrypto_in_the_kernels_place)
{
	spoil = true;
	digest_of_abc();
	expect_served(false);
}

Test(selftest, wrong_mac_puts_libcrypto_in_the_kernels_place)
{
	spoil = true;
	hmac_of_a();
	expect_served(false);
}

Test(selftest, wrong_answer_is_told, .init = cr_redirect_stderr)
{
	char text[4096] = "";

	setenv("AFALGBATCH_DEBUG", "1", 1);
	spoil = true;
	digest_of_abc();
	expect_served(false);
	fflush(stderr);
	cr_assert_gt(fread(text, 1, sizeof(text) - 1,
			   cr_get_redirected_stderr()),
		     0);
	cr_assert_not_null(strstr(text, "sha256: the kernel's answer is wrong: "
					"libcrypto serves instead"),
			   "%s", text);
}

Test(selftest, verdict_holds_for_every_library_context)
{
	/* Unloaded, the module forgets it. */
	struct evp other = evp_open(OURS);

	spoil = true;
	digest_of_abc();
	spoil = false;
	expect_served(false);
	digest_of_abc();
	cr_assert_eq(answers, 1);
	cr_assert_eq(messages(AFB_BACKEND_SOFT), 2);
	evp_close(&other);
}
