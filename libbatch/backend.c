/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - names, for people and for configuration files. */
#include <errno.h>
#include <string.h>

#include "afalgbatch.h"

static const char *const backend_names[AFB_BACKENDS] = {
	[AFB_BACKEND_AUTO] = "auto",
	[AFB_BACKEND_URING] = "uring",
	[AFB_BACKEND_AIO] = "aio",
	[AFB_BACKEND_SYNC] = "sync",
	[AFB_BACKEND_SOFT] = "soft",
};

static const char *const fallback_texts[AFB_FALLBACKS] = {
	[AFB_FALLBACK_NONE] = "none",
	[AFB_FALLBACK_NO_AF_ALG] = "no AF_ALG",
	[AFB_FALLBACK_NOT_OFFERED] = "not offered by the kernel",
	[AFB_FALLBACK_NO_IO_URING] = "no io_uring",
	[AFB_FALLBACK_NO_AIO] = "no aio",
	[AFB_FALLBACK_NO_RESOURCES] = "no descriptors or memory",
	[AFB_FALLBACK_KERNEL_ERROR] = "kernel error",
};

const char *afb_version(void)
{
	return PACKAGE_VERSION;
}

const char *afb_backend_name(enum afb_backend backend)
{
	return (unsigned)backend < AFB_BACKENDS ? backend_names[backend] : "?";
}

int afb_backend_from_name(const char *name)
{
	int i;

	for (i = 0; i < AFB_BACKENDS; i++)
		if (!strcmp(name, backend_names[i]))
			return i;
	return -EINVAL;
}

const char *afb_fallback_text(enum afb_fallback why)
{
	return (unsigned)why < AFB_FALLBACKS ? fallback_texts[why] : "?";
}
