/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_json.c - the facts of `afalgbatch info` for programs. Keys are only ever
 * added; afalgbatch(1) tells what each means.
 */
#include <string.h>

#include "algorithm_arg.h"
#include "info.h"
#include "json.h"
#include "modprobe_rules.h"

/* @answer is 0 or -errno; the number of an errno differs among machines. */
static void put_error(struct json *json, int answer)
{
	if (!answer) {
		json_null(json, "error");
		return;
	}
	json_open(json, "error", '{');
	json_string(json, "name", strerrorname_np(-answer));
	json_string(json, "text", strerror(-answer));
	json_close(json, '}');
}

static void put_answer(struct json *json, const char *key, int answer)
{
	json_open(json, key, '{');
	json_bool(json, "usable", !answer);
	put_error(json, answer);
	json_close(json, '}');
}

/* 1, 0, or anything else for what is not known. */
static void put_known(struct json *json, const char *key, int value)
{
	if (value == 0 || value == 1)
		json_bool(json, key, value);
	else
		json_null(json, key);
}

static void put_driver(struct json *json, const struct afb_algorithm_caps *caps)
{
	if (*caps->driver) {
		json_string(json, "driver", caps->driver);
		json_number(json, "priority", caps->priority);
	} else {
		json_null(json, "driver");
		json_null(json, "priority");
	}
	put_known(json, "driver_async", caps->driver_async);
	put_known(json, "kernel_async", caps->kernel ? -1 : caps->kernel_async);
}

static void put_algorithm(struct json *json, const struct info_algorithm *alg)
{
	const struct afb_algorithm_caps *caps = &alg->caps;

	json_open(json, NULL, '{');
	json_string(json, "type", type_name(alg->type));
	json_string(json, "name", alg->name);
	put_answer(json, "kernel", caps->kernel);
	put_driver(json, caps);
	json_string(json, "backend",
		    caps->backend == AFB_BACKEND_AUTO ?
			    NULL :
			    afb_backend_name(caps->backend));
	json_string(json, "fallback",
		    caps->why == AFB_FALLBACK_NONE ?
			    NULL :
			    afb_fallback_text(caps->why));
	json_bool(json, "software", !caps->soft);
	json_number(json, "digest_size", caps->digest_size);
	json_number(json, "block_size", caps->block_size);
	json_number(json, "iv_len", caps->iv_len);
	json_number(json, "key_len", caps->key_len);
	json_close(json, '}');
}

static void put_rule(void *user, const char *module, const char *file,
		     const char *rule)
{
	struct json *json = user;

	json_open(json, NULL, '{');
	json_string(json, "module", module);
	json_string(json, "file", file);
	json_string(json, "rule", rule);
	json_close(json, '}');
}

static void put_machine(struct json *json, const struct info *info)
{
	int type;

	json_string(json, "version", afb_version());
	json_open(json, "kernel", '{');
	json_string(json, "name", info->machine.sysname);
	json_string(json, "release", info->machine.release);
	json_string(json, "machine", info->machine.machine);
	json_close(json, '}');
	put_answer(json, "af_alg", info->caps.af_alg);
	json_open(json, "types", '{');
	for (type = 0; type < AFB_TYPES; type++)
		put_answer(json, type_name(type), info->caps.types[type]);
	json_close(json, '}');
	put_answer(json, "io_uring", info->caps.io_uring);
	put_answer(json, "aio", info->caps.aio);
	json_number(json, "threads", info->caps.threads);
	json_open(json, "barred", '[');
	modprobe_rules(put_rule, json);
	json_close(json, ']');
}

void info_print_json(const struct info *info)
{
	struct json json = { 0 };
	unsigned i;

	json_open(&json, NULL, '{');
	put_machine(&json, info);
	json_open(&json, "algorithms", '[');
	for (i = 0; i < info->count; i++)
		put_algorithm(&json, &info->algorithms[i]);
	json_close(&json, ']');
	json_close(&json, '}');
}
