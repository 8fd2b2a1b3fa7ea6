/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knobs of the program's own whose number lies in the session: the program reads a word, and whoever has
 * the session may set it, with no thread and no call in the program. A row of the session describes the
 * knob; processes that share a session and a name share the word, also across exec(2).
 *
 * Each knob is a table of one row in the tree, so that rows of others which make no sense (the session is
 * input) keep nobody else's out.
 */
#include "ktr/start/own_knobs.h"

#include "ktr/knob/settings.h"
#include "ktr/record/own.h"
#include "ktr/start/start.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ktr__shared_knob own_knobs[KTR_KNOBS_MAX];
static uint64_t own_knobs_word[KTR_KNOBS_MAX]; /* where there is no session */
static uint32_t n_own_knobs;

/* Takes a string of the session out of others' reach; NULL where there is none. */
static const char *own_knobs_text(const struct ktr__session_rw *session, uint32_t offset,
				  char text[KTR_KNOB_NAME_BYTES])
{
	size_t n;
	const char *from = ktr__session_bytes(session, offset, &n);

	if (n >= KTR_KNOB_NAME_BYTES)
		n = KTR_KNOB_NAME_BYTES - 1;
	memcpy(text, from, n);
	text[n] = '\0';
	return n ? text : NULL;
}

bool ktr__shared_knob(const struct ktr__session_rw *session, uint32_t index,
		      struct ktr__shared_knob *knob)
{
	struct ktr_knob_row *row = ktr__session_ready(session, KTR_REGION_knob, index);

	if (!row)
		return false;
	memcpy(knob->text[0], row->name, sizeof(row->name));
	knob->text[0][sizeof(row->name) - 1] = '\0';
	knob->row.name = knob->text[0];
	knob->row.help = own_knobs_text(session, row->help, knob->text[1]);
	knob->row.unit = own_knobs_text(session, row->unit, knob->text[2]);
	if (!knob->row.help)
		knob->row.help = "";
	knob->row.type = row->type;
	knob->row.access = row->access;
	knob->row.min = row->min;
	knob->row.max = row->max;
	knob->row.variable = &row->value;
	knob->table.rows = &knob->row;
	knob->table.n_rows = 1;
	/* Strings and lists of CPUs would not fit the word. */
	return knob->row.type >= KTR_KNOB_BOOL && knob->row.type <= KTR_KNOB_DURATION;
}

/* The row of this name; 0: there is none. */
static uint32_t own_knobs_find(const char *name)
{
	const struct ktr_knob_row *row;
	uint32_t n = __atomic_load_n(&ktr__own.control->n_knobs, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i < n && i < KTR_KNOBS_MAX; i++) {
		row = ktr__session_ready(&ktr__own, KTR_REGION_knob, i);
		if (row && strncmp(row->name, name, sizeof(row->name)) == 0)
			return i;
	}
	return 0;
}

/* Makes a row, in which the word has no value yet and which nobody sees. */
static struct ktr_knob_row *own_knobs_row(const struct ktr_knob *knob)
{
	uint32_t index = ktr__table_row(&ktr__own.control->n_knobs, KTR_REGION_knob);
	struct ktr_knob_row *row = ktr__region_rows(&ktr__own, knob, struct ktr_knob_row) + index;

	if (!index)
		return NULL;
	row->type = knob->type;
	row->access = knob->access;
	row->help = ktr__table_string(knob->help, strlen(knob->help));
	row->unit = knob->unit ? ktr__table_string(knob->unit, strlen(knob->unit)) : 0;
	row->min = knob->min;
	row->max = knob->max;
	strncpy(row->name, knob->name, sizeof(row->name) - 1);
	return row;
}

static void own_knobs_report(void *context, const struct ktr_error *err)
{
	const char *name = context;
	char text[KTR_ERROR_LINE_BYTES];

	/* Of what else is wrong the library has told when it started. */
	if (strncmp(err->text, name, strlen(name)) == 0)
		ktr__complain("settings: %s", ktr_error_print(err, text, sizeof(text)));
}

/* The default, then what files and environment say. */
static int own_knobs_begin(struct ktr__shared_knob *knob, const struct ktr_knob *given,
			   struct ktr_error *err)
{
	struct ktr_source source;
	struct ktr_load load = { .source = &source,
				 .only = &knob->table,
				 .report = own_knobs_report,
				 .context = (void *)(uintptr_t)given->name };
	uint32_t access = knob->row.access;
	int code = 0;

	knob->row.access = KTR_KNOB_RWTUN;
	if (given->initial)
		code = ktr_conf_set(ktr__own_conf(), given->name, given->initial, err);
	knob->row.access = access;
	if (code)
		return code;
	ktr_source_init(&source);
	ktr_conf_load(ktr__own_conf(), &load, NULL);
	return 0;
}

int ktr_knob_add(const struct ktr_knob *given, uint64_t **word, struct ktr_error *err)
{
	uint32_t i = __atomic_fetch_add(&n_own_knobs, 1, __ATOMIC_RELAXED), index = 0;
	struct ktr__shared_knob *knob = &own_knobs[i % KTR_KNOBS_MAX];
	struct ktr_knob_row *row = NULL;
	int code;

	*word = NULL;
	ktr__start_once();
	if (i >= KTR_KNOBS_MAX || given->type < KTR_KNOB_BOOL || given->type > KTR_KNOB_DURATION)
		return ktr_error_set(err, EINVAL,
				     "%s: only %u knobs, each of one number, fit a session",
				     given->name, KTR_KNOBS_MAX);
	if (ktr__own.map) {
		index = own_knobs_find(given->name);
		row = index ? ktr__region_rows(&ktr__own, knob, struct ktr_knob_row) + index
			    : own_knobs_row(given);
	}
	if (row && row->type != given->type)
		return ktr_error_set(err, EEXIST, "%s is of another type in this session",
				     given->name);
	knob->row = *given;
	knob->row.get = NULL;
	knob->row.set = NULL;
	knob->row.variable = row ? &row->value : &own_knobs_word[i];
	knob->table.rows = &knob->row;
	knob->table.n_rows = 1;
	code = ktr_conf_register(ktr__own_conf(), &knob->table, err);
	if (!code && !index)
		code = own_knobs_begin(knob, given, err);
	if (code)
		return code;
	if (row)
		__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	*word = knob->row.variable;
	return 0;
}
