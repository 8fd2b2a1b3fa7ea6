/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of LZ4 out of numbers that mostly are a bit more than the one before: times, running numbers. */
#ifndef FLEET_FRAME_UP_H
#define FLEET_FRAME_UP_H

#include <stdint.h>

/*
 * Packs n bytes, numbers of 8 bytes each; the rest, if n is no multiple, goes as it is. Any bytes do, and come to
 * LZ4_COMPRESSBOUND(n) at most, for which there is room. How many they came to.
 */
uint32_t frame_up_pack(uint8_t *to, const uint8_t *bytes, uint32_t n);

#endif
