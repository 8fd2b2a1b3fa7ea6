/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A row brought down to the columns of a picture, while its events go by once.
 *
 * The window is cut into columns. A lane keeps one label at a time (a state, an open span) and
 * tells for each column which label had most of it, which came second, how much of the column they
 * cover and how many there were, so that what is thinner than a column still shows. An area keeps
 * least, greatest and last number per column. Memory: 8 bytes a column and lane, 24 a column and
 * area, however many events there are.
 *
 * Time must not run backwards; callers clamp it. Labels are small numbers of the caller's, 0 is
 * none, and KTR__LANE_UNKNOWN says that nobody knows which one a lane has.
 */
#ifndef VISUALIZE_LEVELS_H
#define VISUALIZE_LEVELS_H

#include <stdint.h>

#define KTR__GRID_COLUMNS 65536u
#define KTR__LANE_UNKNOWN UINT16_MAX

struct ktr__grid {
	uint64_t from_ns;
	uint64_t to_ns;     /* not in the window any more; above from_ns */
	unsigned n_columns; /* at most as many as there are nanoseconds, and KTR__GRID_COLUMNS */
	uint64_t width_ns;  /* of a column, without what is left over */
	uint64_t left_ns;   /* what the columns share beyond that: below n_columns */
	double per_ns;      /* [columns] */
	/* ktr__grid_at(): the column asked for last. */
	unsigned at;
	uint64_t at_ns;       /* where it begins */
	uint64_t at_width_ns; /* 0: none was asked for */
};

/* Sets a window up; widens an empty one to 1 ns and lowers n_columns where time is shorter. */
void ktr__grid_init(struct ktr__grid *grid, uint64_t from_ns, uint64_t to_ns, unsigned n_columns);

/* The column of a moment; moments outside are in the first or the last. */
unsigned ktr__grid_column(const struct ktr__grid *grid, uint64_t ns);

unsigned ktr__grid_move(struct ktr__grid *grid, uint64_t ns);

/* The same where moments come in order of time: most are in the column of the one before. */
static inline unsigned ktr__grid_at(struct ktr__grid *grid, uint64_t ns)
{
	return ns - grid->at_ns < grid->at_width_ns ? grid->at : ktr__grid_move(grid, ns);
}

/* Where a column begins; that of n_columns is to_ns. */
uint64_t ktr__grid_border(const struct ktr__grid *grid, unsigned column);

struct ktr__cell {
	uint16_t first;  /* label that had most of the column; 0: nothing was there */
	uint16_t second; /* label that came next, or 0 */
	uint8_t share; /* [1/255 of the column] the first's, 1 where it is less but there is some */
	uint8_t rest;  /* [1/255 of the column] the second's, likewise */
	uint8_t covered; /* [1/255 of the column] of all labels together, likewise; more than both's if there
			    are more */
	uint8_t n;       /* times a label began, or was there at the beginning; 255: or more */
	uint8_t unknown; /* [1/255 of the column] in which nobody knows the label, likewise */
};

#define KTR__LANE_PARTS 8 /* labels told apart within one column */

struct ktr__lane {
	struct ktr__cell *cell; /* owned; NULL until the first label */
	uint16_t label;         /* now */
	uint8_t weighs;         /* used by ktr__lane_weigh() */
	uint64_t since_ns;
	unsigned column; /* that part[] is about */
	unsigned n_parts;
	unsigned n_begun;
	uint64_t unknown; /* [ns] of it */
	struct ktr__lane_part {
		uint64_t weight; /* [ns], or whatever ktr__lane_weigh() was given */
		uint16_t label;
	} part[KTR__LANE_PARTS];
};

/*
 * Ends the label of before and begins another, or none with 0. Before the window this only says
 * which label the window begins with. 0 or -ENOMEM.
 */
int ktr__lane_set(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns,
		  uint16_t label);

/*
 * The other way to use a lane: in the column of that moment a label weighs so much more. For
 * majorities by number of events; nothing lasts. 0 or -ENOMEM.
 */
int ktr__lane_weigh(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns,
		    uint16_t label, uint64_t weight);

/* Ends the lane at a moment; call once, before cells are looked at. 0 or -ENOMEM. */
int ktr__lane_end(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns);

/*
 * Where labels are bars next to each other: the end of the bar that has all of a column and of those after it, of
 * the first and the last so much [1/255] at least and nobody else any. Another one of its label is another bar.
 * from itself where there is none.
 */
unsigned ktr__lane_bar(const struct ktr__cell *cell, unsigned from, unsigned n_columns, unsigned edge);

struct ktr__area {
	struct ktr__area_cell {
		double least, greatest, last; /* NaN: nobody knows them */
	} * cell;          /* owned */
	unsigned n_filled; /* columns that have been written, from the left */
	unsigned from;     /* first column with a number */
	double least, greatest, last;
	uint64_t n; /* times it was set */
	int is_lost; /* nobody knows the number now */
};

/* The number from that moment on; before the window: what it begins with. 0 or -ENOMEM. */
int ktr__area_set(struct ktr__area *area, const struct ktr__grid *grid, uint64_t ns, double number);

/* Nobody knows the number from a moment until another one, which has come or is the end. 0 or -ENOMEM. */
int ktr__area_lose(struct ktr__area *area, const struct ktr__grid *grid, uint64_t from_ns, uint64_t ns);

/* Draws the last number out to a moment; call once, before cells are looked at. 0 or -ENOMEM. */
int ktr__area_end(struct ktr__area *area, const struct ktr__grid *grid, uint64_t ns);

#endif
