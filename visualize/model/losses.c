/* SPDX-License-Identifier: BSD-2-Clause */
/* Where events were lost: gaps become labels of lanes. */
#include "visualize/model/losses.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ktr__losses_init(struct ktr__losses *losses, const struct ktr__grid *grid)
{
	memset(losses, 0, sizeof(*losses));
	losses->grid = *grid;
}

void ktr__losses_free(struct ktr__losses *losses)
{
	for (uint32_t i = 0; i < losses->n_lanes; i++)
		free(losses->lane[i].cell);
	free(losses->lane);
	memset(losses, 0, sizeof(*losses));
}

int ktr__losses_add(struct ktr__losses *losses, const struct ktr_loss *loss)
{
	const struct ktr__grid *grid = &losses->grid;
	uint64_t from = loss->from_ns, to = loss->to_ns;
	struct ktr__lane *lane;

	if (to == 0 || to > grid->to_ns)
		to = grid->to_ns;
	if (to < grid->from_ns || from >= grid->to_ns)
		return 0;
	losses->n_events += loss->n_events;
	losses->n_older += loss->from_ns == 0 ? loss->n_events : 0;
	if (loss->cpu >= KTR__LOSSES_CPUS)
		return 0;
	if (ktr__array_grow(&losses->lane, &losses->n_lanes, 2 * loss->cpu + 1, sizeof(*losses->lane)) !=
	    0)
		return -ENOMEM;
	lane = &losses->lane[2 * loss->cpu + (loss->keep != 0)];
	if (from < grid->from_ns)
		from = grid->from_ns;
	if (from < lane->since_ns)
		from = lane->since_ns;
	if (to < from)
		to = from;
	if (ktr__lane_set(lane, grid, from, 1) != 0 || ktr__lane_set(lane, grid, to, 0) != 0)
		return -ENOMEM;
	return 0;
}

int ktr__losses_end(struct ktr__losses *losses)
{
	for (uint32_t i = 0; i < losses->n_lanes; i++)
		if (ktr__lane_end(&losses->lane[i], &losses->grid, losses->grid.to_ns) != 0)
			return -ENOMEM;
	return 0;
}

uint64_t ktr__losses_missing(const struct ktr__losses *losses, const struct ktr_reader_info *info)
{
	return losses->n_events - (info->kind == KTR_SOURCE_TRACE ? 0 : losses->n_older);
}

static uint8_t losses_lane(const struct ktr__losses *losses, uint32_t i, unsigned column)
{
	return losses->lane[i].cell != NULL ? losses->lane[i].cell[column].covered : 0;
}

uint8_t ktr__losses_at(const struct ktr__losses *losses, unsigned column, int cpu)
{
	uint8_t most = 0, of;
	uint32_t first = cpu < 0 ? 0 : 2 * (uint32_t)cpu;
	uint32_t end = cpu < 0 ? losses->n_lanes : first + 2;

	for (uint32_t i = first; i < end && i < losses->n_lanes; i++)
		if ((of = losses_lane(losses, i, column)) > most)
			most = of;
	return most;
}

uint8_t ktr__losses_of(const struct ktr__losses *losses, unsigned column, const struct ktr__rings *rings)
{
	uint8_t most = 0, of;

	for (uint32_t i = 0; i < losses->n_lanes && i / 64 < rings->n_words; i++)
		if ((rings->word[i / 64] >> i % 64 & 1) && (of = losses_lane(losses, i, column)) > most)
			most = of;
	return most;
}
