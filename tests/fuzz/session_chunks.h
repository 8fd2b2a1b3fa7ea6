/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a session of several MiB, most of it empty, becomes an input of some KiB for a fuzzer:
 *
 *	byte 0	 how it is read, FUZZ_*
 *	header	 struct ktr_header, only with FUZZ_HEADER; else that of test_image.h
 *	chunks	 one behind the other: struct session_chunk and its bytes
 */
#ifndef TESTS_FUZZ_SESSION_CHUNKS_H
#define TESTS_FUZZ_SESSION_CHUNKS_H

#include "tests/unit/test_image.h"

#define FUZZ_REVERSE 1u
#define FUZZ_HEADER  2u /* the header is the input's */
#define FUZZ_FILTER  4u
#define FUZZ_FOLLOW  8u
#define FUZZ_TWICE   16u /* changed half-way: the second half of the chunks comes while it is read */

struct session_chunk {
	uint8_t region;
	uint8_t n_bytes; /* 1 to 256 */
	uint16_t at;     /* [64 bytes] in the region */
} __attribute__((packed));

#endif
