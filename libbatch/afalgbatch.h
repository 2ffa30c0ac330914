/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afalgbatch.h - the public interface of libafalgbatch.
 *
 * The library hands messages to the Linux kernel's crypto API through AF_ALG,
 * many at a time. A program meets four objects:
 *
 *   session  an algorithm and its key; opened once, shared by threads
 *   op       one message; memory of the caller, reused at will
 *   queue    one thread's ring of ops: submit, flush, reap
 *   stream   one long message fed in pieces: update, final, dup
 *
 * Conventions that hold for every function:
 *
 *   - A function that can fail returns 0 or a count, or a negative errno.
 *     errno itself is neither read nor set on purpose.
 *   - Sizes and lengths are in bytes.
 *   - A params structure starts with its own size, so that it can grow: set
 *     .size = sizeof(the structure), or use the AFB_*_PARAMS initialisers. Zero
 *     in any other member means the default. A NULL params is all defaults.
 *   - Nothing is printed. Text goes to the callback of afb_set_log().
 *   - Where the kernel cannot serve, the same result comes from libcrypto's
 *     default provider in a library context of its own, and a counter says why
 *     (see enum afb_fallback). AFB_STRICT asks for an error instead.
 */
#ifndef AFALGBATCH_H
#define AFALGBATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AFB_VERSION_MAJOR 0
#define AFB_VERSION_MINOR 1

/* The longest digest any algorithm gives. */
#define AFB_DIGEST_MAX 64

/* The largest depth a queue can have, and the depth when none is asked for. */
#define AFB_DEPTH_MAX 4096
#define AFB_DEPTH_DEFAULT 128

/* The version of the library that runs, as "major.minor.patch". Any thread. */
const char *afb_version(void);

/* ---- Back ends ---------------------------------------------------------- */

/*
 * How messages reach the code that works on them. AFB_BACKEND_AUTO takes the
 * first that works in the order of the list; a named one is a wish that falls
 * back down the list, unless AFB_STRICT is given.
 */
enum afb_backend {
	AFB_BACKEND_AUTO,
	AFB_BACKEND_URING, /* AF_ALG, a burst for each io_uring_enter() */
	AFB_BACKEND_AIO,   /* AF_ALG, the results of a burst for each io_submit() */
	AFB_BACKEND_SYNC,  /* AF_ALG, one blocking call after the other */
	AFB_BACKEND_SOFT,  /* libcrypto in this process */
};
#define AFB_BACKENDS 5

/* "auto", "uring", "aio", "sync", "soft"; "?" for a value outside the enum. */
const char *afb_backend_name(enum afb_backend backend);

/* The back end of that name. -EINVAL: there is none. */
int afb_backend_from_name(const char *name);

/* Why a message was served by something lesser than what was asked for. */
enum afb_fallback {
	AFB_FALLBACK_NONE,
	AFB_FALLBACK_NO_AF_ALG,    /* socket(AF_ALG): not there, or denied */
	AFB_FALLBACK_NOT_OFFERED,  /* bind(): the type or algorithm is missing */
	AFB_FALLBACK_NO_IO_URING,  /* io_uring: not there, or denied */
	AFB_FALLBACK_NO_AIO,       /* io_setup(): not there, or denied */
	AFB_FALLBACK_NO_RESOURCES, /* no file descriptors or memory for it */
	AFB_FALLBACK_KERNEL_ERROR, /* the kernel took the message and failed */
};
#define AFB_FALLBACKS 7

/* A few words for people, e.g. "no AF_ALG"; "?" outside the enum. */
const char *afb_fallback_text(enum afb_fallback why);

/* ---- What this machine offers ------------------------------------------- */

enum afb_type {
	AFB_HASH,     /* "sha256", "sha256-generic"; with a key "hmac(sha256)" */
	AFB_SKCIPHER, /* "cbc(aes)", "ctr(aes)", "virtio_crypto_aes_cbc" */
	AFB_AEAD,     /* "gcm(aes)", "pcrypt(generic-gcm-aesni)" */
	AFB_RNG,      /* "stdrng", "jitterentropy_rng" */
};
#define AFB_TYPES 4

struct afb_caps {
	size_t size;
	int af_alg;   /* 0, or -errno of socket(AF_ALG, SOCK_SEQPACKET, 0) */
	int io_uring; /* 0, or -errno of io_uring_setup(2); -ENOSYS as well
		       * where it lacks direct descriptors or CQE skipping */
	int aio;      /* 0, or -errno of io_setup(2) */
	int types[AFB_TYPES]; /* by enum afb_type: 0, or -errno of bind(2) to
			       * an algorithm that every kernel with the type
			       * has; -ENOENT: no such module, or barred */
	unsigned threads;     /* the most soft threads the library will start */
};
#define AFB_CAPS { .size = sizeof(struct afb_caps) }

/*
 * Looks at the machine as this process may use it, anew at every call (some
 * twenty system calls); may load kernel modules. Any thread.
 * -EINVAL: caps->size is not one this library knows.
 */
int afb_caps(struct afb_caps *caps);

/* What is to be had for one algorithm. */
struct afb_algorithm_caps {
	size_t size;
	int kernel;       /* 0, or -errno of bind(2) or of setting a key */
	int soft;         /* 0, or -ENOENT where libcrypto has no such */
	char driver[128]; /* the kernel's implementation; "" where none */
	long priority;    /* of the driver, by /proc/crypto */
	int driver_async; /* 1: the driver works while the caller goes on, by
			   * /proc/crypto; 0: it does not; -ENOENT: unknown */
	int kernel_async; /* 1: a request was seen in flight after AF_ALG had
			   * taken it; 0: none was; -errno: not to be tried */
	enum afb_backend backend; /* what AFB_BACKEND_AUTO comes to */
	enum afb_fallback why;    /* that is not the first in the list */
	size_t digest_size, block_size, iv_len; /* 0 where unknown or none */
	size_t key_len;   /* of the key that was tried */
};
#define AFB_ALGORITHM_CAPS { .size = sizeof(struct afb_algorithm_caps) }

/*
 * Tries an algorithm of the kernel's name or driver name, with a key of zeros
 * where it needs one, and one request where the driver is asynchronous. Any
 * thread.
 * -EINVAL: caps->size, the type or the name is wrong; -ENOMEM.
 */
int afb_algorithm_caps(struct afb_algorithm_caps *caps, enum afb_type type,
		       const char *name);

/*
 * The algorithms the library knows by itself, in a fixed order: the kernel's name
 * of number @index, and its type; NULL behind the last. Any thread.
 */
const char *afb_algorithm_name(unsigned index, enum afb_type *type);

/* ---- Sessions ----------------------------------------------------------- */

#define AFB_STRICT (1U << 0) /* an error where a fall-back would be taken */

struct afb_session_params {
	size_t size;
	enum afb_backend backend; /* how its streams run, and whether queues
				   * may take it to the kernel */
	unsigned flags;           /* AFB_STRICT */
	const void *key; /* copied, and wiped at the end; NULL for a digest. A
			  * generator's is its seed, and can be missing */
	size_t key_len;
	size_t tag_len; /* AEAD: bytes, as the algorithm allows; 0 means 16 */
	size_t data_unit; /* "xts(...)": a text is cut in units of so many bytes,
			   * each with its own IV: the op's, plus one for each
			   * unit before it. 0: a text is one unit */
};
#define AFB_SESSION_PARAMS { .size = sizeof(struct afb_session_params) }

struct afb_session;

/*
 * Opens a session for the algorithm called @name in the kernel (/proc/crypto's
 * "name", or "driver" to choose one implementation), at most 63 characters.
 * Costs a socket(2), a bind(2), a setsockopt(2) for the key and one for the tag's
 * length, and for a hash a first request that learns the digest's size; may load
 * kernel modules.
 *
 * The session may be used by many threads at once. Close it with
 * afb_session_close(); queues and streams that still use it keep what they need.
 *
 * -EINVAL          bad params, a name that is empty or too long, or a key or tag
 *                  length that the algorithm does not have (setsockopt(2))
 * -ENOENT          offered neither by the kernel (bind(2)) nor by libcrypto
 * -ENOMEM, -EMFILE, -ENFILE
 *                  from socket(2), accept(2) or malloc(3), and libcrypto does
 *                  not know the algorithm either
 * with AFB_STRICT also what the kernel or io_uring_setup(2) said, among others
 * -EAFNOSUPPORT, -EPERM (no AF_ALG, or denied) and -ENOSYS (no io_uring).
 */
int afb_session_open(struct afb_session **session, enum afb_type type,
		     const char *name, const struct afb_session_params *params);

/* Ends the caller's use of the session. NULL is allowed. Any thread. */
void afb_session_close(struct afb_session *session);

/* The digest's length; 0 for a session that is no hash. Any thread. */
size_t afb_session_digest_size(const struct afb_session *session);

/*
 * The back end its streams run on: never AUTO, and SYNC for a session opened with
 * AIO, which is no fall-back. Any thread.
 */
enum afb_backend afb_session_backend(const struct afb_session *session);

/* Why that is not what was asked for; AFB_FALLBACK_NONE if it is. Any thread. */
enum afb_fallback afb_session_fallback(const struct afb_session *session);

/*
 * Writes the name of the kernel's implementation, e.g. "sha256-ni", as
 * /proc/crypto gives it, cut to @size with a final NUL; "libcrypto" when no
 * kernel serves. -ENOENT: /proc/crypto did not tell. Any thread.
 */
int afb_session_driver(const struct afb_session *session, char *driver,
		       size_t size);

/* ---- Ops ---------------------------------------------------------------- */

/* What an op of a cipher session does; of no meaning for a hash. */
enum afb_kind {
	AFB_ENCRYPT,
	AFB_DECRYPT,
};

/*
 * The longest message, AAD and tag with it, that one request of the kernel's is
 * given. A longer text of ecb, cbc or ctr, or one of several data units, is cut
 * into requests, which are in flight together unless each needs the result of the
 * one before (cbc, encryption). What cannot be cut goes to software.
 */
#define AFB_CIPHER_MAX (128U << 10)

/* The longest IV any algorithm has. */
#define AFB_IV_MAX 32

/*
 * One message. The structure, the vectors and the buffers belong to the caller,
 * and are lent to the library from afb_submit() until afb_reap() returns the op:
 * the kernel cannot cancel a request, so nothing of it may be freed, changed or
 * read before. Clear a new op to zero; members the library does not need for a
 * session's type are ignored.
 */
struct afb_op {
	struct afb_session *session;
	const struct iovec *in; /* the message, in_cnt pieces, any lengths:
				 *   hash           what is to be digested
				 *   skcipher       the text
				 *   AEAD, encrypt  AAD, text
				 *   AEAD, decrypt  AAD, text, tag
				 *   generator      not looked at */
	const struct iovec *out; /* where the result goes, in out_cnt pieces;
				  * more room than needed is allowed:
				  *   hash           the digest, in one piece
				  *   skcipher       the text
				  *   AEAD, encrypt  text, tag
				  *   AEAD, decrypt  text
				  *   generator      random bytes, to the end
				  * `out` may be the same memory as the text in
				  * `in`, or apart from it, but not overlap it
				  * otherwise. */
	unsigned in_cnt;
	unsigned out_cnt;
	enum afb_kind kind;
	unsigned iv_len;
	const void *iv; /* as the kernel's algorithm takes it, iv_len bytes:
			 * "gcm(aes)" 12, "ccm(aes)" 16 in RFC 3610's form */
	size_t aad_len; /* AEAD: the first bytes of `in` are AAD */
	void *next_iv;  /* skcipher: NULL, or iv_len bytes (`iv` itself, if you
			 * like) that receive the IV with which a text goes on
			 * that continues this one, of whole blocks so far; for
			 * ecb, cbc, ctr and xts in data units, else -EINVAL */
	void *user;     /* the caller's own; never touched */
	ssize_t result; /* bytes written to out, or -errno:
			 * -EINVAL   a member of the op is wrong, or a length
			 *           is not one the algorithm can have
			 * -EBADMSG  AEAD: the tag is wrong; nothing has been
			 *           written to out
			 * -EMSGSIZE longer than one request of the kernel's
			 *           can be, not to be cut, and libcrypto has
			 *           no such algorithm; or a data unit in
			 *           more than 1,024 pieces
			 * -EFAULT   the kernel cannot read a buffer
			 * -EOWNERDEAD  the thread that began it has exited
			 * -ENOMEM, -EIO and what else the kernel's driver
			 *           returned, with AFB_STRICT or where
			 *           libcrypto has no such algorithm */
	struct {
		struct afb_op *older, *newer;
		uint64_t accepted;
		uint8_t last_block[16];
		unsigned state;
	} lent; /* the library's, while the op is lent */
};

/* ---- Queues ------------------------------------------------------------- */

struct afb_queue_params {
	size_t size;
	unsigned depth; /* ops accepted and not yet reaped, 1 to AFB_DEPTH_MAX */
	enum afb_backend backend;
	unsigned flags; /* AFB_STRICT: open fails where the back end is not
			 * to be had, rather than fall back; AFB_IN_ORDER;
			 * AFB_SQPOLL */
	int workers; /* uring: threads of the kernel that run blocking requests:
		      *   0   up to AFB_WORKERS_DEFAULT, where a driver is
		      *       asynchronous and AF_ALG's way to it is not
		      *   -1  none
		      *   n   up to n, for every op */
	unsigned late_ms; /* see afb_late(); 0: no op is ever late */
	void (*done)(struct afb_op *op); /* see afb_reap(); NULL: none */
};
#define AFB_IN_ORDER (1U << 1) /* ops are reaped in the order of submission */
#define AFB_SQPOLL (1U << 2)   /* uring: a thread of the kernel submits */
#define AFB_WORKERS_DEFAULT 32
#define AFB_QUEUE_PARAMS { .size = sizeof(struct afb_queue_params) }

struct afb_queue;

/*
 * Opens a queue. It belongs to one thread at a time: it may be handed to another
 * thread while no op is accepted in it, and a forked child may go on using its
 * copy, which is then empty (the parent's ops stay the parent's). A library built
 * with --enable-debug refuses the call of another, living thread: -EXDEV, and
 * afb_submit() accepts nothing.
 *
 * Ops of one queue complete in any order. A message that the kernel cannot take
 * yet (no descriptor free for another op socket) waits in the queue.
 *
 * -EINVAL          bad params
 * -ENOMEM          from malloc(3)
 * -EPERM, -ENOSYS, -EMFILE, ...
 *                  with AFB_STRICT, from io_uring_setup(2) or io_setup(2)
 */
int afb_queue_open(struct afb_queue **queue,
		   const struct afb_queue_params *params);

/*
 * Waits for what the kernel still has in flight (it cannot be cancelled), drops
 * every op unreaped, and frees the queue. NULL is allowed. Where it cannot wait,
 * because another, living thread began the ops, or because io_uring_enter(2) keeps
 * failing, the results that the library would have copied go to memory that is
 * left alone for good; the others may still be written where they belong.
 */
void afb_queue_close(struct afb_queue *queue);

/* The back end in use, never AUTO. */
enum afb_backend afb_queue_backend(const struct afb_queue *queue);

/*
 * Hands over up to @count ops and returns how many were accepted, from the first
 * on: fewer than @count, also 0, when the queue is full. Never blocks and makes
 * no system call. Accepted ops start with the next afb_flush() or afb_reap().
 *
 * An op that is wrong in itself is accepted and comes back with its error; it
 * never harms the others.
 */
int afb_submit(struct afb_queue *queue, struct afb_op *const *ops,
	       unsigned count);

/*
 * Starts every accepted op, the whole burst in one system call where the back
 * end can. Call it before sleeping on anything but afb_reap().
 * 0, or -errno of io_uring_enter(2), after which the ops are still accepted.
 */
int afb_flush(struct afb_queue *queue);

/*
 * Starts what was accepted and collects up to @max ended ops into @done. Returns
 * as soon as at least @min have ended, or no op is left in the queue, or
 * @timeout has passed (NULL: no limit; zero: no wait); then the count, which can
 * be less than @min. @min 0 never waits.
 *
 * A queue's callback is called for each of these ops before the function returns;
 * @done may be NULL then. It may submit ops to the same queue, but do nothing else
 * with it.
 *
 * -EINVAL  @min is larger than @max, or there is neither @done nor a callback
 * -EXDEV   the queue's ops were begun by another, living thread
 * -EAGAIN, -ENOMEM, ...
 *          from io_uring_enter(2) or io_getevents(2); the ops are still
 *          accepted
 */
int afb_reap(struct afb_queue *queue, struct afb_op **done, unsigned max,
	     unsigned min, const struct timespec *timeout);

/*
 * Collects up to @max ops that have been started, have not ended within the
 * queue's late_ms, and were not collected here before; returns how many. They
 * stay lent: nothing can cancel them, and afb_reap() returns each when it ends.
 * Makes no system call. Call it when afb_reap() has timed out.
 */
int afb_late(struct afb_queue *queue, struct afb_op **late, unsigned max);

/*
 * Closes every op socket that the queue keeps for coming ops. A queue does so by
 * itself, little by little, for those that no burst has needed for long.
 */
void afb_queue_trim(struct afb_queue *queue);

/*
 * A descriptor for poll(2), epoll(7) and their kin: readable while ended ops wait
 * to be reaped, perhaps once too often. Made at the first call; the queue owns it,
 * and afb_reap() makes it unreadable: neither read nor close it. Call afb_flush()
 * before sleeping on it. A child of fork() asks for its own. From the first call
 * on, each afb_reap() costs a system call more.
 * -EMFILE, -ENFILE, -ENOMEM from eventfd(2).
 */
int afb_queue_fd(struct afb_queue *queue);

/* ---- Threads ------------------------------------------------------------ */

/*
 * The most threads that the library starts for AFB_BACKEND_SOFT, in the whole
 * process: -1, where it begins, stands for one less than the processors the
 * process may run on, 0 for none. They run at nice 19 and end with the last queue.
 * For queues opened from now on. Any thread.
 */
void afb_set_threads(int max);

/* ---- Streams ------------------------------------------------------------ */

struct afb_stream;

/*
 * Opens a stream of a hash session: one message at a time, fed in pieces of any size, up to the
 * algorithm's own limit. Small pieces are gathered and cost no system call; the
 * kernel works on one buffer while the next is filled. A message that fits the
 * buffer holds no descriptor before its final; a longer one holds at most two.
 *
 * A stream belongs to one thread at a time and may move between threads freely.
 * A child of fork() may go on with a stream whose data still fits the buffer; a
 * longer one gives -ESTALE there, until it is reset.
 * -ENOMEM; -EINVAL: not a hash session.
 */
int afb_stream_open(struct afb_stream **stream, struct afb_session *session);

/* Begins a new message, whatever state the last one was in. */
void afb_stream_reset(struct afb_stream *stream);

/*
 * Adds @len bytes. 0 bytes are allowed, with @data NULL too. The data has been
 * taken when the function returns.
 * -EINVAL  the message is already final; reset first
 * -ENOMEM, -ESTALE, -EIO and what else the kernel's driver returned: the message
 *          is lost, and every call until afb_stream_reset() says so again
 */
int afb_stream_update(struct afb_stream *stream, const void *data, size_t len);

/*
 * Ends the message, writes its digest and returns the digest's length.
 * -EINVAL  @size is less than that, or the message is already final
 * and the errors of afb_stream_update().
 */
ssize_t afb_stream_final(struct afb_stream *stream, void *digest, size_t size);

/*
 * Makes @copy, a stream in the same state that goes its own way from here on.
 * -ENOMEM, -EMFILE, -ENFILE from accept(2), and the errors of
 * afb_stream_update(); @stream is unharmed by a failure that is new here.
 */
int afb_stream_dup(struct afb_stream **copy, struct afb_stream *stream);

/* Frees the stream; its data is wiped. NULL is allowed. */
void afb_stream_close(struct afb_stream *stream);

/* ---- Counters ----------------------------------------------------------- */

/*
 * What the library did in this process. For queues they are brought up to date
 * once per burst.
 */
struct afb_counters {
	size_t size;
	uint64_t messages[AFB_BACKENDS]; /* ended, by the back end that did it;
					  * [AFB_BACKEND_AUTO] is their sum */
	uint64_t bytes;         /* of input */
	uint64_t system_calls;  /* made for messages and op sockets */
	uint64_t waits;         /* times a caller slept for a result */
	uint64_t in_flight_max; /* most messages of one queue or stream that
				 * the kernel had at once */
	uint64_t fallbacks[AFB_FALLBACKS]; /* messages, by reason */
};
#define AFB_COUNTERS { .size = sizeof(struct afb_counters) }

/* Reads the process's totals. -EINVAL: unknown counters->size. Any thread. */
int afb_counters_get(struct afb_counters *counters);

/* Reads one queue's. -EINVAL as above. */
int afb_queue_counters(const struct afb_queue *queue,
		       struct afb_counters *counters);

/* ---- Log ---------------------------------------------------------------- */

/*
 * Names the function that receives the library's rare remarks, one line without
 * its newline each: a fall-back taken, a driver that failed. NULL for silence,
 * which is how the library starts. The function may be called by any thread, and
 * must not call back into the library.
 */
void afb_set_log(void (*log)(void *user, const char *text), void *user);

#ifdef __cplusplus
}
#endif
#endif
