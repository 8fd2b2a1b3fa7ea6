/* SPDX-License-Identifier: BSD-2-Clause */
/* What a report is made of; report_text.h has its form for people, report_json.h that for programs. */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include "analyze/stats/oncpu.h"
#include "analyze/stats/tally.h"

struct report {
	const struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	const struct ktr__tally *tally;
	const struct ktr__oncpu *oncpu;
	const struct ktr__functions *functions; /* NULL: they were not asked for */
	const struct ktr__samples *samples; /* likewise */
	const struct ktr__syscalls *syscalls; /* likewise */
	const struct ktr__pair *pair; /* those of the tally */
	unsigned top; /* lines of each table; 0: all */
	int partial;  /* something could not be read */
	int source;    /* of samples: the text of lines, too */
	int histogram; /* below each line of durations */
	unsigned width; /* [columns] of the terminal; 0: it is none, and names are not cut */
	int bold;     /* headings stand out on a terminal */
	int *short_of_memory; /* set where a table was left out for that */
};

#endif
