/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - errors go to the core that loaded us, never to the libcrypto that
 * we are linked with: in a program with its own copy these can be two.
 */
#include <config.h> /* _GNU_SOURCE: the strerror_r that returns text */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debug.h"
#include "error.h"
#include "provider.h"

const OSSL_ITEM *error_reason_strings(void *ctx)
{
	static const OSSL_ITEM reasons[] = {
		{ R_OPEN, "cannot open a session or stream" },
		{ R_UPDATE, "update failed" },
		{ R_FINAL, "final failed" },
		{ R_DUP, "duplicating a context failed" },
		{ R_OUTPUT_TOO_SMALL, "output buffer too small" },
		{ R_KEY_LENGTH, "invalid key length" },
		{ R_IV_LENGTH, "invalid iv length" },
		{ R_NO_INSIDE, "no digest or cipher set" },
		{ R_NO_KEY, "no key set" },
		{ R_NO_IV, "no IV set" },
		{ R_NOT_RUNNING, "not initialised" },
		{ R_STRENGTH, "more strength than there is" },
		{ 0, NULL },
	};

	(void)ctx;
	return reasons;
}

static void set_error(const struct provider *prov, int reason, const char *fmt,
		      ...)
{
	va_list args;

	va_start(args, fmt);
	prov->vset_error(prov->core, reason, fmt, args);
	va_end(args);
}

void error_raise_at(const struct provider *prov, const char *file, int line,
		    const char *func, int reason, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);

	debug_print(prov, "error: %s", text);
	if (!prov->new_error || !prov->set_error_debug || !prov->vset_error)
		return;
	prov->new_error(prov->core);
	prov->set_error_debug(prov->core, file, line, func);
	set_error(prov, reason, "%s", text);
}

void error_raise_errno_at(const struct provider *prov, const char *file,
			  int line, const char *func, int reason,
			  const char *operation, const char *algorithm, int ret)
{
	char buf[64];

	error_raise_at(prov, file, line, func, reason, "%s %s: %s", operation,
		       algorithm, strerror_r(-ret, buf, sizeof(buf)));
}
