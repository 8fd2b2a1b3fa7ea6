/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of frames as it is shown: what its numbers are, the words around it, and the colour of each frame. The
 * graph, the page and the terminal are written from it.
 *
 * Of two traces side 0 is shown, and side 1 is what it is compared with: as it is, or by what there would have
 * been in a trace as long as the one that is shown.
 */
#ifndef VISUALIZE_FLAME_VIEW_H
#define VISUALIZE_FLAME_VIEW_H

#include "visualize/model/flame_walk.h"
#include "visualize/model/frame.h"

#define KTR__FLAME_SHADES 4u /* of each of the two colours of a comparison */

#define KTR__FLAME_OFF_COLOUR 0x27408bu /* of time off the CPU */

enum ktr__flame_compare {
	KTR__FLAME_ALONE,
	KTR__FLAME_SUMS,
	KTR__FLAME_RATES
};

struct ktr__flame_view {
	const struct ktr__flame *flame;
	const char *unit; /* numbers are so many of these, "stack"; NULL: nanoseconds */
	const char *what; /* of a tree that somebody else has filled: what they are, "in use at the end" */
	int samples; /* these are of CPU time, */
	int off;     /* or of time off the CPU, too */
	int diff;
	int icicle;    /* the outermost on top */
	double scale;  /* of side 1 */
	double most;   /* the largest change of a frame's own; 0: there is none */
	double gone;   /* what side 1 has in frames that side 0 has not, scaled */
	unsigned width; /* [pixels] of a picture */
	struct ktr__colours *colours; /* of the names; NULL: none are known */
	struct ktr__frame frame;
};

/*
 * The trees are ended. walk: of side 0 and, where it is compared, of side 1. n_lost: events that were lost. 0 or
 * -ENOMEM, or -ENOENT where there is nothing to show: then frame.note says why.
 */
int ktr__flame_view_init(struct ktr__flame_view *view, const struct ktr__flame_pair *trees,
			 const struct ktr__flame_walk walk[2], enum ktr__flame_compare compare,
			 const struct ktr_reader_info *info, const char *command, uint64_t n_lost);

/*
 * The same of a tree that somebody else has filled and ended: numbers are so many of a unit, "byte", and what they
 * are is said, "in use at the end".
 */
int ktr__flame_view_of(struct ktr__flame_view *view, const struct ktr__flame *flame, const char *unit,
		       const char *what, const struct ktr_reader_info *info, const char *command, uint64_t n_lost);

/* A number with its unit: "1.23 ms", "17 stacks". */
struct ktr__label_text ktr__flame_number(const struct ktr__flame_view *view, double number);

/* How much more the frame has for itself than on side 1, scaled. */
double ktr__flame_change(const struct ktr__flame_view *view, uint32_t node);

/* 0xRRGGBB, of a name. */
uint32_t ktr__flame_name_colour(const struct ktr__flame_view *view, const char *name);

/* 0xRRGGBB: by its name, or by its change. */
uint32_t ktr__flame_colour(const struct ktr__flame_view *view, uint32_t node);

/* The colour of a change that is so many of KTR__FLAME_SHADES of the largest, -KTR__FLAME_SHADES to that. */
uint32_t ktr__flame_shade(int shade);

/* What a frame is, in full: "NAME: 1.2 ms, 12 % of all; 300 us its own". */
void ktr__flame_tell(const struct ktr__flame_view *view, uint32_t node, char *text, size_t size);

#endif
