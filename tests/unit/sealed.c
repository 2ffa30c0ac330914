/* SPDX-License-Identifier: Apache-2.0 */
/* sealed.c - see sealed.h. */
#include <criterion/criterion.h>
#include <string.h>

#include "sealed.h"

static struct keyed keyed = { .key = "one key for all",
			      .key_len = 16,
			      .tag_len = SEALED_TAG };

static void open_oracle_once(void)
{
	unsigned i;

	if (keyed.alg)
		return;
	cr_assert(oracle_open());
	for (i = 0; !keyed.alg; i++)
		if (!strcmp(algorithms[i].libcrypto, "AES-128-GCM"))
			keyed.alg = &algorithms[i];
}

struct afb_session *gcm_session(const char *name, enum afb_backend backend)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;
	int ret;

	open_oracle_once();
	params.backend = backend;
	params.key = keyed.key;
	params.key_len = keyed.key_len;
	ret = afb_session_open(&session, AFB_AEAD, name, &params);
	cr_assert_eq(ret, 0, "%s: %d", name, ret);
	return session;
}

struct afb_session *async_gcm_session(const struct afb_queue *queue)
{
	bool kernel = kernel_expected() &&
		      afb_queue_backend(queue) != AFB_BACKEND_SOFT;

	return gcm_session(kernel ? "pcrypt(generic-gcm-aesni)" : "gcm(aes)",
			   AFB_BACKEND_AUTO);
}

void seal(struct sealed *sealed, struct afb_session *session,
	  enum afb_kind kind, unsigned n, size_t len)
{
	uint8_t *text = sealed->data + SEALED_AAD;

	memset(sealed, 0, sizeof(*sealed));
	reference_fill(sealed->iv, sizeof(sealed->iv), 2 * n);
	reference_fill(sealed->data, SEALED_AAD + len, 2 * n + 1);
	oracle_encrypt(&keyed, sealed->iv, sealed->data, SEALED_AAD, text, len,
		       sealed->right);
	sealed->in = (struct iovec){ sealed->data, SEALED_AAD + len };
	sealed->out = (struct iovec){ sealed->result, len + SEALED_TAG };
	if (kind == AFB_DECRYPT) {
		uint8_t plain[SEALED_MAX];

		memcpy(plain, text, len);
		memcpy(text, sealed->right, len + SEALED_TAG);
		memcpy(sealed->right, plain, len);
		sealed->in.iov_len += SEALED_TAG;
		sealed->out.iov_len = len;
	}
	sealed->op = (struct afb_op){ .session = session,
				      .kind = kind,
				      .in = &sealed->in,
				      .in_cnt = 1,
				      .out = &sealed->out,
				      .out_cnt = 1,
				      .iv = sealed->iv,
				      .iv_len = sizeof(sealed->iv),
				      .aad_len = SEALED_AAD,
				      .user = sealed };
}

void reap_sealed(struct afb_queue *queue, unsigned count)
{
	struct afb_op *done[64];
	struct sealed *sealed;
	int got, i;

	while (count) {
		got = afb_reap(queue, done, 64, 1, NULL);
		cr_assert_gt(got, 0);
		for (i = 0; i < got; i++) {
			sealed = done[i]->user;
			cr_assert_not(sealed->ended);
			sealed->ended = true;
		}
		count -= got;
	}
}

void run_sealed(struct afb_queue *queue, struct sealed *sealed, unsigned count)
{
	struct afb_op *op;
	unsigned sent = 0, held = 0;

	while (sent < count) {
		op = &sealed[sent].op;
		if (afb_submit(queue, &op, 1)) {
			sent++;
			held++;
		} else {
			reap_sealed(queue, held);
			held = 0;
		}
	}
	reap_sealed(queue, held);
}

void expect_sealed(const struct sealed *sealed, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		cr_assert(sealed[i].ended);
		cr_assert_eq(sealed[i].op.result,
			     (ssize_t)sealed[i].out.iov_len, "%u: %zd", i,
			     sealed[i].op.result);
		cr_assert_arr_eq(sealed[i].result, sealed[i].right,
				 sealed[i].out.iov_len);
	}
}
