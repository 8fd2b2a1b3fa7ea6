/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups events in one walk, or in several of one slice of time each, which threads share: each takes the next
 * slice that nobody has taken, with a reader of its own. A slice is a part with lists of its own; a group is handed
 * over part after part. What readers have to say belongs in one order: where there is something, or one of them
 * fails, all is walked once more, by one.
 */
#include "analyze/sql/sql_group.h"

#include "analyze/print/crew.h"
#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_part.h"
#include "analyze/sql/sql_plan.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_MOST   (1u << 20) /* groups that there may be; more are left to SQLite */
#define GROUP_LOOK   1024u /* events between two looks whether to stop */
#define GROUP_MEMORY ((size_t)8 << 20) /* [bytes] that all lists take, about */

/* More slices than threads: events are not spread evenly over time. More groups would take too much memory. */
#define GROUP_SLICES 8u
#define GROUP_SHARED 1024u
#define GROUP_WORTH  ((uint64_t)1 << 20) /* [bytes] of packets for which threads are worth starting */

/* A list of a part. */
struct group_order {
	uint32_t part, list;
};

struct ktr__sql_group {
	struct ktr__sql_grouping grouping;
	int has_id;
	struct ktr__sql_part part[GROUP_SLICES]; /* in the order of time */
	unsigned n_parts;
	struct group_order *order; /* owned: lists as they are handed over */
	uint32_t n_order, at;
	int is_begun; /* the list at it is */
};

/* ---- the plan ---- */

size_t ktr__sql_group_letters(const struct ktr__sql_kind *kind)
{
	size_t n = 0;

	while (kind->column[n].name)
		n++;
	return n;
}

/* Texts are compared as they are recorded, so they must be what SQLite sees. */
static int group_is_plain(const struct ktr__tables *tables, struct ktr__field field)
{
	uint32_t n = field.of == KTR__FIELD_SITE ? tables->n_sites : tables->n_threads;

	for (uint32_t id = 0; ktr__field_is_text(field) && id < n; id++) {
		const void *record = field.of == KTR__FIELD_SITE ? (const void *)ktr__tables_by_id(tables, id)
								 : ktr__tables_by_row(tables, id);
		const char *text = ktr__field_text(field, record);

		if (text && ktr__utf8_plain(text, strlen(text)) != strlen(text))
			return 0;
	}
	return 1;
}

/* Can it be grouped by what is asked for? */
static int group_can(const sqlite3_index_info *info, const struct ktr__sql_kind *kind, const struct ktr__sql *sql)
{
	const struct ktr_reader_info *source = ktr_reader_info(ktr__sql_reader(sql));
	const struct ktr__tables *tables = ktr__reader_tables(ktr__sql_reader(sql));
	unsigned parts = 0;

	if (!kind->is_grouped || info->orderByConsumed || info->nOrderBy < 1 ||
	    info->nOrderBy > (int)KTR__SQL_BY_MAX || source->kind != KTR_SOURCE_TRACE)
		return 0;
	for (int i = 0; i < info->nOrderBy; i++) {
		const struct ktr__sql_column *column = &kind->column[info->aOrderBy[i].iColumn];

		if (info->aOrderBy[i].iColumn < 0 || info->aOrderBy[i].desc ||
		    !(ktr__sql_part_of(column) & KTR__SQL_OF_KEYS) || !group_is_plain(tables, column->field))
			return 0;
		parts |= ktr__sql_part_of(column);
	}
	return ktr__sql_part_most(tables, source, parts) <= GROUP_MOST;
}

int ktr__sql_group_best(sqlite3_index_info *info, const struct ktr__sql_kind *kind, const struct ktr__sql *sql)
{
	size_t n = ktr__sql_group_letters(kind);
	char *text;

	if (sqlite3_vtab_distinct(info) != 1 || !group_can(info, kind, sql))
		return SQLITE_OK;
	text = sqlite3_malloc64(n + strlen(info->idxStr) + 1);
	if (!text)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < n; i++)
		text[i] = info->colUsed >> i & 1 ? 'u' : '-';
	for (int i = info->nOrderBy; i-- > 0;)
		text[info->aOrderBy[i].iColumn] = (char)('0' + i);
	strcpy(text + n, info->idxStr);
	sqlite3_free(info->idxStr);
	info->idxStr = text;
	info->idxNum |= KTR__SQL_GROUPED;
	info->orderByConsumed = 1;
	return SQLITE_OK;
}

/* ---- the walk ---- */

/* Reads the letters. */
static void group_read(struct ktr__sql_grouping *group, const struct ktr__sql_kind *kind, const char *letters)
{
	for (unsigned i = 0; kind->column[i].name; i++) {
		const struct ktr__sql_column *column = &kind->column[i];
		unsigned of = ktr__sql_part_of(column), k = (unsigned)(letters[i] - '0');

		if (letters[i] == '-')
			continue;
		if (letters[i] != 'u') {
			group->by[k] = column;
			group->n_by = k >= group->n_by ? k + 1 : group->n_by;
			group->by_parts |= of;
		} else if (of != KTR__SQL_OF_OTHER) {
			group->keeps |= of;
		} else if (column->role == KTR__SQL_ARG) {
			group->args |= 1u << column->field.at;
		} else if (column->role != KTR__SQL_FILTER) {
			group->args = (1u << KTR_ARGS_MAX) - 1;
		}
	}
	/* Their types are the call site's, and the values of columns that are made of several of them. */
	if (group->args)
		group->keeps |= KTR__SQL_OF_SITE;
}

static unsigned group_wants(const void *context, const struct ktr_reader_site *site)
{
	const struct ktr__sql_grouping *grouping = context;

	(void)site;
	return grouping->args;
}

#define GROUP_SAYS SQLITE_NOTICE /* of a walk: it has something to say */

/*
 * Walks what the cursor's reader has left into a part. tells: what it has to say is told; else that ends the walk.
 * 0, GROUP_SAYS, an SQLite code after a complaint, or -errno.
 */
static int group_walk(struct ktr__sql_part *part, struct ktr__sql_cursor *cursor, int tells)
{
	const struct ktr_event *event;
	unsigned n = 0;
	int what;

	while ((what = ktr__reader_advance(cursor->reader, &event)) > 0) {
		if (what == KTR_READ_NOTE && !tells)
			return GROUP_SAYS;
		if (what == KTR_READ_NOTE)
			ktr__sql_tell(cursor->sql, ktr_reader_note(cursor->reader));
		if (what == KTR_READ_EVENT)
			what = ktr__sql_part_add(part, event);
		if (what < 0)
			return what;
		if (++n % GROUP_LOOK == 0 && ktr__sql_is_stopped(cursor->sql))
			return ktr__sql_complain(cursor, "interrupted");
	}
	return ktr__sql_failed(cursor, what) ? SQLITE_ERROR : 0;
}

/* Begins the plan's walk and walks it into a part. As group_walk(). */
static int group_part(const struct ktr__sql_group *group, struct ktr__sql_part *part,
		      struct ktr__sql_cursor *cursor, const struct ktr__sql_plan *plan, size_t memory, int tells)
{
	int rc = ktr__sql_plan_restart(cursor, plan, 0);

	if (rc != SQLITE_OK || cursor->at_end)
		return rc;
	rc = ktr__sql_part_init(part, &group->grouping, cursor->reader, memory);
	if (!rc)
		rc = ktr__reader_wants(cursor->reader, group_wants, &group->grouping);
	if (!rc)
		rc = group_walk(part, cursor, tells);
	ktr__reader_wants(cursor->reader, NULL, NULL);
	return rc;
}

/* ---- shared by threads ---- */

struct group_crew {
	struct ktr__sql_group *group;
	const struct ktr__sql_plan *plan;
	uint64_t from_ns, to_ns; /* of what there is to be cut into slices */
	atomic_uint next; /* slice that nobody has taken */
	atomic_int rc; /* not 0: of a walk */
};

/* One of its threads. */
struct group_hand {
	struct group_crew *crew;
	struct ktr__sql_cursor cursor; /* a copy, with a reader of its own */
	sqlite3_vtab table; /* for what it complains of, which nobody is told */
	int is_new; /* its reader was opened for it: nothing of that is in a result yet */
	pthread_t thread;
};

static uint64_t group_cut(const struct group_crew *crew, unsigned slice)
{
	return crew->from_ns + (uint64_t)((unsigned __int128)(crew->to_ns - crew->from_ns) * slice / GROUP_SLICES);
}

static void *group_work(void *context)
{
	struct group_hand *hand = context;
	struct group_crew *crew = hand->crew;
	unsigned i;

	while (!atomic_load(&crew->rc) && (i = atomic_fetch_add(&crew->next, 1)) < GROUP_SLICES) {
		struct ktr__sql_plan plan = *crew->plan;
		int rc;

		plan.from_ns = i ? group_cut(crew, i) : plan.from_ns;
		plan.to_ns = i + 1 < GROUP_SLICES ? group_cut(crew, i + 1) : plan.to_ns;
		rc = group_part(crew->group, &crew->group->part[i], &hand->cursor, &plan,
				GROUP_MEMORY / GROUP_SLICES, 0);
		if (rc)
			atomic_store(&crew->rc, rc);
	}
	return NULL;
}

/*
 * The caller's first; how many there are. The cursor's own reader stays as it is: should it have to walk after all,
 * it still has to say what readers say first.
 */
static unsigned group_hire(struct group_hand *hand, unsigned n, struct group_crew *crew,
			   const struct ktr__sql_cursor *cursor)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		hand[i] = (struct group_hand){ .crew = crew, .cursor = *cursor };
		hand[i].cursor.base.pVtab = &hand[i].table;
		hand[i].cursor.lent = ktr__sql_lend(cursor->sql);
		if (!hand[i].cursor.lent)
			break;
		hand[i].is_new = !hand[i].cursor.lent->reader[0];
	}
	return i;
}

static void group_forget(struct ktr__sql_group *group)
{
	for (unsigned i = 0; i < GROUP_SLICES; i++) {
		ktr__sql_part_free(&group->part[i]);
		group->part[i] = (struct ktr__sql_part){ 0 };
	}
}

/* Walks slices by several threads. 0, or it is to be done by one, who has all descriptors and memory then. */
static int group_share(struct group_crew *crew, const struct ktr__sql_cursor *cursor, unsigned n_threads)
{
	struct group_hand hand[GROUP_SLICES];
	unsigned n = group_hire(hand, n_threads, crew, cursor), started = 1;
	sigset_t all, before;

	/* A program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (started < n && pthread_create(&hand[started].thread, NULL, group_work, &hand[started]) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (n)
		group_work(&hand[0]);
	else
		atomic_store(&crew->rc, -ENOMEM);
	for (unsigned i = 1; i < started; i++)
		pthread_join(hand[i].thread, NULL);
	if (atomic_load(&crew->rc))
		group_forget(crew->group);
	for (unsigned i = 0; i < n; i++) {
		sqlite3_free(hand[i].table.zErrMsg);
		hand[i].cursor.lent->used = 0;
		if (!atomic_load(&crew->rc) || !hand[i].is_new)
			continue;
		ktr_reader_close(hand[i].cursor.lent->reader[0]);
		hand[i].cursor.lent->reader[0] = NULL;
	}
	crew->group->n_parts = GROUP_SLICES;
	return atomic_load(&crew->rc);
}

/* How many threads are of use. */
static unsigned group_threads(const struct ktr__sql_group *group, const struct group_crew *crew,
			      const struct ktr__sql_cursor *cursor)
{
	struct ktr_reader *reader = ktr__sql_reader(cursor->sql);
	const struct ktr_reader_info *info = ktr_reader_info(reader);
	uint64_t most = ktr__sql_part_most(ktr__reader_tables(reader), info, group->grouping.by_parts);
	uint64_t asked = ktr__sql_sharing(cursor->sql);
	double share = (double)(crew->to_ns - crew->from_ns) / (double)(info->last_ns - info->first_ns + 1);

	if (group->has_id || most > GROUP_SHARED || crew->to_ns - crew->from_ns < GROUP_SLICES ||
	    !sqlite3_threadsafe())
		return 1;
	/* A filter that asks for spans reads all of the trace first, and would for each slice. */
	if (crew->plan->filter && strstr(crew->plan->filter, "span"))
		return 1;
	if (!asked && (double)ktr__reader_bytes(reader) * share < (double)GROUP_WORTH)
		return 1;
	return ktr__crew_threads(asked) < GROUP_SLICES ? ktr__crew_threads(asked) : GROUP_SLICES;
}

/* 0, an SQLite code after a complaint, or -errno. */
static int group_all(struct ktr__sql_group *group, struct ktr__sql_cursor *cursor, const struct ktr__sql_plan *plan)
{
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(cursor->sql));
	struct group_crew crew = { .group = group,
				   .plan = plan,
				   .from_ns = plan->from_ns > info->first_ns ? plan->from_ns : info->first_ns,
				   .to_ns = plan->to_ns <= info->last_ns ? plan->to_ns : info->last_ns + 1 };
	unsigned n_threads;

	if (!plan->is_empty && crew.from_ns < crew.to_ns) {
		n_threads = group_threads(group, &crew, cursor);
		if (n_threads > 1 && group_share(&crew, cursor, n_threads) == 0)
			return 0;
		if (ktr__sql_is_stopped(cursor->sql))
			return ktr__sql_complain(cursor, "interrupted");
	}
	group->n_parts = 1;
	return group_part(group, &group->part[0], cursor, plan, GROUP_MEMORY, 1);
}

/* ---- handing over ---- */

static int group_before(const void *a, const void *b, void *context)
{
	const struct ktr__sql_group *group = context;
	const struct group_order *x = a, *y = b;
	int order = ktr__sql_part_order(&group->grouping, &group->part[x->part].list[x->list],
					&group->part[y->part].list[y->list]);

	return order ? order : (x->part > y->part) - (x->part < y->part);
}

static int group_sort(struct ktr__sql_group *group)
{
	size_t n = 0;

	for (unsigned i = 0; i < group->n_parts; i++)
		n += group->part[i].n_lists;
	group->order = calloc(n + 1, sizeof(*group->order));
	if (!group->order)
		return -ENOMEM;
	for (unsigned i = 0; i < group->n_parts; i++)
		for (uint32_t k = 0; k < group->part[i].n_lists; k++)
			group->order[group->n_order++] = (struct group_order){ i, k };
	qsort_r(group->order, group->n_order, sizeof(*group->order), group_before, group);
	return 0;
}

int ktr__sql_group_make(struct ktr__sql_group **out, struct ktr__sql_cursor *cursor,
			const struct ktr__sql_plan *plan, const char *letters, int with_id)
{
	struct ktr__sql_group *group = calloc(1, sizeof(*group));
	int rc;

	*out = group;
	if (!group)
		return SQLITE_NOMEM;
	group->has_id = with_id;
	group->grouping.keeps = with_id ? KTR__SQL_OF_ID : 0;
	group_read(&group->grouping, cursor->kind, letters);
	rc = group_all(group, cursor, plan);
	if (!rc)
		rc = group_sort(group);
	if (rc == -ENOMEM)
		return SQLITE_NOMEM;
	return rc < 0 ? ktr__sql_complain(cursor, "a temporary file: %s", strerror(-rc)) : rc;
}

void ktr__sql_group_free(struct ktr__sql_group *group)
{
	if (!group)
		return;
	group_forget(group);
	free(group->order);
	free(group);
}

int ktr__sql_group_has_id(const struct ktr__sql_group *group)
{
	return group->has_id;
}

int ktr__sql_group_next(struct ktr__sql_group *group, struct ktr_event *event)
{
	while (group->at < group->n_order) {
		const struct group_order *order = &group->order[group->at];
		int rc = ktr__sql_part_next(&group->part[order->part], order->list, !group->is_begun, event);

		group->is_begun = 1;
		if (rc)
			return rc;
		group->at++;
		group->is_begun = 0;
	}
	return 0;
}
