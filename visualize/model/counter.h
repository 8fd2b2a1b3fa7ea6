/* SPDX-License-Identifier: BSD-2-Clause */
/* How a counter's numbers become heights: zero is always in sight, negative numbers lie below it. */
#ifndef VISUALIZE_COUNTER_H
#define VISUALIZE_COUNTER_H

#include "visualize/model/label.h"
#include "visualize/model/levels.h"

/* A row's axis, from 0 at its floor to 1 at its top. */
struct ktr__counter_scale {
	double low, high; /* numbers; low <= 0 <= high, low < high */
	double zero;      /* height of zero */
};

void ktr__counter_scale(struct ktr__counter_scale *scale, const struct ktr__area *area);

/* The height of a number. */
double ktr__counter_height(const struct ktr__counter_scale *scale, double number);

/* The unit of a counter that is called "heap [bytes]": a blank and "bytes"; "" where its name says none. */
struct ktr__label_text ktr__counter_unit(const char *name);

/* What stands at an end of the axis, three digits of it: "2.99G", "-7", "0.36". */
struct ktr__label_text ktr__counter_tick(double number);

#endif
