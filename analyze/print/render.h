/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats made ready for printing: one step per piece of text or conversion, found once per call
 * site.
 */
#ifndef ANALYZE_RENDER_H
#define ANALYZE_RENDER_H

#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

enum ktr__render_op {
	KTR__RENDER_TEXT,
	KTR__RENDER_DECIMAL,  /* without flags, width and precision */
	KTR__RENDER_UNSIGNED, /* likewise */
	KTR__RENDER_HEX,      /* likewise */
	KTR__RENDER_STRING,   /* likewise */
	KTR__RENDER_INTEGER,  /* with any of them */
	KTR__RENDER_POINTER,
	KTR__RENDER_CHAR,
	KTR__RENDER_DOUBLE,
	KTR__RENDER_PADDED, /* string with width or precision */
	KTR__RENDER_ROW,    /* group, which is text, and id, the argument */
};

#define KTR__RENDER_PIECE 16 /* [bytes] So much is copied at once of a text */

struct ktr__render_step {
	const char *text; /* with KTR__RENDER_PIECE bytes after it, where it is text that is printed */
	uint32_t length;
	uint8_t op;
	uint8_t arg;
	uint8_t shift; /* 64 - bits of the C type the conversion prints */
	uint8_t flags; /* KTR__FORMAT_* */
	uint8_t width_arg;
	uint8_t precision_arg;
	char conv;
	int32_t width;
	int32_t precision;
};

/*
 * The format as it stands and, of states and their kin, as people say it: n_steps and n_said steps, of which the
 * last n_attributes are those of its attributes.
 */
struct ktr__render {
	unsigned n_steps, n_said, n_attributes;
	int is_simple;	 /* text, strings and numbers without width or precision are all there is, no stack */
	size_t n_simple; /* [bytes] that it may write, but for what strings hold: the longer one of the two */
	int is_plain;	 /* nor is anything in it but printable ASCII, if strings are that */
	struct ktr__render_step step[];
};

/*
 * ktr_event_text() with names for pointers and stacks, where symbols (may be NULL) know them:
 * "0x55dd640ab3da (main+0x3a)", "stack: main+0x3a < _start+0x21 < ...". The event is of the reader
 * that the symbols are of.
 */
size_t ktr__render_event(const struct ktr_event *event, struct ktr__symbols *symbols, char *text,
			 size_t n_bytes);

/* The same, with states, counters, points and spans as people say them: "worker 3: waiting, shard:7". */
size_t ktr__render_said(const struct ktr_event *event, struct ktr__symbols *symbols, char *text, size_t n_bytes);

/*
 * One of the two, as said or as it stands. *plain: it is known to be printable ASCII, and has not to be looked
 * through for anything else.
 */
size_t ktr__render_line(const struct ktr_event *event, struct ktr__symbols *symbols, int said, char *text,
			size_t n_bytes, int *plain);

/* Attributes alone, as of a call: "s=\"abc\", n=3"; "" where there are none. The length, as of snprintf(3). */
size_t ktr__render_attributes(const struct ktr_event *event, char *text, size_t n_bytes);

/* A site's format likewise, with its conversions: "worker %s: %s, shard:%d". The length, as of snprintf(3). */
size_t ktr__render_said_format(const struct ktr_reader_site *site, char *text, size_t n_bytes);

#endif
