/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as the lines that FreeBSD's schedgraph.py draws, without their index, CPU and time:
 *
 *	KTRGRAPH group:"G", id:"I", state:"S", attributes: NAME:VALUE, NAME:VALUE
 *
 * It knows states, counters and points. So START and STOP become states, "1 open" and so on, and "idle";
 * plain events become points of their thread, whose row is "alive" from its first event to the end; points
 * of rows stay. Where no state would be drawn, which it does not survive, a row "end" has two.
 */
#ifndef VISUALIZE_SCHEDGRAPH_H
#define VISUALIZE_SCHEDGRAPH_H

#include <ktr/reader.h>

#define KTR__SCHEDGRAPH_LINE 4096 /* [bytes] no line is longer */

struct ktr__schedgraph;

/*
 * Gets each line, n bytes without a newline. counter: 1 + the number of the group whose counter it shows,
 * or 0. Not 0 ends the event with that value.
 */
typedef int ktr__schedgraph_fn(void *context, const struct ktr_event *event, const char *text,
			       size_t n, uint32_t counter);

/* Owned *out, or -ENOMEM. */
int ktr__schedgraph_new(struct ktr__schedgraph **out, ktr__schedgraph_fn *line, void *context);
void ktr__schedgraph_free(struct ktr__schedgraph *schedgraph);

/* An event, oldest first: one line, or two where its thread is seen first. 0, -errno, or what fn returned. */
int ktr__schedgraph_event(struct ktr__schedgraph *schedgraph, const struct ktr_event *event);

/* Behind the last event: one line for each thread that had points, two where no state is drawn. As above. */
int ktr__schedgraph_end(struct ktr__schedgraph *schedgraph);

/* Some were lost: what is open from before may not be any more. */
void ktr__schedgraph_loss(struct ktr__schedgraph *schedgraph, const struct ktr_loss *loss);

/*
 * Does schedgraph.py draw a line with this number, as far as has been seen? A group whose counters are
 * all zero makes it divide by zero. 1 or 0.
 */
int ktr__schedgraph_drawn(const struct ktr__schedgraph *schedgraph, uint32_t counter);

#endif
