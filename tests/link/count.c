/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the call sites of a session: rows of the site table whose file is in tests/link, and how many of
 * them events were recorded by.
 *
 *	count session.ktr
 */
#include "tests/stress/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct look count_look;
static uint8_t *count_ours; /* by row: 1 ours, 2 recorded */

static bool count_see(void *context, uint32_t ring, const struct ktr_entry *entry, uint32_t n_conts)
{
	(void)context, (void)ring, (void)n_conts;
	if (count_ours[entry->site])
		count_ours[entry->site] = 2;
	return true;
}

int main(int argc, char **argv)
{
	struct ktr_control control;
	unsigned rows = 0, recorded = 0;
	char file[256];

	if (argc != 2 || !look_open(&count_look, argv[1], false) || ktr__map_control(&count_look.map, &control))
		return 1;
	count_ours = calloc(count_look.n_sites, 1);
	if (!count_ours)
		return 1;
	for (uint32_t i = 1; i < ktr__map_n_rows(&count_look.map, &control, KTR_REGION_site); i++) {
		struct ktr_site_row row;

		if (ktr__map_site(&count_look.map, i, &row) == 0 &&
		    ktr__map_string(&count_look.map, row.file, file, sizeof(file)) > 0)
			count_ours[i] = strstr(file, "tests/link/") != NULL;
	}
	count_look.all = count_see;
	count_look.foreign = true;
	if (look_pass(&count_look, NULL, NULL) < 0)
		return 1;
	for (uint32_t i = 1; i < count_look.n_sites; i++) {
		rows += count_ours[i] != 0;
		recorded += count_ours[i] == 2;
	}
	printf("%u %u\n", rows, recorded);
	free(count_ours);
	look_close(&count_look);
	return 0;
}
