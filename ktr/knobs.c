/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of debug.ktr.*: FreeBSD's names where they make sense in user space (kern_ktr.c), and what
 * FreeBSD's users missed. The only file here that knows the knob tree. Handlers read and write the
 * control page of the session in their context, and nothing else, so that one table serves the program
 * itself, `ktr sysctl` on a live session and on a dead one.
 */
#include "ktr/knobs.h"

#include "ktr/rec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KNOB_CLOCK_EVERY_MAX 1024

static struct ktr__knob_context *knob_context(const struct ktr_knob_at *at)
{
	return at->table->context;
}

static struct ktr_control *knob_control(const struct ktr_knob_at *at)
{
	return knob_context(at)->session->control;
}

/* The session's application classes follow FreeBSD's. */
int ktr__knob_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} freebsd[] = {
#define KNOB_CLASS(n, bit, help) { #n, 1ull << (bit) },
		KTR_CLASS_LIST(KNOB_CLASS)
#undef KNOB_CLASS
		{ "CONTENTION", KTR_CONTENTION }, { "ALL", KTR_ALL },
	};
	const unsigned n_freebsd = sizeof(freebsd) / sizeof(freebsd[0]);
	const struct ktr__session *session = ((struct ktr__knob_context *)context)->session;
	const struct ktr_class_row *row;

	if (idx < n_freebsd) {
		size_t i;

		for (i = 0; freebsd[idx].name[i] && i + 1 < size; i++)
			name[i] = (char)(freebsd[idx].name[i] | 0x20); /* digits keep their bit */
		name[i] = 0;
		*value = freebsd[idx].mask;
		return 0;
	}
	idx -= n_freebsd - 1; /* row 0 is none */
	if (!session->map || idx >= __atomic_load_n(&session->control->n_classes, __ATOMIC_ACQUIRE) ||
	    idx > KTR_CLASS_MAX - KTR_CLASS_APP_FIRST)
		return -ENOENT;
	row = ktr__region(session, class_, struct ktr_class_row) + idx;
	if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != KTR_ROW_READY)
		return 1;
	snprintf(name, size, "%.*s", KTR_CLASS_NAME_MAX - 1, row->name);
	*value = 1ull << (KTR_CLASS_APP_FIRST + idx - 1);
	return 0;
}

static int knob_version_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = 2; /* FreeBSD's KTR_VERSION, whose entries ours carry on */
	return 0;
}

static int knob_mask_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__knob_context *context = knob_context(at);

	value->number = context->session->map ?
				__atomic_load_n(&context->session->control->asked, __ATOMIC_RELAXED) :
				context->early_mask;
	return 0;
}

static int knob_mask_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__knob_context *context = knob_context(at);

	context->early_mask = value->number;
	return context->session->map ? ktr__mask_set(context->session, value->number, err) : 0;
}

/* Words of the control page that changing needs the gate recomputed for. */
static int knob_republish(struct ktr__session *session)
{
	ktr__mask_publish(session, __atomic_load_n(&session->control->asked, __ATOMIC_RELAXED));
	return 0;
}

static int knob_keep_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knob_control(at)->keep, __ATOMIC_RELAXED);
	return 0;
}

static int knob_keep_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	(void)err;
	if (!knob_context(at)->session->map)
		return 0;
	__atomic_store_n(&knob_control(at)->keep, value->number, __ATOMIC_RELAXED);
	return knob_republish(knob_context(at)->session);
}

static int knob_entries_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	uint32_t log2;

	if (!knob_context(at)->session->map)
		return -ENXIO;
	log2 = __atomic_load_n(&knob_control(at)->ring_log2, __ATOMIC_RELAXED);
	value->number = log2 ? 1ull << (log2 & 63) : 0;
	return 0;
}

static int knob_entries_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	struct ktr__session *session = knob_context(at)->session;
	unsigned log2 = KTR_RING_LOG2_MIN;

	if (!session->map)
		return 0;
	while ((1ull << log2) < value->number)
		log2++;
	if (log2 > session->header.ring_log2_max)
		return ktr_error_set(err, ERANGE, "at most %llu entries in this session",
				     1ull << session->header.ring_log2_max);
	if (__atomic_load_n(&session->control->rings_open, __ATOMIC_ACQUIRE))
		return ktr_error_set(err, EBUSY, "the rings are in use: set it before the first mask");
	__atomic_store_n(&session->control->ring_log2, log2, __ATOMIC_RELAXED);
	return 0;
}

static int knob_clock_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	value->number = 1ull << (__atomic_load_n(&knob_control(at)->clock_log2, __ATOMIC_RELAXED) & 31);
	return 0;
}

static int knob_clock_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session *session = knob_context(at)->session;
	uint32_t log2 = 0;

	if (!session->map)
		return 0;
	while ((1ull << log2) < value->number)
		log2++;
	if (1ull << log2 != value->number)
		return ktr_error_set(err, EINVAL, "not a power of two");
	__atomic_store_n(&session->control->clock_log2, log2, __ATOMIC_RELAXED);
	return knob_republish(session);
}

static int knob_clocks(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "tsc", "cntvct", "monotonic" };

	(void)context;
	if (idx >= 3)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx + KTR_CLOCK_TSC;
	return 0;
}

static int knob_clock_source_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	value->number = knob_context(at)->session->header.clock;
	return 0;
}

static int knob_session_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	snprintf(value->text, value->text_size, "%s", knob_context(at)->session->header.name);
	return 0;
}

static int knob_freeze_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knob_control(at)->frozen, __ATOMIC_RELAXED) != 0;
	return 0;
}

static int knob_freeze_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	(void)err;
	if (!knob_context(at)->session->map)
		return 0;
	__atomic_store_n(&knob_control(at)->frozen, value->number ? KTR_FROZEN_YES : KTR_FROZEN_NO,
			 __ATOMIC_RELAXED);
	return knob_republish(knob_context(at)->session);
}

static int knob_keep_session_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knob_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knob_control(at)->keep_session, __ATOMIC_RELAXED);
	return 0;
}

static int knob_keep_session_set(const struct ktr_knob_at *at, const struct ktr_value *value,
				 struct ktr_error *err)
{
	(void)err;
	if (knob_context(at)->session->map)
		__atomic_store_n(&knob_control(at)->keep_session, value->number != 0,
				 __ATOMIC_RELAXED);
	return 0;
}

/* Clearing raises each ring's first valid slot; heads are never reset. */
static int knob_clear_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session *session = knob_context(at)->session;

	(void)err;
	if (!value->number || !session->map)
		return 0;
	for (uint32_t i = 0; i < 2 * session->header.n_rings; i++)
		__atomic_store_n(&session->rings[i].first,
				 __atomic_load_n(&session->rings[i].head, __ATOMIC_ACQUIRE) >> 1,
				 __ATOMIC_RELEASE);
	return 0;
}

/* Events a ring has taken since the session began: slots less continuations. */
static uint64_t knob_ring_events(const struct ktr_ring *ring)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		uint64_t cont = __atomic_load_n(&ring->cont[head & 1], __ATOMIC_ACQUIRE);

		/* The counter is rewritten two commits later at the earliest. */
		if (__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == head || i == 999)
			return (head >> 1) - cont;
	}
	return 0;
}

static int knob_recorded_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct ktr__session *session = knob_context(at)->session;

	if (!session->map)
		return -ENXIO;
	value->number = 0;
	for (uint32_t i = 0; i < 2 * session->header.n_rings; i++)
		value->number += knob_ring_events(&session->rings[i]);
	return 0;
}

static int knob_dropped_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct ktr__session *session = knob_context(at)->session;
	const struct ktr_control *control = session->control;

	if (!session->map)
		return -ENXIO;
	value->number = ktr__load(&control->drop_vfork) + ktr__load(&control->drop_no_ring) +
			ktr__load(&control->drop_nested) + ktr__load(&control->drop_no_site) +
			ktr__load(&control->drop_closed);
	for (uint32_t i = 0; i < 2 * session->header.n_rings; i++)
		value->number += ktr__load(&session->rings[i].dropped);
	return 0;
}

static int knob_file_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	snprintf(value->text, value->text_size, "%s", knob_context(at)->file);
	return 0;
}

static int knob_file_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__knob_context *context = knob_context(at);

	if (!context->own)
		return ktr_error_set(err, EOPNOTSUPP,
				     "only the program itself starts its writer: use ktr record");
	snprintf(context->file, sizeof(context->file), "%s", value->text);
	return 0;
}

#define KNOB(knob_name, knob_type, knob_access, knob_unit, knob_initial, knob_env, knob_help, ...)  \
	{                                                                                        \
		.name = "debug.ktr." knob_name, .help = knob_help, .unit = knob_unit,            \
		.initial = knob_initial, .environment = knob_env, .type = KTR_KNOB_##knob_type,  \
		.access = knob_access, __VA_ARGS__                                               \
	}

const struct ktr_knob ktr__knob_rows[] = {
	KNOB("version", UINT, KTR_KNOB_RD, NULL, NULL, NULL, "version of the entry's format",
	     .get = knob_version_get),
	KNOB("session", STRING, KTR_KNOB_RD, NULL, NULL, NULL, "name of the session",
	     .max = KTR_SESSION_NAME_MAX - 1, .get = knob_session_get),
	KNOB("entries", SIZE, KTR_KNOB_RWTUN, "entries per CPU", NULL, "KTR_ENTRIES",
	     "size of each CPU's ring, rounded up to a power of two", .min = 1 << KTR_RING_LOG2_MIN,
	     .max = 1 << 23, .get = knob_entries_get, .set = knob_entries_set),
	KNOB("keep", MASK, KTR_KNOB_RWTUN, NULL, "init|proc", NULL,
	     "classes that go to the small rings of rare events", .names = ktr__knob_class_names,
	     .get = knob_keep_get, .set = knob_keep_set),
	KNOB("clock", UINT, KTR_KNOB_RWTUN, "events", "1", NULL,
	     "the clock is read for every n-th event, a power of two", .min = 1,
	     .max = KNOB_CLOCK_EVERY_MAX, .get = knob_clock_get, .set = knob_clock_set),
	KNOB("clock_source", CHOICE, KTR_KNOB_RD, NULL, NULL, NULL, "the clock of the session",
	     .names = knob_clocks, .get = knob_clock_source_get),
	KNOB("keep_session", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_KEEP_SESSION",
	     "a clean exit leaves the session behind", .get = knob_keep_session_get,
	     .set = knob_keep_session_set),
	KNOB("alq_file", STRING, KTR_KNOB_RWTUN, NULL, NULL, "KTR_FILE",
	     "directory the writer puts the trace into; set at start, it starts the writer",
	     .max = 255, .get = knob_file_get, .set = knob_file_set),
	KNOB("mask", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_MASK", "classes that are recorded",
	     .names = ktr__knob_class_names, .get = knob_mask_get, .set = knob_mask_set),
	KNOB("freeze", BOOL, KTR_KNOB_RW, NULL, "0", NULL, "recording stands still, the rings stay as they are",
	     .get = knob_freeze_get, .set = knob_freeze_set),
	KNOB("clear", BOOL, KTR_KNOB_WR, NULL, NULL, NULL, "forgets what the rings hold",
	     .set = knob_clear_set),
	KNOB("recorded", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events recorded since the session began", .get = knob_recorded_get),
	KNOB("dropped", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events that could not be recorded", .get = knob_dropped_get),
};

const unsigned ktr__n_knob_rows = sizeof(ktr__knob_rows) / sizeof(ktr__knob_rows[0]);
