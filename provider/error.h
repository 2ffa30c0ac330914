/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - puts errors on the caller's OpenSSL error queue, through the core.
 */
#ifndef ERROR_H
#define ERROR_H

#include <openssl/core.h>
#include <openssl/err.h>

struct provider;

/* Our reasons; error.c has their texts. The core reserves zero. */
enum error_reason {
	R_OPEN = 1,
	R_UPDATE,
	R_FINAL,
	R_DUP,
	R_OUTPUT_TOO_SMALL,
	R_KEY_LENGTH,
	R_IV_LENGTH,
	R_NO_INSIDE,
	R_NO_KEY,
	R_NO_IV,
	R_NOT_RUNNING,
	R_STRENGTH,
};

/*
 * Raises an error with one of our reasons or one of OpenSSL's ERR_R_*, and a
 * text of printf's kind. With debug on, it is printed as well.
 */
#define error_raise(prov, reason, ...)                                         \
	error_raise_at(prov, OPENSSL_FILE, OPENSSL_LINE, OPENSSL_FUNC, reason, \
		       __VA_ARGS__)

void error_raise_at(const struct provider *prov, const char *file, int line,
		    const char *func, int reason, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* What libbatch returned (-errno), for an operation on an algorithm. */
#define error_raise_errno(prov, reason, operation, algorithm, ret)           \
	error_raise_errno_at(prov, OPENSSL_FILE, OPENSSL_LINE, OPENSSL_FUNC, \
			     reason, operation, algorithm, ret)

void error_raise_errno_at(const struct provider *prov, const char *file,
			  int line, const char *func, int reason,
			  const char *operation, const char *algorithm,
			  int ret);

/* OSSL_FUNC_PROVIDER_GET_REASON_STRINGS */
const OSSL_ITEM *error_reason_strings(void *ctx);

#endif
