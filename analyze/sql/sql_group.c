/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups events in one walk.
 *
 * Call sites with the same values in the columns that are grouped by have one number, and so have threads, given
 * when the first event of each comes; these, the CPU and two bits lead to the group's list. A row holds only what
 * differs within its group and is used: numbers of call site, thread and CPU, the difference of times, arguments;
 * all numbers as of LEB128, signed ones folded.
 */
#include "analyze/sql/sql_group.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_spill.h"
#include "conf/kit/array.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_MOST   (1u << 20) /* groups that there may be; more are left to SQLite */
#define GROUP_NUMBER 10u   /* [bytes] a number may take */
#define GROUP_BY_MAX 10u   /* columns to group by: '0' to '9' */
#define GROUP_LOOK   1024u /* events between two looks whether to stop */

/* What a column is of. */
enum {
	GROUP_SITE = 1,
	GROUP_THREAD = 2,
	GROUP_CPU = 4,
	GROUP_FLAGS = 8,
	GROUP_TIME = 16,
	GROUP_INDEX = 32,
	GROUP_OTHER = 64,
	GROUP_KEYS = GROUP_SITE | GROUP_THREAD | GROUP_CPU | GROUP_FLAGS,
	GROUP_ID = GROUP_KEYS | GROUP_INDEX
};

/* Numbers of call sites or threads. */
struct group_part {
	uint32_t *number;  /* owned, by id: 1 + it; 0: not given yet. NULL: nothing of it is grouped by */
	const void **like; /* owned, by number: the first record of it */
	uint32_t n_ids, n, room;
};

struct group_list {
	struct ktr__spill_list list;
	struct ktr_event like; /* its first event */
	uint64_t last_ns;
	int is_begun; /* to be handed over */
};

struct ktr__sql_group {
	const struct ktr__tables *tables;
	const struct ktr__sql_column *by[GROUP_BY_MAX];
	unsigned n_by;
	unsigned by_parts; /* GROUP_*, of what is grouped by */
	unsigned keeps;	   /* GROUP_*, of what rows hold */
	unsigned args;	   /* bit by bit, likewise */
	int has_id;
	struct group_part site, thread;
	uint32_t n_cpus;
	struct ktr__spill spill;
	uint32_t *place; /* owned, by what leads to it: 1 + the number of the group's list; 0: none yet */
	struct group_list *list; /* owned */
	uint32_t n_lists, list_room;
	uint32_t *order; /* owned: lists as they are handed over */
	uint32_t at;
	const uint8_t *row, *end;
};

static unsigned group_part_of(const struct ktr__sql_column *column)
{
	if (!column->field.type)
		return GROUP_OTHER;
	if (column->field.of != KTR__FIELD_EVENT)
		return column->field.of == KTR__FIELD_SITE ? GROUP_SITE : GROUP_THREAD;
	switch (column->field.at) {
	case offsetof(struct ktr_event, cpu):
		return GROUP_CPU;
	case offsetof(struct ktr_event, keep):
	case offsetof(struct ktr_event, approx):
		return GROUP_FLAGS;
	case offsetof(struct ktr_event, time_ns):
		return GROUP_TIME;
	default:
		return GROUP_INDEX;
	}
}

static const void *group_record(const struct ktr_event *event, struct ktr__field field)
{
	if (field.of == KTR__FIELD_SITE)
		return event->site;
	return field.of == KTR__FIELD_THREAD ? (const void *)event->thread : event;
}

/* Compares a field of two records as SQLite does: no text is less than any. */
static int group_compare(struct ktr__field field, const void *a, const void *b)
{
	const char *text_a, *text_b;
	uint64_t number_a, number_b;

	if (!ktr__field_is_text(field)) {
		number_a = ktr__field_number(field, a);
		number_b = ktr__field_number(field, b);
		return (number_a > number_b) - (number_a < number_b);
	}
	text_a = ktr__field_text(field, a);
	text_b = ktr__field_text(field, b);
	return text_a && text_b ? strcmp(text_a, text_b) : !!text_a - !!text_b;
}

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

/* How many groups there may be by these parts. */
static uint64_t group_most(const struct ktr__tables *tables, const struct ktr_reader_info *info, unsigned parts)
{
	return (parts & GROUP_SITE ? (uint64_t)tables->n_sites + 1 : 1) *
	       (parts & GROUP_THREAD ? (uint64_t)tables->n_threads + 1 : 1) *
	       (parts & GROUP_CPU ? (uint64_t)info->n_cpus + 1 : 1) * (parts & GROUP_FLAGS ? 4 : 1);
}

/* Can it be grouped by what is asked for? */
static int group_can(const sqlite3_index_info *info, const struct ktr__sql_kind *kind, const struct ktr__sql *sql)
{
	const struct ktr_reader_info *source = ktr_reader_info(ktr__sql_reader(sql));
	const struct ktr__tables *tables = ktr__reader_tables(ktr__sql_reader(sql));
	unsigned parts = 0;

	if (!kind->is_grouped || info->orderByConsumed || info->nOrderBy < 1 ||
	    info->nOrderBy > (int)GROUP_BY_MAX || source->kind != KTR_SOURCE_TRACE)
		return 0;
	for (int i = 0; i < info->nOrderBy; i++) {
		const struct ktr__sql_column *column = &kind->column[info->aOrderBy[i].iColumn];

		if (info->aOrderBy[i].iColumn < 0 || info->aOrderBy[i].desc ||
		    !(group_part_of(column) & GROUP_KEYS) || !group_is_plain(tables, column->field))
			return 0;
		parts |= group_part_of(column);
	}
	return group_most(tables, source, parts) <= GROUP_MOST;
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

/* ---- groups ---- */

/* Reads the letters. */
static void group_read(struct ktr__sql_group *group, const struct ktr__sql_kind *kind, const char *letters)
{
	for (unsigned i = 0; kind->column[i].name; i++) {
		const struct ktr__sql_column *column = &kind->column[i];
		unsigned part = group_part_of(column), k = (unsigned)(letters[i] - '0');

		if (letters[i] == '-')
			continue;
		if (letters[i] != 'u') {
			group->by[k] = column;
			group->n_by = k >= group->n_by ? k + 1 : group->n_by;
			group->by_parts |= part;
		} else if (part != GROUP_OTHER) {
			group->keeps |= part;
		} else if (column->role == KTR__SQL_ARG) {
			group->args |= 1u << column->field.at;
		} else if (column->role != KTR__SQL_FILTER) {
			group->args = (1u << KTR_ARGS_MAX) - 1;
		}
	}
	/* Their types are the call site's, and the values of columns that are made of several of them. */
	if (group->args)
		group->keeps |= GROUP_SITE;
}

/* Gives a call site or thread its number. 0 or -ENOMEM. */
static int group_number(struct ktr__sql_group *group, struct group_part *part, uint32_t id, enum ktr__field_of of,
			const void *record)
{
	uint32_t k;

	for (k = 0; k < part->n; k++) {
		int differs = 0;

		for (unsigned i = 0; i < group->n_by && !differs; i++)
			differs = group->by[i]->field.of == of &&
				  group_compare(group->by[i]->field, part->like[k], record) != 0;
		if (!differs)
			break;
	}
	if (k == part->n) {
		if (ktr__array_grow(&part->like, &part->room, k, sizeof(const void *)))
			return -ENOMEM;
		part->like[part->n++] = record;
	}
	part->number[id] = k + 1;
	return 0;
}

static uint64_t group_place(const struct ktr__sql_group *group, const struct ktr_event *event)
{
	uint64_t i = group->site.number ? group->site.number[event->site->id] - 1 : 0;

	if (group->thread.number)
		i = i * group->thread.n_ids + group->thread.number[event->thread->id] - 1;
	if (group->by_parts & GROUP_CPU)
		i = i * group->n_cpus + event->cpu;
	if (group->by_parts & GROUP_FLAGS)
		i = i * 4 + (event->keep ? 1 : 0) + (event->approx ? 2 : 0);
	return i;
}

/* The list of an event's group, a new one where it is the first. NULL without memory. */
static struct group_list *group_of(struct ktr__sql_group *group, const struct ktr_event *event)
{
	uint32_t site = event->site->id, thread = event->thread->id, *place;

	if (group->site.number && !group->site.number[site] &&
	    group_number(group, &group->site, site, KTR__FIELD_SITE, event->site))
		return NULL;
	if (group->thread.number && !group->thread.number[thread] &&
	    group_number(group, &group->thread, thread, KTR__FIELD_THREAD, event->thread))
		return NULL;
	place = &group->place[group_place(group, event)];
	if (*place)
		return &group->list[*place - 1];
	if (ktr__array_grow(&group->list, &group->list_room, group->n_lists, sizeof(*group->list)))
		return NULL;
	*place = ++group->n_lists;
	ktr__spill_lists(&group->spill, group->n_lists);
	group->list[*place - 1].like = *event;
	return &group->list[*place - 1];
}

/* ---- rows ---- */

static inline uint8_t *group_put(uint8_t *to, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*to++ = (uint8_t)(number | 128);
	*to++ = (uint8_t)number;
	return to;
}

static inline uint64_t group_get(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	for (; **at > 127; shift += 7)
		number |= (uint64_t)(*(*at)++ & 127) << shift;
	return number | (uint64_t)*(*at)++ << shift;
}

static uint8_t *group_put_args(const struct ktr__sql_group *group, uint8_t *to, const struct ktr_event *event)
{
	for (unsigned left = group->args & ((1u << event->site->n_args) - 1); left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		const struct ktr_event_bytes *str = &event->str[i];

		if (!(event->site->in_str >> i & 1)) {
			to = group_put(to, event->arg[i] << 1 ^ -(event->arg[i] >> 63));
			continue;
		}
		to = group_put(to, (uint64_t)str->n_bytes << 2 | (str->cut ? 2u : 0u) | (str->is_null ? 1u : 0u));
		if (str->n_bytes)
			memcpy(to, str->bytes, str->n_bytes);
		to += str->n_bytes;
	}
	return to;
}

static size_t group_row_bytes(const struct ktr__sql_group *group, const struct ktr_event *event)
{
	size_t n = (5 + KTR_ARGS_MAX) * GROUP_NUMBER + 1;

	for (unsigned left = group->args & event->site->in_str; left; left &= left - 1)
		n += event->str[__builtin_ctz(left)].n_bytes;
	return n;
}

/* 0 or -errno. */
static int group_add(struct ktr__sql_group *group, const struct ktr_event *event)
{
	struct group_list *list = group_of(group, event);
	int rc = list ? ktr__spill_room(&group->spill, &list->list, group_row_bytes(group, event)) : -ENOMEM;
	uint8_t *to;

	if (rc)
		return rc;
	to = list->list.bytes + list->list.n;
	if (group->keeps & GROUP_SITE)
		to = group_put(to, event->site->id);
	if (group->keeps & GROUP_THREAD)
		to = group_put(to, event->thread->id);
	if (group->keeps & GROUP_CPU)
		to = group_put(to, event->cpu);
	if (group->keeps & GROUP_FLAGS)
		*to++ = (uint8_t)((event->keep ? 1 : 0) | (event->approx ? 2 : 0));
	if (group->keeps & GROUP_TIME)
		to = group_put(to, event->time_ns - list->last_ns);
	list->last_ns = event->time_ns;
	if (group->keeps & GROUP_INDEX)
		to = group_put(to, event->index);
	if (group->args)
		to = group_put_args(group, to, event);
	else
		*to++ = 0;
	list->list.n = (size_t)(to - list->list.bytes);
	return 0;
}

static void group_get_args(const struct ktr__sql_group *group, const uint8_t **at, struct ktr_event *event)
{
	for (unsigned left = group->args & ((1u << event->site->n_args) - 1); left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		struct ktr_event_bytes *str = &event->str[i];
		uint64_t number = group_get(at);

		if (!(event->site->in_str >> i & 1)) {
			event->arg[i] = number >> 1 ^ -(number & 1);
			continue;
		}
		str->is_null = number & 1;
		str->cut = number >> 1 & 1;
		str->n_bytes = (uint32_t)(number >> 2);
		str->bytes = (const char *)*at;
		*at += str->n_bytes;
	}
}

static void group_get_row(struct ktr__sql_group *group, struct ktr_event *event)
{
	const uint8_t **at = &group->row;

	if (group->keeps & GROUP_SITE)
		event->site = ktr__tables_by_id(group->tables, (uint32_t)group_get(at));
	if (group->keeps & GROUP_THREAD)
		event->thread = ktr__tables_by_row(group->tables, (uint32_t)group_get(at));
	if (group->keeps & GROUP_CPU)
		event->cpu = (uint32_t)group_get(at);
	if (group->keeps & GROUP_FLAGS) {
		event->keep = **at & 1;
		event->approx = *(*at)++ >> 1 & 1;
	}
	if (group->keeps & GROUP_TIME)
		event->time_ns += group_get(at);
	if (group->keeps & GROUP_INDEX)
		event->index = group_get(at);
	if (group->args)
		group_get_args(group, at, event);
	else
		++*at;
}

/* ---- the walk ---- */

static unsigned group_wants(const void *context, const struct ktr_reader_site *site)
{
	const struct ktr__sql_group *group = context;

	(void)site;
	return group->args;
}

/* 0 or -errno; after a complaint only where it is SQLITE_ERROR. */
static int group_walk(struct ktr__sql_group *group, struct ktr__sql_cursor *cursor)
{
	const struct ktr_event *event;
	unsigned n = 0;
	int what;

	while ((what = ktr__reader_advance(cursor->reader, &event)) > 0) {
		if (what == KTR_READ_NOTE)
			ktr__sql_tell(cursor->sql, ktr_reader_note(cursor->reader));
		if (what == KTR_READ_EVENT)
			what = group_add(group, event);
		if (what < 0)
			return what;
		if (++n % GROUP_LOOK == 0 && ktr__sql_is_stopped(cursor->sql))
			return ktr__sql_complain(cursor, "interrupted");
	}
	return ktr__sql_failed(cursor, what) ? SQLITE_ERROR : 0;
}

static int group_before(const void *a, const void *b, void *context)
{
	const struct ktr__sql_group *group = context;
	const struct ktr_event *event_a = &group->list[*(const uint32_t *)a].like;
	const struct ktr_event *event_b = &group->list[*(const uint32_t *)b].like;
	int order = 0;

	for (unsigned i = 0; i < group->n_by && !order; i++)
		order = group_compare(group->by[i]->field, group_record(event_a, group->by[i]->field),
				      group_record(event_b, group->by[i]->field));
	return order;
}

static int group_sort(struct ktr__sql_group *group)
{
	group->order = calloc((size_t)group->n_lists + 1, sizeof(*group->order));
	if (!group->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n_lists; i++)
		group->order[i] = i;
	qsort_r(group->order, group->n_lists, sizeof(*group->order), group_before, group);
	return 0;
}

static int group_init(struct ktr__sql_group *group, const struct ktr__sql_cursor *cursor, const char *letters,
		      int with_id)
{
	const struct ktr_reader_info *info = ktr_reader_info(cursor->reader);

	ktr__spill_init(&group->spill);
	group->tables = ktr__reader_tables(cursor->reader);
	group->n_cpus = info->n_cpus;
	group->has_id = with_id;
	group->keeps = with_id ? GROUP_ID : 0;
	group_read(group, cursor->kind, letters);
	group->site.n_ids = group->tables->n_sites + 1;
	group->thread.n_ids = group->tables->n_threads + 1;
	if (group->by_parts & GROUP_SITE)
		group->site.number = calloc(group->site.n_ids, sizeof(*group->site.number));
	if (group->by_parts & GROUP_THREAD)
		group->thread.number = calloc(group->thread.n_ids, sizeof(*group->thread.number));
	group->place = calloc(group_most(group->tables, info, group->by_parts), sizeof(*group->place));
	if (!group->place || (group->by_parts & GROUP_SITE && !group->site.number) ||
	    (group->by_parts & GROUP_THREAD && !group->thread.number))
		return -ENOMEM;
	return 0;
}

int ktr__sql_group_make(struct ktr__sql_group **out, struct ktr__sql_cursor *cursor, const char *letters,
			int with_id)
{
	struct ktr__sql_group *group = calloc(1, sizeof(*group));
	int rc;

	*out = group;
	if (!group)
		return SQLITE_NOMEM;
	rc = group_init(group, cursor, letters, with_id);
	if (!rc)
		rc = ktr__reader_wants(cursor->reader, group_wants, group);
	if (!rc)
		rc = group_walk(group, cursor);
	ktr__reader_wants(cursor->reader, NULL, NULL);
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
	for (uint32_t i = 0; i < group->n_lists; i++)
		free(group->list[i].list.bytes);
	ktr__spill_free(&group->spill);
	free(group->site.number);
	free(group->site.like);
	free(group->thread.number);
	free(group->thread.like);
	free(group->place);
	free(group->list);
	free(group->order);
	free(group);
}

int ktr__sql_group_has_id(const struct ktr__sql_group *group)
{
	return group->has_id;
}

int ktr__sql_group_next(struct ktr__sql_group *group, struct ktr_event *event)
{
	while (group->row == group->end) {
		struct group_list *list;
		int64_t n;

		if (group->at == group->n_lists)
			return 0;
		list = &group->list[group->order[group->at]];
		if (!list->is_begun) {
			list->is_begun = 1;
			*event = list->like;
			event->time_ns = 0;
		}
		n = ktr__spill_take(&group->spill, &list->list, &group->row);
		if (n < 0)
			return (int)n;
		group->end = group->row + n;
		group->at += n == 0;
	}
	group_get_row(group, event);
	return 1;
}
