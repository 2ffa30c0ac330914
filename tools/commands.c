/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the table of subcommands, in the order --help lists them. */
#include <stddef.h>

#include "command.h"

const struct command *const commands[] = {
	&info_command,
	NULL,
};
