/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups the events of one walk: which list each belongs to, and how its row is put there and taken out again. */
#include "analyze/sql/sql_part.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PART_NUMBER 10u /* [bytes] a number may take */

enum ktr__sql_part_of ktr__sql_part_of(const struct ktr__sql_column *column)
{
	if (!column->field.type)
		return KTR__SQL_OF_OTHER;
	if (column->field.of != KTR__FIELD_EVENT)
		return column->field.of == KTR__FIELD_SITE ? KTR__SQL_OF_SITE : KTR__SQL_OF_THREAD;
	switch (column->field.at) {
	case offsetof(struct ktr_event, cpu):
		return KTR__SQL_OF_CPU;
	case offsetof(struct ktr_event, keep):
	case offsetof(struct ktr_event, approx):
		return KTR__SQL_OF_FLAGS;
	case offsetof(struct ktr_event, time_ns):
		return KTR__SQL_OF_TIME;
	default:
		return KTR__SQL_OF_INDEX;
	}
}

static const void *part_record(const struct ktr_event *event, struct ktr__field field)
{
	if (field.of == KTR__FIELD_SITE)
		return event->site;
	return field.of == KTR__FIELD_THREAD ? (const void *)event->thread : event;
}

/* Compares a field of two records as SQLite does: no text is less than any. */
static int part_compare(struct ktr__field field, const void *a, const void *b)
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

uint64_t ktr__sql_part_most(const struct ktr__tables *tables, const struct ktr_reader_info *info, unsigned parts)
{
	return (parts & KTR__SQL_OF_SITE ? (uint64_t)tables->n_sites + 1 : 1) *
	       (parts & KTR__SQL_OF_THREAD ? (uint64_t)tables->n_threads + 1 : 1) *
	       (parts & KTR__SQL_OF_CPU ? (uint64_t)info->n_cpus + 1 : 1) * (parts & KTR__SQL_OF_FLAGS ? 4 : 1);
}

/* ---- groups ---- */

int ktr__sql_part_init(struct ktr__sql_part *part, const struct ktr__sql_grouping *grouping,
		       struct ktr_reader *reader, size_t memory)
{
	const struct ktr_reader_info *info = ktr_reader_info(reader);

	*part = (struct ktr__sql_part){ .grouping = *grouping,
					.tables = ktr__reader_tables(reader),
					.n_cpus = info->n_cpus };
	ktr__spill_init(&part->spill, memory);
	part->site.n_ids = part->tables->n_sites + 1;
	part->thread.n_ids = part->tables->n_threads + 1;
	if (grouping->by_parts & KTR__SQL_OF_SITE)
		part->site.number = calloc(part->site.n_ids, sizeof(*part->site.number));
	if (grouping->by_parts & KTR__SQL_OF_THREAD)
		part->thread.number = calloc(part->thread.n_ids, sizeof(*part->thread.number));
	part->place = calloc(ktr__sql_part_most(part->tables, info, grouping->by_parts), sizeof(*part->place));
	if (!part->place || (grouping->by_parts & KTR__SQL_OF_SITE && !part->site.number) ||
	    (grouping->by_parts & KTR__SQL_OF_THREAD && !part->thread.number))
		return -ENOMEM;
	return 0;
}

void ktr__sql_part_free(struct ktr__sql_part *part)
{
	if (!part->tables)
		return;
	for (uint32_t i = 0; i < part->n_lists; i++)
		free(part->list[i].list.bytes);
	ktr__spill_free(&part->spill);
	free(part->site.number);
	free(part->site.like);
	free(part->thread.number);
	free(part->thread.like);
	free(part->place);
	free(part->list);
}

/* Gives a call site or thread its number. 0 or -ENOMEM. */
static int part_number(const struct ktr__sql_grouping *grouping, struct ktr__sql_numbers *numbers, uint32_t id,
		       enum ktr__field_of of, const void *record)
{
	uint32_t k;

	for (k = 0; k < numbers->n; k++) {
		int differs = 0;

		for (unsigned i = 0; i < grouping->n_by && !differs; i++)
			differs = grouping->by[i]->field.of == of &&
				  part_compare(grouping->by[i]->field, numbers->like[k], record) != 0;
		if (!differs)
			break;
	}
	if (k == numbers->n) {
		if (ktr__array_grow(&numbers->like, &numbers->room, k, sizeof(const void *)))
			return -ENOMEM;
		numbers->like[numbers->n++] = record;
	}
	numbers->number[id] = k + 1;
	return 0;
}

static uint64_t part_place(const struct ktr__sql_part *part, const struct ktr_event *event)
{
	uint64_t i = part->site.number ? part->site.number[event->site->id] - 1 : 0;

	if (part->thread.number)
		i = i * part->thread.n_ids + part->thread.number[event->thread->id] - 1;
	if (part->grouping.by_parts & KTR__SQL_OF_CPU)
		i = i * part->n_cpus + event->cpu;
	if (part->grouping.by_parts & KTR__SQL_OF_FLAGS)
		i = i * 4 + (event->keep ? 1 : 0) + (event->approx ? 2 : 0);
	return i;
}

/* The list of an event's group, a new one where it is the first. NULL without memory. */
static struct ktr__sql_list *part_find(struct ktr__sql_part *part, const struct ktr_event *event)
{
	uint32_t site = event->site->id, thread = event->thread->id, *place;

	if (part->site.number && !part->site.number[site] &&
	    part_number(&part->grouping, &part->site, site, KTR__FIELD_SITE, event->site))
		return NULL;
	if (part->thread.number && !part->thread.number[thread] &&
	    part_number(&part->grouping, &part->thread, thread, KTR__FIELD_THREAD, event->thread))
		return NULL;
	place = &part->place[part_place(part, event)];
	if (*place)
		return &part->list[*place - 1];
	if (ktr__array_grow(&part->list, &part->list_room, part->n_lists, sizeof(*part->list)))
		return NULL;
	*place = ++part->n_lists;
	ktr__spill_lists(&part->spill, part->n_lists);
	part->list[*place - 1].like = *event;
	return &part->list[*place - 1];
}

/* Does the event belong where the last one did? One of the same call site, thread and CPU does. */
static inline int part_is_like_last(const struct ktr__sql_part *part, const struct ktr_event *event)
{
	unsigned by = part->grouping.by_parts;

	return part->last && (!(by & KTR__SQL_OF_SITE) || event->site == part->last_site) &&
	       (!(by & KTR__SQL_OF_THREAD) || event->thread == part->last_thread) &&
	       (!(by & KTR__SQL_OF_CPU) || event->cpu == part->last_cpu) && !(by & KTR__SQL_OF_FLAGS);
}

static inline struct ktr__sql_list *part_list(struct ktr__sql_part *part, const struct ktr_event *event)
{
	if (!part_is_like_last(part, event)) {
		part->last = part_find(part, event);
		part->last_site = event->site;
		part->last_thread = event->thread;
		part->last_cpu = event->cpu;
	}
	return part->last;
}

int ktr__sql_part_order(const struct ktr__sql_grouping *grouping, const struct ktr__sql_list *a,
			const struct ktr__sql_list *b)
{
	int order = 0;

	for (unsigned i = 0; i < grouping->n_by && !order; i++)
		order = part_compare(grouping->by[i]->field, part_record(&a->like, grouping->by[i]->field),
				     part_record(&b->like, grouping->by[i]->field));
	return order;
}

/* ---- rows ---- */

static inline uint8_t *part_put(uint8_t *to, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*to++ = (uint8_t)(number | 128);
	*to++ = (uint8_t)number;
	return to;
}

static inline uint64_t part_get(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	if (**at <= 127) /* most are */
		return *(*at)++;
	for (; **at > 127; shift += 7)
		number |= (uint64_t)(*(*at)++ & 127) << shift;
	return number | (uint64_t)*(*at)++ << shift;
}

static uint8_t *part_put_args(const struct ktr__sql_part *part, uint8_t *to, const struct ktr_event *event)
{
	for (unsigned left = part->grouping.args & ((1u << event->site->n_args) - 1); left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		const struct ktr_event_bytes *str = &event->str[i];

		if (!(event->site->in_str >> i & 1)) {
			to = part_put(to, event->arg[i] << 1 ^ -(event->arg[i] >> 63));
			continue;
		}
		to = part_put(to, (uint64_t)str->n_bytes << 2 | (str->cut ? 2u : 0u) | (str->is_null ? 1u : 0u));
		if (str->n_bytes)
			memcpy(to, str->bytes, str->n_bytes);
		to += str->n_bytes;
	}
	return to;
}

static size_t part_row_bytes(const struct ktr__sql_part *part, const struct ktr_event *event)
{
	size_t n = (5 + KTR_ARGS_MAX) * PART_NUMBER + 1;

	for (unsigned left = part->grouping.args & event->site->in_str; left; left &= left - 1)
		n += event->str[__builtin_ctz(left)].n_bytes;
	return n;
}

int ktr__sql_part_add(struct ktr__sql_part *part, const struct ktr_event *event)
{
	struct ktr__sql_list *list = part_list(part, event);
	int rc = list ? ktr__spill_room(&part->spill, &list->list, part_row_bytes(part, event)) : -ENOMEM;
	uint8_t *to;

	if (rc)
		return rc;
	to = list->list.bytes + list->list.n;
	if (part->grouping.keeps & KTR__SQL_OF_SITE)
		to = part_put(to, event->site->id);
	if (part->grouping.keeps & KTR__SQL_OF_THREAD)
		to = part_put(to, event->thread->id);
	if (part->grouping.keeps & KTR__SQL_OF_CPU)
		to = part_put(to, event->cpu);
	if (part->grouping.keeps & KTR__SQL_OF_FLAGS)
		*to++ = (uint8_t)((event->keep ? 1 : 0) | (event->approx ? 2 : 0));
	if (part->grouping.keeps & KTR__SQL_OF_TIME)
		to = part_put(to, event->time_ns - list->last_ns);
	list->last_ns = event->time_ns;
	if (part->grouping.keeps & KTR__SQL_OF_INDEX)
		to = part_put(to, event->index);
	if (part->grouping.args)
		to = part_put_args(part, to, event);
	else
		*to++ = 0;
	list->list.n = (size_t)(to - list->list.bytes);
	return 0;
}

static inline const uint8_t *part_get_args(const struct ktr__sql_part *part, const uint8_t *at,
					   struct ktr_event *event)
{
	for (unsigned left = part->grouping.args & ((1u << event->site->n_args) - 1); left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		struct ktr_event_bytes *str = &event->str[i];
		uint64_t number = part_get(&at);

		if (!(event->site->in_str >> i & 1)) {
			event->arg[i] = number >> 1 ^ -(number & 1);
			continue;
		}
		str->is_null = number & 1;
		str->cut = number >> 1 & 1;
		str->n_bytes = (uint32_t)(number >> 2);
		str->bytes = (const char *)at;
		at += str->n_bytes;
	}
	return at;
}

static inline void part_get_row(struct ktr__sql_part *part, struct ktr_event *event)
{
	unsigned keeps = part->grouping.keeps;
	const uint8_t *at = part->row;

	if (keeps & KTR__SQL_OF_SITE)
		event->site = ktr__tables_by_id(part->tables, (uint32_t)part_get(&at));
	if (keeps & KTR__SQL_OF_THREAD)
		event->thread = ktr__tables_by_row(part->tables, (uint32_t)part_get(&at));
	if (keeps & KTR__SQL_OF_CPU)
		event->cpu = (uint32_t)part_get(&at);
	if (keeps & KTR__SQL_OF_FLAGS) {
		event->keep = *at & 1;
		event->approx = *at++ >> 1 & 1;
	}
	if (keeps & KTR__SQL_OF_TIME)
		event->time_ns += part_get(&at);
	if (keeps & KTR__SQL_OF_INDEX)
		event->index = part_get(&at);
	if (part->grouping.args)
		at = part_get_args(part, at, event);
	else
		at++;
	part->row = at;
}

int ktr__sql_part_next(struct ktr__sql_part *part, uint32_t i, int is_first, struct ktr_event *event)
{
	struct ktr__sql_list *list = &part->list[i];

	if (is_first) {
		*event = list->like;
		event->time_ns = 0;
	}
	if (part->row == part->end) {
		int64_t n = ktr__spill_take(&part->spill, &list->list, &part->row);

		if (n <= 0) {
			part->end = part->row;
			return (int)n;
		}
		part->end = part->row + n;
	}
	part_get_row(part, event);
	return 1;
}
