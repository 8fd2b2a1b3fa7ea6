/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes as ClickHouse takes them compressed: frames of a checksum, a method, two lengths and a block of LZ4, or
 * where this was built without liblz4, of the bytes as they are. The checksum is 0: the server is told not to look
 * at it, for the connection has its own.
 */
#ifndef FLEET_FRAME_H
#define FLEET_FRAME_H

#include "tools/fleet/native.h"

#define FRAME_HEAD  25 /* [bytes] 16 of the checksum; the method; lengths: from it on, and unpacked */
#define FRAME_BYTES ((size_t)1 << 20) /* [bytes] in a frame: what the server's own have */

#define FRAME_PLAIN 0x02 /* methods */
#define FRAME_LZ4   0x82

/* Appends frames of n bytes: a native_pack_fn. 0 or -ENOMEM. */
int frame_write(struct native_buffer *out, const uint8_t *bytes, size_t n, unsigned what);

/*
 * The same of pieces: a native_put_fn, to which they come, and its end.
 *
 *	struct frame_writer writer = { .out = &out };
 *	native_pour(block, frame_put, &writer);
 *	rc = frame_end(&writer);
 */
struct frame_known {
	struct native_buffer frame; /* owned: NATIVE_SAME_BYTES of these bytes, packed */
	uint8_t bytes[16];
	unsigned same; /* how many of them; 0: none is known */
};

struct frame_writer {
	struct native_buffer *out; /* borrowed */
	struct frame_known *known; /* borrowed: kept from block to block; NULL: nothing is */
	struct native_buffer few;  /* owned: pieces that are in no frame yet */
	int failed;		   /* 1: memory ran out */
};

void frame_put(void *writer, const void *bytes, size_t n, unsigned same);
int frame_end(struct frame_writer *writer); /* 0 or -ENOMEM */

#endif
