/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of debug.ktr.*: which events are recorded, by class, call site and CPU. */
#include "conf/names.h"
#include "ktr/control/counts.h"
#include "ktr/control/mask.h"
#include "ktr/control/rules.h"
#include "ktr/knob/knob_rows.h"
#include "ktr/knob/knobs.h"
#include "ktr/session/class_name.h"
#include "ktr/session/cpu.h"
#include "ktr/session/session_rw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The session's application classes follow FreeBSD's. */
int ktr__knob_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const struct {
		char name[12];
		uint64_t mask;
	} more[] = { { "contention", KTR_CONTENTION }, { "all", KTR_ALL } };
	const unsigned n_more = sizeof(more) / sizeof(more[0]);
	const struct ktr__session_rw *session = ((struct ktr__knob_context *)context)->session;
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
	row = ktr__region_rows(session, class_, struct ktr_class_row) + idx;
	if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != KTR_ROW_READY)
		return 1;
	snprintf(name, size, "%.*s", KTR_CLASS_NAME_MAX - 1, row->name);
	*value = 1ull << (KTR_CLASS_APP_FIRST + idx - 1);
	return 0;
}

int ktr__knob_get_mask(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	value->number = session ? __atomic_load_n(&session->control->asked, __ATOMIC_RELAXED) :
				  ktr__knob_context(at)->early_mask;
	return 0;
}

/* Classes, set from outside, that no call site is of would make an empty trace without a word. */
static int record_have_sites(const struct ktr_knob_at *at, uint64_t wanted, struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	char want[128] = "", have[96] = "";
	uint64_t classes;

	classes = at->origin == KTR_ORIGIN_SYSCTL ? ktr__session_classes(context->session) : wanted;
	if (!wanted || wanted & classes)
		return 0;
	ktr__print_mask(wanted, ktr__knob_class_names, context, 0, want, sizeof(want));
	ktr__print_mask(classes, ktr__knob_class_names, context, 0, have, sizeof(have));
	return ktr_error_set(err, ENOENT, "no call site is of class %s, there are %s", want, have);
}

int ktr__knob_set_mask(const struct ktr_knob_at *at, const struct ktr_value *value,
		       struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	if (session && record_have_sites(at, value->number, err))
		return -ENOENT;
	ktr__knob_context(at)->early_mask = value->number;
	return session ? ktr__session_mask_set(session, value->number, err) : 0;
}

int ktr__knob_set_keep(const struct ktr_knob_at *at, const struct ktr_value *value,
		       struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (!session)
		return 0;
	__atomic_store_n(&session->control->keep, value->number, __ATOMIC_RELAXED);
	ktr__mask_publish(session);
	return 0;
}

int ktr__knob_set_count(const struct ktr_knob_at *at, const struct ktr_value *value,
			struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);
	uint64_t before;
	int code;

	if (!session)
		return 0;
	code = record_have_sites(at, value->number, err);
	if (code)
		return code;
	/* First the word, then the memory: a site that registers in between sees one of them. */
	before = __atomic_exchange_n(&session->control->count, value->number, __ATOMIC_SEQ_CST);
	code = value->number ? ktr__counts_open(session, session->control->n_sites) : 0;
	if (code) {
		__atomic_store_n(&session->control->count, before, __ATOMIC_RELAXED);
		return ktr_error_set(err, -code, "no memory for the counts: %m");
	}
	ktr__mask_publish(session);
	return 0;
}

int ktr__knob_get_classes(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = ktr__session_classes(session);
	return 0;
}

/* CPU numbers are below this. */
static unsigned record_n_cpus(const struct ktr__session_rw *session)
{
	if (session->header.path == KTR_PATH_RSEQ && session->header.n_rings < KTR_CPU_MAX)
		return session->header.n_rings;
	return ktr__cpus_possible();
}

int ktr__knob_get_cpumask(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->n_bits = record_n_cpus(session);
	memcpy(value->bits, session->control->cpumask, sizeof(session->control->cpumask));
	return 0;
}

/* All there are means all there ever will be. */
int ktr__knob_set_cpumask(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);
	unsigned n;
	bool all = true;

	if (!session)
		return 0;
	n = record_n_cpus(session);
	for (unsigned cpu = 0; cpu < n; cpu++)
		all &= value->bits[cpu / 64] >> cpu % 64 & 1;
	if (all)
		memset(value->bits, 0xff, sizeof(session->control->cpumask));
	return ktr__cpumask_set(session, value->bits, err);
}

int ktr__knob_get_sites(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	ktr__rules_text(session, value->text);
	if (!value->text[0])
		strcpy(value->text, "none");
	return 0;
}

/* At start most sites are yet to come: what fits none is told of at exit. */
int ktr__knob_set_sites(const struct ktr_knob_at *at, const struct ktr_value *value,
			struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	ktr__knob_context(at)->early_sites = true;
	return session ? ktr__rules_set(session, value->text, at->origin >= KTR_ORIGIN_API, err) : 0;
}
