// SPDX-License-Identifier: Apache-2.0
/*
 * Process 1 of a test guest. It loads the modules that the root file system needs, puts a writable overlay over the host's read-only
 * root, prepares the guest (guest-setup), runs the one command of the job and copies its output to the host, reports its status and
 * powers off. Built static into the initramfs by make-initramfs; the other side is tests/vm/run.
 *
 * It copies stdout and stderr itself, from pipes, because a virtio port can be opened only once (a command that opens /dev/stdout would
 * fail) and because only process 1 knows when everything else is dead and all output has been read.
 *
 * It must never return, and never power off without either a status on the port "status" or a reason in the kernel log.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOB "/run/afalgbatch-vm" /* the job share of tests/vm/run: argv, env, cwd, ... */
#define DEBUG_EXIT_PORT 0xf4	 /* QEMU's isa-debug-exit */
#define DRAIN_MS 5000		 /* how long output may trickle in after everything was killed */

/* One of the command's output streams: a pipe from it, a virtio port to the host. */
struct stream {
	const char *port_name;
	int from;
	int to;
	unsigned long long bytes;
};

static struct stream out = { .port_name = "stdout", .from = -1, .to = -1 };
static struct stream err = { .port_name = "stderr", .from = -1, .to = -1 };
static int kmsg = -1;

/* To the kernel log, which the host reads from the serial console. */
static void say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "<1>afalgbatch-vm: ");
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	strcat(line, "\n");
	if (write(kmsg, line, strlen(line)) < 0)
		return;
}

static _Noreturn void power_off(void)
{
	sync();
	/* The host takes the log as complete only when it has seen this line. */
	say("end of log");
	if (!ioperm(DEBUG_EXIT_PORT, 1, 1))
		outb(0, DEBUG_EXIT_PORT);
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static _Noreturn void fail(const char *what)
{
	say("guest init failed: %s: %s", what, strerror(errno));
	power_off();
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		fail(path);
}

static void must_mount(const char *src, const char *dir, const char *type, unsigned long flags, const char *data)
{
	make_dir(dir);
	if (mount(src, dir, type, flags, data))
		fail(dir);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		fail(path);
	close(fd);
}

/* The modules of the initramfs are numbered in load order. */
static void load_boot_modules(void)
{
	struct dirent **list;
	char path[512];
	int n = scandir("/modules", &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/modules/%s", list[i]->d_name);
		load_module(path);
	}
}

/*
 * The host's root must look the same for the whole run, so everything read may be cached (loose). What the guest writes stays in the
 * tmpfs.
 */
static void mount_root(void)
{
	must_mount("root", "/lower", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,cache=loose,msize=262144");
	must_mount("tmpfs", "/rw", "tmpfs", 0, "size=75%,mode=0755");
	make_dir("/rw/upper");
	make_dir("/rw/work");
	must_mount("overlay", "/new", "overlay", 0, "lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work");
	make_dir("/new/dev");
	if (mount("/dev", "/new/dev", NULL, MS_MOVE, NULL) || chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		fail("switch root");
}

static void mount_system(void)
{
	make_dir("/run");
	must_mount("proc", "/proc", "proc", 0, NULL);
	must_mount("sysfs", "/sys", "sysfs", 0, NULL);
	must_mount("devpts", "/dev/pts", "devpts", 0, "gid=5,mode=620,ptmxmode=666");
	must_mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
	must_mount("job", JOB, "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,cache=loose,msize=262144");
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (symlink("/proc/self/fd", "/dev/fd") || symlink("fd/0", "/dev/stdin") || symlink("fd/1", "/dev/stdout") ||
	    symlink("fd/2", "/dev/stderr"))
		fail("/dev/fd");
}

/* A file of the job, NUL-terminated; NULL when the job does not have it. */
static char *job_file(const char *name, size_t *len)
{
	char path[256], *data;
	struct stat st;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), JOB "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !(data = calloc(1, st.st_size + 2)))
		fail(path);
	for (*len = 0; (off_t)*len < st.st_size; *len += n) {
		n = read(fd, data + *len, st.st_size - *len);
		if (n <= 0)
			fail(path);
	}
	close(fd);
	return data;
}

/* A job file of NUL-terminated strings, as a vector for execve. */
static char **job_vector(const char *name)
{
	size_t len = 0, count = 0;
	char *data = job_file(name, &len), **vec;

	if (!data)
		fail(name);
	vec = calloc(len + 2, sizeof(*vec));
	if (!vec)
		fail(name);
	for (char *s = data; s < data + len; s += strlen(s) + 1)
		vec[count++] = s;
	return vec;
}

static void mkdir_parents(char *path)
{
	for (char *s = path + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = 0;
		make_dir(path);
		*s = '/';
	}
	make_dir(path);
}

/* What the results share holds must survive a panic, so nothing of it is cached. */
static void mount_results(void)
{
	size_t len = 0;
	char *dir = job_file("results", &len);

	if (!dir)
		return;
	mkdir_parents(dir);
	must_mount("results", dir, "9p", 0, "trans=virtio,version=9p2000.L,cache=none,msize=262144");
	free(dir);
}

static void mount_modules(void)
{
	struct utsname uts;
	size_t len = 0;
	char path[256], *dir = job_file("modules", &len);

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s", uts.release);
	mkdir_parents(path);
	if (dir && mount(dir, path, NULL, MS_BIND, NULL))
		fail(dir);
	free(dir);
}

static void raise_loopback(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		fail("lo");
	close(fd);
}

/* A virtio port by the name that tests/vm/run gave it. Ports appear a moment after their driver: wait for it. */
static int open_port(const char *name)
{
	char path[64], found[64];

	for (int tries = 0; tries < 500; tries++, usleep(10000)) {
		for (int i = 1; i < 8; i++) {
			FILE *f;
			int fd;

			snprintf(path, sizeof(path), "/sys/class/virtio-ports/vport0p%d/name", i);
			f = fopen(path, "re");
			if (!f)
				continue;
			if (!fgets(found, sizeof(found), f))
				found[0] = 0;
			fclose(f);
			found[strcspn(found, "\n")] = 0;
			snprintf(path, sizeof(path), "/dev/vport0p%d", i);
			if (!strcmp(found, name) && (fd = open(path, O_WRONLY | O_CLOEXEC)) >= 0)
				return fd;
		}
	}
	errno = ENODEV;
	fail(name);
}

static void write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("write to the host");
		data += n;
		len -= n;
	}
}

/* Copies what is there. Closes the pipe at its end. */
static void copy_some(struct stream *s)
{
	static char buf[32768];
	ssize_t n = read(s->from, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(s->from);
		s->from = -1;
		return;
	}
	write_all(s->to, buf, n);
	s->bytes += n;
}

/*
 * Copies both streams until they end or, with a time-out, until nothing comes any more. SIGCHLD breaks the wait: the mask is open only
 * inside ppoll.
 */
static void copy_streams(int timeout_ms, const sigset_t *mask)
{
	struct timespec ts = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct pollfd fds[2] = { { out.from, POLLIN, 0 }, { err.from, POLLIN, 0 } };

	if (ppoll(fds, 2, timeout_ms < 0 ? NULL : &ts, mask) <= 0)
		return;
	if (fds[0].revents)
		copy_some(&out);
	if (fds[1].revents)
		copy_some(&err);
}

static void on_child(int sig)
{
	(void)sig;
}

static _Noreturn void exec_child(char **argv, char **env, const char *cwd, const char *input, int out_fd, int err_fd)
{
	sigset_t none;
	int fd = open(input, O_RDONLY);

	sigemptyset(&none);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (fd < 0 || dup2(fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(err_fd, 2) < 0)
		_exit(125);
	if (fd > 2)
		close(fd);
	clearenv();
	for (char **e = env; *e; e++)
		putenv(*e);
	if (chdir(cwd)) {
		dprintf(2, "afalgbatch-vm: cannot enter %s: %s\n", cwd, strerror(errno));
		_exit(125);
	}
	execvp(argv[0], argv);
	dprintf(2, "afalgbatch-vm: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Reaps whatever has ended; true with its wait status once @pid has. */
static int reaped(pid_t pid, int *status)
{
	pid_t p;
	int s, found = 0;

	while ((p = waitpid(-1, &s, WNOHANG)) > 0) {
		if (p == pid) {
			*status = s;
			found = 1;
		}
	}
	return found;
}

/* Runs one program, its output going to the host, and returns its status as a shell would. What it leaves running is killed. */
static int run_program(char **argv, char **env, const char *cwd, const char *input, int merge)
{
	sigset_t block, open_mask;
	int out_pipe[2], err_pipe[2], status = 0;
	pid_t pid;

	sigemptyset(&open_mask);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, NULL);
	signal(SIGCHLD, on_child);
	if (pipe2(out_pipe, O_CLOEXEC) || pipe2(err_pipe, O_CLOEXEC))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		exec_child(argv, env, cwd, input, merge ? err_pipe[1] : out_pipe[1], err_pipe[1]);
	close(out_pipe[1]);
	close(err_pipe[1]);
	out.from = out_pipe[0];
	err.from = err_pipe[0];
	while (!reaped(pid, &status))
		copy_streams(-1, &open_mask);
	kill(-1, SIGKILL);
	for (int ms = 0; ms < DRAIN_MS && (out.from >= 0 || err.from >= 0); ms += 10) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		copy_streams(10, &block);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void prepare_guest(void)
{
	char *argv[] = { "/bin/bash", JOB "/guest-setup", JOB, NULL };
	char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
	int status = run_program(argv, env, "/", "/dev/null", 1);

	if (status) {
		say("guest-setup failed with status %d", status);
		power_off();
	}
}

static void write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		fail(path);
	write_all(fd, value, strlen(value));
	close(fd);
}

/*
 * The boot ran with oops=panic, so that an Oops there ends it at once, and with expedited grace periods, for speed. The command gets the
 * kernel's defaults; its Oopses are for the log guard.
 */
static void run_command(void)
{
	size_t len;
	char line[128], *cwd = job_file("cwd", &len), **argv = job_vector("argv"), **env = job_vector("env");
	int port = open_port("status"), status;

	write_setting("/proc/sys/kernel/panic_on_oops", "0");
	write_setting("/sys/kernel/rcu_expedited", "0");
	say("command starts");
	status = run_program(argv, env, cwd, access(JOB "/stdin", R_OK) ? "/dev/null" : JOB "/stdin", 0);
	say("command ended with status %d", status);
	snprintf(line, sizeof(line), "%d %llu %llu\n", status, out.bytes, err.bytes);
	write_all(port, line, strlen(line));
}

int main(void)
{
	umask(022);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	say("init starts");
	load_boot_modules();
	mount_root();
	mount_system();
	mount_results();
	mount_modules();
	raise_loopback();
	sethostname("afalgbatch-vm", 13);
	out.to = open_port(out.port_name);
	err.to = open_port(err.port_name);
	say("root is mounted");
	prepare_guest();
	run_command();
	power_off();
}
