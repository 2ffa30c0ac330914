/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caps.c - what the machine offers to this process, for those who want to know
 * before they open a session, or why one came out as it did. algorithm_caps.c
 * does the same for one algorithm. Not on the way of any message.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "opsocket.h"
#include "soft_pool.h"

/*
 * For each type an algorithm to ask for. The kernel's answer for a type it lacks
 * is the one for an algorithm it lacks, so it has to be one that every kernel with
 * the type is likely to have, and that a list of allowed algorithms
 * (crypto.af_alg_restrict of Linux 7.3) is likely to allow.
 */
static const char *const common[AFB_TYPES] = {
	[AFB_HASH] = "sha256",
	[AFB_SKCIPHER] = "cbc(aes)",
	[AFB_AEAD] = "gcm(aes)",
	[AFB_RNG] = "stdrng",
};

static int type_usable(enum afb_type type)
{
	enum afb_fallback why;
	int fd = opsocket_tfm(type, common[type], &why);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int afb_caps(struct afb_caps *caps)
{
	int type;

	if (!caps || caps->size != sizeof(*caps))
		return -EINVAL;
	memset(caps, 0, sizeof(*caps));
	caps->size = sizeof(*caps);
	caps->af_alg = af_alg_usable();
	caps->io_uring = uring_usable();
	caps->aio = aio_usable();
	for (type = 0; type < AFB_TYPES; type++)
		caps->types[type] = type_usable(type);
	caps->threads = soft_pool_threads();
	return 0;
}
