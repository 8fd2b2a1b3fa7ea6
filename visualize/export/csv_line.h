/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a call site as steps: what is the same in all of them is text, quoted beforehand where it has to be,
 * and between it are numbers and strings. It holds of events whose strings can stand in a field as they are.
 */
#ifndef VISUALIZE_CSV_LINE_H
#define VISUALIZE_CSV_LINE_H

#include "conf/kit/utf8.h"

#include <ktr/reader.h>

#include <stddef.h>
#include <stdint.h>

#define KTR__CSV_FIELD 2048u /* [bytes] of what is shown of a text */
#define KTR__CSV_PIECE 64u   /* [bytes] Texts that are kept have so many after them: most are copied at once */

/* A value and the text after it. */
struct ktr__csv_step {
	const char *text;
	uint32_t length;
	uint8_t op, arg;
	uint8_t shift;	  /* 64 - bits of the C type that is printed */
	uint8_t is_upper; /* of hexadecimal digits */
};

struct ktr__csv_line {
	uint32_t n_strings; /* [bytes] that all strings of an event may have together */
	uint32_t n_fields;  /* strings that are fields */
	uint8_t field[KTR_ARGS_MAX];
	unsigned n_steps;
	struct ktr__csv_step step[];
};

/* What begins so is no formula; what does not may be one. */
static inline int ktr__csv_begins_well(const char *bytes, size_t n)
{
	const uint64_t signs = 1ull << '=' | 1ull << '+' | 1ull << '-' | 1ull << '\t' | 1ull << '\r';

	return n == 0 || bytes[0] > '@' || (bytes[0] >= 0 && bytes[0] < '@' && !(signs >> bytes[0] & 1));
}

/* 0: none of eight bytes is a comma or a quote. */
static inline uint64_t ktr__csv_odd_word(uint64_t word)
{
	return ktr__utf8_equal(word, ',') | ktr__utf8_equal(word, '"');
}

/*
 * Owned line, from the fields before the message, with the comma after them, to the line's end; NULL where its
 * events have to be looked at one by one. names: the field of them between commas. 0 or -ENOMEM.
 */
int ktr__csv_line_new(struct ktr__csv_line **out, const struct ktr_reader_site *site, const char *place,
		      const char *names);

/* Can the event be printed by it, if each of its strings by itself can stand in a field as it is? */
static inline int ktr__csv_line_fits(const struct ktr__csv_line *line, const struct ktr_event *event)
{
	size_t n = 0;

	for (unsigned i = 0; i < line->n_fields; i++) {
		const struct ktr_event_bytes *str = &event->str[line->field[i]];

		if (!ktr__csv_begins_well(str->bytes, str->n_bytes))
			return 0;
		n += str->n_bytes;
	}
	return n <= line->n_strings;
}

/* Prints it, where there is room for a line. Returns the end. */
char *ktr__csv_line_put(const struct ktr__csv_line *line, const struct ktr_event *event, char *at);

#endif
