/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events handed over group by group, where SQLite asks for it (https://www.sqlite.org/vtab.html, 2.3.2 and
 * sqlite3_vtab_distinct()): it would sort them otherwise, rows of bytes that it compares one by one, in a file as
 * large as the trace.
 *
 * What events are grouped by is of their call site, their thread or their CPU. So the group of each is looked up by
 * its number. A walk, which threads may share (ktr__sql_share()), puts of each event the columns that are used
 * into the list of its group; SQLite then gets group after group, in the order of their values, and the events of
 * each in the order of the walk.
 */
#ifndef ANALYZE_SQL_GROUP_H
#define ANALYZE_SQL_GROUP_H

#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"

#include <sqlite3.h>

/* A bit of the plan; its text begins with a letter for each column, before what ktr__sql_plan_make() reads. */
#define KTR__SQL_GROUPED 4

struct ktr__sql_group;

/*
 * To be called after ktr__sql_plan_best(): takes the order that SQLite asks for upon itself, where rows are to be
 * grouped by what is known of call sites, threads and CPUs. Returns an SQLite code.
 */
int ktr__sql_group_best(sqlite3_index_info *info, const struct ktr__sql_kind *kind, const struct ktr__sql *sql);

/* Returns how many letters a plan's text begins with. */
size_t ktr__sql_group_letters(const struct ktr__sql_kind *kind);

/*
 * Begins the plan's walk and groups it by the letters. with_id: ktr__sql_event_id() of the events is wanted, too.
 * Owned group, in any case; an SQLite code.
 */
int ktr__sql_group_make(struct ktr__sql_group **out, struct ktr__sql_cursor *cursor,
			const struct ktr__sql_plan *plan, const char *letters, int with_id);
void ktr__sql_group_free(struct ktr__sql_group *group);

/* Is ktr__sql_event_id() that of the event that was walked? */
int ktr__sql_group_has_id(const struct ktr__sql_group *group);

/* The next event: what is used of it, with bytes of strings that are valid until the next call. 1, 0 or -errno. */
int ktr__sql_group_next(struct ktr__sql_group *group, struct ktr_event *event);

#endif
