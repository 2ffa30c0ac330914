/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what a queue asks of a way to the kernel (or to libcrypto).
 *
 * A queue checks each op, finds out who can serve it, and calls start(). The
 * back end says for every op it has taken, now or in wait(), queue_end().
 */
#ifndef AFB_BACKEND_H
#define AFB_BACKEND_H

#include "queue.h"

struct backend {
	enum afb_backend id;

	/* Why another serves where open() fails and nothing is short. */
	enum afb_fallback missing;

	/* Makes the queue's `ways`. 0 or -errno. */
	int (*open)(struct afb_queue *queue);

	/*
	 * Frees everything; nothing is kept for sessions. Ops are in flight
	 * only where wait() has failed, or as copies of a parent's: what the
	 * kernel may still write to is left as it is.
	 */
	void (*close)(struct afb_queue *queue);

	/*
	 * Takes one op, which has been checked. 0, -EAGAIN when it must wait
	 * for another to end, or another -errno, which becomes its result
	 * (or sends it to software).
	 */
	int (*start)(struct afb_queue *queue, struct queue_session *entry,
		     struct afb_op *op);

	/* Gives the kernel what start() has taken. 0 or -errno. NULL: none. */
	int (*flush)(struct afb_queue *queue);

	/*
	 * Ends ops until @min have ended that had not before, or @deadline.
	 * With @min 0 only what is there. 0, -ETIME or -errno. NULL: start()
	 * has ended every op already.
	 */
	int (*wait)(struct afb_queue *queue, unsigned min,
		    const struct timespec *deadline);

	/*
	 * The calling thread is about to use the queue: called before any of
	 * the three above. 0, or -EXDEV if another thread has ops in flight.
	 * NULL: any thread may.
	 */
	int (*own)(struct afb_queue *queue);

	/*
	 * queue->event is there now, to be written to when ops have ended in
	 * the kernel. 0 or -errno. NULL: none ever does.
	 */
	int (*watch)(struct afb_queue *queue);

	/* Closes idle op sockets until at most @keep are open. NULL: none. */
	void (*trim)(struct afb_queue *queue, unsigned keep);

	/* Prepares for a session the queue has not seen yet. NULL: nothing. */
	void (*meet)(struct afb_queue *queue, struct queue_session *entry);

	/* Frees what was kept for a session, of which nothing is in flight. */
	void (*forget)(struct afb_queue *queue, struct queue_session *entry);
};

extern const struct backend backend_uring;
extern const struct backend backend_aio;
extern const struct backend backend_sync;
extern const struct backend backend_soft;

/* 0, or -errno of socket(2). */
int af_alg_usable(void);

/*
 * Has the process used AF_ALG, or could it, perhaps when it has descriptors or
 * memory again? A session that has said af_alg_used() may be all that a queue gets.
 */
bool af_alg_there(void);
void af_alg_used(void);

/* 0 where io_uring can do all that backend_uring needs, else -errno. */
int uring_usable(void);

/* 0 where the process may use Linux AIO, else -errno of io_setup(2). */
int aio_usable(void);

#endif
