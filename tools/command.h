/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what a subcommand of afalgbatch is: an entry of the table in
 * commands.c, and a file of its own. It prints results on stdout, never checks
 * whether they could be written (afalgbatch.c does, at the end), and complains
 * by the functions below.
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* what was asked for could not be done */
	EXIT_USAGE = 2,	 /* what was asked for makes no sense */
};

struct command {
	const char *name;
	const char *arguments; /* as in the usage line */
	const char *summary;   /* for the list of commands */
	const char *help;      /* its options and all there is to know */
	/* argv[0] is the name. Returns an enum exit_status. */
	int (*run)(const struct command *command, int argc, char **argv);
};

/* NULL at the end. */
extern const struct command *const commands[];

extern const struct command info_command;

/* "afalgbatch: TEXT" and the usage line on stderr; returns EXIT_USAGE. */
int bad_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for the option that getopt_long(3) has just refused, opterr being 0. */
int bad_option(const struct command *command, char *const *argv);

/* "afalgbatch: WHAT: " and the text of @error (-errno); returns EXIT_FAILED. */
int failed(const char *what, int error);

/* The command's usage line and help on stdout; returns EXIT_OK. */
int print_help(const struct command *command);

#endif
