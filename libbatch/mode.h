/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mode.h - how a cipher's mode goes on from one part of a text to the next: what
 * a long text may be cut into, and the IV that each part begins with.
 */
#ifndef AFB_MODE_H
#define AFB_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mode {
	MODE_WHOLE, /* a text is one piece: cts, xts, AEADs, unknown names */
	MODE_ECB,
	MODE_CBC,
	MODE_CTR,
	MODE_XTS_UNITS, /* xts over data units: each is a text of its own */
};

/* By the kernel's name of an skcipher, e.g. "cbc(aes)". */
enum mode mode_of(const char *name);

/* "xts(...)", which can be told the size of a data unit. */
bool mode_has_units(const char *name);

/*
 * Adds @count to an IV that is a counter: of the most significant byte first as
 * in CTR, or last as the number of an XTS data unit. It wraps.
 */
void mode_count_up(uint8_t *iv, size_t iv_len, uint64_t count);
void mode_number_up(uint8_t *iv, size_t iv_len, uint64_t count);

#endif
