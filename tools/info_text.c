/* SPDX-License-Identifier: Apache-2.0 */
/* info_text.c - the facts of `afalgbatch info` for people. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "algorithm_arg.h"
#include "info.h"
#include "modprobe_rules.h"

enum column { TYPE, NAME, DRIVER, PRIORITY, ASYNC, BACKEND, SOFTWARE, COLUMNS };

/* A name of 63 bytes, each written as \xNN; a driver's has 127. */
#define CELL_MAX (4 * 128)

static const char *const heads[COLUMNS] = {
	[TYPE] = "TYPE",	 [NAME] = "NAME",   [DRIVER] = "DRIVER",
	[PRIORITY] = "PRIORITY", [ASYNC] = "ASYNC", [BACKEND] = "BACK END",
	[SOFTWARE] = "SOFTWARE",
};

/* No byte of a name may steer the reader's terminal. */
static void print_plainly(char cell[CELL_MAX], const char *text)
{
	char *at = cell;

	for (; *text; text++) {
		if (*text >= ' ' && *text <= '~' && *text != '\\')
			*at++ = *text;
		else
			at += sprintf(at, "\\x%02x", (unsigned char)*text);
	}
	*at = '\0';
}

/* Of the driver by /proc/crypto, and of AF_ALG's way to it as tried. */
static const char *async_text(const struct afb_algorithm_caps *caps)
{
	if (caps->kernel)
		return "-";
	if (caps->driver_async < 0)
		return "unknown";
	if (!caps->driver_async)
		return "no/no";
	return caps->kernel_async == 1 ? "yes/yes" :
	       caps->kernel_async == 0 ? "yes/no" :
					 "yes/unknown";
}

static void cell_text(char cell[CELL_MAX], const struct info_algorithm *alg,
		      enum column column)
{
	const struct afb_algorithm_caps *caps = &alg->caps;

	switch (column) {
	case TYPE:
		sprintf(cell, "%s", type_name(alg->type));
		break;
	case NAME:
		print_plainly(cell, alg->name);
		break;
	case DRIVER:
		print_plainly(cell, *caps->driver ? caps->driver : "-");
		break;
	case PRIORITY:
		sprintf(cell, "%ld", caps->priority);
		if (!*caps->driver)
			strcpy(cell, "-");
		break;
	case ASYNC:
		strcpy(cell, async_text(caps));
		break;
	case BACKEND:
		strcpy(cell, caps->backend == AFB_BACKEND_AUTO ?
				     "none" :
				     afb_backend_name(caps->backend));
		break;
	case SOFTWARE:
		strcpy(cell, caps->soft ? "no" : "yes");
		break;
	case COLUMNS:
		break;
	}
}

static int width_of(const struct info *info, enum column column)
{
	char cell[CELL_MAX];
	size_t width = strlen(heads[column]);
	unsigned i;

	for (i = 0; i < info->count; i++) {
		cell_text(cell, &info->algorithms[i], column);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return (int)width;
}

/* Why it is not the first back end, and what the kernel said to it. */
static void print_fallback(const struct afb_algorithm_caps *caps)
{
	if (caps->why == AFB_FALLBACK_NONE)
		printf("-");
	else if (caps->kernel)
		printf("%s: %s", afb_fallback_text(caps->why),
		       strerror(-caps->kernel));
	else
		printf("%s", afb_fallback_text(caps->why));
}

static void print_algorithms(const struct info *info)
{
	int width[COLUMNS], column;
	char cell[CELL_MAX];
	unsigned i;

	for (column = 0; column < COLUMNS; column++)
		width[column] = width_of(info, column);
	printf("\n");
	for (column = 0; column < COLUMNS; column++)
		printf("%-*s  ", width[column], heads[column]);
	printf("FALL-BACK\n");
	for (i = 0; i < info->count; i++) {
		for (column = 0; column < COLUMNS; column++) {
			cell_text(cell, &info->algorithms[i], column);
			printf("%-*s  ", width[column], cell);
		}
		print_fallback(&info->algorithms[i].caps);
		printf("\n");
	}
	printf("\nASYNC: does the driver work while its caller goes on (by /proc/crypto),"
	       "\nand does AF_ALG let it (as one request showed)? BACK END: what \"auto\""
	       "\ncomes to. SOFTWARE: libcrypto has the algorithm too.\n");
}

static void print_answer(const char *what, int answer)
{
	if (answer)
		printf("%-12s no: %s\n", what, strerror(-answer));
	else
		printf("%-12s yes\n", what);
}

static void print_type(const struct info *info, enum afb_type type)
{
	int answer = info->caps.types[type];
	char what[32];

	snprintf(what, sizeof(what), "  %s", type_name(type));
	if (answer == -ENOENT)
		printf("%-12s no: the module algif_%s is missing or barred (%s)\n",
		       what, type_name(type), strerror(ENOENT));
	else
		print_answer(what, answer);
}

static void print_rule(void *user, const char *module, const char *file,
		       const char *rule)
{
	char cell[CELL_MAX], cut[sizeof(cell) / 4];

	(void)user;
	snprintf(cut, sizeof(cut), "%s", rule);
	print_plainly(cell, cut);
	printf("%-12s %s, by \"%s\" in %s\n", "barred", module, cell, file);
}

void info_print_text(const struct info *info)
{
	int type;

	printf("afalgbatch %s on %s %s, %s\n\n", afb_version(),
	       info->machine.sysname, info->machine.release,
	       info->machine.machine);
	print_answer("AF_ALG", info->caps.af_alg);
	if (!info->caps.af_alg)
		for (type = 0; type < AFB_TYPES; type++)
			print_type(info, type);
	print_answer("io_uring", info->caps.io_uring);
	print_answer("Linux AIO", info->caps.aio);
	printf("%-12s %u for software at most\n", "threads",
	       info->caps.threads);
	modprobe_rules(print_rule, NULL);
	print_algorithms(info);
}
