/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.c - the known answers of hashes and MACs, and what the kernel made of each. There is one
 * kernel, so this is the module's and not a provider context's.
 *
 * The digests are of "abc", as in FIPS 180-4's examples; the HMACs of the second case
 * of RFC 2202 and RFC 4231; the CMACs of the second example of RFC 4493, with Camellia
 * in the place of AES as well.
 */
#include <config.h>

#include <stdatomic.h>
#include <string.h>

#include "afalg.h"
#include "debug.h"
#include "provider.h"
#include "selftest.h"
#include "selftest_cipher.h"

struct answer {
	const char *kernel;
	const char *hex;
};

static const struct answer answers[] = {
	{ "md5", "900150983cd24fb0d6963f7d28e17f72" },
	{ "sha1", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "sha224",
	  "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7" },
	{ "sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
		    "f20015ad" },
	{ "sha384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a"
		    "43ff5bed8086072ba1e7cc2358baeca134c825a7" },
	{ "sha512", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee6"
		    "4b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e"
		    "2a9ac94fa54ca49f" },
	{ "sha3-224",
	  "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf" },
	{ "sha3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe245"
		      "11431532" },
	{ "sha3-384", "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0"
		      "e49be4b298d88cea927ac7f539f1edf228376d25" },
	{ "sha3-512", "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d02"
		      "40d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a5"
		      "6592f8274eec53f0" },
	{ "sm3", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b"
		 "8f4ba8e0" },
	{ "rmd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc" },
	{ "blake2b-512",
	  "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6f"
	  "dbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925a"
	  "b92386edd4009923" },
	{ "blake2s-256",
	  "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c"
	  "86675982" },
	{ "hmac(md5)", "750c783e6ab0b503eaa86e310a5db738" },
	{ "hmac(sha1)", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
	{ "hmac(sha224)",
	  "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44" },
	{ "hmac(sha256)",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b9"
	  "64ec3843" },
	{ "hmac(sha384)",
	  "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec373"
	  "6322445e8e2240ca5e69e2c78b3239ecfab21649" },
	{ "hmac(sha512)",
	  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7"
	  "ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b"
	  "636e070a38bce737" },
	{ "hmac(sha3-224)",
	  "7fdb8dd88bd2f60d1b798634ad386811c2cfc85bfaf5d52bbace5e66" },
	{ "hmac(sha3-256)",
	  "c7d4072e788877ae3596bbb0da73b887c9171f93095b294ae857fbe2"
	  "645e1ba5" },
	{ "hmac(sha3-384)",
	  "f1101f8cbf9766fd6764d2ed61903f21ca9b18f57cf3e1a23ca13508"
	  "a93243ce48c045dc007f26a21b3f5e0e9df4c20a" },
	{ "hmac(sha3-512)",
	  "5a4bfeab6166427c7a3647b747292b8384537cdb89afb3bf5665e4c5"
	  "e709350b287baec921fd7ca0ee7a0c31d022a95e1fc92ba9d77df883"
	  "960275beb4e62024" },
	{ "hmac(sm3)",
	  "2e87f1d16862e6d964b50a5200bf2b10b764faa9680a296a2405f24b"
	  "ec39f882" },
	{ "hmac(rmd160)", "dda6c0213a485a9e24f4742064a7f033b43c4069" },
	{ "hmac(blake2b-512)",
	  "6ff884f8ddc2a6586b3c98a4cd6ebdf14ec10204b6710073eb5865ad"
	  "e37a2643b8807c1335d107ecdb9ffeaeb6828c4625ba172c66379efc"
	  "d222c2de11727ab4" },
	{ "hmac(blake2s-256)",
	  "90b6281e2f3038c9056af0b4a7e763cae6fe5d9eb4386a0ec9523789"
	  "0c104ff0" },
	{ "cmac(aes)", "070a16b46b4d4144f79bdd9dd04a287c" },
	{ "cmac(camellia)", "6d962854a3b9fda56d7d45a95ee17993" },
};
#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

enum verdict { UNTRIED, RIGHT, WRONG };
static atomic_uchar verdicts[ANSWERS];

static const unsigned char cmac_key[] = { 0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae,
					  0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88,
					  0x09, 0xcf, 0x4f, 0x3c };
static const unsigned char cmac_text[] = { 0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40,
					   0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11,
					   0x73, 0x93, 0x17, 0x2a };

static ssize_t ask_kernel(const char *name, unsigned char out[AFB_DIGEST_MAX])
{
	static const char text[] = "what do ya want for nothing?";

	if (!strncmp(name, "cmac(", 5))
		return afalg_hash(name, cmac_key, sizeof(cmac_key), cmac_text,
				  sizeof(cmac_text), out, AFB_DIGEST_MAX);
	if (!strncmp(name, "hmac(", 5))
		return afalg_hash(name, "Jefe", 4, text, strlen(text), out,
				  AFB_DIGEST_MAX);
	return afalg_hash(name, NULL, 0, "abc", 3, out, AFB_DIGEST_MAX);
}

static bool is_hex_of(const char *hex, const unsigned char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	if (strlen(hex) != 2 * len)
		return false;
	for (i = 0; i < len; i++)
		if (hex[2 * i] != digits[bytes[i] >> 4] ||
		    hex[2 * i + 1] != digits[bytes[i] & 15])
			return false;
	return true;
}

/* A kernel that cannot answer now may later: libbatch deals with its error. */
static enum verdict try_kernel(const struct answer *answer)
{
	unsigned char out[AFB_DIGEST_MAX];
	ssize_t len = ask_kernel(answer->kernel, out);

	if (len < 0)
		return UNTRIED;
	return is_hex_of(answer->hex, out, (size_t)len) ? RIGHT : WRONG;
}

enum afb_backend selftest_backend(const struct provider *prov,
				  const struct afb_algorithm *alg)
{
	enum verdict verdict;
	unsigned char before = UNTRIED;
	size_t i;

	if (prov->settings.backend == AFB_BACKEND_SOFT)
		return AFB_BACKEND_SOFT;
	if (alg->type != AFB_HASH)
		return selftest_cipher_fails(prov, alg) ?
			       AFB_BACKEND_SOFT :
			       prov->settings.backend;
	for (i = 0; strcmp(answers[i].kernel, alg->kernel); i++)
		if (i + 1 == ANSWERS)
			return prov->settings.backend;
	verdict = atomic_load(&verdicts[i]);
	if (verdict == UNTRIED) {
		verdict = try_kernel(&answers[i]);
		if (atomic_compare_exchange_strong(&verdicts[i], &before,
						   verdict) &&
		    verdict == WRONG)
			debug_print(prov,
				    "%s: the kernel's answer is wrong: "
				    "libcrypto serves instead",
				    alg->kernel);
	}
	return verdict == WRONG ? AFB_BACKEND_SOFT : prov->settings.backend;
}
