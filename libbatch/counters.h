/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - counting without a shared cache line per message. Whoever works
 * on messages counts into a structure of its own and folds it into the
 * process's totals once per burst.
 */
#ifndef AFB_COUNTERS_H
#define AFB_COUNTERS_H

#include <stdbool.h>

#include "afalgbatch.h"

/* One message of @bytes has ended on @backend, @why not on a better one. */
void counters_message(struct afb_counters *burst, enum afb_backend backend,
		      enum afb_fallback why, size_t bytes);

/* Is @error (-errno) one of descriptors or memory running out? */
bool error_is_shortage(int error);

/* The reason that @error gives: NO_RESOURCES for a shortage, else @otherwise. */
enum afb_fallback fallback_after(int error, enum afb_fallback otherwise);

/* @now messages are in the kernel. */
void counters_in_flight(struct afb_counters *burst, unsigned now);

/* Adds @burst to the totals, and to @own unless NULL; then clears it. */
void counters_fold(struct afb_counters *burst, struct afb_counters *own);

#endif
