/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - makes every call that libafalgbatch makes fail in turn, each with
 * its likely errnos, and looks at what the library's user gets to see.
 *
 * usage: fault_injection                        all of them, in TAP
 *        fault_injection KIND ERROR N [always]  one, in this process
 *
 * Every fault is a forked child's, which is far cheaper than a new program.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afalgbatch.h"
#include "workload.h"

/*
 * A run takes some milliseconds; in a virtual machine without KVM, more. The workload
 * itself may wait 5 seconds 8 times.
 */
#define HANG_SECONDS 90

/* Calls of a kind that fail in turn: the first and last ones, and a sample. */
#define ENDS 5
#define SAMPLE 25
#define SAMPLE_ALWAYS 8

/* What a kind of call is likely to fail with, by its manual page. */
static const struct {
	enum fault_kind kind;
	int error;
	bool always; /* it can last: also fails from a call on */
} likely[] = {
	{ FAULT_SOCKET, EAFNOSUPPORT, true },
	{ FAULT_SOCKET, EPERM, true },
	{ FAULT_SOCKET, EMFILE, true },
	{ FAULT_SOCKET, ENFILE, false },
	{ FAULT_SOCKET, ENOMEM, false },
	{ FAULT_BIND, ENOENT, true },
	{ FAULT_BIND, EINVAL, false },
	{ FAULT_BIND, ENOMEM, false },
	{ FAULT_SETSOCKOPT, ENOMEM, true },
	{ FAULT_ACCEPT, EMFILE, true },
	{ FAULT_ACCEPT, ENFILE, false },
	{ FAULT_ACCEPT, ENOMEM, true },
	{ FAULT_ACCEPT, EINTR, false },
	{ FAULT_SEND, ENOMEM, true },
	{ FAULT_SEND, EIO, true },
	{ FAULT_SEND, EINTR, false },
	{ FAULT_SEND, FAULT_SHORT, false },
	{ FAULT_SENDMSG, ENOMEM, true },
	{ FAULT_SENDMSG, EIO, true },
	{ FAULT_SENDMSG, EINTR, false },
	{ FAULT_RECVMSG, ENOBUFS, true },
	{ FAULT_RECVMSG, EINTR, false },
	{ FAULT_READ, EIO, true },
	{ FAULT_READ, ENOMEM, false },
	{ FAULT_READ, EINTR, false },
	{ FAULT_OPEN, EMFILE, true },
	{ FAULT_MMAP, ENOMEM, true },
	{ FAULT_AIO_SETUP, EPERM, true },
	{ FAULT_AIO_SETUP, ENOSYS, true },
	{ FAULT_AIO_SETUP, EAGAIN, true },
	{ FAULT_AIO_SETUP, ENOMEM, true },
	{ FAULT_AIO_SUBMIT, EAGAIN, true },
	{ FAULT_AIO_SUBMIT, EPERM, true },
	{ FAULT_AIO_SUBMIT, EINTR, false },
	{ FAULT_AIO_SUBMIT, FAULT_SHORT, true },
	{ FAULT_AIO_GETEVENTS, EINTR, false },
	{ FAULT_AIO_GETEVENTS, EPERM, true },
	{ FAULT_URING_SETUP, EPERM, true },
	{ FAULT_URING_SETUP, ENOSYS, true },
	{ FAULT_URING_SETUP, ENOMEM, true },
	{ FAULT_URING_SETUP, EMFILE, true },
	{ FAULT_URING_SETUP, EINVAL, true },
	{ FAULT_URING_ENTER, EINTR, false },
	{ FAULT_URING_ENTER, EAGAIN, true },
	{ FAULT_URING_ENTER, EBUSY, true },
	{ FAULT_URING_ENTER, FAULT_SHORT, false },
	{ FAULT_URING_ENTER, FAULT_SHORTER, false },
	{ FAULT_URING_REGISTER, ENOMEM, true },
	{ FAULT_URING_REGISTER, EMFILE, true },
	{ FAULT_URING_REGISTER, EINVAL, true },
	{ FAULT_MEMORY, ENOMEM, true },
	{ FAULT_OBJECT, 0, true },
	{ FAULT_DIGEST, 0, true },
};

#define LIKELY (sizeof(likely) / sizeof(likely[0]))

/* What a child has to tell, in memory shared with it. */
struct report {
	char why[256];
	unsigned long counts[FAULT_KINDS];
};

static struct report *report;
static bool show_log;

static const char *error_name(int error)
{
	if (error == FAULT_SHORT)
		return "SHORT";
	if (error == FAULT_SHORTER)
		return "SHORTER";
	return error ? strerrorname_np(error) : "FAILURE";
}

static void print_log(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "# log: %s\n", text);
}

/* LeakSanitizer's, where the program is built with it. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static int run_here(const struct fault *fault)
{
	unsigned kind;
	bool fine;

	if (show_log)
		afb_set_log(print_log, NULL);
	fine = workload_run(fault, report->why, sizeof(report->why));
	for (kind = 0; kind < FAULT_KINDS; kind++)
		report->counts[kind] = inject_count(kind);
	if (fine && __lsan_do_recoverable_leak_check &&
	    __lsan_do_recoverable_leak_check()) {
		strcpy(report->why, "LeakSanitizer found a leak");
		fine = false;
	}
	return fine ? 0 : 1;
}

/* True if the child with that fault found all well; else report->why. */
static bool run_child(const struct fault *fault)
{
	int status = -1;
	pid_t pid;

	memset(report, 0, sizeof(*report));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(HANG_SECONDS);
		_exit(run_here(fault));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		strcpy(report->why, "no child");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		strcpy(report->why, "hangs");
	else if (WIFSIGNALED(status))
		snprintf(report->why, sizeof(report->why), "%s",
			 strsignal(WTERMSIG(status)));
	else if (status && !report->why[0])
		snprintf(report->why, sizeof(report->why), "exit status %d",
			 WEXITSTATUS(status));
	return !status;
}

/* The call that follows @nth in a sample of about @size out of @count. */
static unsigned long next_in_sample(unsigned long nth, unsigned long count,
				    unsigned size)
{
	unsigned long step = count / size + 1;

	if (nth < ENDS || nth + ENDS >= count)
		return nth + 1;
	return nth + step > count - ENDS ? count - ENDS + 1 : nth + step;
}

/* How many of the faults went wrong; the first few are told. */
static unsigned run_sample(struct fault fault, unsigned long count,
			   unsigned size, unsigned *runs)
{
	unsigned bad = 0;

	for (fault.nth = 1; fault.nth <= count;
	     fault.nth = next_in_sample(fault.nth, count, size)) {
		++*runs;
		if (run_child(&fault))
			continue;
		if (++bad <= 8)
			printf("# %s %s %lu%s: %s\n", fault_names[fault.kind],
			       error_name(fault.error), fault.nth,
			       fault.always ? " always" : "", report->why);
		/* Hangs are dear. */
		if (!strcmp(report->why, "hangs"))
			break;
	}
	return bad;
}

/* One line of TAP: a kind, an errno, once or for good. True if it is good. */
static bool test(unsigned number, const struct fault *fault,
		 unsigned long count)
{
	unsigned bad, runs = 0;

	bad = run_sample(*fault, count, fault->always ? SAMPLE_ALWAYS : SAMPLE,
			 &runs);
	printf("%s %u - %s_failing_%s_with_%s_gives_right_digests_or_clear_errors\n",
	       bad ? "not ok" : "ok", number, fault_names[fault->kind],
	       fault->always ? "for_good" : "once", error_name(fault->error));
	printf("# %u of %lu calls, %u bad\n", runs, count, bad);
	return !bad;
}

static unsigned long baseline[FAULT_KINDS];

/* Without a fault all must be well, and tells how many calls there are. */
static bool count_calls(void)
{
	const struct fault none = { 0 };
	unsigned kind;

	if (!run_child(&none)) {
		printf("not ok 1 - without_a_fault_every_digest_is_right\n"
		       "# %s\n1..1\n",
		       report->why);
		return false;
	}
	memcpy(baseline, report->counts, sizeof(baseline));
	printf("ok 1 - without_a_fault_every_digest_is_right\n# calls:");
	for (kind = 0; kind < FAULT_KINDS; kind++)
		printf(" %s %lu", fault_names[kind], baseline[kind]);
	printf("\n");
	return true;
}

static int all(void)
{
	struct fault fault;
	unsigned i, number = 1;
	bool fine;

	fine = count_calls();
	if (!fine)
		return 1;
	for (i = 0; i < LIKELY; i++) {
		fault = (struct fault){ .kind = likely[i].kind,
					.error = likely[i].error };
		if (!baseline[fault.kind]) {
			if (!i || likely[i - 1].kind != fault.kind)
				printf("ok %u - %s_failing # SKIP no such call here\n",
				       ++number, fault_names[fault.kind]);
			continue;
		}
		fine &= test(++number, &fault, baseline[fault.kind]);
		if (!likely[i].always)
			continue;
		fault.always = true;
		fine &= test(++number, &fault, baseline[fault.kind]);
	}
	printf("1..%u\n", number);
	return fine ? 0 : 1;
}

/* The fault that the command line names; false if there is no such. */
static bool parse(struct fault *fault, int argc, char **argv)
{
	unsigned i;

	for (i = 0; i < LIKELY; i++) {
		if (strcmp(argv[1], fault_names[likely[i].kind]) ||
		    strcmp(argv[2], error_name(likely[i].error)))
			continue;
		*fault = (struct fault){ .kind = likely[i].kind,
					 .error = likely[i].error,
					 .nth = strtoul(argv[3], NULL, 10),
					 .always = argc == 5 };
		return true;
	}
	return false;
}

static int one(int argc, char **argv)
{
	struct fault fault;
	int status;

	if (argc < 4 || argc > 5 || !parse(&fault, argc, argv)) {
		fprintf(stderr, "usage: %s [KIND ERROR N [always]]\n", argv[0]);
		return 2;
	}
	show_log = true;
	alarm(HANG_SECONDS);
	status = run_here(&fault);
	puts(status ? report->why : "right digests or clear errors");
	return status;
}

int main(int argc, char **argv)
{
	int ret;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		return 1;
	workload_prepare();
	ret = inject_install();
	if (ret) {
		printf("1..0 # SKIP no faults to be injected here: %s\n",
		       strerror(-ret));
		return 0;
	}
	return argc > 1 ? one(argc, argv) : all();
}
