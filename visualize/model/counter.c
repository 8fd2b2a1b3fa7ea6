/* SPDX-License-Identifier: BSD-2-Clause */
/* How a counter's numbers become heights. */
#include "visualize/model/counter.h"

#include "visualize/model/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ktr__counter_scale(struct ktr__counter_scale *scale, const struct ktr__area *area)
{
	scale->low = fmin(area->least, 0);
	scale->high = fmax(area->greatest, 0);
	if (scale->low >= scale->high)
		scale->high = 1;
	scale->zero = ktr__counter_height(scale, 0);
}

double ktr__counter_height(const struct ktr__counter_scale *scale, double number)
{
	/* Halves, because the difference of the largest doubles is none. */
	return (number / 2 - scale->low / 2) / (scale->high / 2 - scale->low / 2);
}

struct ktr__label_text ktr__counter_unit(const char *name)
{
	const char *open = strrchr(name, '[');
	size_t n = open != NULL ? strlen(open) : 0;
	struct ktr__label_text text = { "" };

	if (n > 2 && n < sizeof(text.text) && open > name && open[-1] == ' ' && open[n - 1] == ']')
		snprintf(text.text, sizeof(text.text), " %.*s", (int)n - 2, open + 1);
	return text;
}

struct ktr__label_text ktr__counter_tick(double number)
{
	return ktr__number_tick(number, number != 0 ? pow(10, floor(log10(fabs(number))) - 2) : 1);
}
