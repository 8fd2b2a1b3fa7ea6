/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A time axis. The unit is that of the window's end, so that numbers have few digits before the
 * point; a small window far from the beginning gets the digits after the point that tell its ticks
 * apart.
 */
#include "visualize/chart/axis.h"

#include <math.h>
#include <stdio.h>

double ktr__axis_round_up(double x)
{
	double power = pow(10, floor(log10(x)));

	/* The tolerance takes 3 * 0.1 for 0.3. */
	for (int i = 0; i < 2; i++, power *= 10) {
		if (x <= power * 1.000001)
			return power;
		if (x <= 2 * power * 1.000001)
			return 2 * power;
		if (x <= 5 * power * 1.000001)
			return 5 * power;
	}
	return power;
}

void ktr__axis_fit(struct ktr__axis *axis, uint64_t from_ns, uint64_t to_ns, unsigned max_ticks)
{
	static const struct {
		double ns, least_ns; /* of the span; below that a smaller unit says more */
		const char *unit;
	} units[] = { { 86400e9, 4 * 86400e9, "d" }, { 3600e9, 4 * 3600e9, "h" }, { 60e9, 10 * 60e9, "min" },
		      { 1e9, 0, "s" }, { 1e6, 0, "ms" }, { 1e3, 0, "us" }, { 1, 0, "ns" } };
	double end = (double)to_ns, span = end - (double)from_ns;
	size_t u = 0;

	if (span < 1)
		span = 1;
	while (u < 6 && (end < 2 * units[u].ns || span < units[u].least_ns))
		u++;
	axis->unit = units[u].unit;
	axis->unit_ns = units[u].ns;
	axis->step = ktr__axis_round_up(span / axis->unit_ns / (max_ticks > 2 ? max_ticks - 1 : 1));
	axis->digits = axis->step < 1 ? (int)ceil(-log10(axis->step) - 1e-6) : 0;
	axis->first = ceil((double)from_ns / axis->unit_ns / axis->step - 1e-6) * axis->step;
	axis->n_ticks = 0;
	while (axis->n_ticks < max_ticks &&
	       axis->first + axis->n_ticks * axis->step <= end / axis->unit_ns + axis->step * 1e-6)
		axis->n_ticks++;
}

double ktr__axis_tick(const struct ktr__axis *axis, unsigned i, char *text, size_t size)
{
	double value = axis->first + i * axis->step;

	snprintf(text, size, "%.*f", axis->digits, value);
	return value * axis->unit_ns;
}
