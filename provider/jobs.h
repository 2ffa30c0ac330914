/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - ops of asynchronous jobs (ASYNC_start_job(3)): the job is paused while the
 * kernel works.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>

#include "afalgbatch.h"

struct provider;

int jobs_start(struct provider *prov);
void jobs_stop(struct provider *prov);

/*
 * Does one op in the calling thread's job, which is paused until op->result is there.
 * False: the caller is no job, or cannot be paused for this op, which was not touched.
 */
bool jobs_run(const struct provider *prov, struct afb_op *op);

#endif
