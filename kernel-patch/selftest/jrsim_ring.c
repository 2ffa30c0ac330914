// SPDX-License-Identifier: GPL-2.0
/*
 * What a job ring does to its users: completions come with few interrupts when
 * they are coalesced and many requests are in flight; a full ring makes wait or
 * refuses, and loses nothing; an error reaches its own message alone; a job
 * that is stuck holds what it needs until it is released. With the stock
 * modules only AEADs have more than one request in the ring, and for hashes and
 * ciphers the tests that need it are skipped.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "async.h"
#include "jrsim.h"

#define MOST 128
#define LENGTH 1024
#define ASSOC 16
#define TAG 16
#define OUT (LENGTH + TAG)

enum kind { HASH, CIPHER, AEAD, KINDS };

static const struct {
	const char *type;
	const char *engine;
	const char *generic;
	const char *name;
	int size; /* of a result */
} kinds[KINDS] = {
	[HASH] = { "hash", "hmac-sha256-jrsim", "hmac(sha256-generic)", "hash",
		   32 },
	[CIPHER] = { "skcipher", "cbc-aes-jrsim", "cbc(aes-generic)", "cipher",
		     LENGTH },
	[AEAD] = { "aead", "gcm-aes-jrsim",
		   "gcm_base(ctr(aes-generic),ghash-generic)", "aead", OUT },
};

static const uint8_t key[16] = "a key of 128 bit";
static uint8_t text[LENGTH + MOST];
static uint8_t out[MOST][OUT], want[MOST][OUT];
static struct io_event event[MOST];
static long result[MOST]; /* of each message; unset until it has completed */
static int op[MOST];
static int tfm;
static bool patched;
static enum kind kind;

#define UNSET 1000000

/*
 * Interrupts come to the processor of this task: on another one, each
 * completion of a burst wakes a task that waits in 6.1's io_getevents for all.
 */
#define PARAMETERS "cpu=0"

/* Each message has text and IV of its own. */
static void send_message(int socket, int i)
{
	uint8_t iv[16] = { i };

	if (kind == HASH) {
		if (send(socket, text + i, LENGTH, MSG_DONTWAIT) != LENGTH)
			bail("send");
	} else {
		afalg_send(socket, ALG_OP_ENCRYPT, iv, kind == AEAD ? 12 : 16,
			   kind == AEAD ? ASSOC : 0, text + i, LENGTH, 0);
	}
}

static int keyed(const char *driver)
{
	int fd = afalg_bind(kinds[kind].type, driver);

	if (fd < 0) {
		errno = -fd;
		bail("%s", driver);
	}
	afalg_key(fd, key, sizeof(key));
	if (kind == AEAD &&
	    setsockopt(fd, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, TAG))
		bail("ALG_SET_AEAD_AUTHSIZE");
	return fd;
}

static void open_all(enum kind of)
{
	int i, fd, reference;

	kind = of;
	fd = keyed(kinds[kind].generic);
	reference = afalg_accept(fd);
	tfm = keyed(kinds[kind].engine);
	for (i = 0; i < MOST; i++) {
		send_message(reference, i);
		if (read(reference, want[i], kinds[kind].size) !=
		    kinds[kind].size)
			bail("reference");
		op[i] = afalg_accept(tfm);
	}
	close(reference);
	close(fd);
}

static void close_all(void)
{
	int i;

	for (i = 0; i < MOST; i++)
		close(op[i]);
	close(tfm);
}

static bool is_right(int i)
{
	int from = kind == AEAD ? ASSOC : 0; /* nothing writes there */

	return result[i] == kinds[kind].size &&
	       !memcmp(out[i] + from, want[i] + from, kinds[kind].size - from);
}

/* Sends messages from..to-1 and submits their reads with one call. */
static void submit(int from, int to)
{
	struct iocb block[MOST] = { 0 }, *list[MOST];
	int i;

	for (i = from; i < to; i++) {
		send_message(op[i], i);
		memset(out[i], 0, OUT);
		result[i] = UNSET;
		block[i].aio_lio_opcode = IOCB_CMD_PREAD;
		block[i].aio_fildes = op[i];
		block[i].aio_buf = (uintptr_t)out[i];
		block[i].aio_nbytes = kinds[kind].size;
		block[i].aio_data = i;
		list[i] = &block[i];
	}
	if (syscall(SYS_io_submit, aio, to - from, list + from) != to - from)
		bail("io_submit");
}

/* How many of count completed within the time. */
static int reap(int count, int milliseconds)
{
	int i, got = aio_reap(event, count, milliseconds);

	for (i = 0; i < got; i++)
		result[event[i].data] = event[i].res;
	return got;
}

static int right_ones(int count)
{
	int i, good = 0;

	for (i = 0; i < count; i++)
		good += is_right(i);
	return good;
}

static int with_result(int count, long of)
{
	int i, found = 0;

	for (i = 0; i < count; i++)
		found += result[i] == of;
	return found;
}

static const char *__attribute__((format(printf, 1, 2)))
named(const char *format, ...)
{
	static char name[128];
	va_list args;
	int length;

	length = snprintf(name, sizeof(name), "%s_", kinds[kind].name);
	va_start(args, format);
	vsnprintf(name + length, sizeof(name) - length, format, args);
	va_end(args);
	return name;
}

/* What one burst cost. */
struct counts {
	unsigned int jobs, interrupts, backlogged, refused, errors;
	long switches;
};

static struct counts count(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct counts){
		.jobs = jrsim_counter("jobs"),
		.interrupts = jrsim_counter("interrupts"),
		.backlogged = jrsim_counter("backlogged"),
		.refused = jrsim_counter("refused"),
		.errors = jrsim_counter("errors"),
		.switches = usage.ru_nvcsw,
	};
}

/* Sends messages, and waits for all. How many completed. */
static int burst(int messages, struct counts *cost)
{
	struct counts before, after;
	int got;

	jrsim_fault("most_places_taken", 0);
	before = count();
	submit(0, messages);
	got = reap(messages, 20000);
	after = count();
	*cost = (struct counts){
		.jobs = after.jobs - before.jobs,
		.interrupts = after.interrupts - before.interrupts,
		.backlogged = after.backlogged - before.backlogged,
		.refused = after.refused - before.refused,
		.errors = after.errors - before.errors,
		.switches = after.switches - before.switches,
	};
	return got;
}

static bool all_right(int messages)
{
	struct counts cost;

	return burst(messages, &cost) == messages &&
	       right_ones(messages) == messages;
}

static bool is_asynchronous(void)
{
	return patched || kind == AEAD;
}

static void interrupts_are_coalesced(bool threaded)
{
	const char *where = threaded ? "thread" : "tasklet";
	bool async = is_asynchronous();
	struct counts cost;
	int got;

	jrsim_parameter("threaded", threaded);
	/* One at a time, each has to wait for this long. */
	jrsim_parameter("coalesce_us", async ? 200000 : 2000);
	jrsim_parameter("coalesce_count", 32);
	/* The ring fills faster than the engine empties it. */
	jrsim_parameter("job_ns", async ? 1000000 : 0);
	got = burst(MOST, &cost);
	jrsim_parameter("coalesce_count", 1);
	jrsim_parameter("job_ns", 0);
	jrsim_parameter("threaded", 0);
	printf("# %s, completed in a %s: %d messages, %u jobs, at most %u in the ring, %u interrupts, %ld voluntary switches\n",
	       kinds[kind].name, where, MOST, cost.jobs,
	       jrsim_counter("most_places_taken"), cost.interrupts,
	       cost.switches);
	ok(got == MOST && right_ones(MOST) == MOST,
	   named("results_of_a_%s_are_right", where));
	if (async) {
		ok(cost.jobs == MOST && cost.interrupts * 16 <= MOST,
		   named("interrupts_for_a_%s_are_a_sixteenth", where));
		ok(cost.switches * 20 <= MOST,
		   named("waits_for_a_%s_are_a_twentieth", where));
	} else {
		ok(cost.interrupts == cost.jobs && cost.jobs >= MOST,
		   named("each_job_has_an_interrupt_for_a_%s", where));
	}
}

/* Asynchronous AEAD requests of AF_ALG may not wait for a place. */
static void full_ring(bool backlog)
{
	enum { COUNT = 64, DEPTH = 8 };
	const char *with = backlog ? "with" : "without";
	struct counts cost;
	int got, good, without_space;

	jrsim_parameter("depth", DEPTH);
	jrsim_parameter("backlog", backlog);
	jrsim_parameter("job_ns", 3000000);
	got = burst(COUNT, &cost);
	jrsim_parameter("job_ns", 0);
	good = right_ones(COUNT);
	without_space = with_result(COUNT, -ENOSPC);
	printf("# %s, %s backlog: %d complete, %d right, %d ENOSPC; %u waited, %u refused\n",
	       kinds[kind].name, with, got, good, without_space,
	       cost.backlogged, cost.refused);
	ok(got == COUNT && good + without_space == COUNT && good >= DEPTH,
	   named("full_ring_%s_backlog_loses_nothing", with));
	if (backlog && kind != AEAD)
		ok(cost.backlogged > 0 && !without_space,
		   named("full_ring_%s_backlog_makes_wait", with));
	else
		ok(without_space > 0 && cost.refused > 0 && !cost.backlogged,
		   named("full_ring_%s_backlog_refuses", with));
	ok(jrsim_counter("most_places_taken") == DEPTH &&
		   !jrsim_counter("places_taken"),
	   named("full_ring_%s_backlog_is_no_longer_than_its_depth", with));

	jrsim_parameter("depth", 512);
	jrsim_parameter("backlog", 1);
	ok(all_right(COUNT),
	   named("full_ring_%s_backlog_leaves_sockets_usable", with));
}

static void errors_reach_their_message(void)
{
	enum { COUNT = 16, EVERY = 4 };
	struct counts cost;
	int i, got, in_place = 0;

	jrsim_fault("error_every", EVERY);
	got = burst(COUNT, &cost);
	jrsim_fault("error_every", 0);
	for (i = 0; i < COUNT; i++)
		in_place += i % EVERY == EVERY - 1 ? result[i] == -EIO :
						     is_right(i);
	ok(got == COUNT && in_place == COUNT,
	   named("error_reaches_its_own_message_alone"));
	ok(cost.errors == COUNT / EVERY, named("errors_are_counted"));
	ok(all_right(COUNT), named("goes_on_after_an_error"));
}

static void synchronous_error(void)
{
	uint8_t data[OUT];
	ssize_t res;

	jrsim_fault("error_every", 1);
	if (kind == HASH) {
		res = send(op[0], text, LENGTH, 0);
	} else {
		send_message(op[0], 0);
		res = read(op[0], data, kinds[kind].size);
	}
	ok(res < 0 && errno == EIO, named("error_reaches_a_blocking_caller"));
	jrsim_fault("error_every", 0);
}

static void stuck_job(void)
{
	enum { COUNT = 8 };
	bool others, alone, refused;
	int i, got;

	jrsim_fault("hold", 1);
	submit(0, COUNT);
	got = reap(COUNT - 1, 20000);
	others = got == COUNT - 1 && right_ones(COUNT) == COUNT - 1;
	alone = !reap(1, 200) && result[0] == UNSET;
	ok(others && alone, named("others_pass_a_stuck_job"));
	ok(jrsim_counter("held") == 1 && jrsim_counter("places_taken") == 1,
	   named("stuck_job_keeps_its_place"));

	/* Nobody has a socket any more, and the request is still there. */
	close_all();
	refused = jrsim_unload() == -EAGAIN;
	ok(refused, named("unload_is_refused_with_a_request_in_flight"));
	jrsim_fault("release", 1);
	ok(reap(1, 20000) == 1 && is_right(0),
	   named("stuck_job_is_right_when_it_is_released"));
	for (i = 0; i < 100 && jrsim_counter("places_taken"); i++)
		usleep(10000);
	ok(!jrsim_unload_soon() && !jrsim_load(PARAMETERS),
	   named("unloads_after_the_last_request"));
	open_all(kind);
}

/* The kernel cannot cancel: a process ends when its requests have. */
static void exit_waits(void)
{
	bool waited, ended = false;
	int i, status;
	pid_t pid;

	jrsim_fault("hold", 1);
	pid = fork();
	if (!pid) {
		aio = 0;
		async_start();
		submit(0, 1);
		_exit(0);
	}
	usleep(300000);
	waited = !waitpid(pid, &status, WNOHANG) && jrsim_counter("held") == 1;
	jrsim_fault("release", 1);
	for (i = 0; i < 1000 && !ended; i++) {
		ended = waitpid(pid, &status, WNOHANG) == pid;
		usleep(10000);
	}
	ok(waited && ended && WIFEXITED(status) && !WEXITSTATUS(status),
	   named("exit_waits_for_a_stuck_job"));
}

static void try_kind(enum kind of)
{
	open_all(of);
	interrupts_are_coalesced(false);
	interrupts_are_coalesced(true);
	synchronous_error();
	if (is_asynchronous()) {
		full_ring(true);
		full_ring(false);
		errors_reach_their_message();
		exit_waits();
		stuck_job();
	} else {
		skip(named("ring_is_filled"), "synchronous with stock modules");
	}
	close_all();
}

/* Modules that were built elsewhere than the kernel taint it. */
static bool is_patched(void)
{
	FILE *file = fopen("/sys/module/af_alg/taint", "r");
	char taint[16] = "";

	if (!file || !fgets(taint, sizeof(taint), file))
		bail("/sys/module/af_alg/taint");
	fclose(file);
	return strchr(taint, 'O');
}

int main(void)
{
	enum kind of;

	setvbuf(stdout, NULL, _IOLBF, 0);
	patched = is_patched();
	fill(text, sizeof(text), 11);
	async_start();
	if (!jrsim_start(PARAMETERS))
		return finish();
	for (of = 0; of < KINDS; of++)
		try_kind(of);
	ok(!jrsim_unload_soon(), "it_unloads_after_all_this");
	return finish();
}
