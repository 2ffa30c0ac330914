/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encrypt-records.c - an example of libafalgbatch: cuts a file into records of
 * 16 KiB, encrypts each with AES-GCM, and puts the file together again, with
 * hundreds of records in flight from one thread. Build it with
 * cc encrypt-records.c $(pkg-config --cflags --libs afalgbatch).
 *
 *   - The records are a ring. Those from `written` to `started` are under way:
 *     number n has its place, and its op, at n % depth.
 *   - Ops end in any order, and are written in the order of their numbers.
 *   - While half of the ring is with the kernel, the other half is written and
 *     filled anew: afb_reap() is asked for half of what is in flight.
 *   - A record's buffers are the library's until afb_reap() has returned its op.
 *     On an error the queue is closed before they are freed.
 *
 * The output is made to be cut off, mixed up and altered without success:
 *
 *   file    MAGIC, 12 bytes of salt, records
 *   record  header, text, tag of 16 bytes; number n has the nonce salt ^ n
 *   header  4 bytes, most significant first: the text's length, and LAST
 *
 * The header is the AAD. A record in another's place has another's nonce, one
 * without its end lacks its tag, and a file without its end lacks LAST. A key is
 * good for 2^32 records in all its files together (NIST SP 800-38D).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <afalgbatch.h>

#define MAGIC "AFBREC1\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
#define TEXT_MAX 16384
#define TAG_LEN 16
#define NONCE_LEN 12
#define HEADER_LEN 4
#define LAST (1U << 31)

struct record {
	struct afb_op op;
	struct iovec in, out;
	uint8_t nonce[NONCE_LEN];
	uint8_t input[HEADER_LEN + TEXT_MAX + TAG_LEN]; /* AAD, text, tag */
	uint8_t output[TEXT_MAX + TAG_LEN];
	bool ended; /* the op has been reaped */
};

struct transfer {
	FILE *from;
	enum afb_kind kind;
	uint8_t salt[NONCE_LEN];
	struct afb_session *session;
	struct afb_queue *queue;
	struct record *ring;
	unsigned depth;
	unsigned in_flight;	   /* submitted and not reaped */
	uint64_t started, written; /* records */
	bool at_end;		   /* of the input, or of what is right in it */
	bool failed;
};

static void complain(struct transfer *transfer, const char *what, int error)
{
	fprintf(stderr, "encrypt-records: %s: %s\n", what, strerror(-error));
	transfer->failed = true;
}

static void refuse(struct transfer *transfer, uint64_t number, const char *why)
{
	fprintf(stderr, "encrypt-records: record %ju: %s\n", (uintmax_t)number,
		why);
	transfer->failed = true;
}

/* ---- Reading a record --------------------------------------------------- */

static void put_header(uint8_t header[HEADER_LEN], uint32_t value)
{
	int i;

	for (i = 0; i < HEADER_LEN; i++)
		header[i] = value >> (24 - 8 * i);
}

static uint32_t get_header(const uint8_t header[HEADER_LEN])
{
	return (uint32_t)header[0] << 24 | header[1] << 16 | header[2] << 8 |
	       header[3];
}

/* Looks one byte ahead. An error is no end, and shows in ferror(3). */
static bool input_ends(FILE *from)
{
	int byte = getc(from);

	if (byte == EOF)
		return !ferror(from);
	ungetc(byte, from);
	return false;
}

/* The next text, and a header made for it. False: there is an error. */
static bool read_text(struct transfer *transfer, struct record *record)
{
	size_t len;

	len = fread(record->input + HEADER_LEN, 1, TEXT_MAX, transfer->from);
	transfer->at_end = input_ends(transfer->from);
	/* Without a last record the reader of the output will notice as well. */
	if (ferror(transfer->from)) {
		complain(transfer, "input", -errno);
		return false;
	}
	put_header(record->input, len | (transfer->at_end ? LAST : 0));
	record->in.iov_len = HEADER_LEN + len;
	record->out.iov_len = len + TAG_LEN;
	return true;
}

/* The next header, text and tag. False: the input is not what it should be. */
static bool read_sealed(struct transfer *transfer, struct record *record)
{
	FILE *from = transfer->from;
	const char *wrong = NULL;
	uint32_t header;
	size_t len;

	errno = 0;
	if (fread(record->input, 1, HEADER_LEN, from) < HEADER_LEN) {
		wrong = "the input ends before the last record";
	} else {
		header = get_header(record->input);
		len = header & ~LAST;
		transfer->at_end = header & LAST;
		record->in.iov_len = HEADER_LEN + len + TAG_LEN;
		record->out.iov_len = len;
		if (len > TEXT_MAX)
			wrong = "its header makes no sense";
		else if (fread(record->input + HEADER_LEN, 1, len + TAG_LEN,
			       from) < len + TAG_LEN)
			wrong = "the input ends within it";
		else if (transfer->at_end && !input_ends(from))
			wrong = "something follows the last record";
	}
	if (ferror(from))
		complain(transfer, "input", -errno);
	else if (wrong)
		refuse(transfer, transfer->started, wrong);
	return !ferror(from) && !wrong;
}

/* ---- Records under way -------------------------------------------------- */

static struct record *record_of(struct transfer *transfer, uint64_t number)
{
	return &transfer->ring[number % transfer->depth];
}

/* The nonce is the salt, with the record's number in its last eight bytes. */
static void make_nonce(const struct transfer *transfer, struct record *record)
{
	int i;

	memcpy(record->nonce, transfer->salt, NONCE_LEN);
	for (i = 0; i < 8; i++)
		record->nonce[NONCE_LEN - 1 - i] ^= transfer->started >> 8 * i;
}

/* Reads the next record and lends it to the queue. */
static void start_record(struct transfer *transfer)
{
	struct record *record = record_of(transfer, transfer->started);
	struct afb_op *op = &record->op;
	bool good;

	good = transfer->kind == AFB_ENCRYPT ? read_text(transfer, record) :
					       read_sealed(transfer, record);
	if (!good) {
		transfer->at_end = true;
		return;
	}
	make_nonce(transfer, record);
	record->in.iov_base = record->input;
	record->out.iov_base = record->output;
	record->ended = false;
	*op = (struct afb_op){
		.session = transfer->session,
		.kind = transfer->kind,
		.in = &record->in,
		.in_cnt = 1,
		.out = &record->out,
		.out_cnt = 1,
		.iv = record->nonce,
		.iv_len = NONCE_LEN,
		.aad_len = HEADER_LEN,
		.user = record,
	};
	/* The ring is no larger than the queue: only memory can be short. */
	if (afb_submit(transfer->queue, &op, 1) != 1) {
		complain(transfer, "queue", -ENOMEM);
		transfer->at_end = true;
		return;
	}
	transfer->started++;
	transfer->in_flight++;
}

/* Starts what was submitted, and waits for half of what is in flight. */
static int reap(struct transfer *transfer)
{
	struct afb_op *done[AFB_DEPTH_MAX];
	struct record *record;
	int i, n;

	n = afb_reap(transfer->queue, done, transfer->in_flight,
		     (transfer->in_flight + 1) / 2, NULL);
	for (i = 0; i < n; i++) {
		record = done[i]->user;
		record->ended = true;
	}
	transfer->in_flight -= n > 0 ? n : 0;
	return n < 0 ? n : 0;
}

/* False: the record is not what its tag was made for, or it cannot be written. */
static bool write_record(struct transfer *transfer, const struct record *record)
{
	if (record->op.result == -EBADMSG) {
		refuse(transfer, transfer->written,
		       "it is altered, or the key is another one");
		return false;
	}
	if (record->op.result < 0) {
		refuse(transfer, transfer->written,
		       strerror((int)-record->op.result));
		return false;
	}
	if (transfer->kind == AFB_ENCRYPT)
		fwrite(record->input, 1, HEADER_LEN, stdout);
	fwrite(record->output, 1, record->op.result, stdout);
	if (ferror(stdout))
		complain(transfer, "standard output", -errno);
	return !ferror(stdout);
}

/* What has ended, up to the first that has not. */
static bool write_ended(struct transfer *transfer)
{
	struct record *record;

	for (; transfer->written < transfer->started; transfer->written++) {
		record = record_of(transfer, transfer->written);
		if (!record->ended)
			return true;
		if (!write_record(transfer, record))
			return false;
	}
	return true;
}

static void run(struct transfer *transfer)
{
	bool good = true;
	int ret;

	while (good) {
		while (!transfer->at_end &&
		       transfer->started - transfer->written < transfer->depth)
			start_record(transfer);
		if (transfer->written == transfer->started)
			break;
		ret = reap(transfer);
		if (ret)
			complain(transfer, "afb_reap", ret);
		good = !ret && write_ended(transfer);
	}
	if (fflush(stdout) && good)
		complain(transfer, "standard output", -errno);
}

/* ---- Beginning and end -------------------------------------------------- */

static bool begin_encryption(struct transfer *transfer)
{
	if (getrandom(transfer->salt, NONCE_LEN, 0) != NONCE_LEN) {
		complain(transfer, "getrandom", -errno);
		return false;
	}
	fwrite(MAGIC, 1, MAGIC_LEN, stdout);
	fwrite(transfer->salt, 1, NONCE_LEN, stdout);
	return true;
}

static bool begin_decryption(struct transfer *transfer)
{
	char magic[MAGIC_LEN];

	if (fread(magic, 1, MAGIC_LEN, transfer->from) == MAGIC_LEN &&
	    !memcmp(magic, MAGIC, MAGIC_LEN) &&
	    fread(transfer->salt, 1, NONCE_LEN, transfer->from) == NONCE_LEN)
		return true;
	fprintf(stderr, "encrypt-records: the input is no file of records\n");
	transfer->failed = true;
	return false;
}

static int open_session(struct transfer *transfer, const char *key_file)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	FILE *file = fopen(key_file, "re");
	uint8_t key[33];
	int ret;

	if (!file)
		return -errno;
	/* The key should be nowhere but in the library. */
	setvbuf(file, NULL, _IONBF, 0);
	params.key = key;
	params.key_len = fread(key, 1, sizeof(key), file);
	params.tag_len = TAG_LEN;
	ret = ferror(file) ? -errno : -EINVAL;
	/* AES-128, AES-192 and AES-256. */
	if (params.key_len == 16 || params.key_len == 24 ||
	    params.key_len == 32)
		ret = afb_session_open(&transfer->session, AFB_AEAD, "gcm(aes)",
				       &params);
	explicit_bzero(key, sizeof(key));
	fclose(file);
	return ret;
}

static int open_all(struct transfer *transfer, const char *key_file)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	int ret;

	params.depth = transfer->depth;
	ret = open_session(transfer, key_file);
	if (!ret)
		ret = afb_queue_open(&transfer->queue, &params);
	if (ret)
		return ret;
	transfer->ring = calloc(transfer->depth, sizeof(struct record));
	return transfer->ring ? 0 : -ENOMEM;
}

static void print_counters(void)
{
	struct afb_counters c = AFB_COUNTERS;
	int i;

	afb_counters_get(&c);
	fprintf(stderr,
		"encrypt-records: records %ju: ", (uintmax_t)c.messages[0]);
	for (i = AFB_BACKEND_AUTO + 1; i < AFB_BACKENDS; i++)
		fprintf(stderr, "%s %ju, ", afb_backend_name(i),
			(uintmax_t)c.messages[i]);
	fprintf(stderr, "system calls %ju, in flight at most %ju\n",
		(uintmax_t)c.system_calls, (uintmax_t)c.in_flight_max);
}

static void transfer_file(struct transfer *transfer, const char *key_file)
{
	int ret = open_all(transfer, key_file);

	if (ret)
		complain(transfer, key_file, ret);
	else if (transfer->kind == AFB_ENCRYPT ? begin_encryption(transfer) :
						 begin_decryption(transfer))
		run(transfer);

	/* The queue first: what it has in flight uses the ring's buffers. */
	afb_queue_close(transfer->queue);
	afb_session_close(transfer->session);
	free(transfer->ring);
}

int main(int argc, char **argv)
{
	struct transfer transfer = { .from = stdin, .depth = 256 };
	int option, verbose = 0;

	while ((option = getopt(argc, argv, "dn:v")) != -1) {
		if (option == 'd')
			transfer.kind = AFB_DECRYPT;
		else if (option == 'n')
			transfer.depth = atoi(optarg);
		else if (option == 'v')
			verbose = 1;
		else
			argc = 0;
	}
	if (optind >= argc || optind + 2 < argc || !transfer.depth ||
	    transfer.depth > AFB_DEPTH_MAX) {
		fprintf(stderr,
			"usage: %s [-d] [-v] [-n DEPTH] KEY-FILE [FILE]\n"
			"The key is 16, 24 or 32 bytes; -d decrypts; output is"
			" standard output.\n",
			argv[0]);
		return 2;
	}
	if (argv[optind + 1])
		transfer.from = fopen(argv[optind + 1], "re");
	if (!transfer.from) {
		complain(&transfer, argv[optind + 1], -errno);
		return 1;
	}
	transfer_file(&transfer, argv[optind]);
	if (verbose)
		print_counters();
	return transfer.failed;
}
