/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - see key.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "key.h"

/* CRYPTO_AUTHENC_KEYA_PARAM; include/crypto/authenc.h is not for user space. */
#define AUTHENC_PARAM 1

/*
 * [struct rtattr][cipher key's length, big endian][MAC key][cipher key], as
 * crypto_authenc_extractkeys() reads it: the attribute is of exactly that size.
 */
static int split_authenc(struct key_parts *parts, const uint8_t *key,
			 size_t len)
{
	struct rtattr attribute;
	uint32_t cipher_len;

	if (len < RTA_LENGTH(sizeof(cipher_len)))
		return -EINVAL;
	memcpy(&attribute, key, sizeof(attribute));
	memcpy(&cipher_len, key + RTA_LENGTH(0), sizeof(cipher_len));
	cipher_len = ntohl(cipher_len);
	if (attribute.rta_len != RTA_LENGTH(sizeof(cipher_len)) ||
	    attribute.rta_type != AUTHENC_PARAM)
		return -EINVAL;
	key += attribute.rta_len;
	len -= attribute.rta_len;
	if (len < cipher_len)
		return -EINVAL;
	parts->auth = key;
	parts->auth_len = len - cipher_len;
	parts->cipher = key + parts->auth_len;
	parts->cipher_len = cipher_len;
	return 0;
}

int key_split(struct key_parts *parts, const struct afb_algorithm *alg,
	      const uint8_t *key, size_t len)
{
	int ret;

	*parts = (struct key_parts){ .cipher = key, .cipher_len = len };
	if (alg->form == AFB_FORM_AUTHENC) {
		ret = split_authenc(parts, key, len);
		if (ret)
			return ret;
	}
	if (alg->type == AFB_RNG)
		return 0;
	if (parts->cipher_len < (size_t)alg->key_min + alg->salt_len)
		return -EINVAL;
	parts->cipher_len -= alg->salt_len;
	if (alg->salt_len)
		parts->salt = parts->cipher + parts->cipher_len;
	if (parts->cipher_len > alg->key_max ||
	    (alg->key_step &&
	     (parts->cipher_len - alg->key_min) % alg->key_step))
		return -EINVAL;
	return 0;
}

bool key_is_optional(const struct afb_algorithm *alg)
{
	return alg->type == AFB_RNG ||
	       (alg->type == AFB_HASH && alg->form == AFB_FORM_SAME);
}

int key_check_tag(const struct afb_algorithm *alg, size_t tag_len)
{
	if (alg->type != AFB_AEAD)
		return tag_len ? -EINVAL : 0;
	return tag_len >= 1 && tag_len <= 64 &&
			       (alg->tags >> (tag_len - 1) & 1) ?
		       0 :
		       -EINVAL;
}

void key_authenc_zeros(uint8_t key[KEY_AUTHENC_LEN])
{
	uint32_t cipher_len = htonl(16);
	struct rtattr attribute = {
		.rta_len = RTA_LENGTH(sizeof(cipher_len)),
		.rta_type = AUTHENC_PARAM,
	};

	memset(key, 0, KEY_AUTHENC_LEN);
	memcpy(key, &attribute, sizeof(attribute));
	memcpy(key + sizeof(attribute), &cipher_len, sizeof(cipher_len));
}
