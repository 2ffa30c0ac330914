/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - remarks to the callback of afb_set_log(). For rare events only. */
#ifndef AFB_LOG_H
#define AFB_LOG_H

void log_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For the handler of fork() in the child. */
void log_after_fork(void);

#endif
