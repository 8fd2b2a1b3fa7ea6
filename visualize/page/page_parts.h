/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the page share. */
#ifndef VISUALIZE_PAGE_PARTS_H
#define VISUALIZE_PAGE_PARTS_H

#include "visualize/model/frame.h"
#include "visualize/page/packer.h"
#include "visualize/page/page.h"

#include <stdio.h>

#define KTR__PAGE_COLUMNS 4096u  /* of the overview */
#define KTR__PAGE_LOSSES  20000u /* gaps that are told apart; later ones close together are one */

/* [chunks] Up to so many at a time are drawn from events, more from the overview; the page's program has it too. */
#define KTR__PAGE_DETAIL  48u

/*
 * A page of no more than so many chunks has no overview: its events are unpacked at once. One of more has it for
 * its first picture, which is there before they are; up to KTR__PAGE_DETAIL chunks only if it has few rows, or it
 * would be the larger part.
 */
#define KTR__PAGE_SMALL   8u
#define KTR__PAGE_ROWS    16u /* rows for each chunk */

struct ktr__page {
	struct ktr_sink sink; /* first */
	struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	struct ktr__timeline rows; /* of identities and threads */
	struct ktr__timeline cpus;
	enum ktr__timeline_by by; /* what the page shows first */
	struct ktr__packer pack;
	FILE *chunks; /* a file without a name */
	uint64_t max_events;
	uint64_t n_left_out;
	uint64_t look_from_ns, look_to_ns; /* what is in sight at first; 0, 0: everything */
	struct ktr_loss *loss;
	uint32_t n_losses, loss_room;
	int error;
};

/* The texts of visualize/page/ that are built in; each ends in NUL. */
extern const char ktr__page_html[], ktr__page_css[], ktr__page_engine[], ktr__page_js[], ktr__compare_html[],
	ktr__compare_js[];

#endif
