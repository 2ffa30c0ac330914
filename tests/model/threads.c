/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - threads that share sessions, each with its own queue and streams.
 * In every round a thread opens sessions, all put ops and streams on them, one
 * closes them under the others' hands, and one forks a child that goes on with its
 * copy. For thread sanitizers; every result is compared as in the model test.
 *
 * usage: model_threads [--seed N] [--rounds N] [--threads N] [--no-fork]
 *
 *   --no-fork  no children: where a sanitizer's own locks do not survive them
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"

#define THREADS_MAX 16
#define SHARED 6 /* sessions */
#define OPS 24	 /* of a thread, each round */
#define LIMIT_SECONDS 600
#define CHILD_SECONDS 30

struct worker {
	pthread_t thread;
	unsigned index;
	struct rng rng;
	struct afb_queue *queue;
	struct record *records[OPS];
	struct afb_stream *stream;
	const struct keyed *keyed; /* the stream's */
	uint8_t message[5000];
	uint64_t ops;
};

static uint64_t seed = 1;
static unsigned rounds = 30, thread_count = 6;
static bool with_fork = true;
static struct worker workers[THREADS_MAX];
static pthread_barrier_t barrier;
static struct afb_session *sessions[SHARED]; /* changed between barriers */
static struct keyed keyed[SHARED];

static void die(unsigned round, const char *what, const char *why)
{
	printf("not ok 1 - threads_share_sessions\n# seed %llu, round %u: %s: %s\n",
	       (unsigned long long)seed, round, what, why);
	fflush(stdout);
	_exit(1);
}

/* ---- Sessions ----------------------------------------------------------- */

/* Both a hash and a cipher: an algorithm that is always there. */
static const struct algorithm *shared_algorithm(struct rng *rng, unsigned i)
{
	const struct algorithm *alg;

	do
		alg = &algorithms[rng_below(rng, algorithm_count)];
	while (alg->optional || (alg->type == AFB_HASH) != (i % 2));
	return alg;
}

static void open_shared(struct worker *worker, unsigned round)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	unsigned i;

	for (i = 0; i < SHARED; i++) {
		keyed[i].alg = shared_algorithm(&worker->rng, i);
		keyed[i].key_len = keyed[i].alg->key_len;
		keyed[i].tag_len = keyed[i].alg->tags ? TAG_MAX : 0;
		rng_fill(&worker->rng, keyed[i].key, keyed[i].key_len);
		params.key = keyed[i].key;
		params.key_len = keyed[i].key_len;
		params.backend = rng_once_in(&worker->rng, 3) ?
					 AFB_BACKEND_SYNC :
					 AFB_BACKEND_AUTO;
		if (afb_session_open(&sessions[i], keyed[i].alg->type,
				     keyed[i].alg->kernel, &params))
			die(round, keyed[i].alg->kernel, "no session");
	}
}

static void close_shared(void)
{
	unsigned i;

	for (i = 0; i < SHARED; i++)
		afb_session_close(sessions[i]);
}

/* ---- One thread's part -------------------------------------------------- */

static void open_queue(struct worker *worker)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;

	params.depth = OPS;
	params.backend = rng_below(&worker->rng, 2) ? AFB_BACKEND_SOFT :
						      AFB_BACKEND_AUTO;
	if (afb_queue_open(&worker->queue, &params))
		die(0, "queue", "cannot be opened");
}

static void put_ops(struct worker *worker, unsigned round)
{
	struct afb_op *ops[OPS];
	unsigned i, k;

	for (i = 0; i < OPS; i++) {
		k = rng_below(&worker->rng, SHARED);
		worker->records[i] =
			record_new(&worker->rng, &keyed[k], sessions[k]);
		ops[i] = &worker->records[i]->op;
	}
	if (afb_submit(worker->queue, ops, OPS) != OPS)
		die(round, "submit", "not all were accepted");
	if (rng_below(&worker->rng, 2) && afb_flush(worker->queue))
		die(round, "flush", "failed");
}

static void begin_stream(struct worker *worker, unsigned round)
{
	unsigned k = 1 + 2 * rng_below(&worker->rng, SHARED / 2);

	worker->keyed = &keyed[k];
	rng_fill(&worker->rng, worker->message, sizeof(worker->message));
	if (afb_stream_open(&worker->stream, sessions[k]) ||
	    afb_stream_update(worker->stream, worker->message, 1000))
		die(round, "stream", "cannot be begun");
}

static void end_stream(struct worker *worker, unsigned round)
{
	size_t len = sizeof(worker->message);
	uint8_t right[AFB_DIGEST_MAX], got[AFB_DIGEST_MAX];
	size_t size = oracle_digest(worker->keyed, worker->message, len, right);

	if (afb_stream_update(worker->stream, worker->message + 1000,
			      len - 1000) ||
	    afb_stream_final(worker->stream, got, sizeof(got)) !=
		    (ssize_t)size ||
	    memcmp(got, right, size))
		die(round, "stream", worker->keyed->alg->kernel);
	afb_stream_close(worker->stream);
}

static void take_ops(struct worker *worker, unsigned round)
{
	struct afb_op *done[OPS];
	char text[128];
	unsigned left = OPS;
	int got, i;

	for (; left; left -= got) {
		got = afb_reap(worker->queue, done, OPS, 1, NULL);
		if (got <= 0)
			die(round, "reap", "came back without an op");
		for (i = 0; i < got; i++) {
			struct record *record = (struct record *)done[i];
			const char *fault =
				record_fault(record, text, sizeof(text));

			if (fault)
				die(round, record->name, fault);
			record_free(record);
			worker->ops++;
		}
	}
}

/*
 * The child has a queue that is empty, a stream in mid-message, and sessions. What
 * the parent's other threads were at when it was made must not stop it.
 */
static void go_on_in_child(struct worker *worker, unsigned round)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		alarm(CHILD_SECONDS);
		end_stream(worker, round);
		put_ops(worker, round);
		take_ops(worker, round);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die(round, "child", status == SIGALRM ? "hung" : "failed");
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned round;

	worker->rng = rng_of(seed, worker->index);
	open_queue(worker);
	for (round = 0; round < rounds; round++) {
		if (worker->index == round % thread_count)
			open_shared(worker, round);
		pthread_barrier_wait(&barrier);
		put_ops(worker, round);
		begin_stream(worker, round);
		if (with_fork && worker->index == (round + 1) % thread_count)
			go_on_in_child(worker, round);
		pthread_barrier_wait(&barrier);
		if (worker->index == (round + 2) % thread_count)
			close_shared();
		take_ops(worker, round);
		end_stream(worker, round);
		pthread_barrier_wait(&barrier);
	}
	afb_queue_close(worker->queue);
	return NULL;
}

/* ---- The program -------------------------------------------------------- */

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "no-fork", no_argument, NULL, 'n' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else if (option == 't')
			thread_count = strtoul(optarg, NULL, 0);
		else if (option == 'n')
			with_fork = false;
		if (option == '?' || !thread_count ||
		    thread_count > THREADS_MAX) {
			fprintf(stderr, "usage: model_threads [--seed N] "
					"[--rounds N] [--threads N] "
					"[--no-fork]\n");
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t ops = 0;
	unsigned i;

	parse(argc, argv);
	alarm(LIMIT_SECONDS);
	printf("1..1\n");
	if (!oracle_open())
		die(0, "oracle", "no default provider");
	pthread_barrier_init(&barrier, NULL, thread_count);
	for (i = 0; i < thread_count; i++) {
		workers[i].index = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die(0, "thread", "cannot be started");
	}
	for (i = 0; i < thread_count; i++) {
		pthread_join(workers[i].thread, NULL);
		ops += workers[i].ops;
	}
	pthread_barrier_destroy(&barrier);
	oracle_close();
	printf("ok 1 - threads_share_sessions: %llu ops of %u threads in %u "
	       "rounds\n",
	       (unsigned long long)ops, thread_count, rounds);
	return 0;
}
