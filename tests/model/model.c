/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - the model test: random programs against the library, every answer
 * held against libcrypto's default provider and against the library's own word.
 * Prints TAP. It has a main() of its own, for sanitizers and valgrind's sake.
 *
 * usage: model_test [--seed N] [--ops N] [--backend NAME]
 *
 *   --seed N         the run: the same steps for the same number (1)
 *   --ops N          ends when so many ops have been accepted (20000)
 *   --backend NAME   of every session and queue; without it, any each time
 *
 * AFALGBATCH_EXPECT_KERNEL=1: the counters must say that the kernel served.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"

/* No step takes as long, in an emulated machine either. */
#define STEP_SECONDS 120

static struct model run = { .seed = 1, .ops_wanted = 20000, .backend = -1 };
static char title[64];

static void print_repeat(const struct model *model)
{
	printf("# seed %llu, step %llu; again: model_test --seed %llu --ops %llu",
	       (unsigned long long)model->seed, (unsigned long long)model->step,
	       (unsigned long long)model->seed,
	       (unsigned long long)model->ops_wanted);
	if (model->backend >= 0)
		printf(" --backend %s", afb_backend_name(model->backend));
	printf("\n");
}

void fail(const struct model *model, const char *format, ...)
{
	va_list arguments;

	printf("not ok 1 - %s\n# ", title);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	print_repeat(model);
	fflush(stdout);
	_exit(1);
}

/* The step hangs, so nothing else is about to print. */
static void on_alarm(int number)
{
	(void)number;
	fail(&run, "hangs");
}

enum afb_backend random_backend(struct model *model)
{
	return model->offered[rng_below(&model->rng, model->offered_count)];
}

static void step(struct model *model)
{
	unsigned dice;

	model->rng = rng_of(model->seed, model->step);
	dice = rng_below(&model->rng, 100);
	alarm(STEP_SECONDS);
	if (model->step < SESSIONS || dice < 8)
		session_step(model);
	else if (model->step < SESSIONS + QUEUES || dice < 11)
		queue_step(model);
	else if (dice < 41)
		submit_step(model);
	else if (dice < 48)
		flush_step(model);
	else if (dice < 70)
		reap_step(model);
	else if (dice < 75)
		poll_step(model);
	else if (dice < 80)
		drain_step(model);
	else
		stream_step(model);
	model->step++;
}

/* Everything that was begun is brought to its end, and to account. */
static void finish(struct model *model)
{
	unsigned i;

	/* The sessions first: what still runs keeps what it needs. */
	close_all_sessions(model);
	for (i = 0; i < 100 * QUEUES; i++) {
		model->rng = rng_of(model->seed, model->step++);
		drain_step(model);
	}
	close_all_queues(model);
	close_all_streams(model);
	alarm(0);
	if (model->accepted != model->reaped + model->dropped)
		fail(model, "%llu ops accepted, %llu reaped and %llu dropped",
		     (unsigned long long)model->accepted,
		     (unsigned long long)model->reaped,
		     (unsigned long long)model->dropped);
	if (model->kernel && model->backend != AFB_BACKEND_SOFT &&
	    model->by_kernel < model->accepted / 10)
		fail(model, "the kernel served %llu of %llu ops",
		     (unsigned long long)model->by_kernel,
		     (unsigned long long)model->accepted);
}

static void report(const struct model *model)
{
	printf("ok 1 - %s: %llu ops reaped right, once each (%llu by the kernel, "
	       "%llu errors as due), %llu dropped with their queue, %llu "
	       "refused, %llu streams\n",
	       title, (unsigned long long)model->reaped,
	       (unsigned long long)model->by_kernel,
	       (unsigned long long)model->errors,
	       (unsigned long long)model->dropped,
	       (unsigned long long)model->refused,
	       (unsigned long long)model->finals);
}

/* False for a back end that this machine, or this library, does not have. */
static bool is_offered(enum afb_backend backend)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue;
	bool same;

	params.backend = backend;
	if (afb_queue_open(&queue, &params))
		return false;
	same = afb_queue_backend(queue) == backend;
	afb_queue_close(queue);
	return same || backend == AFB_BACKEND_AUTO;
}

static void find_offered(struct model *model)
{
	int i;

	for (i = 0; i < AFB_BACKENDS; i++)
		if ((model->backend < 0 || model->backend == i) &&
		    is_offered(i))
			model->offered[model->offered_count++] = i;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: model_test [--seed N] [--ops N] [--backend NAME]\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "backend", required_argument, NULL, 'b' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			run.seed = strtoull(optarg, NULL, 0);
		else if (option == 'o')
			run.ops_wanted = strtoull(optarg, NULL, 0);
		else if (option == 'b')
			run.backend = afb_backend_from_name(optarg);
		if (option == '?' || (option == 'b' && run.backend < 0))
			usage();
	}
	if (optind < argc)
		usage();
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	run.kernel = getenv("AFALGBATCH_EXPECT_KERNEL");
	snprintf(title, sizeof(title), "random_programs_by_%s_end_as_the_model",
		 run.backend < 0 ? "all" : afb_backend_name(run.backend));
	signal(SIGALRM, on_alarm);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..1\n");
	if (!oracle_open())
		fail(&run, "no default provider to compare with");
	find_offered(&run);
	if (!run.offered_count) {
		printf("ok 1 - %s # SKIP not offered here\n", title);
		return 0;
	}
	while (run.accepted < run.ops_wanted)
		step(&run);
	finish(&run);
	oracle_close();
	report(&run);
	return 0;
}
