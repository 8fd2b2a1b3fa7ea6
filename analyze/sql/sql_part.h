/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups of events of one walk: lists of what is used of each.
 *
 * Call sites with the same values in the columns that are grouped by have one number, and so have threads, given
 * when the first event of each comes; these, the CPU and two bits lead to the group's list. A row holds only what
 * differs within its group and is used: numbers of call site, thread and CPU, the difference of times, arguments;
 * all numbers as of LEB128, signed ones folded.
 */
#ifndef ANALYZE_SQL_PART_H
#define ANALYZE_SQL_PART_H

#include "analyze/sql/sql_spill.h"
#include "analyze/sql/sql_table.h"

#define KTR__SQL_BY_MAX 10u /* columns to group by: '0' to '9' */

/* What a column is of. */
enum ktr__sql_part_of {
	KTR__SQL_OF_SITE = 1,
	KTR__SQL_OF_THREAD = 2,
	KTR__SQL_OF_CPU = 4,
	KTR__SQL_OF_FLAGS = 8,
	KTR__SQL_OF_TIME = 16,
	KTR__SQL_OF_INDEX = 32,
	KTR__SQL_OF_OTHER = 64,
	KTR__SQL_OF_KEYS = KTR__SQL_OF_SITE | KTR__SQL_OF_THREAD | KTR__SQL_OF_CPU | KTR__SQL_OF_FLAGS,
	KTR__SQL_OF_ID = KTR__SQL_OF_KEYS | KTR__SQL_OF_INDEX
};

/* What is grouped by, and what rows hold. */
struct ktr__sql_grouping {
	const struct ktr__sql_column *by[KTR__SQL_BY_MAX];
	unsigned n_by;
	unsigned by_parts; /* KTR__SQL_OF_*, of what is grouped by */
	unsigned keeps;	   /* KTR__SQL_OF_*, of what rows hold */
	unsigned args;	   /* bit by bit, likewise */
};

/* Numbers of call sites or threads. */
struct ktr__sql_numbers {
	uint32_t *number;  /* owned, by id: 1 + it; 0: not given yet. NULL: nothing of it is grouped by */
	const void **like; /* owned, by number: the first record of it */
	uint32_t n_ids, n, room;
};

struct ktr__sql_list {
	struct ktr__spill_list list;
	struct ktr_event like; /* its first event */
	uint64_t last_ns;
};

struct ktr__sql_part {
	struct ktr__sql_grouping grouping;
	const struct ktr__tables *tables; /* of the reader that walked */
	struct ktr__sql_numbers site, thread;
	uint32_t n_cpus;
	struct ktr__spill spill;
	uint32_t *place; /* owned, by what leads to it: 1 + the number of the group's list; 0: none yet */
	struct ktr__sql_list *list; /* owned */
	uint32_t n_lists, list_room;
	struct ktr__sql_list *last; /* that of the last event, whose these are; NULL: none yet */
	const struct ktr_reader_site *last_site;
	const struct ktr_reader_thread *last_thread;
	uint32_t last_cpu;
	const uint8_t *row, *end; /* of a list that is being taken out */
};

enum ktr__sql_part_of ktr__sql_part_of(const struct ktr__sql_column *column);

/* How many groups there may be by these parts. */
uint64_t ktr__sql_part_most(const struct ktr__tables *tables, const struct ktr_reader_info *info, unsigned parts);

/*
 * Groups what the reader, which is to live as long as the part, walks. memory: [bytes] that its lists take, about.
 * 0 or -ENOMEM; it is to be freed in any case. One that is all zero may be freed, too.
 */
int ktr__sql_part_init(struct ktr__sql_part *part, const struct ktr__sql_grouping *grouping,
		       struct ktr_reader *reader, size_t memory);
void ktr__sql_part_free(struct ktr__sql_part *part);

/* Adds an event to its group. 0 or -errno. */
int ktr__sql_part_add(struct ktr__sql_part *part, const struct ktr_event *event);

/* Orders two lists by what is grouped by, as SQLite does: below, at or above 0. */
int ktr__sql_part_order(const struct ktr__sql_grouping *grouping, const struct ktr__sql_list *a,
			const struct ktr__sql_list *b);

/*
 * Takes list number i out, one list after the other: what is used of its next event, with bytes of strings that are
 * valid until the next call. *event is what the call before left there; is_first: there was none. 1, 0 or -errno.
 */
int ktr__sql_part_next(struct ktr__sql_part *part, uint32_t i, int is_first, struct ktr_event *event);

#endif
