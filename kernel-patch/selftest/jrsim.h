/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests on the simulated engine share: load and unload it, set its
 * parameters and faults, read its counters. TEST_JRSIM names the module.
 */
#ifndef SELFTEST_JRSIM_H
#define SELFTEST_JRSIM_H

#include <fcntl.h>
#include <sys/mount.h>

#include "afalg.h"

#define JRSIM_PARAMETERS "/sys/module/jrsim/parameters/"
#define JRSIM_DEBUGFS "/sys/kernel/debug/jrsim/"

/* 0, or -errno of the kernel. */
static inline int jrsim_load(const char *parameters)
{
	const char *path = getenv("TEST_JRSIM");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		bail("%s", path);
	err = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return err;
}

static inline int jrsim_unload(void)
{
	return syscall(SYS_delete_module, "jrsim", O_NONBLOCK) ? -errno : 0;
}

/* What a last request had may be freed a moment after its completion. */
static inline int jrsim_unload_soon(void)
{
	struct timespec moment = { .tv_nsec = 10000000 };
	int i, err = jrsim_unload();

	for (i = 0; i < 500 && err == -EAGAIN; i++) {
		nanosleep(&moment, NULL);
		err = jrsim_unload();
	}
	return err;
}

static inline void jrsim_write(const char *directory, const char *name,
			       unsigned int value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", directory, name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%u\n", value) < 0 || fclose(file))
		bail("%s", path);
}

static inline void jrsim_parameter(const char *name, unsigned int value)
{
	jrsim_write(JRSIM_PARAMETERS, name, value);
}

static inline void jrsim_fault(const char *name, unsigned int value)
{
	jrsim_write(JRSIM_DEBUGFS, name, value);
}

static inline unsigned int jrsim_counter(const char *name)
{
	unsigned int value;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), JRSIM_DEBUGFS "%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &value) != 1)
		bail("%s", path);
	fclose(file);
	return value;
}

/* False, and one skipped test, where the module is not to be had. */
static inline bool jrsim_start(const char *parameters)
{
	int err;

	if (!getenv("TEST_JRSIM")) {
		skip("simulated_engine", "TEST_JRSIM does not name jrsim.ko");
		return false;
	}
	if (mount("none", "/sys/kernel/debug", "debugfs", 0, NULL) &&
	    errno != EBUSY)
		bail("debugfs");
	err = jrsim_load(parameters);
	if (err) {
		errno = -err;
		bail("loading jrsim");
	}
	return true;
}

#endif
