/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - the facts that `afalgbatch info` gathers, for the two ways to print. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <sys/utsname.h>

#include <afalgbatch.h>

struct info_algorithm {
	enum afb_type type;
	const char *name;
	struct afb_algorithm_caps caps;
};

struct info {
	struct utsname machine;
	struct afb_caps caps;
	struct info_algorithm *algorithms;
	unsigned count;
};

void info_print_text(const struct info *info);
void info_print_json(const struct info *info);

#endif
