/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trigger of a session: an expression over events, evaluated where they are recorded.
 *
 * Call sites at which it can hold at all have KTR_SITE_TRIGGER in their byte; that is found out when the
 * trigger is set, for the sites there are, and when a site registers. All others pay nothing, and those
 * pay the slow path and the evaluation. Who sets a trigger stores it, then looks at the sites; who
 * registers a site makes its row ready, then looks at the trigger: one of them sees the other.
 *
 * The program lies in shared memory. It is evaluated where it lies, each step checked.
 */
#include "ktr/record/trigger.h"

#include "conf/eval/expr_eval.h"
#include "ktr/control/mask.h"
#include "ktr/record/freeze.h"
#include "ktr/record/own.h"
#include "ktr/session/cpu.h"
#include "ktr/session/trigger_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIGGER_TEXT_MAX KTR__STRING_BYTES

/* An event that is looked at, or a site alone: arg is NULL then, and what differs by event unknown. */
struct trigger_at {
	const struct ktr_site *site;
	const uint64_t *arg;
};

/*
 * Is [p, end) this name, or a cast of it: "(int)n", "((n))", "static_cast<int>(n)", "uint8_t(n)"? What is shown as
 * the name is found out with more care (writer/format/arg_name.h), for which there is no room here.
 */
static bool trigger_is(const char *p, const char *end, const char *name, size_t length)
{
	const char *at, *all = end;

	while (end > p && end[-1] == ')' && (size_t)(end - p) > length)
		end--;
	at = end - length;
	if (at < p || memcmp(at, name, length) != 0)
		return false;
	while (at > p && (at[-1] == '(' || at[-1] == ' '))
		at--;
	if (at - p < 3)
		return at == p;
	return at[-1] == ')' ? *p == '(' : at[-1] == '>' ? memmem(p, (size_t)(at - p), "_cast<", 6) != NULL :
							   end != all && memcmp(at - 2, "_t", 2) == 0;
}

/* The argument of this name, by the text the macros leave: "a, f(b, c)". */
static unsigned trigger_named(const struct ktr_site *site, const char *name, size_t length)
{
	/* Of a row of the session: others write there, also where the end was when it was looked for. */
	const char *p = site->names, *begin, *end = p + strnlen(p, TRIGGER_TEXT_MAX);
	int depth = 0;

	for (unsigned i = 0; i < site->n_args && p < end; i++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		for (begin = p; p < end && (depth > 0 || *p != ','); p++)
			depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (trigger_is(begin, p, name, length))
			return i;
		p++; /* the comma, or the NUL */
	}
	return KTR_ARGS_MAX;
}

/* Returns what is loaded: a text, of *most bytes at most, or NULL and the bits and kind of *value. */
static const char *trigger_arg(const struct trigger_at *at, unsigned i, struct ktr__expr_value *value, size_t *most)
{
	const struct ktr_site *site = at->site;
	const char *text;

	if (i >= site->n_args)
		return NULL;
	if (!at->arg) {
		value->kind = KTR__EXPR_UNKNOWN;
	} else if (site->how[i] == KTR_HOW_COPY || site->how[i] == KTR_HOW_LITERAL) {
		text = (const char *)(uintptr_t)at->arg[i];
		*most = KTR_STRING_MAX;
		return text ? text : "(null)";
	} else if (site->how[i] == KTR_HOW_VALUE) {
		*value = ktr__expr_unsigned(at->arg[i]);
		if (site->type[i] == KTR_ARG_F64)
			value->kind = KTR__EXPR_REAL;
		else if (site->type[i] & 1 && site->type[i] <= KTR_ARG_I64) /* the signed ones */
			value->kind = KTR__EXPR_INT;
	}
	return NULL;
}

/* The same of a field, for a number in *bits. */
static const char *trigger_field(const struct ktr_site *site, unsigned field, uint64_t *bits, size_t *most)
{
	const struct ktr_thread_row *row = ktr__region_rows(&ktr__own, thread,
							    struct ktr_thread_row) + ktr__self.row;

	switch (field) {
	case KTR__TRIGGER_CLASS:
	default: /* none, which whoever writes to the session may have put there */
		*bits = site->mask;
		return NULL;
	case KTR__TRIGGER_ID:
		*bits = site->id;
		return NULL;
	case KTR__TRIGGER_LINE:
		*bits = site->line;
		return NULL;
	case KTR__TRIGGER_CPU:
		*bits = ktr__event_cpu();
		return NULL;
	case KTR__TRIGGER_PID:
		*bits = row->pid;
		return NULL;
	case KTR__TRIGGER_CLASS_NAME:
		return site->cls ? site->cls->name : "";
	case KTR__TRIGGER_FILE:
		return site->file;
	case KTR__TRIGGER_FUNC:
		return site->func;
	case KTR__TRIGGER_FORMAT:
		return site->format;
	case KTR__TRIGGER_THREAD:
		*most = sizeof(row->name);
		return row->name;
	case KTR__TRIGGER_TID:
		*bits = row->tid;
		return NULL;
	}
}

static void trigger_load(void *context, const struct ktr__expr_op *op, const char *name,
			 struct ktr__expr_value *value)
{
	const struct trigger_at *at = context;
	unsigned field = op->field;
	size_t most = TRIGGER_TEXT_MAX;
	const char *text = NULL;
	uint64_t bits = 0;

	if (field >= KTR__TRIGGER_ARG) {
		field = field < KTR__TRIGGER_NAMED ? field - KTR__TRIGGER_ARG :
						     trigger_named(at->site, name, op->length);
		text = trigger_arg(at, field, value, &most);
	} else if (field >= KTR__TRIGGER_CPU && !at->arg) {
		value->kind = KTR__EXPR_UNKNOWN;
	} else {
		text = trigger_field(at->site, field, &bits, &most);
		*value = ktr__expr_unsigned(bits);
	}
	if (text)
		*value = ktr__expr_text(text, strnlen(text, most));
}

/* Does the trigger hold for this event, or could it at this site? Not while it changes. */
static bool trigger_holds(const struct ktr__session_rw *session, const struct ktr_site *site, const uint64_t *arg)
{
	const struct ktr_trigger *trigger = ktr__region_rows(session, trigger, struct ktr_trigger);
	uint32_t generation = __atomic_load_n(&trigger->generation, __ATOMIC_SEQ_CST);
	struct trigger_at at = { site, arg };
	const struct ktr__expr_user user = { .load = trigger_load, .context = &at };
	struct ktr__expr_program program = {
		.op = (const struct ktr__expr_op *)(const void *)trigger->op,
		.n_ops = __atomic_load_n(&trigger->n_ops, __ATOMIC_RELAXED),
		.n_texts = __atomic_load_n(&trigger->n_texts, __ATOMIC_RELAXED),
		.texts = trigger->texts,
	};

	if (program.n_ops > KTR_TRIGGER_OPS || program.n_texts > KTR_TRIGGER_TEXTS || generation & 1 ||
	    !ktr__expr_run(&program, &user))
		return false;
	return __atomic_load_n(&trigger->generation, __ATOMIC_SEQ_CST) == generation;
}

bool ktr__trigger_event(const struct ktr_site *site, const uint64_t *arg)
{
	return !__atomic_load_n(&ktr__rec.control->frozen, __ATOMIC_RELAXED) &&
	       trigger_holds(&ktr__own, site, arg) && ktr__freeze_begin(site);
}

static void trigger_mark(const struct ktr__session_rw *session, const struct ktr_site *site)
{
	uint8_t *byte = ktr__region_rows(session, site_ctl, uint8_t) + site->id;

	if (trigger_holds(session, site, NULL))
		__atomic_fetch_or(byte, KTR_SITE_TRIGGER, __ATOMIC_RELAXED);
	else if (__atomic_load_n(byte, __ATOMIC_RELAXED) & KTR_SITE_TRIGGER)
		__atomic_fetch_and(byte, (uint8_t)~KTR_SITE_TRIGGER, __ATOMIC_RELAXED);
}

void ktr__trigger_site(const struct ktr_site *site)
{
	if (site->id && __atomic_load_n(&ktr__region_rows(&ktr__own, trigger, struct ktr_trigger)->n_ops,
					__ATOMIC_SEQ_CST))
		trigger_mark(&ktr__own, site);
}

/* A string of the session, whose end is looked for again where it is read. */
static const char *trigger_string(const struct ktr__session_rw *session, uint32_t offset)
{
	size_t n;

	return ktr__session_bytes(session, offset, &n);
}

/* Rows that are not ready yet are looked at by who registers them. */
static void trigger_mark_all(const struct ktr__session_rw *session)
{
	uint32_t n = ktr__session_n_sites(session);

	for (uint32_t i = 1; i < n; i++) {
		const struct ktr_site_row *row = ktr__session_ready(session, KTR_REGION_site, i);
		struct ktr_site site = { .id = i };

		if (!row || !ktr__session_touch(session, KTR_REGION_site_ctl, i, 1))
			continue;
		site.mask = row->mask;
		site.line = row->line;
		site.file = trigger_string(session, row->file);
		site.func = trigger_string(session, row->func);
		site.format = trigger_string(session, row->format);
		site.names = trigger_string(session, row->names);
		site.n_args = row->n_args < KTR_ARGS_MAX ? row->n_args : KTR_ARGS_MAX;
		trigger_mark(session, &site);
	}
}

/* The program of a text into the session; the caller has made generation odd. */
static int trigger_store(struct ktr_trigger *trigger, const char *text)
{
	uint64_t *words = trigger->op[0];
	char *at = (char *)(uintptr_t)text + 1;
	unsigned long n_ops = strtoul(at, &at, 16), n_texts = strtoul(at, &at, 16);
	size_t rest;

	if (*text != KTR__TRIGGER_MARK || n_ops > KTR_TRIGGER_OPS || n_texts > KTR_TRIGGER_TEXTS)
		return -EINVAL;
	for (unsigned long i = 0; i < 2 * n_ops; i++)
		__atomic_store_n(&words[i], strtoull(at, &at, 16), __ATOMIC_RELAXED);
	if (*at != ':' || strnlen(at, n_texts + 1) <= n_texts)
		return -EINVAL;
	memcpy(trigger->texts, ++at, n_texts);
	at += n_texts;
	rest = strnlen(at, KTR_TRIGGER_SOURCE - 1);
	memcpy(trigger->source, at, rest);
	trigger->source[rest] = '\0';
	__atomic_store_n(&trigger->n_texts, (uint32_t)n_texts, __ATOMIC_RELAXED);
	__atomic_store_n(&trigger->n_ops, (uint32_t)n_ops, __ATOMIC_SEQ_CST);
	return 0;
}

int ktr__trigger_set(struct ktr__session_rw *session, const char *text, struct ktr_error *err)
{
	struct ktr_trigger *trigger = ktr__region_rows(session, trigger, struct ktr_trigger);
	int code = 0;

	/* One that was killed while it changed it left an odd number. */
	__atomic_store_n(&trigger->generation, trigger->generation | 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&trigger->n_ops, 0, __ATOMIC_SEQ_CST);
	trigger->source[0] = '\0';
	if (*text)
		code = trigger_store(trigger, text);
	__atomic_fetch_add(&trigger->generation, 1, __ATOMIC_SEQ_CST);
	trigger_mark_all(session);
	ktr__mask_publish(session);
	if (code)
		return ktr_error_set(err, -code, "expressions are compiled by ktr sysctl and ktr run --trigger");
	return 0;
}

uint64_t ktr__trigger_n_sites(const struct ktr__session_rw *session)
{
	uint32_t n = ktr__session_n_sites(session);
	uint64_t marked = 0;

	for (uint32_t i = 1; i < n; i++) {
		const uint8_t *byte = ktr__session_at(session, KTR_REGION_site_ctl, i);

		marked += byte && *byte & KTR_SITE_TRIGGER;
	}
	return marked;
}
