/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cipher_kinds.h - the ciphers that the provider offers: what is fixed about each
 * when the module is built. Names and OIDs are those of OpenSSL 3.0's default
 * provider; tests/unit/provider_names.c holds them, and the rest, against it.
 */
#ifndef CIPHER_KINDS_H
#define CIPHER_KINDS_H

#include <stddef.h>

#include <openssl/core_dispatch.h>
#include <openssl/evp.h>

#include "afalgbatch.h"

/*
 * X(C name, names and OIDs, kernel's name, mode, then the bytes of key, block and
 * IV). libcrypto fetches it by the first of the names.
 */
#define CIPHER_FAMILY(X, name, kernel, bits, ecb, cbc, ctr)                  \
	X(name##_##bits##_ecb, ecb, "ecb(" kernel ")", EVP_CIPH_ECB_MODE,    \
	  (bits) / 8, 16, 0)                                                 \
	X(name##_##bits##_cbc, cbc, "cbc(" kernel ")", EVP_CIPH_CBC_MODE,    \
	  (bits) / 8, 16, 16)                                                \
	X(name##_##bits##_ctr, ctr, "ctr(" kernel ")", EVP_CIPH_CTR_MODE,    \
	  (bits) / 8, 1, 16)

#define CIPHERS(X)                                                           \
	CIPHER_FAMILY(X, aes, "aes", 128,                                    \
		      "AES-128-ECB:2.16.840.1.101.3.4.1.1",                  \
		      "AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2",           \
		      "AES-128-CTR")                                         \
	CIPHER_FAMILY(X, aes, "aes", 192,                                    \
		      "AES-192-ECB:2.16.840.1.101.3.4.1.21",                 \
		      "AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22",          \
		      "AES-192-CTR")                                         \
	CIPHER_FAMILY(X, aes, "aes", 256,                                    \
		      "AES-256-ECB:2.16.840.1.101.3.4.1.41",                 \
		      "AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42",          \
		      "AES-256-CTR")                                         \
	X(aes_128_xts, "AES-128-XTS:1.3.111.2.1619.0.1.1", "xts(aes)",       \
	  EVP_CIPH_XTS_MODE, 32, 1, 16)                                      \
	X(aes_256_xts, "AES-256-XTS:1.3.111.2.1619.0.1.2", "xts(aes)",       \
	  EVP_CIPH_XTS_MODE, 64, 1, 16)                                      \
	CIPHER_FAMILY(X, camellia, "camellia", 128,                          \
		      "CAMELLIA-128-ECB:0.3.4401.5.3.1.9.1",                 \
		      "CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2", \
		      "CAMELLIA-128-CTR:0.3.4401.5.3.1.9.9")                 \
	CIPHER_FAMILY(X, camellia, "camellia", 192,                          \
		      "CAMELLIA-192-ECB:0.3.4401.5.3.1.9.21",                \
		      "CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3", \
		      "CAMELLIA-192-CTR:0.3.4401.5.3.1.9.29")                \
	CIPHER_FAMILY(X, camellia, "camellia", 256,                          \
		      "CAMELLIA-256-ECB:0.3.4401.5.3.1.9.41",                \
		      "CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4", \
		      "CAMELLIA-256-CTR:0.3.4401.5.3.1.9.49")                \
	CIPHER_FAMILY(X, aria, "aria", 128,                                  \
		      "ARIA-128-ECB:1.2.410.200046.1.1.1",                   \
		      "ARIA-128-CBC:ARIA128:1.2.410.200046.1.1.2",           \
		      "ARIA-128-CTR:1.2.410.200046.1.1.5")                   \
	CIPHER_FAMILY(X, aria, "aria", 192,                                  \
		      "ARIA-192-ECB:1.2.410.200046.1.1.6",                   \
		      "ARIA-192-CBC:ARIA192:1.2.410.200046.1.1.7",           \
		      "ARIA-192-CTR:1.2.410.200046.1.1.10")                  \
	CIPHER_FAMILY(X, aria, "aria", 256,                                  \
		      "ARIA-256-ECB:1.2.410.200046.1.1.11",                  \
		      "ARIA-256-CBC:ARIA256:1.2.410.200046.1.1.12",          \
		      "ARIA-256-CTR:1.2.410.200046.1.1.15")                  \
	CIPHER_FAMILY(X, sm4, "sm4", 128, "SM4-ECB:1.2.156.10197.1.104.1",   \
		      "SM4-CBC:SM4:1.2.156.10197.1.104.2",                   \
		      "SM4-CTR:1.2.156.10197.1.104.7")                       \
	X(des_ede3_ecb, "DES-EDE3-ECB:DES-EDE3", "ecb(des3_ede)",            \
	  EVP_CIPH_ECB_MODE, 24, 8, 0)                                       \
	X(des_ede3_cbc, "DES-EDE3-CBC:DES3:1.2.840.113549.3.7",              \
	  "cbc(des3_ede)", EVP_CIPH_CBC_MODE, 24, 8, 8)

/* The same of AEAD, with tags of 16 bytes. */
#define AEADS(X)                                                             \
	X(aes_128_gcm, "AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6",   \
	  "gcm(aes)", EVP_CIPH_GCM_MODE, 16, 1, 12)                          \
	X(aes_192_gcm, "AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26",  \
	  "gcm(aes)", EVP_CIPH_GCM_MODE, 24, 1, 12)                          \
	X(aes_256_gcm, "AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46",  \
	  "gcm(aes)", EVP_CIPH_GCM_MODE, 32, 1, 12)                          \
	X(aria_128_gcm, "ARIA-128-GCM:1.2.410.200046.1.1.34", "gcm(aria)",   \
	  EVP_CIPH_GCM_MODE, 16, 1, 12)                                      \
	X(aria_192_gcm, "ARIA-192-GCM:1.2.410.200046.1.1.35", "gcm(aria)",   \
	  EVP_CIPH_GCM_MODE, 24, 1, 12)                                      \
	X(aria_256_gcm, "ARIA-256-GCM:1.2.410.200046.1.1.36", "gcm(aria)",   \
	  EVP_CIPH_GCM_MODE, 32, 1, 12)                                      \
	X(aes_128_ccm, "AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7",   \
	  "ccm(aes)", EVP_CIPH_CCM_MODE, 16, 1, 12)                          \
	X(aes_192_ccm, "AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27",  \
	  "ccm(aes)", EVP_CIPH_CCM_MODE, 24, 1, 12)                          \
	X(aes_256_ccm, "AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47",  \
	  "ccm(aes)", EVP_CIPH_CCM_MODE, 32, 1, 12)                          \
	X(aria_128_ccm, "ARIA-128-CCM:1.2.410.200046.1.1.37", "ccm(aria)",   \
	  EVP_CIPH_CCM_MODE, 16, 1, 12)                                      \
	X(aria_192_ccm, "ARIA-192-CCM:1.2.410.200046.1.1.38", "ccm(aria)",   \
	  EVP_CIPH_CCM_MODE, 24, 1, 12)                                      \
	X(aria_256_ccm, "ARIA-256-CCM:1.2.410.200046.1.1.39", "ccm(aria)",   \
	  EVP_CIPH_CCM_MODE, 32, 1, 12)                                      \
	X(chacha20_poly1305, "ChaCha20-Poly1305",                            \
	  "rfc7539(chacha20,poly1305)", EVP_CIPH_STREAM_CIPHER, 32, 1, 12)

#define AEAD_TAG_LEN 16

#define CIPHER_ID(c_name, ...) CIPHER_ID_##c_name,
enum cipher_id { CIPHERS(CIPHER_ID) AEADS(CIPHER_ID) CIPHER_COUNT };

/* AEADs have the last of the numbers. */
#define AEAD_FIRST CIPHER_ID_aes_128_gcm

struct cipher_kind {
	enum cipher_id id;
	enum afb_type type; /* AFB_SKCIPHER or AFB_AEAD */
	const char *names;  /* every name and OID, separated by ':' */
	const char *kernel; /* as in /proc/crypto's "name" */
	unsigned mode;	    /* EVP_CIPH_*_MODE */
	unsigned char key_len, block_size, iv_len;
	const OSSL_DISPATCH *functions;
};

/* By cipher_id. */
extern const struct cipher_kind cipher_kinds[CIPHER_COUNT];

#endif
