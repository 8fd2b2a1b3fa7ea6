/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.out, which gprof(1) reads: GNU's form, of records with tags, and that of BSD's kgmon(8). */
#ifndef VISUALIZE_GMON_WRITE_H
#define VISUALIZE_GMON_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ktr__gmon_form { KTR__GMON_GNU, KTR__GMON_BSD };

struct ktr__gmon_arc {
	uint64_t from, to; /* addresses as in the file */
	uint64_t n;
};

struct ktr__gmon_time {
	uint64_t at; /* likewise */
	uint64_t ns;
};

/* What one file tells of. Both lists are sorted by address. */
struct ktr__gmon {
	uint64_t low, high; /* of the text */
	uint32_t rate_hz;   /* of the ticks that times are written in */
	const struct ktr__gmon_arc *arc;
	size_t n_arcs;
	const struct ktr__gmon_time *time;
	size_t n_times;
};

#define KTR__GMON_BIN 2 /* [bytes] of text that a counter is for; gprof loses time in narrower ones */

/*
 * A counter has 16 bits. In GNU's form one that is full goes on in another histogram of the same range, which gprof
 * adds up; BSD's has one, so a lower rate is chosen, with which all have room: returns it. What less than a tick
 * leaves over goes to the next counter, so that the sum is right. 0: there is no memory; errors of writing:
 * ferror().
 */
uint32_t ktr__gmon_write(const struct ktr__gmon *gmon, enum ktr__gmon_form form, FILE *to);

#endif
