/* SPDX-License-Identifier: Apache-2.0 */
/* mode.c - see mode.h. */
#include <string.h>

#include "mode.h"

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

enum mode mode_of(const char *name)
{
	if (begins(name, "ecb("))
		return MODE_ECB;
	if (begins(name, "cbc("))
		return MODE_CBC;
	if (begins(name, "ctr("))
		return MODE_CTR;
	return MODE_WHOLE;
}

bool mode_has_units(const char *name)
{
	return begins(name, "xts(");
}

static uint64_t add(uint8_t *byte, uint64_t count)
{
	count += *byte;
	*byte = count;
	return count >> 8;
}

void mode_count_up(uint8_t *iv, size_t iv_len, uint64_t count)
{
	while (count && iv_len)
		count = add(&iv[--iv_len], count);
}

void mode_number_up(uint8_t *iv, size_t iv_len, uint64_t count)
{
	size_t i;

	for (i = 0; count && i < iv_len; i++)
		count = add(&iv[i], count);
}
