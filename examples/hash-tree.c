/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash-tree.c - an example of libafalgbatch: prints the digest of every regular
 * file below a folder, as sha256sum does, with many files in flight at once.
 * Build it with cc hash-tree.c $(pkg-config --cflags --libs afalgbatch).
 *
 *   - One session for the algorithm, one queue for the thread, an op for a file.
 *   - Files are read and submitted until the batch is full, then reaped together.
 *   - Ops end in any order; their jobs stay in the order of the walk.
 *   - A file longer than SMALL_MAX goes through a stream, piece by piece.
 *   - A buffer is freed when its op has been reaped, never before.
 */
#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <afalgbatch.h>

#define SMALL_MAX ((size_t)1 << 20)  /* the longest file that is one op */
#define BYTES_MAX ((size_t)64 << 20) /* of files in memory, about */

struct job {
	struct afb_op op; /* its result is the digest's length or -errno */
	struct iovec in, out;
	unsigned char digest[AFB_DIGEST_MAX];
	char *path;
};

struct tree {
	struct afb_session *session;
	struct afb_queue *queue;
	struct afb_stream *stream;
	struct job jobs[AFB_DEPTH_MAX]; /* the batch, in walk order */
	unsigned depth, count;		/* jobs it may have, jobs it has */
	unsigned in_flight;		/* of these, submitted and not reaped */
	size_t bytes;			/* in their buffers */
	int failed;
};

static void complain(struct tree *tree, const char *what, ssize_t error)
{
	fprintf(stderr, "hash-tree: %s: %s\n", what, strerror((int)-error));
	tree->failed = 1;
}

/* A backslash before the digest says that something in the name is escaped. */
static void print_line(struct tree *tree, const struct job *job)
{
	const char *c;
	ssize_t i;

	if (job->op.result < 0) {
		complain(tree, job->path, job->op.result);
		return;
	}
	printf("%s", strpbrk(job->path, "\\\n\r") ? "\\" : "");
	for (i = 0; i < job->op.result; i++)
		printf("%02x", job->digest[i]);
	printf("  ");
	for (c = job->path; *c; c++) {
		if (strchr("\\\n\r", *c))
			putchar('\\');
		putchar(*c == '\n' ? 'n' : *c == '\r' ? 'r' : *c);
	}
	putchar('\n');
}

static void free_batch(struct tree *tree)
{
	for (; tree->count; tree->count--) {
		free(tree->jobs[tree->count - 1].path);
		free(tree->jobs[tree->count - 1].in.iov_base);
	}
	tree->bytes = 0;
}

/* An op's result stands in the op: what afb_reap() adds is that it is there. */
static int finish_batch(struct tree *tree)
{
	struct afb_op *done[AFB_DEPTH_MAX];
	struct job *job;
	int n;

	while (tree->in_flight) {
		n = afb_reap(tree->queue, done, tree->in_flight,
			     tree->in_flight, NULL);
		if (n < 0)
			return n;
		tree->in_flight -= n;
	}
	for (job = tree->jobs; job < tree->jobs + tree->count; job++)
		print_line(tree, job);
	free_batch(tree);
	return 0;
}

/* A long file, of which @buffer has the first @size bytes. */
static ssize_t hash_long(struct tree *tree, struct job *job, FILE *file,
			 char *buffer, size_t size)
{
	size_t len;
	int ret = 0;

	afb_stream_reset(tree->stream);
	for (len = size; len && !ret; len = fread(buffer, 1, size, file))
		ret = afb_stream_update(tree->stream, buffer, len);
	if (ret || ferror(file))
		return ret ? ret : -errno;
	return afb_stream_final(tree->stream, job->digest, AFB_DIGEST_MAX);
}

/* Lends the queue the whole file, which is in job->in. */
static void hash_short(struct tree *tree, struct job *job)
{
	struct afb_op *op = &job->op;

	job->out = (struct iovec){ job->digest, sizeof(job->digest) };
	op->session = tree->session;
	op->in = &job->in;
	op->out = &job->out;
	op->in_cnt = op->out_cnt = 1;
	/* The batch is no larger than the queue: only memory can be short. */
	op->result = -ENOMEM;
	tree->in_flight += afb_submit(tree->queue, &op, 1);
	tree->bytes += job->in.iov_len;
}

/* What stat(2) said is a hint: a file ends where its reading ends. */
static void hash_file(struct tree *tree, struct job *job, size_t expected)
{
	size_t size = (expected < SMALL_MAX ? expected : SMALL_MAX) + 1;
	FILE *file = fopen(job->path, "re");
	char *buffer = file ? malloc(size) : NULL;

	job->in.iov_base = buffer;
	job->in.iov_len = buffer ? fread(buffer, 1, size, file) : 0;
	if (!buffer || ferror(file)) {
		job->op.result = -errno;
	} else if (job->in.iov_len < size) {
		hash_short(tree, job);
	} else {
		job->op.result = hash_long(tree, job, file, buffer, size);
		free(buffer);
		job->in.iov_base = NULL;
	}
	if (file)
		fclose(file);
}

static int add_file(struct tree *tree, const FTSENT *entry)
{
	struct job *job = &tree->jobs[tree->count];

	*job = (struct job){ .path = strdup(entry->fts_path) };
	if (!job->path)
		return -ENOMEM;
	tree->count++;
	hash_file(tree, job, entry->fts_statp->st_size);
	if (tree->count == tree->depth || tree->bytes > BYTES_MAX)
		return finish_batch(tree);
	/* The kernel's driver can be at work while more files are read. */
	return tree->count % 64 ? 0 : afb_flush(tree->queue);
}

/* An error of one file or folder is told, and the walk goes on. */
static int walk(struct tree *tree, char *folder)
{
	char *roots[] = { folder, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int ret = fts ? 0 : -errno;

	while (!ret && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_F)
			ret = add_file(tree, entry);
		else if (entry->fts_info == FTS_DNR ||
			 entry->fts_info == FTS_NS)
			complain(tree, entry->fts_path, -entry->fts_errno);
	}
	if (!ret && errno)
		ret = -errno;
	if (fts)
		fts_close(fts);
	return ret ? ret : finish_batch(tree);
}

static void print_counters(void)
{
	struct afb_counters c = AFB_COUNTERS;
	int i;

	afb_counters_get(&c);
	fprintf(stderr, "hash-tree: messages %ju: ", (uintmax_t)c.messages[0]);
	for (i = AFB_BACKEND_AUTO + 1; i < AFB_BACKENDS; i++)
		fprintf(stderr, "%s %ju, ", afb_backend_name(i),
			(uintmax_t)c.messages[i]);
	fprintf(stderr, "system calls %ju, in flight at most %ju\n",
		(uintmax_t)c.system_calls, (uintmax_t)c.in_flight_max);
}

int main(int argc, char **argv)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	static struct tree tree = { .depth = 1000 };
	const char *hash = "sha256";
	int option, ret, verbose = 0;

	while ((option = getopt(argc, argv, "a:n:v")) != -1) {
		if (option == 'a')
			hash = optarg;
		else if (option == 'n')
			tree.depth = atoi(optarg);
		else if (option == 'v')
			verbose = 1;
		else
			argc = 0;
	}
	if (optind + 1 != argc || !tree.depth || tree.depth > AFB_DEPTH_MAX) {
		fprintf(stderr, "usage: %s [-v] [-a HASH] [-n DEPTH] FOLDER\n",
			argv[0]);
		return 2;
	}
	params.depth = tree.depth;
	ret = afb_session_open(&tree.session, AFB_HASH, hash, NULL);
	if (!ret)
		ret = afb_queue_open(&tree.queue, &params);
	if (!ret)
		ret = afb_stream_open(&tree.stream, tree.session);
	if (!ret)
		ret = walk(&tree, argv[optind]);
	if (ret)
		complain(&tree, tree.stream ? argv[optind] : hash, ret);

	/* The queue first: what it has in flight uses the jobs' buffers. */
	afb_queue_close(tree.queue);
	afb_stream_close(tree.stream);
	afb_session_close(tree.session);
	free_batch(&tree);
	if (fflush(stdout) || ferror(stdout))
		complain(&tree, "standard output", -errno);
	if (verbose)
		print_counters();
	return tree.failed;
}
