/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithm_arg.h - how people write an algorithm on the command line: TYPE:NAME,
 * as in "aead:gcm(aes)". For every subcommand that takes one.
 */
#ifndef TOOLS_ALGORITHM_ARG_H
#define TOOLS_ALGORITHM_ARG_H

#include <afalgbatch.h>

/* "hash", "skcipher", "aead" or "rng", as AF_ALG calls them. */
const char *type_name(enum afb_type type);

/* *name points into @arg. NULL, or what is wrong with it. */
const char *algorithm_arg(const char *arg, enum afb_type *type,
			  const char **name);

#endif
