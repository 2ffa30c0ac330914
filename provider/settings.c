/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - reads the settings once, while the provider is initialised. A
 * value that is not understood stops the provider: a misspelt back end must not
 * go unnoticed.
 */
#include <config.h> /* _GNU_SOURCE: secure_getenv */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/params.h>

#include "error.h"
#include "provider.h"
#include "settings.h"

struct setting {
	const char *key;
	const char *variable;
	const char *value;  /* as found, or NULL */
	const char *origin; /* in words */
};

static void find_value(struct provider *prov, struct setting *s)
{
	OSSL_PARAM params[] = { OSSL_PARAM_END, OSSL_PARAM_END };
	char *value = NULL;

	/* A set-user-ID program must not take orders from its caller. */
	s->value = secure_getenv(s->variable);
	s->origin = s->variable;
	if (s->value && *s->value)
		return;

	params[0] = OSSL_PARAM_construct_utf8_ptr(s->key, &value, 0);
	s->origin = "its configuration section";
	s->value = NULL;
	if (prov->get_params && prov->get_params(prov->core, params))
		s->value = value;
}

static int unknown_value(struct provider *prov, const struct setting *s,
			 const char *allowed)
{
	/*
	 * OpenSSL 3.0 discards the errors of a provider that its configuration
	 * file activates: without a line on stderr we would just be missing.
	 */
	prov->settings.debug = true;

	/*
	 * A reason of our own would have no text: the core asks for our texts
	 * only after a successful start.
	 */
	error_raise(prov, ERR_R_PASSED_INVALID_ARGUMENT,
		    "%s: unknown value \"%.64s\" in %s; use one of %s", s->key,
		    s->value, s->origin, allowed);
	return 0;
}

static int read_flag(struct provider *prov, const char *key,
		     const char *variable, bool *flag)
{
	static const char *const words[][2] = {
		{ "0", "1" },
		{ "no", "yes" },
		{ "off", "on" },
		{ "false", "true" },
	};
	struct setting s = { .key = key, .variable = variable };
	size_t i;
	int on;

	find_value(prov, &s);
	if (!s.value)
		return 1;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (on = 0; on < 2; on++) {
			if (!strcmp(s.value, words[i][on])) {
				*flag = on;
				return 1;
			}
		}
	}
	return unknown_value(prov, &s, "1, yes, on, true, 0, no, off, false");
}

static int read_backend(struct provider *prov)
{
	struct setting s = { .key = "backend",
			     .variable = "AFALGBATCH_BACKEND" };
	char allowed[80] = "";
	int backend;

	find_value(prov, &s);
	if (!s.value)
		return 1;
	backend = afb_backend_from_name(s.value);
	if (backend >= 0) {
		prov->settings.backend = backend;
		return 1;
	}
	for (backend = 0; backend < AFB_BACKENDS; backend++) {
		size_t used = strlen(allowed);

		snprintf(allowed + used, sizeof(allowed) - used, "%s%s",
			 used ? ", " : "", afb_backend_name(backend));
	}
	return unknown_value(prov, &s, allowed);
}

static int read_threshold(struct provider *prov)
{
	struct setting s = { .key = "threshold",
			     .variable = "AFALGBATCH_THRESHOLD" };
	unsigned long long bytes;
	char *end;

	find_value(prov, &s);
	if (!s.value)
		return 1;
	errno = 0;
	bytes = strtoull(s.value, &end, 10);
	/* strtoull() takes blanks and signs, too. */
	if (*s.value < '0' || *s.value > '9' || *end || errno ||
	    bytes > SIZE_MAX)
		return unknown_value(prov, &s, "0 and up, in bytes");
	prov->settings.threshold = bytes;
	return 1;
}

int settings_read(struct provider *prov)
{
	struct settings *set = &prov->settings;

	*set = (struct settings){ .backend = AFB_BACKEND_AUTO,
				  .prefer = true,
				  .threshold = 4096 };
	return read_flag(prov, "debug", "AFALGBATCH_DEBUG", &set->debug) &&
	       read_flag(prov, "prefer", "AFALGBATCH_PREFER", &set->prefer) &&
	       read_threshold(prov) && read_backend(prov);
}
