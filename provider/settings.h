/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - what the user can choose. Each setting has a key for the
 * provider's section of openssl.cnf and a variable of the environment; the
 * variable wins, and an empty one counts as not set.
 *
 *   backend  AFALGBATCH_BACKEND  auto (the default), uring, sync or soft
 *   debug    AFALGBATCH_DEBUG    tell on stderr what serves; off by default
 *   prefer   AFALGBATCH_PREFER   serve fetches without a property query even if
 *                                another provider was there first; on by default
 *   threshold AFALGBATCH_THRESHOLD  bytes of a cipher's text in one call below which
 *                                   libcrypto serves it; 4096 by default
 *
 * On is 1, yes, on or true; off is 0, no, off or false.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "afalgbatch.h"

struct provider;

struct settings {
	enum afb_backend backend;
	bool debug;
	bool prefer;
	size_t threshold; /* bytes */
};

/*
 * Fills prov->settings. Returns 1, or 0 with an error that names the setting,
 * where its value came from, the value, and the values there are. The error goes
 * to stderr too.
 */
int settings_read(struct provider *prov);

#endif
