/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of rows of a report, and time per state. */
#ifndef TOOLS_REPORT_ROWS_H
#define TOOLS_REPORT_ROWS_H

#include "tools/report/report.h"

#include <stdint.h>
#include <stdio.h>

void report_rows_spans(const struct report *report, FILE *to);
void report_rows_pairs(const struct report *report, FILE *to);
void report_rows_states(const struct report *report, FILE *to);
void report_rows_counters(const struct report *report, FILE *to);

/* Returns how long [ns] a row was in its state, what is open included. */
uint64_t report_state_ns(const struct ktr__tally_row *row);

/* Returns how long [ns] a row of states was in any of them; 0 for all rows but the first of an id. */
uint64_t report_states_ns(const struct report *report, unsigned i);

/* Are two rows states of the same id? Returns 1 or 0. */
int report_state_same(const struct report *report, unsigned a, unsigned b);

#endif
