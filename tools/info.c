/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - `afalgbatch info`: what this machine offers to whoever runs it, and
 * what of each algorithm. Everything is gathered before anything is printed.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>

#include "algorithm_arg.h"
#include "command.h"
#include "info.h"

static int add(struct info *info, enum afb_type type, const char *name)
{
	struct info_algorithm *larger, *added;

	larger = reallocarray(info->algorithms, info->count + 1,
			      sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	info->algorithms = larger;
	added = &larger[info->count++];
	*added = (struct info_algorithm){
		.type = type,
		.name = name,
		.caps = AFB_ALGORITHM_CAPS,
	};
	return afb_algorithm_caps(&added->caps, type, name);
}

static int add_known(struct info *info)
{
	enum afb_type type;
	const char *name;
	int ret = 0;
	unsigned i;

	for (i = 0; !ret && (name = afb_algorithm_name(i, &type)); i++)
		ret = add(info, type, name);
	return ret;
}

static int add_named(struct info *info, char **args)
{
	enum afb_type type;
	const char *name;
	int ret = 0;

	for (; !ret && *args; args++) {
		algorithm_arg(*args, &type, &name);
		ret = add(info, type, name);
	}
	return ret;
}

static int gather(struct info *info, char **args)
{
	int ret;

	info->caps = (struct afb_caps)AFB_CAPS;
	ret = uname(&info->machine) < 0 ? -errno : afb_caps(&info->caps);
	if (!ret)
		ret = *args ? add_named(info, args) : add_known(info);
	return ret;
}

static int check_args(const struct command *command, char **args)
{
	enum afb_type type;
	const char *name, *wrong;

	for (; *args; args++) {
		wrong = algorithm_arg(*args, &type, &name);
		if (wrong)
			return bad_usage(command, "\"%s\" %s", *args, wrong);
	}
	return EXIT_OK;
}

static int info_run(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct info info = { 0 };
	bool json = false;
	int option, ret;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help(command);
		if (option != 'j')
			return bad_option(command, argv);
		json = true;
	}
	ret = check_args(command, argv + optind);
	if (ret)
		return ret;
	ret = gather(&info, argv + optind);
	if (ret)
		ret = failed("info", ret);
	else if (json)
		info_print_json(&info);
	else
		info_print_text(&info);
	free(info.algorithms);
	return ret;
}

const struct command info_command = {
	.name = "info",
	.arguments = "[--json] [TYPE:NAME...]",
	.summary = "what this machine offers, and who would do the work",
	.help = "Tells what AF_ALG, io_uring and Linux AIO allow here, and for each algorithm\n"
		"who would do the work. TYPE is hash, skcipher, aead or rng; NAME is the\n"
		"kernel's name of an algorithm or of a driver:\n"
		"\n"
		"  afalgbatch info 'aead:gcm(aes)' hash:sha256-generic\n"
		"\n"
		"Without one it tells of all algorithms that the library knows by itself.\n"
		"\n"
		"  --json      the same facts as one JSON object\n"
		"  -h, --help  this text\n",
	.run = info_run,
};
