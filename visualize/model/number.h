/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as sentences and axes say them, so that what is written is so: nothing that happens is "0", nothing that
 * has an exception is "100 %".
 */
#ifndef VISUALIZE_NUMBER_H
#define VISUALIZE_NUMBER_H

#include "visualize/model/label.h"

/* "49 %", "0.9 %"; "0 %" and "100 %" only where they are exact. */
struct ktr__label_text ktr__number_share(double part, double whole);

/* How many per second, or another number above 0 that is no count: "91,089", "0.36". */
struct ktr__label_text ktr__number_rate(double rate);

/* A counter's value with all digits that a double has: "3000000000", "0.36", "9.2233720368547758e+18". */
struct ktr__label_text ktr__number_value(double value);

/* What stands at a tick of an axis whose ticks are a step apart: "200k", "1M", "-0.5". */
struct ktr__label_text ktr__number_tick(double value, double step);

#endif
