/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One knob: its value between text and handler, and where the value came from.
 *
 * Writing asks in this order: may it be written by this origin, does an origin of higher rank hold
 * it, does the text parse, is the value in range, does the handler take it. Only then is the
 * origin recorded; until then the knob is as it was.
 *
 * Rank matters for what acts at start (files, environment), which may not undo what the program
 * has set by a call. What acts at run time always prevails: the latest one meant it.
 */
#include "conf/cpulist.h"
#include "conf/names.h"
#include "conf/number.h"
#include "conf/quote.h"
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KNOB_WORDS (KTR_CPUS_MAX / 64)

/* Room for a value of any type while it is on its way. */
struct knob_room {
	struct ktr_value value;
	uint64_t bits[KNOB_WORDS];
	char text[KTR_KNOB_STRING_BYTES];
};

static void knob_room(const struct ktr_knob *knob, struct knob_room *room)
{
	memset(room, 0, sizeof(*room));
	room->value.bits = room->bits;
	room->value.n_bits = knob->max && knob->max < KTR_CPUS_MAX ? (unsigned)knob->max
								   : KTR_CPUS_MAX;
	room->value.text = room->text;
	room->value.text_size = sizeof(room->text);
	if (knob->type == KTR_KNOB_STRING && knob->max && knob->max < sizeof(room->text))
		room->value.text_size = knob->max + 1;
}

/* Numbers are loaded and stored whole: another thread may be doing the same. */
static void knob_load(const struct ktr_knob *knob, struct ktr_value *value)
{
	if (knob->type == KTR_KNOB_STRING)
		snprintf(value->text, value->text_size, "%s", (const char *)knob->variable);
	else if (knob->type == KTR_KNOB_CPUS)
		memcpy(value->bits, knob->variable, (value->n_bits + 63) / 64 * sizeof(uint64_t));
	else if (knob->type == KTR_KNOB_BOOL)
		value->number = !!__atomic_load_n((int *)knob->variable, __ATOMIC_ACQUIRE);
	else
		value->number = __atomic_load_n((uint64_t *)knob->variable, __ATOMIC_ACQUIRE);
}

static void knob_store(const struct ktr_knob *knob, const struct ktr_value *value)
{
	if (knob->type == KTR_KNOB_STRING)
		strcpy(knob->variable, value->text);
	else if (knob->type == KTR_KNOB_CPUS)
		memcpy(knob->variable, value->bits, (value->n_bits + 63) / 64 * sizeof(uint64_t));
	else if (knob->type == KTR_KNOB_BOOL)
		__atomic_store_n((int *)knob->variable, (int)value->number, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)knob->variable, value->number, __ATOMIC_RELEASE);
}

static int knob_fetch(const struct ktr_knob_at *at, struct ktr_value *value)
{
	unsigned n_bits = value->n_bits;
	int rc = 0;

	if (at->knob->get)
		rc = at->knob->get(at, value);
	else if (at->knob->variable)
		knob_load(at->knob, value);
	else
		rc = -EPERM;
	if (value->n_bits > n_bits)
		value->n_bits = n_bits;
	return rc < 0 ? rc : 0;
}

/* Puts the knob's name before what went wrong with it. */
static int knob_failed(const struct ktr_knob_at *at, int code, const struct ktr_error *inner,
		       struct ktr_error *err)
{
	if (inner && inner->code)
		return ktr_error_at(err, inner->file[0] ? inner->file : NULL, inner->line,
				    inner->column, code, "%s: %s", at->name, inner->text);
	return ktr_error_set(err, code, "%s: %m", at->name);
}

static int knob_print(const struct ktr_knob_at *at, const struct ktr_value *value, unsigned flags,
		      char *buffer, size_t size)
{
	const struct ktr_knob *knob = at->knob;

	switch (knob->type) {
	case KTR_KNOB_BOOL: /* its parser knows no other forms */
		return ktr__print_uint(value->number, 0, buffer, size);
	case KTR_KNOB_INT:
		return ktr__print_int((int64_t)value->number, flags, buffer, size);
	case KTR_KNOB_SIZE:
		return ktr__print_size(value->number, flags, buffer, size);
	case KTR_KNOB_DURATION:
		return ktr__print_duration(value->number, flags, buffer, size);
	case KTR_KNOB_STRING:
		return ktr__print_string(value->text, buffer, size);
	case KTR_KNOB_MASK:
		return ktr__print_mask(value->number, knob->names, at->table->context, flags,
				       buffer, size);
	case KTR_KNOB_CHOICE:
		return ktr__print_choice(value->number, knob->names, at->table->context, flags,
					 buffer, size);
	case KTR_KNOB_CPUS:
		return ktr__print_cpus(value->bits, value->n_bits, buffer, size);
	default:
		return ktr__print_uint(value->number, flags, buffer, size);
	}
}

int ktr_knob_read(const struct ktr_knob_at *at, unsigned flags, char *buffer, size_t size,
		  struct ktr_error *err)
{
	struct knob_room room;
	int rc;

	if (!size)
		return ktr_error_set(err, ENOSPC, "%s: no room for the value", at->name);
	buffer[0] = '\0';
	if (!(at->knob->access & KTR_KNOB_RD))
		return ktr_error_set(err, EPERM, "%s is write-only", at->name);
	knob_room(at->knob, &room);
	if (at->knob->type == KTR_KNOB_TEXT) {
		room.value.text = buffer;
		room.value.text_size = size;
	}
	rc = knob_fetch(at, &room.value);
	if (!rc && at->knob->type != KTR_KNOB_TEXT)
		rc = knob_print(at, &room.value, flags, buffer, size);
	return rc ? knob_failed(at, rc, NULL, err) : 0;
}

static int knob_parse(const struct ktr_knob_at *at, const char *text, struct ktr_value *value,
		      struct ktr_error *err)
{
	const struct ktr_knob *knob = at->knob;
	int64_t number = 0;
	int rc;

	switch (knob->type) {
	case KTR_KNOB_BOOL:
		return ktr__parse_bool(text, &value->number, err);
	case KTR_KNOB_INT:
		rc = ktr__parse_int(text, &number, err);
		value->number = (uint64_t)number;
		return rc;
	case KTR_KNOB_UINT:
		return ktr__parse_uint(text, &value->number, err);
	case KTR_KNOB_SIZE:
		return ktr__parse_size(text, &value->number, err);
	case KTR_KNOB_DURATION:
		return ktr__parse_duration(text, &value->number, err);
	case KTR_KNOB_STRING:
		return ktr__parse_string(text, value->text, value->text_size, err);
	case KTR_KNOB_MASK:
		return ktr__parse_mask(text, knob->names, at->table->context, value->number,
				       &value->number, err);
	case KTR_KNOB_CHOICE:
		return ktr__parse_choice(text, knob->names, at->table->context, &value->number,
					 err);
	case KTR_KNOB_CPUS:
		return ktr__parse_cpus(text, value->bits, value->n_bits, err);
	default:
		return -EPERM;
	}
}

/* Below the row's least or above its greatest number: -1, 1; within: 0. */
static int knob_side(const struct ktr_knob *knob, uint64_t number)
{
	int64_t n = (int64_t)number;

	if (!knob->min && !knob->max)
		return 0;
	if (knob->type == KTR_KNOB_INT)
		return n < knob->min ? -1 : n > (int64_t)knob->max;
	if (knob->min > 0 && number < (uint64_t)knob->min)
		return -1;
	return knob->max && number > knob->max;
}

static int knob_check(const struct ktr_knob_at *at, const struct ktr_value *value,
		      struct ktr_error *err)
{
	const struct ktr_knob *knob = at->knob;
	struct ktr_value limit = *value;
	char given[32], least[32];
	int side;

	if (knob->type == KTR_KNOB_MASK && knob->max && (value->number & ~knob->max))
		return ktr_error_set(err, ERANGE, "bits 0x%llx cannot be set",
				     (unsigned long long)(value->number & ~knob->max));
	if (knob->type < KTR_KNOB_INT || knob->type > KTR_KNOB_DURATION)
		return 0;
	side = knob_side(knob, value->number);
	if (!side)
		return 0;
	limit.number = side < 0 ? (uint64_t)knob->min : knob->max;
	knob_print(at, value, 0, given, sizeof(given));
	knob_print(at, &limit, 0, least, sizeof(least));
	return ktr_error_set(err, ERANGE, "%s is %s the %s, %s%s%s", given,
			     side < 0 ? "below" : "above", side < 0 ? "least" : "greatest", least,
			     knob->unit ? " " : "", knob->unit ? knob->unit : "");
}

/* Reads what the new value depends on: the bits that +net adds to, the number of CPUs. */
static int knob_before(const struct ktr_knob_at *at, const char *text, struct ktr_value *value)
{
	char sign = *ktr__skip_blanks(text);
	int rc;

	if (at->knob->type != KTR_KNOB_MASK && at->knob->type != KTR_KNOB_CPUS)
		return 0;
	rc = knob_fetch(at, value);
	return at->knob->type == KTR_KNOB_MASK && (sign == '+' || sign == '-') ? rc : 0;
}

static int knob_change(const struct ktr_knob_at *at, const char *text, struct ktr_error *err)
{
	struct knob_room room;
	int rc;

	knob_room(at->knob, &room);
	rc = knob_before(at, text, &room.value);
	if (!rc)
		rc = knob_parse(at, text, &room.value, err);
	if (!rc)
		rc = knob_check(at, &room.value, err);
	if (rc)
		return rc;
	if (at->knob->set)
		rc = at->knob->set(at, &room.value, err);
	else if (at->knob->variable)
		knob_store(at->knob, &room.value);
	else
		rc = -EPERM;
	return rc < 0 ? rc : 0;
}

static struct ktr_origin *knob_origin(const struct ktr_knob_at *at)
{
	return at->table->origins ? &at->table->origins[at->knob - at->table->rows] : NULL;
}

static int knob_may(const struct ktr_knob_at *at, unsigned kind, struct ktr_error *err)
{
	uint32_t access = at->knob->access;
	int at_start = kind == KTR_ORIGIN_FILE || kind == KTR_ORIGIN_ENVIRONMENT;

	if (at_start ? access & KTR_KNOB_TUN : access & KTR_KNOB_WR)
		return 0;
	if (at_start && (access & KTR_KNOB_WR))
		return ktr_error_set(err, EPERM, "%s cannot be set at start, only at run time",
				     at->name);
	if (!at_start && (access & KTR_KNOB_TUN))
		return ktr_error_set(err, EPERM,
				     "%s cannot be set at run time, only by a file at start",
				     at->name);
	return ktr_error_set(err, EPERM, "%s is read-only", at->name);
}

int ktr_knob_write(const struct ktr_knob_at *at, const char *text, const struct ktr_origin *origin,
		   struct ktr_error *err)
{
	struct ktr_error inner;
	struct ktr_origin *held = knob_origin(at), api;
	struct ktr_knob_at as = *at;
	int rc;

	if (!origin) {
		ktr_origin_set(&api, KTR_ORIGIN_API, NULL, 0);
		api.pid = (uint32_t)getpid();
		origin = &api;
	}
	rc = knob_may(at, origin->kind, err);
	if (rc)
		return rc;
	if (held && origin->kind < KTR_ORIGIN_API && held->kind > origin->kind)
		return 1;
	as.origin = origin->kind;
	ktr_error_clear(&inner);
	rc = knob_change(&as, text, &inner);
	if (rc)
		return knob_failed(at, rc, &inner, err);
	if (held)
		*held = *origin;
	return 0;
}

void ktr_knob_origin(const struct ktr_knob_at *at, struct ktr_origin *origin)
{
	struct ktr_origin *held = knob_origin(at);

	if (held)
		*origin = *held;
	else
		memset(origin, 0, sizeof(*origin));
}

int ktr_conf_get(const struct ktr_conf *conf, const char *name, char *buffer, size_t size,
		 struct ktr_error *err)
{
	struct ktr_knob_at at;
	int rc = ktr_conf_find(conf, name, &at, err);

	return rc ? rc : ktr_knob_read(&at, 0, buffer, size, err);
}

int ktr_conf_set(struct ktr_conf *conf, const char *name, const char *text, struct ktr_error *err)
{
	struct ktr_knob_at at;
	int rc = ktr_conf_find(conf, name, &at, err);

	return rc ? rc : ktr_knob_write(&at, text, NULL, err);
}
