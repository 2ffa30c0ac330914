// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that pcrypt has accepted must complete, once and with the right
 * bytes, although the queue of its child has room for few. Needs cryptd with
 * cryptd_max_cpu_qlen=4. A failure can leave requests that never complete, and
 * this process then cannot end: the runner waits for the plan, not for the end.
 */
#include "afalg.h"

#define REQUESTS 64
#define ASSOCLEN 16
#define TEXTLEN 2048
#define TAGLEN 16
#define LENGTH (ASSOCLEN + TEXTLEN)
#define OUTLENGTH (LENGTH + TAGLEN)
#define ROUNDS 16
#define PATIENCE 30 /* seconds */

#define REFERENCE "gcm_base(ctr(aes-generic),ghash-generic)"
/* pcrypt over a child that queues, and over one whose child does. */
#define OF_CHILD "pcrypt(cryptd(" REFERENCE "))"
#define BELOW_CHILD "pcrypt(gcm_base(cryptd(ctr(aes-generic)),ghash-generic))"

static const uint8_t key[16] = "a key of 128 bit";
static uint8_t text[REQUESTS][LENGTH];
static uint8_t expected[REQUESTS][OUTLENGTH];
static uint8_t result[REQUESTS][OUTLENGTH];

static int keyed(const char *driver)
{
	int fd = afalg_bind("aead", driver);

	if (fd < 0)
		return fd;
	afalg_key(fd, key, sizeof(key));
	if (setsockopt(fd, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, TAGLEN))
		bail("ALG_SET_AEAD_AUTHSIZE");
	return fd;
}

static void send_one(int op, int i)
{
	uint8_t iv[12] = { i, i >> 8 };

	afalg_send(op, ALG_OP_ENCRYPT, iv, sizeof(iv), ASSOCLEN, text[i],
		   LENGTH, 0);
}

static void prepare(void)
{
	int i, op, fd = keyed(REFERENCE);

	if (fd < 0)
		bail("%s", REFERENCE);
	op = afalg_accept(fd);
	for (i = 0; i < REQUESTS; i++) {
		fill(text[i], LENGTH, i);
		send_one(op, i);
		if (read(op, expected[i], OUTLENGTH) != OUTLENGTH)
			bail("reference");
	}
	close(op);
	close(fd);
}

/* cryptd does not show its parameter; modprobe has it from the command line. */
static bool queue_is_short(void)
{
	FILE *file = fopen("/proc/cmdline", "r");
	char line[4096] = "";

	if (!file || !fgets(line, sizeof(line), file))
		bail("/proc/cmdline");
	fclose(file);
	return strstr(line, "cryptd.cryptd_max_cpu_qlen=4 ") ||
	       strstr(line, "cryptd.cryptd_max_cpu_qlen=4\n");
}

/*
 * All requests at once. False, with a line on what was wrong, unless each
 * completes as it must.
 */
static bool burst(aio_context_t context, const int *op)
{
	struct timespec patience = { .tv_sec = PATIENCE };
	struct iocb block[REQUESTS] = { 0 }, *list[REQUESTS];
	struct io_event event[REQUESTS];
	int i, got, failed = 0, wrong = 0, error = 0;

	memset(result, 0, sizeof(result));
	for (i = 0; i < REQUESTS; i++) {
		send_one(op[i], i);
		block[i].aio_lio_opcode = IOCB_CMD_PREAD;
		block[i].aio_fildes = op[i];
		block[i].aio_buf = (uintptr_t)result[i];
		block[i].aio_nbytes = OUTLENGTH;
		block[i].aio_data = i;
		list[i] = &block[i];
	}
	if (syscall(SYS_io_submit, context, REQUESTS, list) != REQUESTS)
		bail("io_submit");
	got = syscall(SYS_io_getevents, context, REQUESTS, REQUESTS, event,
		      &patience);
	for (i = 0; i < got; i++) {
		if (event[i].res != OUTLENGTH) {
			failed++;
			error = -event[i].res;
		} else if (memcmp(result[event[i].data] + ASSOCLEN,
				  expected[event[i].data] + ASSOCLEN,
				  OUTLENGTH - ASSOCLEN)) {
			wrong++;
		}
	}
	if (got == REQUESTS && !failed && !wrong)
		return true;
	printf("# of %d: %d completed within %d s, %d with an error (the last: %s), %d with wrong bytes\n",
	       REQUESTS, got, PATIENCE, failed,
	       failed ? strerror(error) : "none", wrong);
	return false;
}

static void try_driver(const char *driver, const char *name)
{
	aio_context_t context = 0;
	int i, op[REQUESTS], fd = keyed(driver);
	bool good = true;

	printf("# %s\n", driver);
	if (fd < 0) {
		skip(name, strerror(-fd));
		return;
	}
	if (syscall(SYS_io_setup, REQUESTS, &context))
		bail("io_setup");
	for (i = 0; i < REQUESTS; i++)
		op[i] = afalg_accept(fd);
	for (i = 0; i < ROUNDS && good; i++)
		good = burst(context, op);
	ok(good, name);
	fflush(stdout);
	/* What failed may never end: leave it open, the next driver has its turn. */
	if (!good)
		return;
	syscall(SYS_io_destroy, context);
	for (i = 0; i < REQUESTS; i++)
		close(op[i]);
	close(fd);
}

int main(void)
{
	if (!queue_is_short()) {
		skip("pcrypt_over_a_full_queue",
		     "cryptd.cryptd_max_cpu_qlen is not 4");
		return finish();
	}
	prepare();
	try_driver(BELOW_CHILD, "full_queue_below_the_child_loses_nothing");
	try_driver(OF_CHILD, "full_queue_of_the_child_loses_nothing");
	return finish();
}
