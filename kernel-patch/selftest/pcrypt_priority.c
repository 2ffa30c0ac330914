// SPDX-License-Identifier: GPL-2.0
/*
 * An instance of pcrypt that anybody can make must not become what others get who
 * ask for the algorithm by its name; unless who administers the machine says so,
 * by CRYPTO_MSG_UPDATEALG.
 */
#include <linux/cryptouser.h>
#include <linux/netlink.h>
#include <sys/wait.h>

#include "afalg.h"

/* Of which no other test makes an instance. */
#define NAME "ccm(aes)"

/* What /proc/crypto says of one implementation. */
struct entry {
	char name[128], driver[128];
	int priority, users;
};

static bool next_entry(FILE *file, struct entry *entry)
{
	char line[256], key[32], value[128];
	bool any = false;

	*entry = (struct entry){ 0 };
	while (fgets(line, sizeof(line), file) && line[0] != '\n') {
		if (sscanf(line, "%31s : %127[^\n]", key, value) != 2)
			continue;
		any = true;
		if (!strcmp(key, "name"))
			strcpy(entry->name, value);
		else if (!strcmp(key, "driver"))
			strcpy(entry->driver, value);
		else if (!strcmp(key, "priority"))
			entry->priority = atoi(value);
		else if (!strcmp(key, "refcnt"))
			entry->users = atoi(value);
	}
	return any;
}

/* The implementation of that driver name; or, with NULL, what a lookup finds. */
static struct entry find(const char *driver)
{
	struct entry entry, found = { .priority = -2 };
	FILE *file = fopen("/proc/crypto", "r");

	if (!file)
		bail("/proc/crypto");
	while (next_entry(file, &entry)) {
		if (driver ? !strcmp(entry.driver, driver) :
			     !strcmp(entry.name, NAME) &&
				     entry.priority > found.priority)
			found = entry;
	}
	fclose(file);
	if (!found.driver[0])
		bail("no %s", driver ? driver : NAME);
	return found;
}

static void close_bound(const char *name)
{
	int fd = afalg_bind("aead", name);

	errno = fd < 0 ? -fd : 0;
	if (fd < 0)
		bail("bind %s", name);
	close(fd);
}

static void make_as_nobody(const char *name)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (setgid(65534) || setuid(65534))
			bail("cannot become nobody");
		close_bound(name);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		bail("nobody cannot bind %s", name);
}

/* Whether a bind by the algorithm's name holds that implementation. */
static bool is_what_others_get(const char *driver)
{
	int before = find(driver).users, fd = afalg_bind("aead", NAME), during;

	if (fd < 0)
		bail("bind %s", NAME);
	during = find(driver).users;
	close(fd);
	printf("# %s: used %d times, %d with %s\n", driver, before, during,
	       NAME);
	return during > before;
}

static int update_priority(const char *driver, uint32_t priority)
{
	struct {
		struct nlmsghdr header;
		struct crypto_user_alg alg;
		struct nlattr attribute;
		uint32_t priority;
	} request = {
		.header = { .nlmsg_len = sizeof(request),
			    .nlmsg_type = CRYPTO_MSG_UPDATEALG,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.attribute = { .nla_len = NLA_HDRLEN + sizeof(priority),
			       .nla_type = CRYPTOCFGA_PRIORITY_VAL },
		.priority = priority,
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);

	if (fd < 0)
		bail("socket(NETLINK_CRYPTO)");
	strcpy(request.alg.cru_driver_name, driver);
	if (send(fd, &request, sizeof(request), 0) != sizeof(request) ||
	    recv(fd, &answer, sizeof(answer), 0) < (int)sizeof(answer.header))
		bail("CRYPTO_MSG_UPDATEALG");
	close(fd);
	printf("# CRYPTO_MSG_UPDATEALG: %s\n", strerror(-answer.error.error));
	return answer.error.error;
}

int main(void)
{
	struct entry child, instance;
	char name[144];

	close_bound(NAME);
	child = find(NULL);
	snprintf(name, sizeof(name), "pcrypt(%s)", child.driver);
	make_as_nobody(name);
	instance = find(name);
	printf("# %s: %d, %s: %d\n", child.driver, child.priority, name,
	       instance.priority);
	ok(instance.priority < child.priority,
	   "instance_has_a_lower_priority_than_its_child");
	ok(!is_what_others_get(name),
	   "lookup_by_algorithm_name_finds_the_child");
	ok(is_what_others_get(child.driver), "and_holds_it");

	ok(!update_priority(name, child.priority + 100) &&
		   find(name).priority == child.priority + 100,
	   "administrator_can_raise_it");
	ok(is_what_others_get(name), "then_lookups_find_the_instance");
	return finish();
}
