// SPDX-License-Identifier: GPL-2.0
/*
 * The simulated engine gives the right answers: those of the standards and
 * those of the kernel's generic software, in a tasklet and in a thread, for
 * messages in one part and in several. Its counters count each job.
 */
#include "jrsim.h"

#define MAX_OUT 4160

static uint8_t text[4096], got[MAX_OUT], want[MAX_OUT];
static const uint8_t key[16] = "a key of 128 bit";
static const size_t lengths[] = { 0, 1, 16, 55, 64, 65, 1000, 4096 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* Of the standards: FIPS 180-2 and RFC 1321, RFC 2202 and 4231, SP 800-38A. */
static const struct {
	const char *driver;
	const char *key;
	const char *text;
	const char *digest;
} digests[] = {
	{ "md5-jrsim", NULL, "abc", "900150983cd24fb0d6963f7d28e17f72" },
	{ "sha1-jrsim", NULL, "abc",
	  "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "sha256-jrsim", NULL, "abc",
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "hmac-md5-jrsim", "Jefe", "what do ya want for nothing?",
	  "750c783e6ab0b503eaa86e310a5db738" },
	{ "hmac-sha1-jrsim", "Jefe", "what do ya want for nothing?",
	  "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
	{ "hmac-sha256-jrsim", "Jefe", "what do ya want for nothing?",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
};

static const struct {
	const char *type;
	const char *driver;
	const char *key;
	const char *iv;
	const char *assoc;
	const char *text;
	const char *result; /* with the tag, if any */
} ciphers[] = {
	{ "skcipher", "cbc-aes-jrsim", "2b7e151628aed2a6abf7158809cf4f3c",
	  "000102030405060708090a0b0c0d0e0f", "",
	  "6bc1bee22e409f96e93d7e117393172a",
	  "7649abac8119b246cee98e9b12e9197d" },
	{ "skcipher", "ctr-aes-jrsim", "2b7e151628aed2a6abf7158809cf4f3c",
	  "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "",
	  "6bc1bee22e409f96e93d7e117393172a",
	  "874d6191b620e3261bef6864990db6ce" },
	/* Test case 4 of "The Galois/Counter Mode of Operation". */
	{ "aead", "gcm-aes-jrsim", "feffe9928665731c6d6a8f9467308308",
	  "cafebabefacedbaddecaf888",
	  "feedfacedeadbeeffeedfacedeadbeefabaddad2",
	  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
	  "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
	  "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
	  "5bc94fbc3221a5db94fae95ae7121a47" },
};

/* Drivers of the engine, and the generic software that they must agree with. */
static const struct {
	const char *engine;
	const char *generic;
	bool keyed;
	size_t size;
} hashes[] = {
	{ "md5-jrsim", "md5-generic", false, 16 },
	{ "sha1-jrsim", "sha1-generic", false, 20 },
	{ "sha256-jrsim", "sha256-generic", false, 32 },
	{ "hmac-md5-jrsim", "hmac(md5-generic)", true, 16 },
	{ "hmac-sha1-jrsim", "hmac(sha1-generic)", true, 20 },
	{ "hmac-sha256-jrsim", "hmac(sha256-generic)", true, 32 },
};

static const struct {
	const char *engine;
	const char *generic;
	size_t block;
} modes[] = {
	{ "cbc-aes-jrsim", "cbc(aes-generic)", 16 },
	{ "ctr-aes-jrsim", "ctr(aes-generic)", 1 },
};

static size_t unhex(uint8_t *to, const char *hex)
{
	size_t length = strlen(hex) / 2, i;

	for (i = 0; i < length; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &to[i]) != 1)
			bail("unhex");
	return length;
}

static int bound(const char *type, const char *name, const uint8_t *with_key,
		 size_t length)
{
	int fd = afalg_bind(type, name);

	if (fd < 0) {
		errno = -fd;
		bail("%s", name);
	}
	if (with_key)
		afalg_key(fd, with_key, length);
	return fd;
}

static void digests_of_standards(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(digests) / sizeof(*digests); i++) {
		const char *with = digests[i].key;
		size_t length = strlen(digests[i].text);
		int fd = bound("hash", digests[i].driver, (void *)with,
			       with ? strlen(with) : 0);
		ssize_t size = unhex(want, digests[i].digest);
		int op = afalg_accept(fd);
		char name[128];

		snprintf(name, sizeof(name),
			 "%s_gives_the_digest_of_the_standard",
			 digests[i].driver);
		ok(send(op, digests[i].text, length, 0) == (ssize_t)length &&
			   read(op, got, sizeof(got)) == size &&
			   !memcmp(got, want, size),
		   name);
		close(op);
		close(fd);
	}
}

static void ciphers_of_standards(void)
{
	uint8_t the_key[16], iv[16], in[128];
	unsigned int i;

	for (i = 0; i < sizeof(ciphers) / sizeof(*ciphers); i++) {
		size_t ivlen = unhex(iv, ciphers[i].iv);
		size_t assoc = unhex(in, ciphers[i].assoc);
		size_t length = assoc + unhex(in + assoc, ciphers[i].text);
		size_t result = unhex(want, ciphers[i].result);
		int fd = bound(ciphers[i].type, ciphers[i].driver, the_key,
			       unhex(the_key, ciphers[i].key));
		char name[128];
		int op;

		if (assoc &&
		    setsockopt(fd, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, 16))
			bail("ALG_SET_AEAD_AUTHSIZE");
		op = afalg_accept(fd);
		snprintf(name, sizeof(name),
			 "%s_gives_the_bytes_of_the_standard",
			 ciphers[i].driver);
		afalg_send(op, ALG_OP_ENCRYPT, iv, ivlen, assoc, in, length, 0);
		ok(read(op, got, assoc + result) == (ssize_t)(assoc + result) &&
			   !memcmp(got + assoc, want, result),
		   name);
		close(op);
		close(fd);
	}
}

/* Parts of a third each, and the last from a clone of the op socket. */
static bool hash_in_parts(int fd, size_t length, uint8_t *digest, ssize_t size)
{
	size_t third = length / 3, rest = length - 2 * third;
	int op = afalg_accept(fd), clone;
	bool good;

	good = send(op, text, third, MSG_MORE) == (ssize_t)third &&
	       send(op, text + third, third, MSG_MORE) == (ssize_t)third;
	clone = afalg_accept(op);
	good = good &&
	       send(clone, text + 2 * third, rest, 0) == (ssize_t)rest &&
	       read(clone, digest, size) == size;
	close(clone);
	close(op);
	return good;
}

static bool hash_at_once(int fd, size_t length, uint8_t *digest, ssize_t size)
{
	int op = afalg_accept(fd);
	bool good = send(op, text, length, 0) == (ssize_t)length &&
		    read(op, digest, size) == size;

	close(op);
	return good;
}

static bool hashes_agree(unsigned int i)
{
	size_t size = hashes[i].size, keylen = hashes[i].keyed ? 16 : 0;
	const uint8_t *with = hashes[i].keyed ? key : NULL;
	int engine = bound("hash", hashes[i].engine, with, keylen);
	int generic = bound("hash", hashes[i].generic, with, keylen);
	bool good = true;
	unsigned int k;

	for (k = 0; k < LENGTHS; k++)
		good = good && hash_at_once(generic, lengths[k], want, size) &&
		       hash_at_once(engine, lengths[k], got, size) &&
		       !memcmp(got, want, size) &&
		       hash_in_parts(engine, lengths[k], got, size) &&
		       !memcmp(got, want, size);
	close(engine);
	close(generic);
	return good;
}

static bool cipher(int fd, uint32_t operation, const uint8_t *in, size_t length,
		   uint8_t *out)
{
	int op = afalg_accept(fd);
	bool good;

	afalg_send(op, operation, key, 16, 0, in, length, 0);
	good = read(op, out, length) == (ssize_t)length;
	close(op);
	return good;
}

static bool modes_agree(unsigned int i)
{
	int engine = bound("skcipher", modes[i].engine, key, 16);
	int generic = bound("skcipher", modes[i].generic, key, 16);
	bool good = true;
	unsigned int k;

	for (k = 0; k < LENGTHS; k++) {
		size_t length = lengths[k] - lengths[k] % modes[i].block;

		good = good &&
		       cipher(generic, ALG_OP_ENCRYPT, text, length, want) &&
		       cipher(engine, ALG_OP_ENCRYPT, text, length, got) &&
		       !memcmp(got, want, length) &&
		       cipher(engine, ALG_OP_DECRYPT, want, length, got) &&
		       !memcmp(got, text, length);
	}
	close(engine);
	close(generic);
	return good;
}

static ssize_t gcm(int fd, uint32_t operation, const uint8_t *in, size_t length,
		   uint8_t *out, size_t size)
{
	int op = afalg_accept(fd);
	ssize_t res;

	afalg_send(op, operation, key, 12, 16, in, length, 0);
	res = read(op, out, size);
	res = res < 0 ? -errno : res;
	close(op);
	return res;
}

/* 16 bytes of the text are associated data. */
static void gcm_agrees(const char *where)
{
	int engine = bound("aead", "gcm-aes-jrsim", key, 16);
	int generic = bound("aead", "gcm_base(ctr(aes-generic),ghash-generic)",
			    key, 16);
	bool good = true, refused = true;
	char name[128];
	unsigned int k;

	if (setsockopt(engine, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, 16) ||
	    setsockopt(generic, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, 16))
		bail("ALG_SET_AEAD_AUTHSIZE");
	for (k = 2; k < LENGTHS; k++) {
		size_t in = lengths[k], out = in + 16;

		good = good &&
		       gcm(generic, ALG_OP_ENCRYPT, text, in, want, out) ==
			       (ssize_t)out &&
		       gcm(engine, ALG_OP_ENCRYPT, text, in, got, out) ==
			       (ssize_t)out &&
		       !memcmp(got + 16, want + 16, in) &&
		       gcm(engine, ALG_OP_DECRYPT, want, out, got, in) ==
			       (ssize_t)in &&
		       !memcmp(got + 16, text + 16, in - 16);
		want[out - 1] ^= 1;
		refused = refused && gcm(engine, ALG_OP_DECRYPT, want, out, got,
					 in) == -EBADMSG;
	}
	snprintf(name, sizeof(name),
		 "gcm-aes-jrsim_agrees_with_the_software_in_a_%s", where);
	ok(good, name);
	snprintf(name, sizeof(name),
		 "gcm-aes-jrsim_refuses_a_wrong_tag_in_a_%s", where);
	ok(refused, name);
	close(engine);
	close(generic);
}

static void software_agrees(const char *where)
{
	char name[128];
	unsigned int i;

	for (i = 0; i < sizeof(hashes) / sizeof(*hashes); i++) {
		snprintf(name, sizeof(name),
			 "%s_agrees_with_the_software_in_a_%s",
			 hashes[i].engine, where);
		ok(hashes_agree(i), name);
	}
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		snprintf(name, sizeof(name),
			 "%s_agrees_with_the_software_in_a_%s", modes[i].engine,
			 where);
		ok(modes_agree(i), name);
	}
	gcm_agrees(where);
}

static void counters_count(void)
{
	enum { COUNT = 20 };
	unsigned int jobs = jrsim_counter("jobs");
	unsigned int interrupts = jrsim_counter("interrupts");
	int i, fd = bound("skcipher", "cbc-aes-jrsim", key, 16);
	bool good = true;

	for (i = 0; i < COUNT; i++)
		good = cipher(fd, ALG_OP_ENCRYPT, text, 1024, got) && good;
	close(fd);
	ok(good && jrsim_counter("jobs") - jobs == COUNT,
	   "each_cipher_message_is_one_job");
	ok(jrsim_counter("interrupts") - interrupts == COUNT,
	   "a_message_at_a_time_is_an_interrupt_each");
	ok(!jrsim_counter("places_taken") && !jrsim_counter("errors"),
	   "nothing_is_left_in_the_ring");
}

/* The engine takes its time: what no software here needs for so little. */
static void service_time_passes(void)
{
	int fd = bound("skcipher", "cbc-aes-jrsim", key, 16);
	struct timespec begin, end;
	bool good;
	long ms;

	jrsim_parameter("job_ns", 100000000);
	jrsim_parameter("byte_ps", 100000000);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	good = cipher(fd, ALG_OP_ENCRYPT, text, 4096, got);
	clock_gettime(CLOCK_MONOTONIC, &end);
	jrsim_parameter("job_ns", 0);
	jrsim_parameter("byte_ps", 0);
	close(fd);
	ms = (end.tv_sec - begin.tv_sec) * 1000 +
	     (end.tv_nsec - begin.tv_nsec) / 1000000;
	printf("# %ld ms, asked for 509\n", ms);
	ok(good && ms >= 509, "a_job_takes_its_service_time");
}

/* "NAME -jrsim ... selftest : passed", in the file's order of fields. */
static void self_tests_passed(void)
{
	FILE *file = fopen("/proc/crypto", "r");
	char line[256], driver[128] = "";
	int passed = 0, others = 0;

	if (!file)
		bail("/proc/crypto");
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "driver : %127s", driver);
		if (strncmp(line, "selftest", 8) || !strstr(driver, "-jrsim"))
			continue;
		passed += !!strstr(line, "passed");
		others += !strstr(line, "passed");
	}
	fclose(file);
	ok(passed == 9 && !others,
	   "all_nine_pass_the_self_tests_of_the_kernel");
}

int main(void)
{
	fill(text, sizeof(text), 7);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!jrsim_start(""))
		return finish();
	self_tests_passed();
	digests_of_standards();
	ciphers_of_standards();
	counters_count();
	service_time_passes();
	software_agrees("tasklet");
	jrsim_parameter("threaded", 1);
	software_agrees("thread");
	ok(!jrsim_unload_soon(), "it_unloads_when_nobody_uses_it");
	ok(!jrsim_load("threaded=1 depth=1 coalesce_count=8 coalesce_us=100") &&
		   !jrsim_unload_soon(),
	   "its_self_tests_pass_with_other_parameters");
	return finish();
}
