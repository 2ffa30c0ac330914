/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_sessions.c - the sessions a queue has seen: each is held from its first op
 * until its opener has closed it and no op of it is left here.
 */
#include <stdlib.h>

#include "backend.h"

static struct queue_session **bucket_of(struct afb_queue *queue,
					const struct afb_session *session)
{
	uintptr_t key = (uintptr_t)session;

	return &queue->buckets[(key >> 6 ^ key >> 12) % QUEUE_BUCKETS];
}

static void forget(struct afb_queue *queue, struct queue_session *entry)
{
	if (queue->last == entry)
		queue->last = NULL;
	if (queue->backend->forget)
		queue->backend->forget(queue, entry);
	session_put(entry->session);
	free(entry);
}

void queue_forget_sessions(struct afb_queue *queue, bool all)
{
	struct queue_session **link, *entry;
	unsigned i;

	for (i = 0; i < QUEUE_BUCKETS; i++) {
		link = &queue->buckets[i];
		while ((entry = *link)) {
			if (all ||
			    (!entry->held && entry->session->closed)) {
				*link = entry->next;
				forget(queue, entry);
			} else {
				link = &entry->next;
			}
		}
	}
}

struct queue_session *queue_session(struct afb_queue *queue,
				    struct afb_session *session)
{
	struct queue_session *entry = queue->last;

	if (entry && entry->session == session)
		return entry;
	for (entry = *bucket_of(queue, session); entry; entry = entry->next)
		if (entry->session == session)
			return queue->last = entry;
	return NULL;
}

struct queue_session *queue_meet_session(struct afb_queue *queue,
					 struct afb_session *session)
{
	struct queue_session *entry = queue_session(queue, session);
	struct queue_session **bucket;

	if (entry)
		return entry;
	queue_forget_sessions(queue, false);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->session = session_get(session);
	if (queue->backend->meet)
		queue->backend->meet(queue, entry);
	bucket = bucket_of(queue, session);
	entry->next = *bucket;
	*bucket = entry;
	return queue->last = entry;
}
