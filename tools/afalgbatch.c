/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afalgbatch.c - the command afalgbatch: finds the subcommand, runs it, and sees
 * to it that what it printed has reached its reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <afalgbatch.h>

#include "command.h"

static void usage(FILE *file, const struct command *command)
{
	fprintf(file, "usage: afalgbatch %s%s%s\n",
		command ? command->name : "COMMAND",
		command && *command->arguments ? " " : "",
		command ? command->arguments : " [ARGUMENT...]");
	if (!command)
		fprintf(file, "       afalgbatch --help | --version\n");
}

int bad_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "afalgbatch: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	usage(stderr, command);
	return EXIT_USAGE;
}

int bad_option(const struct command *command, char *const *argv)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	const char *word = argv[optind - 1];

	/* getopt_long(3) has gone past a word, but not past one of letters. */
	return bad_usage(command, "wrong option \"%s\"",
			 !strncmp(word, "--", 2) ? word : letter);
}

int failed(const char *what, int error)
{
	fprintf(stderr, "afalgbatch: %s: %s\n", what, strerror(-error));
	return EXIT_FAILED;
}

int print_help(const struct command *command)
{
	const struct command *const *each;

	usage(stdout, command);
	if (command) {
		printf("\n%s", command->help);
		return EXIT_OK;
	}
	printf("\nMany messages at a time for the Linux kernel's crypto.\n\n"
	       "Commands:\n");
	for (each = commands; *each; each++)
		printf("  %-8s %s\n", (*each)->name, (*each)->summary);
	printf("\nafalgbatch COMMAND --help tells of each.\n");
	return EXIT_OK;
}

static int print_version(void)
{
	printf("afalgbatch %s\n", afb_version());
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	const struct command *const *command;

	if (argc < 2)
		return bad_usage(NULL, "a command is missing");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help(NULL);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	for (command = commands; *command; command++)
		if (!strcmp(argv[1], (*command)->name))
			return (*command)->run(*command, argc - 1, argv + 1);
	return bad_usage(NULL, "unknown %s \"%s\"",
			 argv[1][0] == '-' ? "option" : "command", argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	/* Else the first file that is opened would become the output. */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return failed("standard output", -errno);
	/* A reader that has gone away is an error like any other. */
	signal(SIGPIPE, SIG_IGN);
	status = run(argc, argv);
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return failed("standard output", errno ? -errno : -EIO);
	return status;
}
