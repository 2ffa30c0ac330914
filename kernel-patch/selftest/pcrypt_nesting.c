// SPDX-License-Identifier: GPL-2.0
/*
 * An unprivileged user who binds "pcrypt(gcm(aes))" must not leave instances of
 * pcrypt that wrap pcrypt. Once they are there they are the best gcm(aes) of the
 * whole kernel. The name of the child's driver must keep working.
 */
#include "afalg.h"

/* 6.1 adds one instance a lookup, 6.12 as many as fit. */
#define LOOKUPS 4

#define CHILD "gcm_base(ctr(aes-generic),ghash-generic)"

/* The value of a line of /proc/crypto, NULL when it is not of that key. */
static char *value(char *line, const char *key)
{
	size_t length = strlen(key);
	char *colon = strchr(line, ':');

	if (strncmp(line, key, length) || line[length] != ' ' || !colon)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return colon + 2;
}

/* Drivers in /proc/crypto whose name has "pcrypt(" twice; the names are printed. */
static int nested(void)
{
	FILE *file = fopen("/proc/crypto", "r");
	char line[256], *driver;
	int count = 0;

	if (!file)
		bail("/proc/crypto");
	while (fgets(line, sizeof(line), file)) {
		driver = value(line, "driver");
		if (driver && strstr(driver, "pcrypt(pcrypt(")) {
			printf("# %s\n", driver);
			count++;
		}
	}
	fclose(file);
	return count;
}

static int lookup(const char *name)
{
	int fd = afalg_bind("aead", name);

	printf("# bind %s: %s\n", name, fd < 0 ? strerror(-fd) : "ok");
	if (fd >= 0)
		close(fd);
	return fd;
}

int main(void)
{
	int i;

	if (afalg_bind("aead", CHILD) < 0)
		bail("no generic gcm(aes)");
	if (setgid(65534) || setuid(65534))
		bail("cannot become nobody");

	for (i = 0; i < LOOKUPS; i++)
		lookup("pcrypt(gcm(aes))");
	ok(nested() == 0,
	   "lookups_by_algorithm_name_leave_no_pcrypt_of_pcrypt");

	ok(lookup("pcrypt(" CHILD ")") >= 0, "lookup_by_driver_name_works");
	ok(lookup("pcrypt(pcrypt(" CHILD "))") < 0,
	   "explicit_pcrypt_of_pcrypt_is_refused");
	ok(nested() == 0, "still_no_pcrypt_of_pcrypt");
	return finish();
}
