/* SPDX-License-Identifier: BSD-2-Clause */
/* Which STOP ends which START is decided as in row.c. */
#include "visualize/model/lanes.h"
#include "conf/kit/array.h"

#include <errno.h>

static struct ktr__lane_span *lanes_find(const struct ktr__lanes *lanes, uint64_t key)
{
	struct ktr__lane_span *found = NULL;

	for (uint32_t i = 0; i < lanes->n; i++)
		if (lanes->span[i].open && lanes->span[i].key == key &&
		    (found == NULL || lanes->span[i].sequence > found->sequence))
			found = &lanes->span[i];
	return found;
}

struct ktr__lane_span *ktr__lanes_start(struct ktr__lanes *lanes, const struct ktr__lane_span *span,
					int unique, uint64_t *replaced_ns, int *error)
{
	struct ktr__lane_span *at = lanes_find(lanes, span->key);
	void *kept = NULL;
	uint32_t lane = 0;

	*replaced_ns = 0;
	if (at != NULL && (unique || at->n_losses != span->n_losses)) {
		*replaced_ns = at->from_ns;
		kept = at->kept;
	} else {
		while (lane < lanes->n && lanes->span[lane].open)
			lane++;
		if (lane == KTR__LANES_MAX)
			return NULL;
		if (ktr__array_grow(&lanes->span, &lanes->room, lane, sizeof(*lanes->span)) != 0) {
			*error = -ENOMEM;
			return NULL;
		}
		if (lane == lanes->n)
			lanes->n++;
		at = &lanes->span[lane];
	}
	*at = *span;
	at->kept = kept;
	at->sequence = ++lanes->last;
	at->open = 1;
	return at;
}

struct ktr__lane_span *ktr__lanes_stop(struct ktr__lanes *lanes, uint64_t key)
{
	struct ktr__lane_span *span = lanes_find(lanes, key);

	if (span != NULL)
		span->open = 0;
	return span;
}
