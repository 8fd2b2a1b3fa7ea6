/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments of a trace as people type them.
 *
 *	1.5s  20ms  +3.2s	since the trace began; without a unit, seconds
 *	-200ms			before its end
 *	3.2s+/-20ms		a moment and how far to look to either side (also with the sign ±)
 */
#ifndef VISUALIZE_TIME_SPEC_H
#define VISUALIZE_TIME_SPEC_H

#include <ktr/error.h>
#include <ktr/reader.h>

/* 0 with *ns as in ktr_event.time_ns, or -EINVAL or -ERANGE with the column in err. */
int ktr__time_spec_parse(const char *text, const struct ktr_reader_info *info, uint64_t *ns,
		    struct ktr_error *err);

/* A window around a moment; without a distance, a twentieth of the trace to either side. */
int ktr__time_spec_around(const char *text, const struct ktr_reader_info *info, uint64_t *from_ns,
		     uint64_t *to_ns, struct ktr_error *err);

#endif
