/* SPDX-License-Identifier: Apache-2.0 */
/* caps.c - what the library tells of the machine, and of one algorithm. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference.h"

static struct afb_algorithm_caps ask(enum afb_type type, const char *name)
{
	struct afb_algorithm_caps caps = AFB_ALGORITHM_CAPS;

	cr_assert_eq(afb_algorithm_caps(&caps, type, name), 0, "%s", name);
	return caps;
}

static void kernel_or_skip(void)
{
	if (!kernel_expected())
		cr_skip_test("no kernel drivers here");
}

/* ---- The machine -------------------------------------------------------- */

Test(caps, machine_is_told_as_the_kernel_answers)
{
	struct afb_caps caps = AFB_CAPS;
	int fd = socket(AF_ALG, SOCK_SEQPACKET, 0);
	int type;

	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.size, sizeof(caps));
	cr_assert_eq(caps.af_alg == 0, fd >= 0);
	if (fd < 0)
		for (type = 0; type < AFB_TYPES; type++)
			cr_assert_eq(caps.types[type], caps.af_alg);
	if (!kernel_expected())
		return;
	cr_assert_eq(caps.af_alg, 0);
	cr_assert_eq(caps.io_uring, 0);
	cr_assert_eq(caps.aio, 0);
	for (type = 0; type < AFB_TYPES; type++)
		cr_assert_eq(caps.types[type], 0, "type %d: %d", type,
			     caps.types[type]);
}

Test(caps, denied_af_alg_shows_with_its_errno_in_every_type)
{
	struct afb_caps caps = AFB_CAPS;
	int type;

	deny_af_alg(EPERM);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.af_alg, -EPERM);
	for (type = 0; type < AFB_TYPES; type++)
		cr_assert_eq(caps.types[type], -EPERM);
}

Test(caps, denied_io_uring_and_aio_show_with_their_errno)
{
	struct afb_caps caps = AFB_CAPS;

	deny_io_uring(EPERM);
	deny_aio(ENOSYS);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.io_uring, -EPERM);
	cr_assert_eq(caps.aio, -ENOSYS);
}

Test(caps, threads_are_one_less_than_the_processors_allowed)
{
	struct afb_caps caps = AFB_CAPS;
	cpu_set_t cpus;

	cr_assert_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.threads, (unsigned)CPU_COUNT(&cpus) - 1);

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	cr_assert_eq(afb_caps(&caps), 0);
	cr_assert_eq(caps.threads, 0);
}

Test(caps, looking_leaves_no_descriptor_open)
{
	struct afb_caps caps = AFB_CAPS;
	struct afb_algorithm_caps of = AFB_ALGORITHM_CAPS;
	int before, i;

	cr_assert_eq(afb_caps(&caps), 0);
	before = open_fds();
	for (i = 0; i < 5; i++) {
		cr_assert_eq(afb_caps(&caps), 0);
		cr_assert_eq(afb_algorithm_caps(&of, AFB_AEAD, "gcm(aes)"), 0);
		cr_assert_eq(afb_algorithm_caps(&of, AFB_HASH, "nonsense"), 0);
		cr_assert_eq(afb_algorithm_caps(&of, AFB_AEAD,
						"pcrypt(generic-gcm-aesni)"),
			     0);
	}
	cr_assert_eq(open_fds(), before);
}

Test(caps, wrong_sizes_are_refused)
{
	struct afb_algorithm_caps of = AFB_ALGORITHM_CAPS;
	struct afb_caps caps = AFB_CAPS;

	caps.size--;
	cr_assert_eq(afb_caps(&caps), -EINVAL);
	of.size++;
	cr_assert_eq(afb_algorithm_caps(&of, AFB_HASH, "sha256"), -EINVAL);
}

/* ---- One algorithm ------------------------------------------------------ */

Test(algorithm_caps, usual_algorithms_are_served_here_or_there)
{
	static const struct {
		enum afb_type type;
		const char *name;
		size_t digest_size, iv_len;
	} usual[] = {
		{ AFB_HASH, "sha256", 32, 0 },
		{ AFB_HASH, "md5", 16, 0 },
		{ AFB_SKCIPHER, "cbc(aes)", 0, 16 },
		{ AFB_SKCIPHER, "xts(aes)", 0, 16 },
		{ AFB_AEAD, "gcm(aes)", 0, 12 },
		{ AFB_AEAD, "rfc7539(chacha20,poly1305)", 0, 12 },
	};
	struct afb_algorithm_caps caps;
	unsigned i;

	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		caps = ask(usual[i].type, usual[i].name);
		cr_assert_eq(caps.soft, 0, "%s: %d", usual[i].name, caps.soft);
		cr_assert_eq(caps.digest_size, usual[i].digest_size);
		cr_assert_eq(caps.iv_len, usual[i].iv_len);
		cr_assert_eq(caps.key_len != 0, usual[i].type != AFB_HASH);
		if (!kernel_expected())
			continue;
		cr_assert_eq(caps.kernel, 0, "%s: %d", usual[i].name,
			     caps.kernel);
		cr_assert_eq(caps.backend, AFB_BACKEND_URING);
		cr_assert_eq(caps.why, AFB_FALLBACK_NONE);
		cr_assert_str_neq(caps.driver, "");
		cr_assert_gt(caps.block_size, 0);
	}
}

/* AF_ALG has it, and no way to give it its key. */
Test(algorithm_caps, poly1305_is_served_by_libcrypto_with_the_kernel_s_answer_told)
{
	struct afb_algorithm_caps caps = ask(AFB_HASH, "poly1305");

	cr_assert_eq(caps.soft, 0);
	cr_assert_eq(caps.backend, AFB_BACKEND_SOFT);
	cr_assert_eq(caps.digest_size, 16);
	if (!kernel_expected())
		return;
	cr_assert(caps.kernel == -ENOSYS || caps.kernel == -ENOENT, "%d",
		  caps.kernel);
	cr_assert_eq(caps.why, AFB_FALLBACK_NOT_OFFERED);
}

Test(algorithm_caps, without_af_alg_libcrypto_serves_and_the_reason_is_told)
{
	struct afb_algorithm_caps caps;

	deny_af_alg(EAFNOSUPPORT);
	caps = ask(AFB_SKCIPHER, "ctr(aes)");
	cr_assert_eq(caps.kernel, -EAFNOSUPPORT);
	cr_assert_eq(caps.soft, 0);
	cr_assert_eq(caps.backend, AFB_BACKEND_SOFT);
	cr_assert_eq(caps.why, AFB_FALLBACK_NO_AF_ALG);
	cr_assert_str_eq(caps.driver, "");
	cr_assert_eq(caps.driver_async, -ENOENT);
	cr_assert_eq(caps.kernel_async, 0);
	cr_assert_eq(caps.iv_len, 16);
}

Test(algorithm_caps, without_io_uring_the_next_back_end_is_told)
{
	struct afb_algorithm_caps caps;

	kernel_or_skip();
	deny_io_uring(EPERM);
	caps = ask(AFB_HASH, "sha256");
	cr_assert_eq(caps.backend, AFB_BACKEND_AIO);
	cr_assert_eq(caps.why, AFB_FALLBACK_NO_IO_URING);
	caps = ask(AFB_AEAD, "pcrypt(generic-gcm-aesni)");
	cr_assert_eq(caps.driver_async, 1);
	cr_assert_eq(caps.kernel_async, -EPERM);
	deny_aio(EPERM);
	caps = ask(AFB_HASH, "sha256");
	cr_assert_eq(caps.backend, AFB_BACKEND_SYNC);
}

Test(algorithm_caps, asynchronous_aead_driver_is_seen_in_flight)
{
	struct afb_algorithm_caps caps;
	int i;

	kernel_or_skip();
	for (i = 0; i < 20; i++) {
		caps = ask(AFB_AEAD, "pcrypt(generic-gcm-aesni)");
		cr_assert_eq(caps.kernel, 0);
		cr_assert_str_eq(caps.driver, "pcrypt(generic-gcm-aesni)");
		cr_assert_eq(caps.driver_async, 1);
		cr_assert_eq(caps.kernel_async, 1, "round %d: %d", i,
			     caps.kernel_async);
		cr_assert_eq(caps.soft, -ENOENT);
	}
}

Test(algorithm_caps, synchronous_driver_is_never_seen_in_flight)
{
	struct afb_algorithm_caps caps;

	kernel_or_skip();
	caps = ask(AFB_HASH, "sha256-generic");
	cr_assert_str_eq(caps.driver, "sha256-generic");
	cr_assert_eq(caps.priority, 100);
	cr_assert_eq(caps.driver_async, 0);
	cr_assert_eq(caps.kernel_async, 0);
}

/* AF_ALG of 6.1 and 6.12 waits for the driver of a hash and of a cipher. */
Test(algorithm_caps, asynchronous_driver_is_told_from_af_algs_way_to_it)
{
	static const struct {
		enum afb_type type;
		const char *name;
	} through_cryptd[] = {
		{ AFB_HASH, "cryptd(sha256-generic)" },
		{ AFB_SKCIPHER, "cryptd(cbc(aes-generic))" },
	};
	struct afb_algorithm_caps caps;
	unsigned i;

	kernel_or_skip();
	for (i = 0; i < 2; i++) {
		caps = ask(through_cryptd[i].type, through_cryptd[i].name);
		cr_assert_eq(caps.kernel, 0, "%s: %d", through_cryptd[i].name,
			     caps.kernel);
		cr_assert_eq(caps.driver_async, 1);
		cr_assert_eq(caps.kernel_async, 0, "%s: %d",
			     through_cryptd[i].name, caps.kernel_async);
	}
}

Test(algorithm_caps, keyed_hashes_and_random_numbers_are_asked_for_too)
{
	struct afb_algorithm_caps caps;

	kernel_or_skip();
	caps = ask(AFB_HASH, "hmac(sha256)");
	cr_assert_eq(caps.kernel, 0);
	cr_assert_eq(caps.digest_size, 32);
	cr_assert_neq(caps.key_len, 0);
	caps = ask(AFB_AEAD, "rfc4106(gcm(aes))");
	cr_assert_eq(caps.kernel, 0);
	cr_assert_eq(caps.key_len, 20);
	caps = ask(AFB_AEAD, "ccm(aes)");
	cr_assert_eq(caps.kernel, 0);
	cr_assert_eq(caps.iv_len, 16);
	caps = ask(AFB_RNG, "stdrng");
	cr_assert_eq(caps.kernel, 0);
	cr_assert_eq(caps.key_len, 0);
	cr_assert_str_neq(caps.driver, "");
}

/* 6.1 says ENOENT for all of them; others EINVAL, or ELIBBAD. */
Test(algorithm_caps, unknown_names_are_not_offered)
{
	static const char *const names[] = {
		"sha257",  "nonsense(sha256)", "(", "sha256)",
		"pcrypt(", "cbc(aes)",	       " ", "\xff\xfe\n\"\\",
	};
	struct afb_algorithm_caps caps;
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		caps = ask(AFB_HASH, names[i]);
		cr_assert_lt(caps.kernel, 0);
		cr_assert_eq(caps.soft, -ENOENT);
		cr_assert_eq(caps.backend, AFB_BACKEND_AUTO);
		cr_assert_str_eq(caps.driver, "");
		cr_assert_eq(caps.key_len, 0);
		if (kernel_expected())
			cr_assert_eq(caps.why, AFB_FALLBACK_NOT_OFFERED);
	}
}

Test(algorithm_caps, names_too_long_for_the_kernel_are_refused_and_never_cut)
{
	struct afb_algorithm_caps caps = AFB_ALGORITHM_CAPS;
	char name[201];

	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH, name), 0);
	cr_assert_lt(caps.kernel, 0);
	name[63] = 'a';
	name[64] = '\0';
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH, name), -EINVAL);
	name[64] = 'a';
	name[200] = '\0';
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH, name), -EINVAL);
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH, ""), -EINVAL);
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_HASH, NULL), -EINVAL);
	cr_assert_eq(afb_algorithm_caps(&caps, AFB_TYPES, "md5"), -EINVAL);
}

/* ---- The table ---------------------------------------------------------- */

Test(algorithm_name, every_name_of_the_table_is_served_by_libcrypto)
{
	enum afb_type type = AFB_TYPES;
	unsigned count = 0, hashes = 0;
	const char *name;

	deny_af_alg(EAFNOSUPPORT);
	for (; (name = afb_algorithm_name(count, &type)); count++) {
		cr_assert_eq(ask(type, name).soft, 0, "%s", name);
		hashes += type == AFB_HASH;
	}
	cr_assert_geq(count, 12);
	cr_assert_geq(hashes, 6);
	cr_assert_null(afb_algorithm_name(count + 1, &type));
	cr_assert_null(afb_algorithm_name(-1U, &type));
}
