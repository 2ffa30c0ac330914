/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - see driver.h. What has once been learned stays until the end. */
#include <pthread.h>
#include <string.h>

#include "async_probe.h"
#include "driver.h"
#include "opsocket.h"

/* More names than a program has; those beyond are learned each time. */
#define REMEMBERED 64

static struct {
	enum afb_type type;
	char name[OPSOCKET_NAME_MAX + 1];
	struct driver driver;
} memory[REMEMBERED];
static unsigned remembered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */

/* Should a thread have been adding to it, the last is complete or not counted. */
void driver_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

static bool recall(struct driver *driver, enum afb_type type, const char *name)
{
	bool found = false;
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < remembered && !found; i++) {
		found = memory[i].type == type && !strcmp(memory[i].name, name);
		if (found)
			*driver = memory[i].driver;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void remember(const struct driver *driver, enum afb_type type,
		     const char *name)
{
	pthread_mutex_lock(&lock);
	if (remembered < REMEMBERED) {
		memory[remembered].type = type;
		strcpy(memory[remembered].name, name);
		memory[remembered].driver = *driver;
		remembered++;
	}
	pthread_mutex_unlock(&lock);
}

void driver_learn(struct driver *driver, enum afb_type type, const char *name,
		  int tfm)
{
	if (recall(driver, type, name))
		return;
	memset(driver, 0, sizeof(*driver));
	driver->known = !proc_crypto_find(&driver->crypto, type, name);
	if (driver->known && driver->crypto.async)
		driver->blocking =
			!async_probe(type, tfm, driver->crypto.iv_len);
	/* /proc may be missing for a while only: a chroot, an early start. */
	if (driver->known)
		remember(driver, type, name);
}
