/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as sentences and axes say them. */
#include "visualize/model/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ktr__label_text ktr__number_share(double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0, power = 1;
	struct ktr__label_text label;
	int digits = percent < 9.95 ? 1 : 0;

	if (part <= 0 || part >= whole) {
		snprintf(label.text, sizeof(label.text), "%d %%", part > 0 && whole > 0 ? 100 : 0);
		return label;
	}
	/* As many digits as keep it from its neighbours 0 and 100. */
	for (int i = 0; i < digits; i++)
		power *= 10;
	while (digits < 4 && (rint(percent * power) <= 0 || rint(percent * power) >= 100 * power)) {
		digits++;
		power *= 10;
	}
	if (rint(percent * power) <= 0)
		snprintf(label.text, sizeof(label.text), "below 0.0001 %%");
	else if (rint(percent * power) >= 100 * power)
		snprintf(label.text, sizeof(label.text), "above 99.9999 %%");
	else
		snprintf(label.text, sizeof(label.text), "%.*f %%", digits, percent);
	return label;
}

struct ktr__label_text ktr__number_rate(double rate)
{
	struct ktr__label_text label;

	if (rate >= 999.5)
		return ktr__label_count((uint64_t)(rate + 0.5));
	snprintf(label.text, sizeof(label.text), "%.3g", rate);
	return label;
}

struct ktr__label_text ktr__number_value(double value)
{
	struct ktr__label_text label;

	/* Whole numbers are exact below 2^53; others get the fewest digits that are read back as they are. */
	if (value == rint(value) && fabs(value) < 9007199254740992.0) {
		snprintf(label.text, sizeof(label.text), "%.0f", value);
		return label;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(label.text, sizeof(label.text), "%.*g", digits, value);
		if (strtod(label.text, NULL) == value)
			break;
	}
	return label;
}

struct ktr__label_text ktr__number_tick(double value, double step)
{
	static const struct {
		double scale;
		const char *text;
	} units[] = { { 1e18, "E" }, { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" },
		      { 1e6, "M" },  { 1e3, "k" },  { 1, "" } };
	struct ktr__label_text label;
	int digits, n;
	size_t u = 0;

	if (fabs(value) < step / 2) {
		snprintf(label.text, sizeof(label.text), "0");
		return label;
	}
	while (u < 6 && fabs(value) < units[u].scale * (1 - 1e-9))
		u++;
	digits = (int)ceil(-log10(step / units[u].scale) - 1e-9);
	if (digits > 12) {
		snprintf(label.text, sizeof(label.text), "%.6g", value);
		return label;
	}
	n = snprintf(label.text, sizeof(label.text) - 1, "%.*f", digits > 0 ? digits : 0, value / units[u].scale);
	/* "1.0M" says no more than "1M". */
	if (digits > 0) {
		while (label.text[n - 1] == '0')
			n--;
		n -= label.text[n - 1] == '.';
	}
	strcpy(label.text + n, units[u].text);
	return label;
}
