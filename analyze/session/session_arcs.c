/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables are read as they lie in the file, while they are written to: a count is a word, and what is being made
 * has no callee yet. All that they say is bounded by where it is read.
 */
#include "analyze/session/session_arcs.h"

#include <errno.h>
#include <stdlib.h>

struct arcs_walk {
	const struct ktr__session_map *map;
	struct ktr_control control;
	uint32_t pid, proc; /* the last one, and its row */
	uint64_t made_ns;
};

/* A process that goes through exec(2) has a row for each program that it is: the last one before the table. */
static uint32_t arcs_proc(struct arcs_walk *walk, const struct ktr_arcs *arcs)
{
	uint32_t n = ktr__map_n_rows(walk->map, &walk->control, KTR_REGION_proc);
	uint64_t latest = 0;
	struct ktr_proc_row row;

	if (walk->proc && walk->pid == arcs->pid && walk->made_ns == arcs->made_ns)
		return walk->proc;
	walk->pid = arcs->pid;
	walk->made_ns = arcs->made_ns;
	walk->proc = 0;
	for (uint32_t i = 1; i < n; i++)
		if (!ktr__map_proc(walk->map, i, &row) && row.pid == arcs->pid && row.start_ns >= latest &&
		    (row.start_ns <= arcs->made_ns || !latest)) {
			latest = row.start_ns <= arcs->made_ns ? row.start_ns : 0;
			walk->proc = i;
		}
	return walk->proc;
}

static int arcs_row(struct arcs_walk *walk, const struct ktr_arcs *arcs, ktr__arc_found *found, void *context)
{
	uint32_t proc = arcs_proc(walk, arcs);
	int rc = 0;

	for (unsigned i = 0; i < sizeof(arcs->arc) / sizeof(arcs->arc[0]) && !rc; i++) {
		const struct ktr_arc *arc = &arcs->arc[i];

		if (arc->from && arc->to && arc->n > arc->before)
			rc = found(context, &(struct ktr__called){ .proc = proc,
								.module = (uint32_t)(arc->to >> KTR_ARC_MODULE),
								.from = arc->from,
								.to = arc->to & ((1ull << KTR_ARC_MODULE) - 1),
								.n = arc->n - arc->before });
	}
	return rc;
}

/* Sessions of older programs have none. */
static int arcs_head(const struct ktr__session_map *map, struct ktr_probe_head *head)
{
	const struct ktr_region *probes = &map->header.region[KTR_REGION_probe];

	if (!probes->n_rows || probes->row_bytes != sizeof(*head) ||
	    map->header.region[KTR_REGION_probe_count].row_bytes != sizeof(struct ktr_arcs))
		return -ENOENT;
	return ktr__map_read(map, probes->offset, head, sizeof(*head));
}

int ktr__session_arcs(const struct ktr__session_map *map, ktr__arc_found *found, void *context,
		      uint64_t *n_uncounted)
{
	uint32_t n = map->header.region[KTR_REGION_probe_count].n_rows;
	struct arcs_walk walk = { .map = map };
	struct ktr_probe_head head;
	struct ktr_arcs *arcs;
	int rc;

	*n_uncounted = 0;
	if (arcs_head(map, &head))
		return 0;
	rc = ktr__map_control(map, &walk.control);
	if (rc)
		return rc;
	arcs = malloc(sizeof(*arcs));
	if (!arcs)
		return -ENOMEM;
	*n_uncounted = head.uncounted - head.uncounted_before;
	for (uint32_t i = 1; i < n && i < head.n_counts && !rc; i++)
		if (!ktr__map_row(map, KTR_REGION_probe_count, i, arcs, sizeof(*arcs)) &&
		    arcs->first == KTR_ARCS_FIRST)
			rc = arcs_row(&walk, arcs, found, context);
	free(arcs);
	return rc;
}
