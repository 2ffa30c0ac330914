/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c - what a message costs, in counts: system calls, context switches,
 * interrupts, instructions. Counts repeat from run to run and from machine to
 * machine, times do not: time is told as a ratio within this run alone.
 *
 * usage: counts [--algorithm TYPE:NAME]... [--size LIST] [--depth LIST]
 *               [--backend LIST] [--messages N] [--interrupts TEXT] [--json]
 *
 *   --algorithm   hash:sha256, skcipher:cbc(aes), aead:gcm(aes), ... by the
 *                 kernel's name or a driver's; the default is an AES-GCM through
 *                 pcrypt where there is one, sha256 and cbc(aes)
 *   --size        bytes of a message (16,1024)
 *   --depth       messages in flight (1,16,128,1024)
 *   --backend     uring, aio, sync, soft (uring,aio,sync)
 *   --messages    so many for each line, at least twice the depth (1280)
 *   --interrupts  counts those of /proc/interrupts with this in their name
 *                 (dataq: virtio-crypto's)
 *   --json        an array of objects instead of a table
 *
 * Exits 1 when a message failed.
 */
#include <afalgbatch.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter.h"

#define LIST_MAX 16
#define TAG_LEN 16

struct list {
	unsigned values[LIST_MAX];
	unsigned count;
};

struct subject {
	enum afb_type type;
	const char *name;
};

/* One line: what was measured, and what came of it. */
struct line {
	const struct subject *subject;
	unsigned size, depth;
	enum afb_backend backend;
	uint64_t messages, failed, by_soft, system_calls;
	struct meter meter;
	double time_ratio;
};

static struct subject subjects[LIST_MAX];
static unsigned subject_count;
static struct list sizes = { { 16, 1024 }, 2 };
static struct list depths = { { 1, 16, 128, 1024 }, 4 };
static struct list backends = { { AFB_BACKEND_URING, AFB_BACKEND_AIO,
				  AFB_BACKEND_SYNC },
				3 };
static unsigned messages_wanted = 1280;
static bool json;
static const char *const type_names[] = { "hash", "skcipher", "aead" };

/* ---- Messages ----------------------------------------------------------- */

struct message {
	struct afb_op op;
	struct iovec in, out;
	uint8_t iv[AFB_IV_MAX];
};

static int open_session(struct afb_session **session,
			const struct subject *subject)
{
	static const uint8_t key[32] = "a key for measuring with alone.";
	struct afb_session_params params = AFB_SESSION_PARAMS;

	if (subject->type != AFB_HASH) {
		params.key = key;
		params.key_len = strstr(subject->name, "xts") ? 32 : 16;
		if (strstr(subject->name, "chacha"))
			params.key_len = 32;
	}
	return afb_session_open(session, subject->type, subject->name, &params);
}

static unsigned iv_len_of(const struct subject *subject)
{
	if (subject->type == AFB_HASH || strstr(subject->name, "ecb"))
		return 0;
	if (subject->type == AFB_SKCIPHER || strstr(subject->name, "ccm"))
		return 16;
	return 12;
}

static size_t result_size(const struct line *line, struct afb_session *session)
{
	if (line->subject->type == AFB_HASH)
		return afb_session_digest_size(session);
	return line->size + (line->subject->type == AFB_AEAD ? TAG_LEN : 0);
}

static struct message *make_messages(const struct line *line,
				     struct afb_session *session)
{
	struct message *messages = calloc(line->depth, sizeof(*messages));
	size_t out = result_size(line, session);
	uint8_t *data = malloc((line->size + out) * line->depth + 1);
	unsigned i;

	if (!messages || !data)
		abort();
	memset(data, 0x5a, (line->size + out) * line->depth + 1);
	for (i = 0; i < line->depth; i++) {
		struct message *message = &messages[i];

		message->in = (struct iovec){ data, line->size };
		data += line->size;
		message->out = (struct iovec){ data, out };
		data += out;
		/* As CCM wants it, and as good as any elsewhere. */
		message->iv[0] = 1;
		message->op =
			(struct afb_op){ .session = session,
					 .in = &message->in,
					 .in_cnt = 1,
					 .out = &message->out,
					 .out_cnt = 1,
					 .iv = message->iv,
					 .iv_len = iv_len_of(line->subject) };
	}
	return messages;
}

static void free_messages(struct message *messages)
{
	free(messages[0].in.iov_base);
	free(messages);
}

/* Fills the queue and empties it again: as many at once as it holds. */
static void burst(struct afb_queue *queue, struct message *messages,
		  struct line *line, unsigned count)
{
	static struct afb_op *ops[AFB_DEPTH_MAX];
	unsigned i;
	int got;

	for (i = 0; i < count; i++)
		ops[i] = &messages[i].op;
	if (afb_submit(queue, ops, count) != (int)count)
		abort();
	for (; count; count -= got) {
		got = afb_reap(queue, ops, count, count, NULL);
		if (got < 0) {
			fprintf(stderr, "counts: reap: %s\n", strerror(-got));
			exit(1);
		}
		for (i = 0; i < (unsigned)got; i++)
			line->failed += ops[i]->result !=
					(ssize_t)ops[i]->out[0].iov_len;
	}
}

static void run(struct line *line, struct afb_queue *queue,
		struct message *messages)
{
	struct afb_counters before = AFB_COUNTERS, after = AFB_COUNTERS;
	struct meter from, to;
	uint64_t i;

	/* Lanes are made in the first burst, and self-tests run. */
	burst(queue, messages, line, line->depth);
	afb_queue_counters(queue, &before);
	meter_read(&from);
	for (i = 0; i < line->messages; i += line->depth)
		burst(queue, messages, line, line->depth);
	meter_read(&to);
	afb_queue_counters(queue, &after);
	line->messages = i;
	line->meter = meter_between(&from, &to);
	line->system_calls = after.system_calls - before.system_calls;
	line->by_soft = after.messages[AFB_BACKEND_SOFT] -
			before.messages[AFB_BACKEND_SOFT];
}

/* False where this machine does not have what the line is about. */
static bool measure(struct line *line)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_session *session;
	struct message *messages;
	struct afb_queue *queue;

	params.depth = line->depth;
	params.backend = line->backend;
	params.flags = AFB_STRICT;
	if (open_session(&session, line->subject))
		return false;
	if (afb_queue_open(&queue, &params) ||
	    afb_queue_backend(queue) != line->backend) {
		afb_session_close(session);
		return false;
	}
	line->messages = messages_wanted > 2 * line->depth ? messages_wanted :
							     2 * line->depth;
	messages = make_messages(line, session);
	run(line, queue, messages);
	afb_queue_close(queue);
	afb_session_close(session);
	free_messages(messages);
	return true;
}

/* ---- The report --------------------------------------------------------- */

static void print_count(const char *name, int64_t count, uint64_t messages)
{
	double each = (double)count / messages;

	if (json && count < 0)
		printf(", \"%s\": null", name);
	else if (json)
		printf(", \"%s\": %.4f", name, each);
	else if (count < 0)
		printf(" %9s", "-");
	else
		printf(each < 1000 ? " %9.3f" : " %9.0f", each);
}

static void print_line(const struct line *line, bool first)
{
	const struct subject *subject = line->subject;
	char name[128];

	snprintf(name, sizeof(name), "%s:%s", type_names[subject->type],
		 subject->name);
	printf(json ? "%s{\"algorithm\": \"%s\", \"size\": %u, "
		      "\"backend\": \"%s\", \"depth\": %u" :
		      "%s%-32s %6u %-6s %5u",
	       json && !first ? ",\n " : "", name, line->size,
	       afb_backend_name(line->backend), line->depth);
	print_count("system_calls", line->system_calls, line->messages);
	print_count("voluntary_switches", line->meter.voluntary,
		    line->messages);
	print_count("involuntary_switches", line->meter.involuntary,
		    line->messages);
	print_count("interrupts", line->meter.interrupts, line->messages);
	print_count("instructions", line->meter.instructions, line->messages);
	printf(json ? ", \"time_ratio\": %.3f, \"messages\": %llu, "
		      "\"failed\": %llu, \"by_soft\": %llu}" :
		      " %7.3f %8llu %6llu %7llu\n",
	       line->time_ratio, (unsigned long long)line->messages,
	       (unsigned long long)line->failed,
	       (unsigned long long)line->by_soft);
}

static void print_head(void)
{
	printf("# per message; time: to that of the first line with the same "
	       "algorithm and size\n"
	       "%-32s %6s %-6s %5s %9s %9s %9s %9s %9s %7s %8s %6s %7s\n",
	       "#algorithm", "bytes", "by", "depth", "syscalls", "voluntary",
	       "involunt.", "interrupt", "instruct.", "time", "messages",
	       "failed", "by_soft");
}

/* Every depth by every back end, for one algorithm and size. */
static uint64_t report(const struct subject *subject, unsigned size,
		       bool *first)
{
	double base = 0, each;
	uint64_t failed = 0;
	unsigned b, d;

	for (b = 0; b < backends.count; b++) {
		for (d = 0; d < depths.count; d++) {
			struct line line = { .subject = subject,
					     .size = size,
					     .depth = depths.values[d],
					     .backend = backends.values[b] };

			if (!measure(&line))
				continue;
			each = (double)line.meter.nanoseconds / line.messages;
			if (base == 0)
				base = each;
			line.time_ratio = each / base;
			print_line(&line, *first);
			fflush(stdout);
			*first = false;
			failed += line.failed;
		}
	}
	return failed;
}

/* ---- Options ------------------------------------------------------------ */

static void usage(void)
{
	fprintf(stderr, "usage: counts [--algorithm TYPE:NAME]... "
			"[--size LIST] [--depth LIST] [--backend LIST] "
			"[--messages N] [--interrupts TEXT] [--json]\n");
	exit(2);
}

static unsigned number(const char *text, unsigned max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || !value || value > max)
		usage();
	return value;
}

static void parse_list(struct list *list, char *text, unsigned max)
{
	char *word;

	list->count = 0;
	while ((word = strsep(&text, ","))) {
		if (list->count == LIST_MAX)
			usage();
		list->values[list->count++] = number(word, max);
	}
}

static void parse_backends(char *text)
{
	char *word;
	int backend;

	backends.count = 0;
	while ((word = strsep(&text, ","))) {
		backend = afb_backend_from_name(word);
		if (backend <= AFB_BACKEND_AUTO || backends.count == LIST_MAX)
			usage();
		backends.values[backends.count++] = backend;
	}
}

static void add_subject(const char *text)
{
	const char *name = strchr(text, ':');
	int type;

	for (type = AFB_HASH; name && type <= AFB_AEAD; type++)
		if (!strncmp(text, type_names[type], name - text) &&
		    !type_names[type][name - text])
			break;
	if (!name || type > AFB_AEAD || subject_count == LIST_MAX)
		usage();
	subjects[subject_count++] = (struct subject){ type, name + 1 };
}

/* The GCM that works while its caller goes on, or else the usual one. */
static void add_default_subjects(void)
{
	static const char *const gcms[] = {
		"pcrypt(generic-gcm-aesni)",
		"pcrypt(gcm_base(ctr(aes-generic),ghash-generic))",
		"gcm(aes)",
	};
	struct subject subject = { AFB_AEAD, NULL };
	struct afb_session *session = NULL;
	unsigned i;

	for (i = 0; i < 3 && !session; i++) {
		subject.name = gcms[i];
		if (open_session(&session, &subject))
			session = NULL;
	}
	afb_session_close(session);
	subjects[subject_count++] = subject;
	add_subject("hash:sha256");
	add_subject("skcipher:cbc(aes)");
}

static void parse(int argc, char **argv, const char **interrupts)
{
	static const struct option options[] = {
		{ "algorithm", required_argument, NULL, 'a' },
		{ "size", required_argument, NULL, 's' },
		{ "depth", required_argument, NULL, 'd' },
		{ "backend", required_argument, NULL, 'b' },
		{ "messages", required_argument, NULL, 'm' },
		{ "interrupts", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'a')
			add_subject(optarg);
		else if (option == 's')
			parse_list(&sizes, optarg, AFB_CIPHER_MAX - TAG_LEN);
		else if (option == 'd')
			parse_list(&depths, optarg, AFB_DEPTH_MAX);
		else if (option == 'b')
			parse_backends(optarg);
		else if (option == 'm')
			messages_wanted = number(optarg, 100000000);
		else if (option == 'i')
			*interrupts = optarg;
		else if (option == 'j')
			json = true;
		else
			usage();
	}
	if (optind < argc)
		usage();
}

int main(int argc, char **argv)
{
	const char *interrupts = "dataq";
	uint64_t failed = 0;
	bool first = true;
	unsigned a, s;

	parse(argc, argv, &interrupts);
	if (!subject_count)
		add_default_subjects();
	meter_open(interrupts);
	if (json)
		printf("[");
	else
		print_head();
	for (a = 0; a < subject_count; a++)
		for (s = 0; s < sizes.count; s++)
			failed += report(&subjects[a], sizes.values[s], &first);
	if (json)
		printf("]\n");
	return failed ? 1 : 0;
}
