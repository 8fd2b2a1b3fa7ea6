/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of 32 bits, bits reversed, by a table that is made each time: for what is read once, in pieces of some
 * hundred bytes at least. Traces have a faster one (writer/format/crc32c.h).
 */
#ifndef CONF_CRC_H
#define CONF_CRC_H

#include <stddef.h>
#include <stdint.h>

#define KTR__CRC32  0xedb88320u /* zlib's, .gnu_debuglink's */
#define KTR__CRC32C 0x82f63b78u /* RFC 3720, section 12.1 */

/* Goes on with a checksum; the first one is 0. */
static inline uint32_t ktr__crc(uint32_t polynomial, uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	uint32_t table[256];

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? polynomial : 0);
	}
	for (crc = ~crc; n; n--, at++)
		crc = table[(crc ^ *at) & 0xff] ^ crc >> 8;
	return ~crc;
}

#endif
