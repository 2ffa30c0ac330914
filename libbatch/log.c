/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - keeps the callback and calls it. The lock is held during the call, so
 * that after afb_set_log() the former callback is never called again and may
 * be unloaded.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "afalgbatch.h"
#include "log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*callback)(void *user, const char *text);
static void *callback_user;

/* The callback may fork, so that fork() cannot wait for it. */
void log_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

void afb_set_log(void (*log)(void *user, const char *text), void *user)
{
	pthread_mutex_lock(&lock);
	callback = log;
	callback_user = user;
	pthread_mutex_unlock(&lock);
}

void log_text(const char *format, ...)
{
	char text[256];
	va_list args;

	pthread_mutex_lock(&lock);
	if (callback) {
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		callback(callback_user, text);
	}
	pthread_mutex_unlock(&lock);
}
