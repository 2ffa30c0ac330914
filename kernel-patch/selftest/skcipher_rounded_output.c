// SPDX-License-Identifier: GPL-2.0
/*
 * A read that the kernel serves in several rounds must fill the buffer without
 * a gap. A piece of the buffer has at most 16 pages: 65535 bytes from an odd
 * address, which is no whole number of blocks. A round ends after it when less
 * than a page of the receive buffer is left: that is 64 KiB here, the kernel
 * doubles what SO_RCVBUF says.
 */
#include "afalg.h"

#define LENGTH 131072
#define BLOCK 16

static const uint8_t key[16] = "a key of 128 bit";
static const uint8_t iv[16] = "an IV of 16 byte";
static uint8_t text[LENGTH], expected[LENGTH];
static uint8_t buffer[LENGTH + 4096] __attribute__((aligned(4096)));

/* Returns what the kernel says it wrote to data[]. */
static ssize_t encrypt(int fd, uint8_t *data, size_t length, int receive_buffer)
{
	int op = afalg_accept(fd);
	ssize_t got;

	if (receive_buffer &&
	    setsockopt(op, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
		       sizeof(receive_buffer)))
		bail("SO_RCVBUF");
	afalg_send(op, ALG_OP_ENCRYPT, iv, sizeof(iv), 0, text, LENGTH, 0);
	got = read(op, data, length);
	close(op);
	return got;
}

/* What the kernel says it wrote is right and is where it belongs. */
static bool same(const uint8_t *data, ssize_t got)
{
	ssize_t i;

	for (i = 0; i < got && data[i] == expected[i]; i++)
		;
	printf("# %zd bytes, right up to %zd\n", got, i);
	return got > 0 && i == got;
}

int main(void)
{
	int fd = afalg_bind("skcipher", "cbc(aes-generic)");
	uint8_t *unaligned = buffer + 1;
	size_t done;
	ssize_t got;

	if (fd < 0)
		bail("cbc(aes-generic)");
	afalg_key(fd, key, sizeof(key));
	fill(text, LENGTH, 7);
	/* The reference: aligned, and no more than one round needs. */
	if (encrypt(fd, expected, LENGTH, 0) != LENGTH)
		bail("reference");

	memset(buffer, 0, sizeof(buffer));
	got = encrypt(fd, unaligned, LENGTH, 32768);
	done = got < 0 ? 0 : got;
	ok(same(unaligned, got), "a_read_in_several_rounds_has_no_gap");
	ok(done == LENGTH, "a_read_in_several_rounds_takes_all");

	memset(buffer, 0, sizeof(buffer));
	got = encrypt(fd, unaligned, LENGTH - 1, 0);
	ok(same(unaligned, got) && got == LENGTH - BLOCK,
	   "a_short_read_gives_whole_blocks");
	return finish();
}
