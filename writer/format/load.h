/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of a packet, wherever they lie: traces are little-endian, and so are the machines this builds for. */
#ifndef WRITER_LOAD_H
#define WRITER_LOAD_H

#include <stdint.h>
#include <string.h>

static inline uint64_t ktr__load64(const uint8_t *at)
{
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline uint32_t ktr__load32(const uint8_t *at)
{
	uint32_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline uint16_t ktr__load16(const uint8_t *at)
{
	uint16_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

#endif
