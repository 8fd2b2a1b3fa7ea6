/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of hash tables out of words and bytes: multiplies by the 64-bit golden ratio and folds. Good enough for
 * tables that may degrade; who chooses the bytes can make keys collide.
 */
#ifndef CONF_HASH_H
#define CONF_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ktr__hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */
	return hash ^ hash >> 29;
}

/* Two bytes, the first one above: as compilers know to load them. */
static inline uint64_t ktr__hash_pair(const char *bytes)
{
	return (uint64_t)(uint8_t)bytes[0] << 8 | (uint8_t)bytes[1];
}

static inline uint64_t ktr__hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
	uint64_t word;

	hash = ktr__hash_word(hash, n);
	for (; n >= sizeof(word); bytes += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = ktr__hash_word(hash, word);
	}
	word = n;
	if (n & 4) {
		word = word << 32 | ktr__hash_pair(bytes) << 16 | ktr__hash_pair(bytes + 2);
		bytes += 4;
	}
	if (n & 2) {
		word = word << 16 | ktr__hash_pair(bytes);
		bytes += 2;
	}
	if (n & 1)
		word = word << 8 | (uint8_t)*bytes;
	return ktr__hash_word(hash, word);
}

#endif
