/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_queue.c - places whose phase and number change in one step: an op is put and
 * ended by the queue's owner, but may be forgotten by any thread, and whoever still
 * has the ticket of an op that had its place before must not touch the next one.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "jobs_queue.h"
#include "pieces.h"

enum phase {
	FREE,
	STAGED, /* lent to the library */
	ENDED,
	FORGOTTEN, /* lent to the library, and wanted by nobody */
};

struct place {
	_Atomic(uint64_t) state; /* the op's number, and its phase below it */
	struct afb_op op;
	struct iovec in, out;
	unsigned char iv[AFB_IV_MAX]; /* becomes the next */
	unsigned char *bytes;	      /* the input, and the result over it */
	size_t size, used;
	int fd; /* of the queue's eventfd; -1: none yet */
};

struct jobs_queue {
	struct afb_queue *ring; /* NULL: closed */
	atomic_uint forks;	/* as many as when it was last used */
	bool rung;		/* the eventfd is readable, by us */
	struct place places[JOBS_DEPTH];
};

static uint64_t state_of(uint64_t number, enum phase phase)
{
	return number << 2 | phase;
}

static uint64_t number_of(uint64_t state)
{
	return state >> 2;
}

static enum phase phase_of(uint64_t state)
{
	return state & 3;
}

static bool turn(struct place *place, uint64_t number, enum phase from,
		 enum phase to)
{
	uint64_t state = state_of(number, from);

	return atomic_compare_exchange_strong(&place->state, &state,
					      state_of(number, to));
}

static void wipe(struct place *place)
{
	OPENSSL_cleanse(place->bytes, place->used);
	OPENSSL_cleanse(place->iv, sizeof(place->iv));
}

/* The first place in that phase; NULL: there is none. */
static struct place *find(struct jobs_queue *queue, enum phase phase)
{
	unsigned i;

	for (i = 0; i < JOBS_DEPTH; i++)
		if (phase_of(queue->places[i].state) == phase)
			return &queue->places[i];
	return NULL;
}

/* Nobody needs the result of an op that has ended any more. */
static void vacate(struct place *place, uint64_t number)
{
	wipe(place);
	turn(place, number, ENDED, FREE);
}

/* ---- Forks -------------------------------------------------------------- */

/* How many forks this process is away from the one that loaded the module. */
static atomic_uint forks_so_far;

static void in_child(void)
{
	atomic_fetch_add(&forks_so_far, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/* After a fork() the parent's ops are the parent's, and so is the eventfd. */
static void empty(struct jobs_queue *queue)
{
	struct place *place;
	unsigned i;

	for (i = 0; i < JOBS_DEPTH; i++) {
		place = &queue->places[i];
		if (place->fd >= 0)
			close(place->fd);
		place->fd = -1;
		if (place->bytes)
			wipe(place);
		atomic_store(&place->state,
			     state_of(number_of(place->state), FREE));
	}
	queue->rung = false;
	atomic_store(&queue->forks, atomic_load(&forks_so_far));
}

/* ---- The eventfd -------------------------------------------------------- */

static void ring_the_bell(struct jobs_queue *queue)
{
	uint64_t one = 1;
	int fd = afb_queue_fd(queue->ring);

	if (!queue->rung && fd >= 0)
		queue->rung = write(fd, &one, sizeof(one)) == sizeof(one);
}

static bool open_fd(struct jobs_queue *queue, struct place *place)
{
	int fd;

	if (place->fd >= 0)
		return true;
	fd = afb_queue_fd(queue->ring);
	if (fd >= 0)
		place->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return place->fd >= 0;
}

int jobs_queue_fd(const struct jobs_ticket *ticket)
{
	return ticket->queue->places[ticket->place].fd;
}

/* ---- A queue ------------------------------------------------------------ */

struct jobs_queue *jobs_queue_new(void)
{
	struct jobs_queue *queue = OPENSSL_zalloc(sizeof(*queue));
	unsigned i;

	for (i = 0; queue && i < JOBS_DEPTH; i++)
		queue->places[i].fd = -1;
	return queue;
}

bool jobs_queue_open(struct jobs_queue *queue, enum afb_backend backend)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct afb_queue_params params = AFB_QUEUE_PARAMS;

	pthread_once(&once, watch_forks);
	params.depth = JOBS_DEPTH;
	params.backend = backend;
	if (afb_queue_open(&queue->ring, &params) < 0)
		return false;
	atomic_store(&queue->forks, atomic_load(&forks_so_far));
	return true;
}

void jobs_queue_close(struct jobs_queue *queue)
{
	afb_queue_close(queue->ring);
	queue->ring = NULL;
	empty(queue);
}

void jobs_queue_free(struct jobs_queue *queue)
{
	unsigned i;

	if (queue->forks != atomic_load(&forks_so_far))
		empty(queue);
	/* The library does not wait for what another, living thread began. */
	if (queue->ring && (find(queue, STAGED) || find(queue, FORGOTTEN)) &&
	    jobs_queue_serve(queue, 0) == -EXDEV) {
		afb_queue_close(queue->ring);
		return;
	}
	if (queue->ring)
		jobs_queue_close(queue);
	for (i = 0; i < JOBS_DEPTH; i++)
		OPENSSL_clear_free(queue->places[i].bytes,
				   queue->places[i].size);
	OPENSSL_free(queue);
}

/* ---- Ops ---------------------------------------------------------------- */

static bool reserve(struct place *place, size_t size)
{
	if (size <= place->size)
		return true;
	OPENSSL_clear_free(place->bytes, place->size);
	place->bytes = OPENSSL_malloc(size);
	place->size = place->bytes ? size : 0;
	return place->bytes;
}

/* The result goes where the text was. */
static bool copy_op(struct place *place, const struct afb_op *op)
{
	size_t in = pieces_bytes(op->in, op->in_cnt);
	size_t out = pieces_bytes(op->out, op->out_cnt);
	size_t most = in > op->aad_len + out ? in : op->aad_len + out;

	if (in > JOBS_BYTES_MAX || out > JOBS_BYTES_MAX ||
	    op->iv_len > sizeof(place->iv) || !reserve(place, most))
		return false;
	place->used = most;
	pieces_gather(place->bytes, op->in, 0, in);
	if (op->iv_len)
		memcpy(place->iv, op->iv, op->iv_len);
	place->in = (struct iovec){ place->bytes, in };
	place->out = (struct iovec){ place->bytes + op->aad_len, out };
	place->op = (struct afb_op){
		.session = op->session,
		.in = &place->in,
		.out = &place->out,
		.in_cnt = 1,
		.out_cnt = 1,
		.kind = op->kind,
		.iv = place->iv,
		.iv_len = op->iv_len,
		.aad_len = op->aad_len,
		.next_iv = op->next_iv ? place->iv : NULL,
		.user = place,
	};
	return true;
}

bool jobs_queue_put(struct jobs_queue *queue, const struct afb_op *op,
		    struct jobs_ticket *ticket)
{
	struct place *place;
	struct afb_op *copy;
	uint64_t number;

	if (queue->forks != atomic_load(&forks_so_far))
		empty(queue);
	place = find(queue, FREE);
	/* Those of ops that nobody wants any more may have been done with. */
	if (!place && !jobs_queue_serve(queue, 0))
		place = find(queue, FREE);
	if (!place || !open_fd(queue, place) || !copy_op(place, op))
		return false;
	copy = &place->op;
	number = number_of(place->state) + 1;
	atomic_store(&place->state, state_of(number, STAGED));
	if (afb_submit(queue->ring, &copy, 1) != 1) {
		atomic_store(&place->state, state_of(number, FREE));
		wipe(place);
		return false;
	}
	ring_the_bell(queue);
	*ticket = (struct jobs_ticket){ queue,
					(unsigned)(place - queue->places),
					number };
	return true;
}

static void end(struct place *place)
{
	uint64_t number = number_of(place->state);

	if (turn(place, number, STAGED, ENDED))
		return;
	wipe(place);
	turn(place, number, FORGOTTEN, FREE);
}

int jobs_queue_serve(struct jobs_queue *queue, long wait_ns)
{
	const struct timespec wait = { 0, wait_ns };
	struct afb_op *done[JOBS_DEPTH];
	int n, i;

	n = afb_reap(queue->ring, done, JOBS_DEPTH, wait_ns ? 1 : 0, &wait);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++)
		end(done[i]->user);
	/* The library has made the eventfd unreadable. */
	queue->rung = false;
	if (find(queue, ENDED))
		ring_the_bell(queue);
	return 0;
}

enum jobs_state jobs_queue_state(const struct jobs_ticket *ticket)
{
	uint64_t state = ticket->queue->places[ticket->place].state;

	/* A child's copy of a queue that it has not used yet is the parent's. */
	if (ticket->queue->forks != atomic_load(&forks_so_far) ||
	    number_of(state) != ticket->number)
		return JOBS_LOST;
	switch (phase_of(state)) {
	case STAGED:
		return JOBS_WAITS;
	case ENDED:
		return JOBS_ENDED;
	default:
		return JOBS_LOST;
	}
}

void jobs_queue_take(const struct jobs_ticket *ticket, struct afb_op *op)
{
	struct place *place = &ticket->queue->places[ticket->place];

	op->result = place->op.result;
	if (op->result >= 0) {
		pieces_scatter(op->out, place->out.iov_base,
			       (size_t)op->result);
		if (op->next_iv)
			memcpy(op->next_iv, place->iv, op->iv_len);
	}
	vacate(place, ticket->number);
}

void jobs_queue_forget(const struct jobs_ticket *ticket)
{
	struct place *place = &ticket->queue->places[ticket->place];

	if (!turn(place, ticket->number, STAGED, FORGOTTEN) &&
	    jobs_queue_state(ticket) == JOBS_ENDED)
		vacate(place, ticket->number);
}
