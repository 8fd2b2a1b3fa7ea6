/* SPDX-License-Identifier: BSD-2-Clause */
/* What several exporters write of an event. */
#ifndef VISUALIZE_EXPORT_ARGS_H
#define VISUALIZE_EXPORT_ARGS_H

#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

#include <stdio.h>

/*
 * Writes an event's arguments from a given one on as the members of a JSON object, without its braces:
 * integers beyond 2^53 and doubles that are no numbers are strings, since a reader's numbers are doubles.
 * symbols may be NULL.
 */
void ktr__export_args(FILE *to, const struct ktr_event *event, unsigned from,
		      struct ktr__symbols *symbols);

#define KTR__EXPORT_DIGITS 32 /* [bytes] room for a number */

/*
 * Writes a number or an address, whatever its size, and a double with all its digits. Returns how many bytes that
 * are, less than KTR__EXPORT_DIGITS; a NUL is none of them.
 */
size_t ktr__export_digits(char text[KTR__EXPORT_DIGITS], const struct ktr_event *event, unsigned i);

/* Writes a number as a number of JSON, whatever its size: viewers keep as much of it as they can. */
void ktr__export_number(FILE *to, const struct ktr_event *event, unsigned i);

/*
 * Returns what a slice is called: the state, the scope, or the group; bytes as recorded, borrowed from the
 * event.
 */
struct ktr_event_bytes ktr__export_name(const struct ktr_event *event);

#endif
