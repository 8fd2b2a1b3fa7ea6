/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A time axis: which unit fits a window, where its ticks stand and how they are written.
 */
#ifndef VISUALIZE_AXIS_H
#define VISUALIZE_AXIS_H

#include <stddef.h>
#include <stdint.h>

struct ktr__axis {
	const char *unit; /* "ns", "us", "ms", "s" */
	double unit_ns;
	double step;  /* [unit] between ticks */
	double first; /* [unit] the first tick at or after the window's beginning */
	unsigned n_ticks;
	int digits; /* after the point */
};

/*
 * Fits an axis to a window, in time since the trace began, with at most so many ticks (2 or more).
 */
void ktr__axis_fit(struct ktr__axis *axis, uint64_t from_ns, uint64_t to_ns, unsigned max_ticks);

/* Where tick i stands [ns since the trace began], and its number without unit. */
double ktr__axis_tick(const struct ktr__axis *axis, unsigned i, char *text, size_t size);

/* The least of 1, 2, 5 times a power of ten that is not below x; x > 0. */
double ktr__axis_round_up(double x);

#endif
