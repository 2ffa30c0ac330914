/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - what opening a session tells, accepts and refuses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reference.h"

static char last_log[256];
static int logged;

static void keep_log(void *user, const char *text)
{
	cr_assert_eq(user, &logged);
	snprintf(last_log, sizeof(last_log), "%s", text);
	logged++;
}

static int open_as(const char *name, enum afb_backend backend, unsigned flags,
		   struct afb_session **session)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;

	params.backend = backend;
	params.flags = flags;
	return afb_session_open(session, AFB_HASH, name, &params);
}

Test(session, names_and_sizes_are_told)
{
	struct afb_session *session;
	const char *const *name;
	uint8_t digest[AFB_DIGEST_MAX];
	char driver[128];

	for (name = reference_digests; *name; name++) {
		cr_assert_eq(open_as(*name, AFB_BACKEND_AUTO, 0, &session), 0);
		cr_assert_eq(afb_session_digest_size(session),
			     reference_digest(*name, "", 0, digest));
		cr_assert_eq(afb_session_driver(session, driver,
						sizeof(driver)), 0);
		if (kernel_expected()) {
			cr_assert_neq(afb_session_backend(session),
				      AFB_BACKEND_SOFT);
			cr_assert_not_null(strstr(driver, *name));
		} else {
			cr_assert_str_eq(driver, "libcrypto");
		}
		afb_session_close(session);
	}
}

Test(session, driver_can_be_chosen_by_its_own_name)
{
	struct afb_session *session;
	char driver[128];

	if (!kernel_expected())
		cr_skip_test("no kernel drivers here");
	cr_assert_eq(open_as("sha256-generic", AFB_BACKEND_AUTO, 0, &session),
		     0);
	cr_assert_eq(afb_session_digest_size(session), 32);
	cr_assert_eq(afb_session_driver(session, driver, sizeof(driver)), 0);
	cr_assert_str_eq(driver, "sha256-generic");
	cr_assert_eq(afb_session_driver(session, driver, 7), 0);
	cr_assert_str_eq(driver, "sha256");
	afb_session_close(session);
}

Test(session, soft_is_served_by_libcrypto_without_a_fall_back)
{
	struct afb_session *session;

	cr_assert_eq(open_as("sha256", AFB_BACKEND_SOFT, AFB_STRICT, &session),
		     0);
	cr_assert_eq(afb_session_backend(session), AFB_BACKEND_SOFT);
	cr_assert_eq(afb_session_fallback(session), AFB_FALLBACK_NONE);
	afb_session_close(session);
}

Test(session, unknown_algorithms_are_refused)
{
	static const char *const names[] = {
		"sha257", "nonsense(sha256)", "SHA256", "sha256 ", "cbc(aes)",
		"hmac(nonsense)", "(", "pcrypt(",
	};
	struct afb_session *session = NULL;
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cr_assert_eq(open_as(names[i], AFB_BACKEND_AUTO, 0, &session),
			     -ENOENT, "%s", names[i]);
		cr_assert_eq(open_as(names[i], AFB_BACKEND_SOFT, 0, &session),
			     -ENOENT, "%s", names[i]);
	}
	cr_assert_null(session);
}

Test(session, names_too_long_for_the_kernel_are_refused_and_never_cut)
{
	struct afb_session *session = NULL;
	char name[201];

	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	cr_assert_eq(open_as(name, AFB_BACKEND_AUTO, 0, &session), -ENOENT);
	name[63] = 'a';
	name[64] = '\0';
	cr_assert_eq(open_as(name, AFB_BACKEND_AUTO, 0, &session), -EINVAL);
	name[64] = 'a';
	name[200] = '\0';
	cr_assert_eq(open_as(name, AFB_BACKEND_AUTO, 0, &session), -EINVAL);
	cr_assert_eq(open_as("", AFB_BACKEND_AUTO, 0, &session), -EINVAL);
	cr_assert_eq(open_as(NULL, AFB_BACKEND_AUTO, 0, &session), -EINVAL);
	cr_assert_null(session);
}

Test(session, bad_parameters_are_refused)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session = NULL;

	params.size++;
	cr_assert_eq(afb_session_open(&session, AFB_HASH, "md5", &params),
		     -EINVAL);
	cr_assert_eq(open_as("md5", AFB_BACKENDS, 0, &session), -EINVAL);
	cr_assert_eq(open_as("md5", AFB_BACKEND_AUTO, ~0U, &session), -EINVAL);
	cr_assert_eq(afb_session_open(&session, 77, "md5", NULL), -EINVAL);
	cr_assert_null(session);
	afb_session_close(NULL);
}

Test(session, denied_af_alg_is_an_error_only_when_strict)
{
	struct afb_session *session;

	deny_af_alg(EPERM);
	afb_set_log(keep_log, &logged);
	cr_assert_eq(open_as("sha256", AFB_BACKEND_AUTO, AFB_STRICT, &session),
		     -EPERM);
	cr_assert_eq(logged, 0);
	cr_assert_eq(open_as("sha256", AFB_BACKEND_AUTO, 0, &session), 0);
	cr_assert_eq(afb_session_fallback(session), AFB_FALLBACK_NO_AF_ALG);
	cr_assert_eq(logged, 1);
	cr_assert_not_null(strstr(last_log, "no AF_ALG"));
	cr_assert_not_null(strstr(last_log, strerror(EPERM)));
	afb_session_close(session);
}

Test(session, strict_hears_what_the_kernel_said_of_an_unknown_name)
{
	struct afb_session *session = NULL;
	int ret;

	if (!kernel_expected())
		cr_skip_test("no kernel to ask");
	ret = open_as("nonsense", AFB_BACKEND_AUTO, AFB_STRICT, &session);
	cr_assert_eq(ret, -ENOENT);
}

Test(session, names_of_back_ends_and_reasons_round_trip)
{
	int i;

	for (i = 0; i < AFB_BACKENDS; i++)
		cr_assert_eq(afb_backend_from_name(afb_backend_name(i)), i);
	cr_assert_eq(afb_backend_from_name("nonsense"), -EINVAL);
	cr_assert_eq(afb_backend_from_name(""), -EINVAL);
	cr_assert_str_eq(afb_backend_name(AFB_BACKENDS), "?");
	for (i = 0; i < AFB_FALLBACKS; i++)
		cr_assert_str_neq(afb_fallback_text(i), "?");
	cr_assert_str_eq(afb_fallback_text(AFB_FALLBACKS), "?");
	cr_assert_str_neq(afb_version(), "");
}
