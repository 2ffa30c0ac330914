/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.h - one line on stderr for each thing worth knowing, if the debug
 * setting is on. Off, a line costs a test of a flag; its arguments are not
 * evaluated.
 */
#ifndef DEBUG_H
#define DEBUG_H

#include "afalgbatch.h"
#include "provider.h"

#define debug_print(prov, ...)                   \
	do {                                     \
		if ((prov)->settings.debug)      \
			debug_line(__VA_ARGS__); \
	} while (0)

void debug_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Which back end serves @algorithm, and why not the one asked for. */
void debug_session(const struct provider *prov, const char *algorithm,
		   const struct afb_session *session);

/* Shows libbatch's own remarks from here on. */
void debug_start(const struct provider *prov);

/* Prints the counters and stops showing remarks. */
void debug_stop(const struct provider *prov);

#endif
