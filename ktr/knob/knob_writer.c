/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of debug.ktr.*: what the writer thread does with events, and with those of the kernel. */
#include "ktr/control/kernel_ring.h"
#include "ktr/knob/knob_rows.h"
#include "ktr/knob/writer_start.h"
#include "ktr/record/own.h"
#include "ktr/session/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ktr__knob_get_alq_file(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);
	const char *file = session ? session->control->alq_file : ktr__knob_context(at)->file;

	snprintf(value->text, value->text_size, "%.*s", KTR_ALQ_FILE_MAX - 1, file);
	return 0;
}

int ktr__knob_set_alq_file(const struct ktr_knob_at *at, const struct ktr_value *value,
			   struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	snprintf(context->file, sizeof(context->file), "%s", value->text);
	if (session)
		memcpy(session->control->alq_file, context->file, sizeof(context->file));
	return 0;
}

/* At start the writer waits for the other settings. From outside it can be told to end, not to begin. */
int ktr__knob_set_alq_enable(const struct ktr_knob_at *at, const struct ktr_value *value,
			     struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	struct ktr__session_rw *session = ktr__knob_session(at);
	bool on = value->number != 0;

	if (at->origin == KTR_ORIGIN_FILE || at->origin == KTR_ORIGIN_ENVIRONMENT) {
		context->enable = on ? KTR__ENABLE_YES : KTR__ENABLE_NO;
		return 0;
	}
	if (!session)
		return ktr_error_set(err, ENXIO, "no session");
	/* Of a process that was killed the word has stayed: what is our own is known better. */
	if (on && __atomic_load_n(&session->control->alq_enable, __ATOMIC_RELAXED) &&
	    (!context->own || __atomic_load_n(&session->control->writer, __ATOMIC_RELAXED) == (uint32_t)getpid()))
		return 0;
	if (context->own && on)
		return ktr__writer_enable(err);
	if (context->own)
		ktr__own_stop();
	if (on)
		return ktr_error_set(err, EOPNOTSUPP,
				     "only a program itself starts its writer thread; from outside: ktr record");
	__atomic_store_n(&session->control->alq_enable, on, __ATOMIC_RELAXED);
	return 0;
}

/* Each request counts: drains look at the number every now and then. */
int ktr__knob_set_alq_rotate(const struct ktr_knob_at *at, const struct ktr_value *value,
			     struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (session && value->number)
		__atomic_fetch_add(&session->control->rotate_asked, 1, __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_output_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	(void)context;
	snprintf(name, size, idx ? "syslog" : "stderr");
	*value = idx;
	return idx < 2 ? 0 : -ENOENT;
}

/* As with alq_enable: a thread that runs is told, the program itself starts one. */
int ktr__knob_set_verbose(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	struct ktr__session_rw *session = ktr__knob_session(at);
	struct ktr_control *control;

	if (!session)
		return 0;
	control = session->control;
	if (!context->own && value->number && !__atomic_load_n(&control->writer, __ATOMIC_RELAXED))
		return ktr_error_set(err, EOPNOTSUPP, "the program has no writer thread that could print; ktr dump shows events");
	__atomic_store_n(&control->verbose, value->number, __ATOMIC_RELAXED);
	if (!context->own || at->origin < KTR_ORIGIN_API)
		return 0;
	return ktr__own_flush() == -ESRCH && value->number ? ktr__writer_verbose(err) : 0;
}

/* In the order of their numbers. */
int ktr__knob_kernel_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char names[][8] = { "switch", "fault", "all" };

	_Static_assert(KTR_KERNEL_SWITCH == 1 && KTR_KERNEL_FAULT == 2, "the third is both");
	(void)context;
	if (idx >= sizeof(names) / sizeof(names[0]))
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx + 1;
	return 0;
}

/* The writer thread reads them: one that runs looks here, the program itself starts one. */
int ktr__knob_set_kernel(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	struct ktr__knob_context *context = ktr__knob_context(at);
	struct ktr__session_rw *session = ktr__knob_session(at);
	int code;

	if (!session)
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
	return ktr__own_flush() == -ESRCH && value->number ? ktr__writer_verbose(err) : 0;
}
