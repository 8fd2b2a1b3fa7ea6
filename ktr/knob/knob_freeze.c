/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of debug.ktr.*: when the rings stop, and why they did. */
#include "ktr/knob/knob_rows.h"
#include "ktr/record/freeze.h"
#include "ktr/record/trigger.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"
#include "ktr/session/trigger_fields.h"

#include <errno.h>
#include <stdio.h>

int ktr__knob_set_freeze(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (session)
		ktr__freeze_set(session, value->number);
	return 0;
}

/* Exits, and the signals whose names people know. */
int ktr__knob_signal_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
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
int ktr__knob_set_freeze_on(const struct ktr_knob_at *at, const struct ktr_value *value,
			    struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return 0;
	if (value->number & ~(uint64_t)KTR_FREEZE_ON_EXIT & ~session->control->freeze_on && !context->own)
		return ktr_error_set(err, EOPNOTSUPP, "only the program itself installs handlers of signals: "
						      "set it in loader.conf or KTR_FREEZE_ON");
	if (context->own)
		ktr__freeze_signals(value->number);
	__atomic_store_n(&session->control->freeze_on, value->number, __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_get_frozen_by(const struct ktr_knob_at *at, struct ktr_value *value)
{
	static const char words[][8] = { "nobody", "asked", "trigger", "call", "exit" };
	const struct ktr__session_rw *session = ktr__knob_session(at);
	const struct ktr_trigger *trigger;
	const struct ktr_site_row *row;
	const char *file;
	uint32_t why = 0;
	size_t n;

	if (!session)
		return -ENXIO;
	trigger = ktr__region_rows(session, trigger, struct ktr_trigger);
	if (__atomic_load_n(&session->control->frozen, __ATOMIC_RELAXED))
		why = __atomic_load_n(&trigger->why, __ATOMIC_RELAXED);
	if (why >= KTR_FROZE_SIGNAL)
		snprintf(value->text, value->text_size, "signal %u", why - KTR_FROZE_SIGNAL);
	else
		snprintf(value->text, value->text_size, "%s",
			 words[why < sizeof(words) / sizeof(words[0]) ? why : 0]);
	if (why != KTR_FROZE_TRIGGER ||
	    !(row = ktr__session_at(session, KTR_REGION_site, __atomic_load_n(&trigger->site, __ATOMIC_RELAXED))))
		return 0;
	file = ktr__session_bytes(session, row->file, &n);
	snprintf(value->text, value->text_size, "%s at %.*s:%u", words[why], n < 128 ? (int)n : 128, file, row->line);
	return 0;
}

int ktr__knob_get_trigger(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	snprintf(value->text, value->text_size, "%.*s", KTR_TRIGGER_SOURCE - 1,
		 ktr__region_rows(session, trigger, struct ktr_trigger)->source);
	return 0;
}

int ktr__knob_set_trigger(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	return session ? ktr__trigger_set(session, value->text, err) : 0;
}

int ktr__knob_get_trigger_sites(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = ktr__trigger_n_sites(session);
	return 0;
}
