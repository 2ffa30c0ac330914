/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug.c - the lines behind debug=1. Scripts grep them: keep each one on one
 * line, and the counters in the order they have.
 */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debug.h"

/*
 * libbatch has one log function for the whole process, but a process can have
 * many provider contexts. The last of them that debugs must take ours away: the
 * core unloads this module right after its teardown.
 */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;

void debug_line(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* A single call, so that the lines of two threads do not mix. */
	fprintf(stderr, PROVIDER_NAME ": %s\n", text);
}

static void log_line(void *user, const char *text)
{
	(void)user;
	debug_line("%s", text);
}

void debug_session(const struct provider *prov, const char *algorithm,
		   const struct afb_session *session)
{
	enum afb_fallback why;
	char driver[64];
	char note[96] = "";

	if (!prov->settings.debug)
		return;
	if (afb_session_driver(session, driver, sizeof(driver)) < 0)
		strcpy(driver, "unknown");
	why = afb_session_fallback(session);
	if (why != AFB_FALLBACK_NONE)
		snprintf(note, sizeof(note), ", fell back from %s: %s",
			 afb_backend_name(prov->settings.backend),
			 afb_fallback_text(why));
	debug_line("%s: back end %s, driver %s%s", algorithm,
		   afb_backend_name(afb_session_backend(session)), driver,
		   note);
}

/* "uring 1, aio 0, sync 0, soft 0": every back end but the sum. */
static void list_messages(char *text, size_t size, const struct afb_counters *c)
{
	size_t used = 0;
	int i;

	text[0] = '\0';
	for (i = AFB_BACKEND_AUTO + 1; i < AFB_BACKENDS; i++) {
		snprintf(text + used, size - used, "%s%s %" PRIu64,
			 used ? ", " : "", afb_backend_name(i), c->messages[i]);
		used = strlen(text);
	}
}

/* The whole process's, which is more than this provider context's. */
static void print_counters(void)
{
	struct afb_counters c = AFB_COUNTERS;
	char messages[160];
	int i;

	if (afb_counters_get(&c) < 0)
		return;
	list_messages(messages, sizeof(messages), &c);
	debug_line("counters: messages %" PRIu64 " (%s), bytes %" PRIu64
		   ", system calls %" PRIu64 ", waits %" PRIu64
		   ", in flight at most %" PRIu64,
		   c.messages[AFB_BACKEND_AUTO], messages, c.bytes,
		   c.system_calls, c.waits, c.in_flight_max);
	for (i = AFB_FALLBACK_NONE + 1; i < AFB_FALLBACKS; i++)
		if (c.fallbacks[i])
			debug_line("fall-backs: %s %" PRIu64,
				   afb_fallback_text(i), c.fallbacks[i]);
}

void debug_start(const struct provider *prov)
{
	if (!prov->settings.debug)
		return;
	pthread_mutex_lock(&users_lock);
	if (users++ == 0)
		afb_set_log(log_line, NULL);
	pthread_mutex_unlock(&users_lock);
}

void debug_stop(const struct provider *prov)
{
	if (!prov->settings.debug)
		return;
	print_counters();
	pthread_mutex_lock(&users_lock);
	if (--users == 0)
		afb_set_log(NULL, NULL);
	pthread_mutex_unlock(&users_lock);
}
