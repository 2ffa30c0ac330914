/* SPDX-License-Identifier: Apache-2.0 */
/* algorithm_arg.c - see algorithm_arg.h. */
#include <string.h>

#include "algorithm_arg.h"

/* The longest name that AF_ALG has room for. */
#define NAME_MAX_LEN 63

const char *type_name(enum afb_type type)
{
	static const char *const names[AFB_TYPES] = {
		[AFB_HASH] = "hash",
		[AFB_SKCIPHER] = "skcipher",
		[AFB_AEAD] = "aead",
		[AFB_RNG] = "rng",
	};

	return names[type];
}

const char *algorithm_arg(const char *arg, enum afb_type *type,
			  const char **name)
{
	const char *colon = strchr(arg, ':');
	size_t len;
	int i;

	if (!colon)
		return "is not of the form TYPE:NAME";
	*name = colon + 1;
	if (!**name)
		return "lacks the name";
	if (strlen(*name) > NAME_MAX_LEN)
		return "has a name of more than 63 characters";
	for (i = 0; i < AFB_TYPES; i++) {
		len = strlen(type_name(i));
		if ((size_t)(colon - arg) == len &&
		    !strncmp(arg, type_name(i), len)) {
			*type = i;
			return NULL;
		}
	}
	return "has a type other than hash, skcipher, aead and rng";
}
