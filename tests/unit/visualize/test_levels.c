/* SPDX-License-Identifier: BSD-2-Clause */
/* Lanes and areas at the resolution of columns, compared with a plain computation of the same. */
#include "tests/unit/suite.h"

#include "visualize/model/levels.h"

#include <stdlib.h>
#include <string.h>

static void columns_and_borders_agree(void)
{
	static const struct {
		uint64_t from, to;
		unsigned n;
	} windows[] = { { 0, 100, 7 },
			{ 5, 1000000007, 1000 },
			{ 1ull << 62, (1ull << 62) + 12345, 80 },
			{ 3, 4, 50 },
			{ 0, UINT64_MAX / 2, 1200 },
			{ 77, 77, 10 } };

	for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
		struct ktr__grid g;

		ktr__grid_init(&g, windows[w].from, windows[w].to, windows[w].n);
		CU_ASSERT_EQUAL(ktr__grid_border(&g, 0), g.from_ns);
		CU_ASSERT_EQUAL(ktr__grid_border(&g, g.n_columns), g.to_ns);
		for (unsigned c = 0; c < g.n_columns; c++) {
			uint64_t begin = ktr__grid_border(&g, c),
				 next = ktr__grid_border(&g, c + 1);

			CU_ASSERT_TRUE(begin < next);
			CU_ASSERT_EQUAL(ktr__grid_column(&g, begin), c);
			CU_ASSERT_EQUAL(ktr__grid_column(&g, next - 1), c);
		}
		CU_ASSERT_EQUAL(ktr__grid_column(&g, 0), 0);
		CU_ASSERT_EQUAL(ktr__grid_column(&g, UINT64_MAX), g.n_columns - 1);
		/* Asked one moment after the other, forth and back: the same. */
		for (unsigned i = 0; i <= 2 * g.n_columns; i++) {
			unsigned c = i <= g.n_columns ? i : 2 * g.n_columns - i;
			uint64_t ns = ktr__grid_border(&g, c);

			for (uint64_t at = ns - (ns > 1 ? 2 : 0); at < ns + 2; at++)
				CU_ASSERT_EQUAL(ktr__grid_at(&g, at), ktr__grid_column(&g, at));
		}
		CU_ASSERT_EQUAL(ktr__grid_at(&g, UINT64_MAX), g.n_columns - 1);
		CU_ASSERT_EQUAL(ktr__grid_at(&g, 0), 0);
	}
}

/* A small generator of known numbers: Lehmer's, modulus 2^31 - 1. */
static uint32_t next_random(uint32_t *state)
{
	*state = (uint32_t)((uint64_t)*state * 48271 % 2147483647);
	return *state;
}

enum {
	SPAN = 6000,
	N_LABELS = 4,
	N_COLUMNS = 60
};

/* One nanosecond at a time, what the lane should find. */
static void lane_against_plain_count(void)
{
	uint32_t seed = 4711;

	for (unsigned round = 0; round < 50; round++) {
		static uint16_t at[SPAN];
		struct ktr__grid g;
		struct ktr__lane lane = { 0 };
		uint64_t ns = next_random(&seed) % 500;
		uint16_t label = 0;

		ktr__grid_init(&g, 0, SPAN, N_COLUMNS);
		memset(at, 0, sizeof(at));
		while (ns < SPAN) {
			uint64_t length = 1 + next_random(&seed) % (round < 25 ? 40 : 400);

			label = (uint16_t)(next_random(&seed) % (N_LABELS + 1));
			CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, ns, label), 0);
			for (uint64_t i = ns; i < ns + length && i < SPAN; i++)
				at[i] = label;
			ns += length;
		}
		CU_ASSERT_EQUAL(ktr__lane_end(&lane, &g, SPAN), 0);
		for (unsigned c = 0; c < N_COLUMNS; c++) {
			unsigned count[N_LABELS + 1] = { 0 }, covered = 0, most = 0, kinds = 0;
			const struct ktr__cell *cell = &lane.cell[c];

			for (unsigned i = c * 100; i < c * 100 + 100; i++)
				count[at[i]]++;
			for (unsigned l = 1; l <= N_LABELS; l++) {
				covered += count[l];
				kinds += count[l] > 0;
				most = count[l] > most ? count[l] : most;
			}
			CU_ASSERT_EQUAL(count[cell->first] == most || most == 0, 1);
			CU_ASSERT_EQUAL(cell->first != 0, covered > 0);
			if (covered > 0) {
				CU_ASSERT_EQUAL(cell->covered,
						covered * 255 / 100 ? covered * 255 / 100 : 1);
				/* Rounded so that what is left tells whether there are further labels. */
				CU_ASSERT_TRUE(abs((int)cell->share - (int)(most * 255 / 100)) <= 2);
				CU_ASSERT_EQUAL(cell->covered > cell->share + cell->rest, kinds > 2);
			}
			if (cell->second != 0)
				CU_ASSERT_TRUE(count[cell->second] <= most);
			CU_ASSERT_EQUAL(cell->second != 0 && count[cell->second] > 0,
					covered > most);
		}
		free(lane.cell);
	}
}

static void thin_bar_shows(void)
{
	struct ktr__grid g;
	struct ktr__lane lane = { 0 };

	ktr__grid_init(&g, 0, 1000000000, 10);
	CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, 350000000, 3), 0);
	CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, 350000001, 0), 0);
	CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, 550000000, 2), 0); /* no duration at all */
	CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, 550000000, 0), 0);
	CU_ASSERT_EQUAL(ktr__lane_end(&lane, &g, 1000000000), 0);
	CU_ASSERT_EQUAL(lane.cell[3].first, 3);
	CU_ASSERT_EQUAL(lane.cell[3].covered, 1);
	CU_ASSERT_EQUAL(lane.cell[5].first, 2);
	CU_ASSERT_EQUAL(lane.cell[4].first, 0);
	CU_ASSERT_EQUAL(lane.cell[9].first, 0);
	free(lane.cell);
}

/* A hundred labels in one column: the one that has most of it is found. */
static void majority_among_many(void)
{
	struct ktr__grid g;
	struct ktr__lane lane = { 0 };
	uint64_t ns = 0;

	ktr__grid_init(&g, 0, 10000, 1);
	for (uint16_t i = 1; i <= 100; i++) {
		CU_ASSERT_EQUAL(ktr__lane_set(&lane, &g, ns, i), 0);
		ns += i == 57 ? 4000 : 20;
	}
	CU_ASSERT_EQUAL(ktr__lane_end(&lane, &g, 10000), 0);
	CU_ASSERT_EQUAL(lane.cell[0].n, 100);
	CU_ASSERT_EQUAL(lane.cell[0].covered, 255);
	CU_ASSERT_TRUE(lane.cell[0].first == 57 || lane.cell[0].second == 57);
	free(lane.cell);
}

static void majority_of_events(void)
{
	struct ktr__grid g;
	struct ktr__lane lane = { 0 };

	ktr__grid_init(&g, 0, 1000, 10);
	for (unsigned i = 0; i < 300; i++)
		CU_ASSERT_EQUAL(ktr__lane_weigh(&lane, &g, 100 + i / 3, i % 3 == 0 ? 1 : 2, 1), 0);
	CU_ASSERT_EQUAL(ktr__lane_end(&lane, &g, 1000), 0);
	CU_ASSERT_EQUAL(lane.cell[1].first, 2);
	CU_ASSERT_EQUAL(lane.cell[1].second, 1);
	CU_ASSERT_EQUAL(lane.cell[1].covered, 255);
	CU_ASSERT_EQUAL(lane.cell[1].share, 170);
	CU_ASSERT_EQUAL(lane.cell[0].first, 0);
	CU_ASSERT_EQUAL(lane.cell[2].first, 0);
	free(lane.cell);
}

static void area_keeps_extremes(void)
{
	struct ktr__grid g;
	struct ktr__area area = { 0 };

	ktr__grid_init(&g, 0, 1000, 10);
	CU_ASSERT_EQUAL(ktr__area_set(&area, &g, 150, 5), 0);
	CU_ASSERT_EQUAL(ktr__area_set(&area, &g, 210, 90), 0);
	CU_ASSERT_EQUAL(ktr__area_set(&area, &g, 220, -4), 0);
	CU_ASSERT_EQUAL(ktr__area_set(&area, &g, 230, 7), 0);
	CU_ASSERT_EQUAL(ktr__area_end(&area, &g, 600), 0);
	CU_ASSERT_EQUAL(area.from, 1);
	CU_ASSERT_EQUAL(area.n_filled, 7);
	CU_ASSERT_EQUAL(area.cell[1].greatest, 5);
	CU_ASSERT_EQUAL(area.cell[2].least, -4);
	CU_ASSERT_EQUAL(area.cell[2].greatest, 90);
	CU_ASSERT_EQUAL(area.cell[2].last, 7);
	CU_ASSERT_EQUAL(area.cell[6].least, 7);
	CU_ASSERT_EQUAL(area.least, -4);
	CU_ASSERT_EQUAL(area.greatest, 90);
	free(area.cell);
}

SUITE(levels, TEST(columns_and_borders_agree), TEST(lane_against_plain_count), TEST(thin_bar_shows),
      TEST(majority_among_many), TEST(majority_of_events), TEST(area_keeps_extremes));
