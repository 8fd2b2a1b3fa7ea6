/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes as ClickHouse takes them compressed: frames of a checksum, a method, two lengths and a block of LZ4. The
 * checksum is 0: the server is told not to look at it, for the connection has its own.
 */
#ifndef FLEET_LZ4_FRAME_H
#define FLEET_LZ4_FRAME_H

#include "tools/fleet/native.h"

/* Appends frames of n bytes. 0 or -ENOMEM. */
int lz4_frame_write(struct native_buffer *out, const uint8_t *bytes, size_t n);

/*
 * A block of LZ4 of n bytes, at most LZ4_FRAME_BYTES, into `to`, which has LZ4_FRAME_BOUND(n) of room. Returns its
 * length.
 */
size_t lz4_frame_block(uint8_t *to, const uint8_t *bytes, size_t n);

#define LZ4_FRAME_BYTES	  ((size_t)1 << 20) /* [bytes] in a frame: what the server's own have */
#define LZ4_FRAME_BOUND(n) ((n) + (n) / 255 + 16)

#endif
