/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.c - see workload.h.
 *
 * What a fault may do, by where it strikes:
 *
 *   a system call, with software to turn to   nothing: all digests are right;
 *                                             but a stream loses a message of
 *                                             which the kernel has the beginning
 *   a system call, AFB_STRICT                 its errno
 *   memory and libcrypto                      -ENOMEM and -EIO
 *
 * After a fault that strikes once, the same objects must serve again.
 */
#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afalgbatch.h"
#include "workload.h"

#define POOL_SIZE ((size_t)768 << 10)
#define MESSAGES 40
#define DEPTH 16
#define MANY_PIECES 1200	   /* more than one sendmsg carries */
#define LONG_SIZE ((size_t)280000) /* of a stream: more than two buffers */
#define DUP_AT ((size_t)150000)
#define PIECE ((size_t)47001)

#define OUT_MAX 1024

/* The sessions of a queue's messages. */
enum with { WITH_HASH, WITH_STRICT_HASH, WITH_CTR, WITH_GCM, WITHS };

struct message {
	struct afb_op op;
	struct iovec pieces[3];
	struct iovec out;
	uint8_t got[OUT_MAX], right[OUT_MAX];
	ssize_t result; /* the right one */
	enum with with;
	bool ended;
};

static const uint8_t key[16] = "0123456789abcdef";
static uint8_t pool[POOL_SIZE];
static struct iovec many_pieces[MANY_PIECES];
/* For each back end. The kernel may write late: never freed. */
static struct message messages[3][MESSAGES];
static uint8_t long_digest[2][AFB_DIGEST_MAX]; /* the original's, the copy's */

static struct fault fault;
static char *why_not;
static size_t why_size;

/* ---- The data ----------------------------------------------------------- */

static void digest_right(const struct iovec *in, unsigned in_cnt,
			 const char *name, uint8_t *digest)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned i;

	EVP_DigestInit(ctx, EVP_get_digestbyname(name));
	for (i = 0; i < in_cnt; i++)
		EVP_DigestUpdate(ctx, in[i].iov_base, in[i].iov_len);
	EVP_DigestFinal(ctx, digest, NULL);
	EVP_MD_CTX_free(ctx);
}

static void prepare_hash(struct message *message)
{
	bool strict = message->with == WITH_STRICT_HASH;

	message->result = strict ? 16 : 20;
	digest_right(message->op.in, message->op.in_cnt,
		     strict ? "md5" : "sha1", message->right);
}

/*
 * Text of the pieces, after 16 bytes of IV and 16 of AAD that the pool begins
 * with. Every other AEAD op is a decryption of what has no right tag: it gives
 * -EBADMSG, and nothing else.
 */
static void prepare_cipher(struct message *message, unsigned i)
{
	bool aead = message->with == WITH_GCM;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t *text = message->pieces[1].iov_base;
	size_t len = 100 + i * 7;
	int n;

	message->pieces[0] = (struct iovec){ pool + 16, aead ? 16 : 0 };
	message->pieces[1].iov_len = len;
	message->pieces[2].iov_len = 0;
	message->op.in_cnt = 3;
	message->op.iv = pool;
	message->op.iv_len = aead ? 12 : 16;
	message->op.aad_len = aead ? 16 : 0;
	message->op.kind = AFB_ENCRYPT;
	message->result = len + message->op.aad_len;
	if (aead && i / WITHS % 2) {
		message->op.kind = AFB_DECRYPT;
		message->result = -EBADMSG;
		goto out;
	}
	EVP_EncryptInit(ctx, aead ? EVP_aes_128_gcm() : EVP_aes_128_ctr(), key,
			pool);
	if (aead)
		EVP_EncryptUpdate(ctx, NULL, &n, pool + 16, 16);
	EVP_EncryptUpdate(ctx, message->right, &n, text, len);
	EVP_EncryptFinal(ctx, message->right + len, &n);
	if (aead)
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16,
				    message->right + len);
out:
	EVP_CIPHER_CTX_free(ctx);
}

static void prepare_message(struct message *message, unsigned i)
{
	uint8_t *at = pool + i * 6007;

	message->with = i % WITHS;
	message->pieces[0] = (struct iovec){ at, i * 97 % 4096 };
	message->pieces[1] = (struct iovec){ at + 5000, 0 };
	message->pieces[2] = (struct iovec){ at + 5001, 1 + i };
	message->out = (struct iovec){ message->got, OUT_MAX };
	message->op = (struct afb_op){ .in = message->pieces,
				       .in_cnt = i % 3 ? 1 : 3,
				       .out = &message->out,
				       .out_cnt = 1,
				       .user = message };
	if (i % MESSAGES == 8) {
		message->op.in = many_pieces;
		message->op.in_cnt = i == 8 ? MANY_PIECES : 30;
	}
	if (message->with == WITH_CTR || message->with == WITH_GCM)
		prepare_cipher(message, i);
	else
		prepare_hash(message);
}

/*
 * An instance of pcrypt outranks what it wraps: from now on the kernel's gcm(aes)
 * works while the caller goes on, and writes its result when it likes.
 */
static void make_gcm_asynchronous(void)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	struct afb_session *session;

	params.flags = AFB_STRICT;
	params.key = key;
	params.key_len = sizeof(key);
	if (!afb_session_open(&session, AFB_AEAD, "pcrypt(generic-gcm-aesni)",
			      &params))
		afb_session_close(session);
}

void workload_prepare(void)
{
	struct iovec long_in[2];
	uint32_t state = 1;
	unsigned i;

	/* Calls are counted: each run must make the same. */
	afb_set_threads(0);
	make_gcm_asynchronous();
	for (i = 0; i < POOL_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		pool[i] = state >> 24;
	}
	for (i = 0; i < MANY_PIECES; i++)
		many_pieces[i] = (struct iovec){ pool + i * 5, i % 4 };
	for (i = 0; i < 3 * MESSAGES; i++)
		prepare_message(&messages[i / MESSAGES][i % MESSAGES], i);
	long_in[0] = (struct iovec){ pool, LONG_SIZE };
	digest_right(long_in, 1, "sha1", long_digest[0]);
	long_in[0].iov_len = DUP_AT;
	long_in[1] = (struct iovec){ pool, LONG_SIZE - DUP_AT };
	digest_right(long_in, 2, "sha1", long_digest[1]);
}

/* ---- What may be -------------------------------------------------------- */

static bool wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why_not, why_size, format, args);
	va_end(args);
	return false;
}

static bool in_system_call(void)
{
	return fault.kind < FAULT_SYSTEM_CALLS;
}

/* An error that tells of the fault; a call that did less shows as EIO. */
static bool tells_of_fault(int ret)
{
	if (!inject_fired())
		return false;
	if (fault.kind == FAULT_MEMORY)
		return ret == -ENOMEM;
	if (fault.kind == FAULT_OBJECT || fault.kind == FAULT_DIGEST)
		return ret == -ENOMEM || ret == -EIO;
	return ret == (fault_falls_short(&fault) ? -EIO : -fault.error);
}

/* The same where software serves if the kernel does not. */
static bool is_excused(int ret, bool strict)
{
	return tells_of_fault(ret) && (strict || !in_system_call());
}

/* Opening says -ENOSYS of an io_uring that does not know what it is asked. */
static bool is_excused_open(int ret, bool strict)
{
	if (strict && ret == -ENOSYS && fault.error == EINVAL &&
	    fault.kind >= FAULT_URING_SETUP && in_system_call())
		return inject_fired();
	if (fault.kind == FAULT_OBJECT && ret == -ENOENT)
		return inject_fired();
	return is_excused(ret, strict);
}

static bool kernel_expected(void)
{
	return getenv("AFALGBATCH_EXPECT_KERNEL") != NULL;
}

/* ---- Queues ------------------------------------------------------------- */

static unsigned collect(struct afb_op **done, unsigned count)
{
	struct message *message;
	unsigned i;

	for (i = 0; i < count; i++) {
		message = done[i]->user;
		if (message->ended)
			return i;
		message->ended = true;
	}
	return count;
}

/* May flush and reap say so? They do where a whole burst is concerned. */
static bool tells_of_call(int ret)
{
	return (fault.kind == FAULT_URING_ENTER ||
		fault.kind == FAULT_AIO_GETEVENTS) &&
	       tells_of_fault(ret);
}

/* Gives in and takes out what the array names, every op exactly once. */
static bool pass(struct afb_queue *queue, struct afb_op **ops, unsigned count,
		 bool *stuck)
{
	static const struct timespec patience = { .tv_sec = 5 };
	unsigned sent = 0, ended = 0, tries = 0;
	struct afb_op *done[8];
	int got, flushed, taken;

	while (ended < count) {
		taken = afb_submit(queue, ops + sent, count - sent);
		if (taken < 0)
			return wrong("submit: %s", strerror(-taken));
		sent += taken;
		flushed = sent & 1 ? afb_flush(queue) : 0;
		if (flushed && !tells_of_call(flushed))
			return wrong("flush: %s", strerror(-flushed));
		got = afb_reap(queue, done, 8, sent > ended,
			       ended & 1 ? &patience : NULL);
		if (got < 0 && !tells_of_call(got))
			return wrong("reap: %s", strerror(-got));
		if (got > 0 && collect(done, got) != (unsigned)got)
			return wrong("an op came back twice");
		if (got > 0)
			ended += got;
		else if (!inject_fired())
			return wrong("nothing came of %u ops", sent - ended);
		else if (++tries == 8 && !fault.always)
			return wrong("nothing came of %u ops, and again",
				     sent - ended);
		else if (tries == 8)
			return *stuck = true;
	}
	return true;
}

static bool is_right(const struct message *message)
{
	return message->op.result == message->result &&
	       !memcmp(message->got, message->right, OUT_MAX);
}

/* The ops that failed, as they may, go to *failed; a wrong one is the end. */
static bool judge(struct message *all, struct afb_op **failed, unsigned *count)
{
	struct message *message;
	unsigned i, n = 0;
	bool strict, excused;

	for (i = 0; i < MESSAGES; i++) {
		message = &all[i];
		if (!message->op.session || is_right(message))
			continue;
		if (message->op.result >= 0)
			return wrong("op %u: wrong result (%zd)", i,
				     message->op.result);
		strict = message->with == WITH_STRICT_HASH;
		excused = is_excused(message->op.result, strict);
		if (!excused)
			return wrong("op %u%s: %s", i, strict ? ", strict" : "",
				     strerror(-message->op.result));
		message->ended = false;
		failed[n++] = &message->op;
	}
	*count = n;
	return true;
}

/* The message of a thousand calls is for the faults that can strike in it. */
static bool takes_part(const struct message *message)
{
	return message->op.in_cnt < MANY_PIECES || !fault.nth ||
	       fault.kind == FAULT_ACCEPT || fault.kind == FAULT_SEND ||
	       fault.kind == FAULT_READ || fault.kind == FAULT_DIGEST;
}

/*
 * Two hashes go first: where the kernel leaves the last read of a burst undone, nothing
 * else ends meanwhile, and a socket that is read too early has the hash of nothing.
 */
static bool pass_all(struct afb_queue *queue, struct afb_op **ops,
		     unsigned count, bool *stuck)
{
	unsigned first = count < 2 ? count : 2;

	return pass(queue, ops, first, stuck) &&
	       (*stuck || pass(queue, ops + first, count - first, stuck));
}

static bool run_messages(struct afb_queue *queue, struct message *all,
			 struct afb_session *const *sessions)
{
	struct afb_op *ops[MESSAGES];
	unsigned i, count = 0;
	bool stuck = false;

	for (i = 0; i < MESSAGES; i++) {
		all[i].op.session = NULL;
		if (!takes_part(&all[i]))
			continue;
		all[i].op.session = sessions[all[i].with];
		all[i].op.result = 0;
		all[i].ended = false;
		memset(all[i].got, 0, OUT_MAX);
		if (all[i].op.session)
			ops[count++] = &all[i].op;
	}
	if (!pass_all(queue, ops, count, &stuck))
		return false;
	if (stuck)
		return true;
	if (!judge(all, ops, &count))
		return false;
	if (!count || fault.always)
		return true;
	if (!pass(queue, ops, count, &stuck) || !judge(all, ops, &count))
		return false;
	return count ? wrong("ops fail after the fault is over") : true;
}

/* Opens it, at a second try if need be: NULL only where it may be. */
static bool open_queue(struct afb_queue **queue, enum afb_backend backend)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	unsigned tries;
	int ret;

	params.depth = DEPTH;
	params.backend = backend;
	for (tries = 0; tries < 2; tries++) {
		*queue = NULL;
		ret = afb_queue_open(queue, &params);
		if (!ret)
			return true;
		if (!is_excused(ret, false))
			return wrong("queue open: %s", strerror(-ret));
	}
	return fault.always ? true : wrong("a queue cannot be opened again");
}

/* A strict queue comes as what was asked for, or as an error. */
static bool try_strict_queue(enum afb_backend backend)
{
	struct afb_queue_params params = AFB_QUEUE_PARAMS;
	struct afb_queue *queue = NULL;
	int ret;

	params.backend = backend;
	params.flags = AFB_STRICT;
	ret = afb_queue_open(&queue, &params);
	if (ret && kernel_expected() && !is_excused_open(ret, true))
		return wrong("strict queue open: %s", strerror(-ret));
	afb_queue_close(queue);
	return true;
}

static bool run_queue(enum afb_backend backend, struct message *all,
		      struct afb_session *const *sessions)
{
	struct afb_queue *queue;
	bool fine;

	if (!open_queue(&queue, backend))
		return false;
	if (!queue)
		return true;
	fine = run_messages(queue, all, sessions);
	afb_queue_close(queue);
	return fine;
}

/* ---- Streams ------------------------------------------------------------ */

static int feed(struct afb_stream *stream, const uint8_t *from, size_t len)
{
	size_t part;
	int ret = 0;

	for (; len && !ret; len -= part, from += part) {
		part = len < PIECE ? len : PIECE;
		ret = afb_stream_update(stream, from, part);
	}
	return ret;
}

/* A final must agree; whether its error may be is for the caller to say. */
static bool finish(struct afb_stream *stream, const uint8_t *right, int *error)
{
	uint8_t digest[AFB_DIGEST_MAX] = { 0 };
	ssize_t ret = afb_stream_final(stream, digest, sizeof(digest));

	*error = ret < 0 ? ret : 0;
	if (ret >= 0 && (ret != 20 || memcmp(digest, right, 20)))
		return wrong("stream: wrong digest (%zd)", ret);
	return true;
}

/* A short message is all there, so only memory may be missing. */
static bool short_message(struct afb_stream *stream, const struct message *what)
{
	const struct iovec *in = &what->pieces[0];
	int ret, error;

	ret = feed(stream, in->iov_base, in->iov_len);
	if (!finish(stream, what->right, &error))
		return false;
	if (ret && !error)
		return wrong("a stream gave a digest after its error");
	if (error && !is_excused(error, false))
		return wrong("short stream: %s", strerror(-error));
	afb_stream_reset(stream);
	return error && !fault.always ? short_message(stream, what) : true;
}

/* One message and its copy at DUP_AT; *failed if one may be and is lost. */
static bool long_message(struct afb_stream *stream, bool *failed)
{
	struct afb_stream *copy = NULL;
	int before, ret, dup, error, its_error = 0;
	bool fine;

	before = ret = feed(stream, pool, DUP_AT);
	dup = afb_stream_dup(&copy, stream);
	if (!ret)
		ret = feed(stream, pool + DUP_AT, LONG_SIZE - DUP_AT);
	fine = finish(stream, long_digest[0], &error);
	if (copy) {
		feed(copy, pool, LONG_SIZE - DUP_AT);
		fine = fine && finish(copy, long_digest[1], &its_error);
	}
	afb_stream_close(copy);
	if (!fine)
		return false;
	if (ret && !error)
		return wrong("a long stream gave a digest after its error");
	if (dup && !tells_of_fault(dup))
		return wrong("dup: %s", strerror(-dup));
	if (error && !tells_of_fault(error))
		return wrong("long stream: %s", strerror(-error));
	if (its_error && !tells_of_fault(its_error))
		return wrong("copy of a stream: %s", strerror(-its_error));
	if (dup && !before && error && !fault.always)
		return wrong("a failed dup harmed the stream");
	*failed = dup || error || its_error;
	return true;
}

static bool stream_messages(struct afb_stream *stream)
{
	bool failed;

	/* Two short ones, for the second finds what the first one left. */
	if (!short_message(stream, &messages[0][4]) ||
	    !short_message(stream, &messages[0][16]) ||
	    !long_message(stream, &failed))
		return false;
	if (!failed || fault.always)
		return true;
	afb_stream_reset(stream);
	if (!long_message(stream, &failed))
		return false;
	return failed ? wrong("a stream fails after the fault is over") : true;
}

static bool run_stream(struct afb_session *session)
{
	struct afb_stream *stream;
	unsigned tries;
	bool fine;
	int ret;

	for (tries = 0; tries < 2; tries++) {
		stream = NULL;
		ret = afb_stream_open(&stream, session);
		if (!ret)
			break;
		if (!is_excused(ret, false))
			return wrong("stream open: %s", strerror(-ret));
	}
	if (ret)
		return fault.always ? true : wrong("no stream to be opened");
	fine = stream_messages(stream);
	afb_stream_close(stream);
	return fine;
}

/* ---- Sessions ----------------------------------------------------------- */

static bool open_session(struct afb_session **session, enum afb_type type,
			 const char *name, enum afb_backend backend,
			 bool strict)
{
	struct afb_session_params params = AFB_SESSION_PARAMS;
	unsigned tries;
	int ret;

	params.backend = backend;
	params.flags = strict ? AFB_STRICT : 0;
	params.key = type == AFB_HASH ? NULL : key;
	params.key_len = type == AFB_HASH ? 0 : sizeof(key);
	for (tries = 0; tries < 2; tries++) {
		*session = NULL;
		ret = afb_session_open(session, type, name, &params);
		if (!ret)
			return true;
		if (strict && !kernel_expected())
			return true;
		if (!is_excused_open(ret, strict))
			return wrong("%ssession open: %s",
				     strict ? "strict " : "", strerror(-ret));
	}
	return fault.always ? true : wrong("a session cannot be opened again");
}

static bool ask_driver(const struct afb_session *session)
{
	char driver[64];
	int ret = afb_session_driver(session, driver, sizeof(driver));

	return !ret || (ret == -ENOENT && inject_fired()) ?
		       true :
		       wrong("driver: %s", strerror(-ret));
}

static bool use_sessions(void)
{
	struct afb_session *usual[WITHS] = { NULL }, *plain[2] = { NULL };
	struct afb_session **sync = &plain[0], **soft = &plain[1];
	unsigned i;
	bool fine;

	fine = open_session(&usual[WITH_HASH], AFB_HASH, "sha1",
			    AFB_BACKEND_AUTO, false) &&
	       open_session(&usual[WITH_STRICT_HASH], AFB_HASH, "md5",
			    AFB_BACKEND_AUTO, true) &&
	       open_session(&usual[WITH_CTR], AFB_SKCIPHER, "ctr(aes)",
			    AFB_BACKEND_AUTO, false) &&
	       open_session(&usual[WITH_GCM], AFB_AEAD, "gcm(aes)",
			    AFB_BACKEND_AUTO, false) &&
	       open_session(sync, AFB_HASH, "sha1", AFB_BACKEND_SYNC, false) &&
	       open_session(soft, AFB_HASH, "sha1", AFB_BACKEND_SOFT, false);
	fine = fine && try_strict_queue(AFB_BACKEND_AUTO) &&
	       try_strict_queue(AFB_BACKEND_AIO);
	fine = fine && (!usual[WITH_HASH] || ask_driver(usual[WITH_HASH]));
	fine = fine && run_queue(AFB_BACKEND_AUTO, messages[0], usual);
	fine = fine && run_queue(AFB_BACKEND_SYNC, messages[1], usual);
	fine = fine && run_queue(AFB_BACKEND_AIO, messages[2], usual);
	fine = fine && (!usual[WITH_HASH] || run_stream(usual[WITH_HASH]));
	fine = fine && (!*sync || run_stream(*sync));
	fine = fine && (!*soft || run_stream(*soft));
	for (i = 0; i < WITHS; i++)
		afb_session_close(usual[i]);
	afb_session_close(*sync);
	afb_session_close(*soft);
	return fine;
}

/* ---- What is left behind ------------------------------------------------ */

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static int mapped_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps))
		count += strstr(line, "io_uring") || strstr(line, "[aio]");
	if (maps)
		fclose(maps);
	return count;
}

bool workload_run(const struct fault *chosen, char *why, size_t size)
{
	int fds = open_fds(), rings = mapped_rings();
	long held = inject_held();
	bool fine;

	fault = *chosen;
	why_not = why;
	why_size = size;
	inject_start(chosen);
	fine = use_sessions();
	inject_stop();
	if (!fine)
		return false;
	if (open_fds() != fds)
		return wrong("%d descriptors are left", open_fds() - fds);
	if (mapped_rings() != rings)
		return wrong("%d mappings are left", mapped_rings() - rings);
	if (inject_held() != held)
		return wrong("%ld blocks are left", inject_held() - held);
	return true;
}
