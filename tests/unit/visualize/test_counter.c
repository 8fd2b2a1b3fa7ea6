/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of counters: where zero is, what is above and below it, and what its axis says. */
#include "tests/unit/suite.h"

#include "visualize/chart/chart_counter.h"
#include "visualize/model/counter.h"
#include "visualize/model/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void scales(void)
{
	static const struct {
		double least, greatest, low, high, zero;
	} cases[] = {
		{ -7, 3e9, -7, 3e9, 7 / 3000000007.0 }, { -0.36, 0.36, -0.36, 0.36, 0.5 },
		{ -449, -50, -449, 0, 1 },              { 9.2e18, 9.6e18, 0, 9.6e18, 0 },
		{ 0, 0, 0, 1, 0 },                      { -1.7e308, 1.7e308, -1.7e308, 1.7e308, 0.5 },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ktr__area area = { .least = cases[i].least, .greatest = cases[i].greatest };
		struct ktr__counter_scale scale;

		ktr__counter_scale(&scale, &area);
		CU_ASSERT_EQUAL(scale.low, cases[i].low);
		CU_ASSERT_EQUAL(scale.high, cases[i].high);
		CU_ASSERT_DOUBLE_EQUAL(scale.zero, cases[i].zero, 1e-12);
		CU_ASSERT_DOUBLE_EQUAL(ktr__counter_height(&scale, scale.high), 1, 1e-12);
		CU_ASSERT_DOUBLE_EQUAL(ktr__counter_height(&scale, scale.low), 0, 1e-12);
	}
}

static void ticks(void)
{
	static const struct {
		double number;
		const char *text;
	} cases[] = { { 3e9, "3G" }, { -7, "-7" }, { 0, "0" }, { 0.36, "0.36" }, { -0.3599877, "-0.36" },
		      { 9223372036854775808.0, "9.22E" }, { 14727, "14.7k" }, { 64, "64" } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_STRING_EQUAL(ktr__counter_tick(cases[i].number).text, cases[i].text);
}

/* The boxes of three columns around y 0.5, from -0.4 to 0.4 of it: +2, from -1 to 1, and hardly below zero. */
static void bars(void)
{
	static struct ktr__area_cell cell[] = { { 2, 2, 2 }, { -1, 1, 1 }, { -1e-6, -1e-6, -1e-6 } };
	struct ktr__area area = { cell, 3, 0, -2, 2, 0, 3, 0 };
	struct ktr__chart_time time = { .per_column = 1, .n_columns = 3 };
	struct ktr__chart chart = { .to = NULL };
	char *text = NULL, wanted[512];
	size_t size = 0;

	chart.to = open_memstream(&text, &size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(chart.to);
	ktr__chart_counter_bars(&chart, &time, &area, 0.5);
	fclose(chart.to);
	snprintf(wanted, sizeof(wanted),
		 "0 1 0.5 0.9 %u\n"
		 "1 2 0.5 0.7 %u\n"
		 "1 2 0.3 0.5 %u\n"
		 "2 3 0.47 0.5 %u\n"
		 "0 3 0.49 0.51 %u\n",
		 KTR__BLUE, KTR__SKY, KTR__SKY, KTR__BLUE, KTR__FAINT);
	/* Seams: a third of a column that is covered again. */
	for (char *at; (at = strstr(text, ".33333333333")) != NULL;)
		memmove(at, at + 12, strlen(at + 12) + 1);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	if (strcmp(text, wanted) != 0)
		printf("\n%sinstead of\n%s", text, wanted);
	free(text);
}

SUITE(counter, TEST(scales), TEST(ticks), TEST(bars));
