// SPDX-License-Identifier: GPL-2.0
/*
 * A decryption that waited for room in the virtqueue must use the IV it was
 * given. Needs a virtio-crypto device without indirect descriptors, so that
 * requests fill the queue when 13 are in it. (They must not be much longer: the
 * driver uses more entries than it needs, and a request of 128 KiB never fits.)
 */
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>

#include "afalg.h"

#define THREADS 64
#define ROUNDS 32
#define LENGTH (32 * 1024)

#define DRIVER "virtio_crypto_aes_cbc"
#define REFERENCE "cbc(aes-generic)"

static const uint8_t key[16] = "a key of 128 bit";
static uint8_t plain[LENGTH], cipher[LENGTH];
static const uint8_t iv[16] = "an IV of 16 byte";
static pthread_barrier_t start;
static int device, wrong_iv, wrong_data;

static void receive(int op, uint8_t *data)
{
	size_t done = 0;
	ssize_t got;

	while (done < LENGTH) {
		got = read(op, data + done, LENGTH - done);
		if (got <= 0)
			bail("read gave %zd", got);
		done += got;
	}
}

static void *reader(void *unused)
{
	uint8_t *data = malloc(LENGTH);
	int round, op = afalg_accept(device);

	if (!data)
		bail("malloc");
	for (round = 0; round < ROUNDS; round++) {
		afalg_send(op, ALG_OP_DECRYPT, iv, sizeof(iv), 0, cipher,
			   LENGTH, 0);
		/* Touched, so that the read does not have to fault it in. */
		memset(data, 0, LENGTH);
		pthread_barrier_wait(&start);
		receive(op, data);
		if (memcmp(data, plain, 16))
			__atomic_fetch_add(&wrong_iv, 1, __ATOMIC_RELAXED);
		if (memcmp(data + 16, plain + 16, LENGTH - 16))
			__atomic_fetch_add(&wrong_data, 1, __ATOMIC_RELAXED);
	}
	close(op);
	free(data);
	return unused;
}

static void prepare(void)
{
	int op, fd = afalg_bind("skcipher", REFERENCE);

	if (fd < 0)
		bail("%s", REFERENCE);
	afalg_key(fd, key, sizeof(key));
	op = afalg_accept(fd);
	fill(plain, LENGTH, 1);
	afalg_send(op, ALG_OP_ENCRYPT, iv, sizeof(iv), 0, plain, LENGTH, 0);
	receive(op, cipher);
	close(op);
	close(fd);
}

/* VIRTIO_RING_F_INDIRECT_DESC is bit 28; what cannot be read counts as on. */
static bool indirect(void)
{
	char features[128] = "", path[256];
	bool on = true;
	glob_t found;
	size_t i;
	int fd;

	if (glob("/sys/bus/virtio/drivers/virtio_crypto/virtio*", 0, NULL,
		 &found))
		return true;
	for (i = 0; i < found.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%s/features", found.gl_pathv[i]);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, features, sizeof(features) - 1) > 28)
			on = features[28] == '1';
		close(fd);
	}
	globfree(&found);
	return on;
}

int main(void)
{
	static const char name[] = "waiting_for_the_virtqueue_keeps_the_iv";
	pthread_t thread[THREADS];
	int i;

	device = afalg_bind("skcipher", DRIVER);
	if (device < 0) {
		skip(name, "there is no " DRIVER);
		return finish();
	}
	if (indirect()) {
		skip(name, "the device uses indirect descriptors");
		return finish();
	}
	afalg_key(device, key, sizeof(key));
	prepare();
	pthread_barrier_init(&start, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, reader, NULL))
			bail("pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("# of %d: first block wrong in %d, anything else wrong in %d\n",
	       THREADS * ROUNDS, wrong_iv, wrong_data);
	ok(!wrong_iv && !wrong_data, name);
	return finish();
}
