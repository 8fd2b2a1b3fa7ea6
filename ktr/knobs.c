/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of debug.ktr.*: FreeBSD's names where they make sense in user space (kern_ktr.c), and what
 * FreeBSD's users missed. The only file here that knows the knob tree. Handlers read and write the
 * control page of the session in their context, and nothing else, so that one table serves the program
 * itself, `ktr sysctl` on a live session and on a dead one.
 */
#include "ktr/knobs.h"

#include "ktr/arch.h"
#include "ktr/class_name.h"
#include "ktr/cpu.h"
#include "ktr/rec.h"
#include "ktr/writer_hook.h"

#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KNOB_CLOCK_EVERY_MAX 1024

static struct ktr__knob_context *knobs_context(const struct ktr_knob_at *at)
{
	return at->table->context;
}

static struct ktr_control *knobs_control(const struct ktr_knob_at *at)
{
	return knobs_context(at)->session->control;
}

/* The session's application classes follow FreeBSD's. */
int ktr__knob_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const struct {
		char name[12];
		uint64_t mask;
	} more[] = { { "contention", KTR_CONTENTION }, { "all", KTR_ALL } };
	const unsigned n_more = sizeof(more) / sizeof(more[0]);
	const struct ktr__session *session = ((struct ktr__knob_context *)context)->session;
	const struct ktr_class_row *row;

	if (idx < KTR_CLASS_APP_FIRST) {
		ktr__class_name(idx, name);
		*value = 1ull << idx;
		return 0;
	}
	idx -= KTR_CLASS_APP_FIRST;
	if (idx < n_more) {
		snprintf(name, size, "%s", more[idx].name);
		*value = more[idx].mask;
		return 0;
	}
	idx -= n_more - 1; /* row 0 is none */
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

static int knobs_version_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = 2; /* FreeBSD's KTR_VERSION, whose entries ours carry on */
	return 0;
}

static int knobs_mask_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__knob_context *context = knobs_context(at);

	value->number = context->session->map ?
				__atomic_load_n(&context->session->control->asked, __ATOMIC_RELAXED) :
				context->early_mask;
	return 0;
}

/* Classes, set from outside, that no call site is of would make an empty trace without a word. */
static int knobs_have_sites(const struct ktr_knob_at *at, uint64_t wanted, struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);
	char want[128] = "", have[96] = "";
	uint64_t classes;

	classes = at->origin == KTR_ORIGIN_SYSCTL ? ktr__session_classes(context->session) : wanted;
	if (!wanted || wanted & classes)
		return 0;
	ktr__print_mask(wanted, ktr__knob_class_names, context, 0, want, sizeof(want));
	ktr__print_mask(classes, ktr__knob_class_names, context, 0, have, sizeof(have));
	return ktr_error_set(err, ENOENT, "no call site is of class %s, there are %s", want, have);
}

static int knobs_mask_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);

	if (context->session->map && knobs_have_sites(at, value->number, err))
		return -ENOENT;
	context->early_mask = value->number;
	return context->session->map ? ktr__mask_set(context->session, value->number, err) : 0;
}

static int knobs_keep_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knobs_control(at)->keep, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_keep_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	(void)err;
	if (!knobs_context(at)->session->map)
		return 0;
	__atomic_store_n(&knobs_control(at)->keep, value->number, __ATOMIC_RELAXED);
	ktr__mask_publish(knobs_context(at)->session);
	return 0;
}

static int knobs_count_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knobs_control(at)->count, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_count_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;
	int code;

	if (!session->map)
		return 0;
	code = knobs_have_sites(at, value->number, err);
	if (code)
		return code;
	/* First the word, then the memory: a site that registers in between sees one of them. */
	__atomic_store_n(&session->control->count, value->number, __ATOMIC_SEQ_CST);
	code = value->number ? ktr__counts_open(session, session->control->n_sites) : 0;
	if (code) {
		__atomic_store_n(&session->control->count, 0, __ATOMIC_RELAXED);
		return ktr_error_set(err, -code, "no memory for the counts: %m");
	}
	ktr__mask_publish(session);
	return 0;
}

static int knobs_entries_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	uint32_t log2;

	if (!knobs_context(at)->session->map)
		return -ENXIO;
	log2 = __atomic_load_n(&knobs_control(at)->ring_log2, __ATOMIC_RELAXED);
	value->number = log2 ? 1ull << (log2 & 63) : 0;
	return 0;
}

static int knobs_entries_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;
	unsigned log2 = KTR_RING_LOG2_MIN;

	if (!session->map)
		return 0;
	while ((1ull << log2) < value->number)
		log2++;
	if (log2 > session->header.ring_log2_max)
		return ktr_error_set(err, ERANGE, "at most %llu entries in this session",
				     1ull << session->header.ring_log2_max);
	if (log2 == __atomic_load_n(&session->control->ring_log2, __ATOMIC_RELAXED))
		return 0;
	if (__atomic_load_n(&session->control->rings_open, __ATOMIC_ACQUIRE)) {
		/* A process that joins a session takes its rings as they are. */
		if (at->origin == KTR_ORIGIN_FILE || at->origin == KTR_ORIGIN_ENVIRONMENT)
			return 0;
		return ktr__rings_resize(session, log2, err);
	}
	__atomic_store_n(&session->control->ring_log2, log2, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_clock_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = (__atomic_load_n(&knobs_control(at)->clock_slots, __ATOMIC_RELAXED) >> 1) + 1ull;
	return 0;
}

static int knobs_clock_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;

	if (!session->map)
		return 0;
	if (value->number & (value->number - 1))
		return ktr_error_set(err, EINVAL, "not a power of two");
	__atomic_store_n(&session->control->clock_slots, (uint32_t)(value->number - 1) << 1, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_clocks(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "tsc", "cntvct", "monotonic" };

	(void)context;
	if (idx >= 3)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx + KTR_CLOCK_TSC;
	return 0;
}

static int knobs_follows(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char names[][5] = { "same", "own", "none" };

	(void)context;
	if (idx > KTR_FOLLOW_NONE)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx;
	return 0;
}

static int knobs_clock_source_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = knobs_context(at)->session->header.clock;
	return 0;
}

/* Asked for before there is a session; one that there is keeps its own. */
static int knobs_clock_source_set(const struct ktr_knob_at *at, const struct ktr_value *value,
				  struct ktr_error *err)
{
	if (value->number != KTR_ARCH_CLOCK && value->number != KTR_CLOCK_MONOTONIC)
		return ktr_error_set(err, EINVAL, "this machine has no such clock");
	if (!knobs_context(at)->session->map)
		knobs_context(at)->clock = (uint32_t)value->number;
	return 0;
}

static int knobs_session_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	snprintf(value->text, value->text_size, "%s", knobs_context(at)->session->header.name);
	return 0;
}

/* The name is asked for before there is a session, and means nothing to one that there is. */
static int knobs_session_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	(void)err;
	if (!knobs_context(at)->session->map)
		snprintf(knobs_context(at)->name, KTR_SESSION_NAME_MAX, "%s", value->text);
	return 0;
}

static int knobs_freeze_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knobs_control(at)->frozen, __ATOMIC_RELAXED) != 0;
	return 0;
}

static int knobs_frozen_by_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	static const char words[][8] = { "nobody", "asked", "trigger", "call", "exit" };
	const struct ktr__session *session = knobs_context(at)->session;
	const struct ktr_trigger *trigger;
	const struct ktr_site_row *row;
	uint32_t why, site;

	if (!session->map)
		return -ENXIO;
	trigger = ktr__region(session, trigger, struct ktr_trigger);
	why = __atomic_load_n(&session->control->frozen, __ATOMIC_RELAXED) ? trigger->why : 0;
	if (why >= KTR_FROZE_SIGNAL)
		snprintf(value->text, value->text_size, "signal %u", why - KTR_FROZE_SIGNAL);
	else
		snprintf(value->text, value->text_size, "%s",
			 words[why < sizeof(words) / sizeof(words[0]) ? why : 0]);
	site = trigger->site;
	if (why != KTR_FROZE_TRIGGER || site >= ktr__session_n_sites(session))
		return 0;
	row = ktr__region(session, site, struct ktr_site_row) + site;
	snprintf(value->text, value->text_size, "%s at %.128s:%u", words[why],
		 ktr__session_string(session, row->file), row->line);
	return 0;
}

static int knobs_trigger_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session *session = knobs_context(at)->session;

	if (!session->map)
		return -ENXIO;
	snprintf(value->text, value->text_size, "%.*s", KTR_TRIGGER_SOURCE - 1,
		 ktr__region(session, trigger, struct ktr_trigger)->source);
	return 0;
}

static int knobs_trigger_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			     struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;

	return session->map ? ktr__trigger_set(session, value->text, err) : 0;
}

static int knobs_trigger_sites_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = ktr__trigger_n_sites(knobs_context(at)->session);
	return 0;
}

/* Exits, and the signals whose names people know. */
static int knobs_freeze_on_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char names[][5] = { "exit", "hup", "int", "quit", "ill", "", "abrt", "bus", "fpe", "",
					 "usr1", "segv", "usr2", "", "", "term" };

	(void)context;
	if (idx >= sizeof(names) / sizeof(names[0]))
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = 1ull << idx;
	return !names[idx][0];
}

/* Handlers are installed by the program itself, and only when it starts or by its own call. */
static int knobs_freeze_on_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			       struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);

	if (!context->session->map)
		return 0;
	if (value->number & ~(uint64_t)KTR_FREEZE_ON_EXIT & ~knobs_control(at)->freeze_on && !context->own)
		return ktr_error_set(err, EOPNOTSUPP, "only the program itself installs handlers of signals: "
						      "set it in loader.conf or KTR_FREEZE_ON");
	if (context->own)
		ktr__freeze_signals(value->number);
	__atomic_store_n(&knobs_control(at)->freeze_on, value->number, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_freeze_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	(void)err;
	if (knobs_context(at)->session->map)
		ktr__freeze_set(knobs_context(at)->session, value->number);
	return 0;
}

static int knobs_keep_session_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = __atomic_load_n(&knobs_control(at)->keep_session, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_keep_session_set(const struct ktr_knob_at *at, const struct ktr_value *value,
				 struct ktr_error *err)
{
	(void)err;
	if (knobs_context(at)->session->map)
		__atomic_store_n(&knobs_control(at)->keep_session, value->number != 0,
				 __ATOMIC_RELAXED);
	return 0;
}

/* Clearing raises each ring's first valid slot; heads are never reset. */
static int knobs_clear_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;

	(void)err;
	if (!value->number || !session->map)
		return 0;
	for (uint32_t i = 0; i < KTR_RING_KINDS * session->header.n_rings; i++) {
		struct ktr_ring *ring = &session->rings[i];
		uint64_t conts, slots = ktr__ring_moment(ring, &conts);

		__atomic_store_n(&ring->cleared, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->cleared_conts, conts, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->cleared, slots, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->first, slots, __ATOMIC_RELEASE);
	}
	return 0;
}

static int knobs_clear_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = 0;
	return 0;
}

static int knobs_recorded_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = ktr__session_recorded(knobs_context(at)->session);
	return 0;
}

static int knobs_dropped_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = ktr__session_dropped(knobs_context(at)->session);
	return 0;
}

static int knobs_file_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__knob_context *context = knobs_context(at);
	const char *file = context->session->map ? context->session->control->alq_file : context->file;

	snprintf(value->text, value->text_size, "%.*s", KTR_ALQ_FILE_MAX - 1, file);
	return 0;
}

static int knobs_file_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);

	(void)err;
	snprintf(context->file, sizeof(context->file), "%s", value->text);
	if (context->session->map)
		memcpy(context->session->control->alq_file, context->file, sizeof(context->file));
	return 0;
}

/* At start the writer waits for the other settings. From outside it can be told to end, not to begin. */
static int knobs_alq_set(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);
	bool on = value->number != 0;

	if (at->origin == KTR_ORIGIN_FILE || at->origin == KTR_ORIGIN_ENVIRONMENT) {
		context->enable = on ? KTR__ENABLE_YES : KTR__ENABLE_NO;
		return 0;
	}
	if (!context->session->map)
		return ktr_error_set(err, ENXIO, "no session");
	/* Of a process that was killed the word has stayed: what is our own is known better. */
	if (on && __atomic_load_n(&knobs_control(at)->alq_enable, __ATOMIC_RELAXED) &&
	    (!context->own || __atomic_load_n(&knobs_control(at)->writer, __ATOMIC_RELAXED) == (uint32_t)getpid()))
		return 0;
	if (context->own && on)
		return ktr__writer_enable(err);
	if (context->own)
		ktr__writer_stop();
	if (on)
		return ktr_error_set(err, EOPNOTSUPP,
				     "only a program itself starts its writer thread; from outside: ktr record");
	__atomic_store_n(&knobs_control(at)->alq_enable, on, __ATOMIC_RELAXED);
	return 0;
}

/* Rows that are a word of the control page and nothing else: variable is its offset. */
static void *knobs_field(const struct ktr_knob_at *at)
{
	return (char *)knobs_control(at) + (uintptr_t)at->knob->variable;
}

static int knobs_field_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = at->knob->type == KTR_KNOB_BOOL ?
				__atomic_load_n((uint32_t *)knobs_field(at), __ATOMIC_RELAXED) != 0 :
				__atomic_load_n((uint64_t *)knobs_field(at), __ATOMIC_RELAXED);
	return 0;
}

static int knobs_field_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	(void)err;
	if (knobs_context(at)->session->map)
		__atomic_store_n((uint64_t *)knobs_field(at), value->number, __ATOMIC_RELAXED);
	return 0;
}

/* Each request counts: drains look at the number every now and then. */
static int knobs_rotate_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	(void)err;
	if (knobs_context(at)->session->map && value->number)
		__atomic_fetch_add((uint64_t *)knobs_field(at), 1, __ATOMIC_RELAXED);
	return 0;
}

static int knobs_outputs(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	(void)context;
	snprintf(name, size, idx ? "syslog" : "stderr");
	*value = idx;
	return idx < 2 ? 0 : -ENOENT;
}

/* As with alq_enable: a thread that runs is told, the program itself starts one. */
static int knobs_verbose_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			     struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);
	struct ktr_control *control = context->session->control;

	if (!context->session->map)
		return 0;
	if (!context->own && value->number && !__atomic_load_n(&control->writer, __ATOMIC_RELAXED))
		return ktr_error_set(err, EOPNOTSUPP, "the program has no writer thread that could print; ktr dump shows events");
	__atomic_store_n(&control->verbose, value->number, __ATOMIC_RELAXED);
	if (!context->own || at->origin < KTR_ORIGIN_API)
		return 0;
	return ktr__writer_flush() == -ESRCH && value->number ? ktr__writer_verbose(err) : 0;
}

static int knobs_kernel_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const struct {
		char name[8];
		uint64_t mask;
	} names[] = { { "switch", KTR_KERNEL_SWITCH }, { "fault", KTR_KERNEL_FAULT },
		      { "all", KTR_KERNEL_SWITCH | KTR_KERNEL_FAULT } };

	(void)context;
	if (idx >= sizeof(names) / sizeof(names[0]))
		return -ENOENT;
	snprintf(name, size, "%s", names[idx].name);
	*value = names[idx].mask;
	return 0;
}

/* The writer thread reads them: one that runs looks here, the program itself starts one. */
static int knobs_kernel_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);
	struct ktr__session *session = context->session;
	int code;

	if (!session->map)
		return 0;
	if (value->number & ~(uint64_t)(KTR_KERNEL_SWITCH | KTR_KERNEL_FAULT))
		return ktr_error_set(err, EINVAL, "the kernel tells of switch and fault");
	if (!context->own && value->number && !__atomic_load_n(&session->control->writer, __ATOMIC_RELAXED))
		return ktr_error_set(err, EOPNOTSUPP, "the program has no writer thread that could read them; ktr record -k does");
	code = value->number ? ktr__kernel_open(session, err) : 0;
	if (code)
		return code;
	__atomic_store_n(&session->control->kernel, value->number, __ATOMIC_RELEASE);
	if (!context->own || at->origin < KTR_ORIGIN_API)
		return 0;
	return ktr__writer_flush() == -ESRCH && value->number ? ktr__writer_verbose(err) : 0;
}

static int knobs_classes_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	value->number = ktr__session_classes(knobs_context(at)->session);
	return 0;
}

/* CPU numbers are below this. */
static unsigned knobs_n_cpus(const struct ktr__session *session)
{
	if (session->map && session->header.path == KTR_PATH_RSEQ && session->header.n_rings < KTR_CPU_MAX)
		return session->header.n_rings;
	return ktr__cpus_possible();
}

static int knobs_cpumask_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session *session = knobs_context(at)->session;

	if (!session->map)
		return -ENXIO;
	value->n_bits = knobs_n_cpus(session);
	memcpy(value->bits, session->control->cpumask, sizeof(session->control->cpumask));
	return 0;
}

/* All there are means all there ever will be. */
static int knobs_cpumask_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			     struct ktr_error *err)
{
	struct ktr__session *session = knobs_context(at)->session;
	unsigned n = knobs_n_cpus(session);
	bool all = true;

	if (!session->map)
		return 0;
	for (unsigned cpu = 0; cpu < n; cpu++)
		all &= value->bits[cpu / 64] >> cpu % 64 & 1;
	if (all)
		memset(value->bits, 0xff, sizeof(session->control->cpumask));
	return ktr__cpumask_set(session, value->bits, err);
}

static int knobs_sites_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!knobs_context(at)->session->map)
		return -ENXIO;
	ktr__rules_text(knobs_context(at)->session, value->text);
	if (!value->text[0])
		strcpy(value->text, "none");
	return 0;
}

/* At start most sites are yet to come: what fits none is told of at exit. */
static int knobs_sites_set(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	struct ktr__knob_context *context = knobs_context(at);

	context->early_sites = true;
	return context->session->map ?
		       ktr__rules_set(context->session, value->text, at->origin >= KTR_ORIGIN_API, err) :
		       0;
}

#define KNOB(knob_name, knob_type, knob_access, knob_unit, knob_initial, knob_env, knob_help, ...)  \
	{                                                                                        \
		.name = "debug.ktr." knob_name, .help = knob_help, .unit = knob_unit,            \
		.initial = knob_initial, .environment = knob_env, .type = KTR_KNOB_##knob_type,  \
		.access = knob_access, __VA_ARGS__                                               \
	}

#define FIELD(name) .variable = (void *)offsetof(struct ktr_control, name)

/*
 * A row's place in this list is that of its origin in the session, which a tool of another version may
 * read: new rows go to the end.
 */
const struct ktr_knob ktr__knob_rows[] = {
	KNOB("version", UINT, KTR_KNOB_RD, NULL, NULL, NULL, "version of the entry's format",
	     .get = knobs_version_get),
	KNOB("session", STRING, KTR_KNOB_RDTUN, NULL, NULL, "KTR_SESSION",
	     "name of the session; processes that are given the same one share it",
	     .max = KTR_SESSION_NAME_MAX - 1, .get = knobs_session_get, .set = knobs_session_set),
	KNOB("entries", SIZE, KTR_KNOB_RWTUN, "entries per CPU", NULL, "KTR_ENTRIES",
	     "size of each CPU's ring, rounded up to a power of two", .min = 1 << KTR_RING_LOG2_MIN,
	     .max = 1 << 23, .get = knobs_entries_get, .set = knobs_entries_set),
	KNOB("keep", MASK, KTR_KNOB_RWTUN, NULL, "init|proc", NULL,
	     "classes that go to the small rings of rare events", .names = ktr__knob_class_names,
	     .get = knobs_keep_get, .set = knobs_keep_set),
	KNOB("count", MASK, KTR_KNOB_RWTUN, NULL, "none", NULL,
	     "classes whose events are counted per call site instead of recorded",
	     .names = ktr__knob_class_names, .get = knobs_count_get, .set = knobs_count_set),
	KNOB("clock", UINT, KTR_KNOB_RWTUN, "events", "1", NULL,
	     "the clock is read for every n-th event, a power of two", .min = 1,
	     .max = KNOB_CLOCK_EVERY_MAX, .get = knobs_clock_get, .set = knobs_clock_set),
	KNOB("clock_source", CHOICE, KTR_KNOB_RDTUN, NULL, NULL, "KTR_CLOCK_SOURCE", "the clock of the session",
	     .names = knobs_clocks, .get = knobs_clock_source_get, .set = knobs_clock_source_set),
	KNOB("keep_session", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_KEEP_SESSION",
	     "a clean exit leaves the session behind", .get = knobs_keep_session_get,
	     .set = knobs_keep_session_set),
	KNOB("alq_file", STRING, KTR_KNOB_RWTUN, NULL, NULL, "KTR_FILE",
	     "directory the writer puts the trace into; set at start, it starts the writer",
	     .max = KTR_ALQ_FILE_MAX - 1, .get = knobs_file_get, .set = knobs_file_set),
	KNOB("mask", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_MASK", "classes that are recorded",
	     .names = ktr__knob_class_names, .get = knobs_mask_get, .set = knobs_mask_set),
	KNOB("freeze", BOOL, KTR_KNOB_RW, NULL, "0", NULL, "recording stands still, the rings stay as they are",
	     .get = knobs_freeze_get, .set = knobs_freeze_set),
	KNOB("clear", BOOL, KTR_KNOB_RW, NULL, NULL, NULL, "1 forgets what the rings hold; reads 0",
	     .get = knobs_clear_get, .set = knobs_clear_set),
	KNOB("recorded", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events recorded since the session began", .get = knobs_recorded_get),
	KNOB("dropped", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events that could not be recorded", .get = knobs_dropped_get),
	KNOB("alq_rotate_size", SIZE, KTR_KNOB_RWTUN, "bytes", "1G", "KTR_ROTATE_SIZE",
	     "a trace of so many becomes NAME.1, NAME.2, ... and another begins; 0: never",
	     .get = knobs_field_get, .set = knobs_field_set, FIELD(rotate_bytes)),
	KNOB("alq_rotate_time", DURATION, KTR_KNOB_RWTUN, NULL, "0", "KTR_ROTATE_TIME",
	     "so does one that is so old; 0: never", .get = knobs_field_get, .set = knobs_field_set,
	     FIELD(rotate_ns)),
	KNOB("alq_rotate_keep", UINT, KTR_KNOB_RWTUN, "traces", "4", "KTR_ROTATE_KEEP",
	     "older traces kept; 0: recording stops at alq_rotate_size", .max = 1000000,
	     .get = knobs_field_get, .set = knobs_field_set, FIELD(rotate_keep)),
	KNOB("alq_rotate", BOOL, KTR_KNOB_WR, NULL, NULL, NULL, "1 rotates the trace now",
	     .set = knobs_rotate_set, FIELD(rotate_asked)),
	KNOB("compile", MASK, KTR_KNOB_RD, NULL, NULL, NULL, "classes that call sites were compiled in for",
	     .names = ktr__knob_class_names, .get = knobs_classes_get),
	KNOB("cpumask", CPUS, KTR_KNOB_RWTUN, NULL, "all", NULL,
	     "CPUs whose events are recorded; those of others are not counted either",
	     .get = knobs_cpumask_get, .set = knobs_cpumask_set),
	KNOB("alq_enable", BOOL, KTR_KNOB_RWTUN, NULL, "0", NULL,
	     "the program's writer thread writes to alq_file", .get = knobs_field_get,
	     .set = knobs_alq_set, FIELD(alq_enable)),
	KNOB("alq_depth", SIZE, KTR_KNOB_RWTUN, "entries per CPU", NULL, NULL,
	     "how far the writer may be behind: the rings are its queue, this is their size",
	     .min = 1 << KTR_RING_LOG2_MIN, .max = 1 << 23, .get = knobs_entries_get,
	     .set = knobs_entries_set),
	KNOB("alq_max", UINT, KTR_KNOB_RWTUN, "events", "0", NULL,
	     "the writer ends when the trace has so many; 0: never", .get = knobs_field_get,
	     .set = knobs_field_set, FIELD(alq_max)),
	KNOB("alq_cnt", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events written since the writer began", .get = knobs_field_get, FIELD(alq_cnt)),
	KNOB("alq_failed", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events lost to the writer since then", .get = knobs_field_get, FIELD(alq_failed)),
	KNOB("verbose", UINT, KTR_KNOB_RWTUN, NULL, "0", "KTR_VERBOSE",
	     "1: the writer thread prints events as text, 2: with file and line", .max = 2,
	     .get = knobs_field_get, .set = knobs_verbose_set, FIELD(verbose)),
	KNOB("verbose_to", CHOICE, KTR_KNOB_RWTUN, NULL, "stderr", NULL, "where debug.ktr.verbose prints",
	     .names = knobs_outputs, .get = knobs_field_get, .set = knobs_field_set, FIELD(verbose_to)),
	KNOB("sites", STRING, KTR_KNOB_RWTUN, NULL, "none", "KTR_SITES",
	     "single call sites: +PATTERN records, -PATTERN does not, #PATTERN counts; FILE, FILE:LINE or FUNCTION()",
	     .max = KTR_SITES_MAX - 1, .get = knobs_sites_get, .set = knobs_sites_set),
	KNOB("follow_fork", CHOICE, KTR_KNOB_RWTUN, NULL, "same", "KTR_FOLLOW_FORK",
	     "where a forked child records: in the same session, in one of its own, or none",
	     .names = knobs_follows, .get = knobs_field_get, .set = knobs_field_set, FIELD(follow_fork)),
	KNOB("trigger", STRING, KTR_KNOB_RWTUN, NULL, "", "KTR_TRIGGER",
	     "condition, as of ktr-filter(7), that stops the rings", .max = KTR_KNOB_STRING_BYTES - 1,
	     .get = knobs_trigger_get, .set = knobs_trigger_set),
	KNOB("trigger_sites", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "call sites", NULL, NULL,
	     "call sites where the trigger may hold", .get = knobs_trigger_sites_get),
	KNOB("freeze_after", UINT, KTR_KNOB_RWTUN, "events per ring", "0", "KTR_FREEZE_AFTER",
	     "events that each ring takes before it stops", .max = 1ull << 40, .get = knobs_field_get,
	     .set = knobs_field_set, FIELD(freeze_after)),
	KNOB("freeze_on", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_FREEZE_ON",
	     "exit, and signals by name, that stop the rings", .names = knobs_freeze_on_names,
	     .get = knobs_field_get, .set = knobs_freeze_on_set, FIELD(freeze_on)),
	KNOB("frozen_by", STRING, KTR_KNOB_RD, NULL, NULL, NULL, "what stopped the rings",
	     .max = 191, .get = knobs_frozen_by_get),
	KNOB("kernel", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_KERNEL",
	     "what the kernel tells of the threads is recorded: switch (class kswitch), fault (class kfault)",
	     .names = knobs_kernel_names, .get = knobs_field_get, .set = knobs_kernel_set, FIELD(kernel)),
	KNOB("alq_crash", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_ALQ_CRASH",
	     "before the program dies of a fault or abort(3) the writer takes what there is",
	     .get = knobs_field_get, .set = knobs_field_set, FIELD(alq_crash)),
};

const unsigned ktr__n_knob_rows = sizeof(ktr__knob_rows) / sizeof(ktr__knob_rows[0]);
