/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ktrace.out that is written to, by several processes perhaps: whole records are appended, so that theirs lie
 * between ours and not within. They wait in a buffer until it is full, or until somebody asks for them.
 */
#ifndef KTRACE_OUT_H
#define KTRACE_OUT_H

#include "writer/ktrace/layout.h"

#include <stddef.h>
#include <stdint.h>

#define KTR__KTRACE_OUT_BYTES (256 * 1024)
#define KTR__KTRACE_OUT_FULL  (64 * 1024) /* [bytes] that are written at once; the longest record has far less */

struct ktr__ktrace_out {
	int fd; /* open for appending; owned by the caller */
	size_t n;
	char buffer[KTR__KTRACE_OUT_BYTES];
};

/*
 * A record: its header, and what follows, in two parts. 0 or -errno: then whole records up to somewhere are in
 * the file.
 */
struct ktr__ktrace_part {
	const void *bytes;
	size_t n;
};
int ktr__ktrace_out(struct ktr__ktrace_out *out, struct ktr__ktrace_header *header,
		    const struct ktr__ktrace_part part[2]);

/* Writes what waits. 0 or -errno. What could not be written is forgotten. */
int ktr__ktrace_flush(struct ktr__ktrace_out *out);

#endif
