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

void driver_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

void driver_after_fork(bool in_child)
{
	(void)in_child;
	pthread_mutex_unlock(&lock);
}

/* NULL: not remembered. With the lock. */
static struct driver *place_of(enum afb_type type, const char *name)
{
	unsigned i;

	for (i = 0; i < remembered; i++)
		if (memory[i].type == type && !strcmp(memory[i].name, name))
			return &memory[i].driver;
	return NULL;
}

/* NULL: no room. With the lock. */
static struct driver *new_place(enum afb_type type, const char *name)
{
	if (remembered == REMEMBERED)
		return NULL;
	memory[remembered].type = type;
	strcpy(memory[remembered].name, name);
	return &memory[remembered++].driver;
}

static bool recall(struct driver *driver, enum afb_type type, const char *name)
{
	struct driver *place;

	pthread_mutex_lock(&lock);
	place = place_of(type, name);
	if (place)
		*driver = *place;
	else
		*driver = (struct driver){ 0 };
	pthread_mutex_unlock(&lock);
	return driver->known;
}

static void remember(const struct driver *driver, enum afb_type type,
		     const char *name)
{
	struct driver *place;

	pthread_mutex_lock(&lock);
	place = place_of(type, name);
	if (!place)
		place = new_place(type, name);
	if (place)
		*place = *driver;
	pthread_mutex_unlock(&lock);
}

/* /proc may be missing for a while only: a chroot, an early start. */
void driver_learn(struct driver *driver, enum afb_type type, const char *name)
{
	if (recall(driver, type, name) ||
	    proc_crypto_find(&driver->crypto, type, name))
		return;
	driver->known = true;
	driver->tried = !driver->crypto.async;
	remember(driver, type, name);
}

void driver_try(struct driver *driver, enum afb_type type, const char *name,
		int tfm)
{
	bool waits;

	if (!driver->known || driver->tried)
		return;
	driver->blocking =
		!async_probe(type, tfm, driver->crypto.iv_len, &waits) && waits;
	driver->tried = true;
	remember(driver, type, name);
}
