/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens on the rows of a timeline. */
#ifndef VISUALIZE_ROW_H
#define VISUALIZE_ROW_H

#include "visualize/model/rows.h"

#include <stdint.h>

/* A ring lost events between two moments; told in the order of from_ns. Returns 0 or -ENOMEM. */
int ktr__rows_gap(struct ktr__rows *rows, const struct ktr__rows_gap *gap);

/* What happens on a row. Moments may lie before the window, not after it. Return 0 or -ENOMEM. */
int ktr__row_label(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint16_t label);
int ktr__row_weigh(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint16_t label);
int ktr__row_number(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, double number);
int ktr__row_mark(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns);

/* A START or STOP of the row. */
void ktr__row_spans(const struct ktr__rows *rows, struct ktr__row *row, uint64_t ns);

/*
 * A span begins; *lane is its own, or KTR__LANES_MAX: too many are open, and it is left out. It ends. Return 0
 * or -ENOMEM.
 */
int ktr__row_start(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint32_t *lane);
int ktr__row_stop(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint32_t lane);

/*
 * A scope begins on a level of a nest, from 0 (struct ktr__call); *lane is the level, or KTR__LANES_MAX where it is
 * too deep. It ends. Return 0 or -ENOMEM.
 */
int ktr__row_enter(struct ktr__rows *rows, struct ktr__row *nest, uint64_t ns, unsigned level, uint16_t label,
		   uint32_t *lane);
int ktr__row_exit(struct ktr__rows *rows, struct ktr__row *nest, uint64_t ns, uint32_t lane);

/* The row's state ends with who told of it. Returns 0 or -ENOMEM. */
int ktr__row_left(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns);

/*
 * Returns when [ns] a state or counter of the row ended with its only thread, or else its process; 0: it had
 * not.
 */
uint64_t ktr__row_end_ns(const struct ktr__row *row);

/* Closes every lane and area at a moment, or at the row's end before that. Returns 0 or -ENOMEM. */
int ktr__rows_end(struct ktr__rows *rows, uint64_t ns);

/* Returns how much of a column [1/255] the rings lost that the row is from; of a row by CPU, those of the CPU. */
uint8_t ktr__row_lost(const struct ktr__row *row, const struct ktr__losses *losses, unsigned column);

/* Returns the row's totals of a label, borrowed from the row, or NULL. */
const struct ktr__stay *ktr__row_stay(const struct ktr__row *row, uint16_t label);

#endif
