// SPDX-License-Identifier: GPL-2.0-only
/*
 * The job ring and the engine behind it. A job takes a place in the ring, the
 * engine works on one job after the other, and what is done waits for an
 * interrupt, whose handler completes the requests and frees their places. Where
 * hardware has a DMA engine, there is a real-time thread; where it has an
 * interrupt line, there is an irq_work.
 */
#include <crypto/algapi.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "jrsim.h"

static int set_positive(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 1, UINT_MAX);
}

static const struct kernel_param_ops positive_ops = {
	.set = set_positive,
	.get = param_get_uint,
};

static unsigned int depth = 512;
module_param_cb(depth, &positive_ops, &depth, 0644);
MODULE_PARM_DESC(depth, "Places in the ring");

static unsigned int job_ns;
module_param(job_ns, uint, 0644);
MODULE_PARM_DESC(job_ns, "Nanoseconds of service for each job");

static unsigned int byte_ps;
module_param(byte_ps, uint, 0644);
MODULE_PARM_DESC(byte_ps, "Picoseconds of service for each byte of input");

static unsigned int coalesce_count = 1;
module_param(coalesce_count, uint, 0644);
MODULE_PARM_DESC(coalesce_count, "Interrupt when so many jobs are done");

static unsigned int coalesce_us = 1000;
module_param(coalesce_us, uint, 0644);
MODULE_PARM_DESC(coalesce_us, "Or microseconds after the first of them");

static bool threaded;
module_param(threaded, bool, 0644);
MODULE_PARM_DESC(threaded, "Complete requests in a thread, not in a tasklet");

static bool backlog = true;
module_param(backlog, bool, 0644);
MODULE_PARM_DESC(backlog, "Queue what may wait for a place, do not refuse it");

static int cpu = -1;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "Where the engine and its interrupts are; -1: anywhere");

static struct {
	/* Guards the lists, what counts them, interrupting and the counters. */
	spinlock_t lock;
	struct list_head backlog; /* without a place */
	struct list_head waiting; /* for the engine */
	struct list_head held;	  /* by hold, until they are released */
	struct list_head done;	  /* for the interrupt's handler */
	unsigned int places_taken;
	unsigned int done_count;
	bool interrupting; /* from the interrupt until all done is completed */

	/* Of the engine's thread alone. */
	ktime_t free_at;
	unsigned int since_error;

	struct kthread_worker *engine_worker;
	struct kthread_work engine;
	struct kthread_worker *handler_worker;
	struct kthread_work handler;
	struct tasklet_struct tasklet;
	struct irq_work interrupt;
	struct hrtimer timer;

	/* Faults that debugfs asks for; the lock guards hold. */
	u32 error_every;
	u32 hold;

	/* What debugfs shows. */
	u64 jobs;
	u64 interrupts;
	u64 backlogged;
	u64 refused;
	u64 errors;
	u32 held_count;
	u32 most_places;
} ring;

static void take_place(void)
{
	ring.places_taken++;
	if (ring.most_places < ring.places_taken)
		ring.most_places = ring.places_taken;
}

/**
 * jrsim_submit() - give a job to the engine
 * @job: with request, work and length; the ring's until the request completes
 *
 * Return: what the crypto API wants of a driver: -EINPROGRESS when the job has
 * a place in the ring; when the ring is full, -EBUSY for a request that may
 * wait and now does, -ENOSPC for one that was not taken.
 */
int jrsim_submit(struct jrsim_job *job)
{
	bool may_wait = backlog &&
			job->request->flags & CRYPTO_TFM_REQ_MAY_BACKLOG;
	unsigned long flags;
	int err;

	spin_lock_irqsave(&ring.lock, flags);
	if (ring.places_taken < depth) {
		take_place();
		list_add_tail(&job->entry, &ring.waiting);
		err = -EINPROGRESS;
	} else if (may_wait) {
		ring.backlogged++;
		list_add_tail(&job->entry, &ring.backlog);
		err = -EBUSY;
	} else {
		ring.refused++;
		err = -ENOSPC;
	}
	spin_unlock_irqrestore(&ring.lock, flags);
	if (err == -EINPROGRESS)
		kthread_queue_work(ring.engine_worker, &ring.engine);
	return err;
}

/* The next job for the engine. Those to be held keep their place. */
static struct jrsim_job *next_job(void)
{
	struct jrsim_job *job;

	spin_lock_irq(&ring.lock);
	for (; ring.hold && !list_empty(&ring.waiting); ring.hold--) {
		list_move_tail(ring.waiting.next, &ring.held);
		ring.held_count++;
	}
	job = list_first_entry_or_null(&ring.waiting, struct jrsim_job, entry);
	if (job)
		list_del(&job->entry);
	spin_unlock_irq(&ring.lock);
	return job;
}

static bool is_faulty(void)
{
	u32 every = READ_ONCE(ring.error_every);

	if (every && ++ring.since_error < every)
		return false;
	ring.since_error = 0;
	return every;
}

static void sleep_until(ktime_t time)
{
	while (ktime_before(ktime_get(), time)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&time, HRTIMER_MODE_ABS);
	}
}

/* The ring's lock is held. */
static void done(struct jrsim_job *job)
{
	ring.jobs++;
	ring.errors += job->result == -EIO;
	ring.done_count++;
	list_add_tail(&job->entry, &ring.done);
	if (ring.interrupting)
		return;
	if (ring.done_count >= coalesce_count) {
		ring.interrupting = true;
		irq_work_queue(&ring.interrupt);
	} else if (ring.done_count == 1) {
		hrtimer_start(&ring.timer,
			      ns_to_ktime((u64)coalesce_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL);
	}
}

static void engine(struct kthread_work *work)
{
	struct jrsim_job *job;

	while ((job = next_job())) {
		u64 service =
			job_ns + div_u64((u64)byte_ps * job->length, 1000);
		ktime_t now = ktime_get();

		if (ktime_before(ring.free_at, now))
			ring.free_at = now;
		ring.free_at = ktime_add_ns(ring.free_at, service);
		job->result = is_faulty() ? -EIO : job->work(job->request);
		sleep_until(ring.free_at);
		spin_lock_irq(&ring.lock);
		done(job);
		spin_unlock_irq(&ring.lock);
	}
}

/* What an engine's driver does in hard interrupt context: not much. */
static void interrupt(struct irq_work *work)
{
	/* There is no other interrupt until the handler is through. */
	ring.interrupts++;
	hrtimer_try_to_cancel(&ring.timer);
	if (threaded)
		kthread_queue_work(ring.handler_worker, &ring.handler);
	else
		tasklet_schedule(&ring.tasklet);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	unsigned long flags;

	spin_lock_irqsave(&ring.lock, flags);
	if (ring.done_count && !ring.interrupting) {
		ring.interrupting = true;
		irq_work_queue(&ring.interrupt);
	}
	spin_unlock_irqrestore(&ring.lock, flags);
	return HRTIMER_NORESTART;
}

/*
 * Takes what is done out of the ring and gives the places to the backlog. False
 * when there is nothing to do for the handler, which then waits for an
 * interrupt.
 */
static bool collect(struct list_head *completed, struct list_head *started)
{
	spin_lock_irq(&ring.lock);
	list_splice_init(&ring.done, completed);
	ring.places_taken -= ring.done_count;
	ring.done_count = 0;
	while (ring.places_taken < depth && !list_empty(&ring.backlog)) {
		take_place();
		list_move_tail(ring.backlog.next, started);
	}
	ring.interrupting = !list_empty(completed) || !list_empty(started);
	spin_unlock_irq(&ring.lock);
	return ring.interrupting;
}

static void complete_jobs(void)
{
	struct jrsim_job *job, *next;
	LIST_HEAD(completed);
	LIST_HEAD(started);

	while (collect(&completed, &started)) {
		/* Before the engine has them: the end must not come first. */
		list_for_each_entry(job, &started, entry)
			crypto_request_complete(job->request, -EINPROGRESS);
		spin_lock_irq(&ring.lock);
		list_splice_tail_init(&started, &ring.waiting);
		spin_unlock_irq(&ring.lock);
		kthread_queue_work(ring.engine_worker, &ring.engine);
		/* The job is gone with its request. */
		list_for_each_entry_safe(job, next, &completed, entry)
			crypto_request_complete(job->request, job->result);
		INIT_LIST_HEAD(&completed);
	}
}

static void handle_in_tasklet(struct tasklet_struct *tasklet)
{
	complete_jobs();
}

static void handle_in_thread(struct kthread_work *work)
{
	/* Callbacks of requests expect it, as in a tasklet. */
	local_bh_disable();
	complete_jobs();
	local_bh_enable();
}

static int get_hold(void *data, u64 *value)
{
	*value = READ_ONCE(ring.hold);
	return 0;
}

/* Not while next_job() counts it down. */
static int set_hold(void *data, u64 value)
{
	spin_lock_irq(&ring.lock);
	ring.hold = value;
	spin_unlock_irq(&ring.lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(hold_fops, get_hold, set_hold, "%llu\n");

static int release_held(void *data, u64 value)
{
	spin_lock_irq(&ring.lock);
	list_splice_init(&ring.held, &ring.waiting);
	ring.held_count = 0;
	spin_unlock_irq(&ring.lock);
	kthread_queue_work(ring.engine_worker, &ring.engine);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(release_fops, NULL, release_held, "%llu\n");

static void show(struct dentry *debugfs)
{
	debugfs_create_u64("jobs", 0400, debugfs, &ring.jobs);
	debugfs_create_u64("interrupts", 0400, debugfs, &ring.interrupts);
	debugfs_create_u64("backlogged", 0400, debugfs, &ring.backlogged);
	debugfs_create_u64("refused", 0400, debugfs, &ring.refused);
	debugfs_create_u64("errors", 0400, debugfs, &ring.errors);
	debugfs_create_u32("held", 0400, debugfs, &ring.held_count);
	debugfs_create_u32("places_taken", 0400, debugfs, &ring.places_taken);
	debugfs_create_u32("most_places_taken", 0600, debugfs,
			   &ring.most_places);
	debugfs_create_u32("error_every", 0600, debugfs, &ring.error_every);
	debugfs_create_file("hold", 0600, debugfs, NULL, &hold_fops);
	debugfs_create_file("release", 0200, debugfs, NULL, &release_fops);
}

static struct kthread_worker *start_worker(const char *name)
{
	struct kthread_worker *worker;

	if (cpu < 0)
		worker = kthread_create_worker(0, "%s", name);
	else if (cpu < nr_cpu_ids && cpu_online(cpu))
		worker = kthread_create_worker_on_cpu(cpu, 0, "%s", name);
	else
		return ERR_PTR(-EINVAL);
	/* Hardware and its interrupts do not wait for the machine's tasks. */
	if (!IS_ERR(worker))
		sched_set_fifo(worker->task);
	return worker;
}

int jrsim_ring_init(struct dentry *debugfs)
{
	spin_lock_init(&ring.lock);
	INIT_LIST_HEAD(&ring.backlog);
	INIT_LIST_HEAD(&ring.waiting);
	INIT_LIST_HEAD(&ring.held);
	INIT_LIST_HEAD(&ring.done);
	kthread_init_work(&ring.engine, engine);
	kthread_init_work(&ring.handler, handle_in_thread);
	tasklet_setup(&ring.tasklet, handle_in_tasklet);
	init_irq_work(&ring.interrupt, interrupt);
	hrtimer_init(&ring.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	ring.timer.function = timer_expired;

	ring.engine_worker = start_worker("jrsim-engine");
	if (IS_ERR(ring.engine_worker))
		return PTR_ERR(ring.engine_worker);
	ring.handler_worker = start_worker("jrsim-handler");
	if (IS_ERR(ring.handler_worker)) {
		kthread_destroy_worker(ring.engine_worker);
		return PTR_ERR(ring.handler_worker);
	}
	show(debugfs);
	return 0;
}

/*
 * All requests are complete, since each holds its tfm and that this module. The
 * handler that completed the last one may still be on its way out.
 */
void jrsim_ring_exit(void)
{
	kthread_destroy_worker(ring.engine_worker);
	hrtimer_cancel(&ring.timer);
	irq_work_sync(&ring.interrupt);
	tasklet_kill(&ring.tasklet);
	kthread_destroy_worker(ring.handler_worker);
}
