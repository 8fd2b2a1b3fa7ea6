/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one sampling as buffers (include/ktr/task.h). */
#ifndef ANALYZE_TASK_PACK_H
#define ANALYZE_TASK_PACK_H

#include "analyze/live/live_rounds.h"
#include "analyze/task/task_outlet.h"

#include <ktr/task.h>

struct ktr__pack {
	struct ktr__live_rounds *rounds;	/* borrowed: whose samples they are */
	struct ktr__outlet *outlet;		/* borrowed: where full buffers go */
	struct ktr__outlet_piece *piece;	/* owned: the buffer that is being filled; NULL: none is */
	int is_closed;				/* a sample was lost since: the next one begins another */
	uint64_t number;			/* of the buffer */
	uint64_t n_taken, n_lost;		/* samples */
	uint64_t sent_ns;			/* when the last one went */
};

/* Adds a sample, or counts it as lost. 0 or -errno: nothing can be written any more, or no memory. */
int ktr__pack_add(struct ktr__pack *pack, const struct ktr__live_sample *sample);

/* So many are lost, of which nothing is known. */
void ktr__pack_lost(struct ktr__pack *pack, uint64_t n);

/* Sends what there is, if it is a second old. 0 or -errno. */
int ktr__pack_send_old(struct ktr__pack *pack, uint64_t now_ns);

/* Sends the last buffer, which says why it ended: 0 or an errno. */
void ktr__pack_end(struct ktr__pack *pack, int code);

/* What it keeps with a row goes. */
void ktr__pack_forget(struct ktr__live_row *row);

#endif
