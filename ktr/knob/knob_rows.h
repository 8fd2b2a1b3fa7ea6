/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reads and sets the rows of debug.ktr.*, one function each: knob_session.c, knob_record.c,
 * knob_freeze.c, knob_writer.c and probes_asked.c have them, knobs.c has the rows. They read and write the
 * control page of the session in their context, and nothing else, so that one table serves the program
 * itself, `ktr sysctl` on a live session and on a dead one. Where there is no session yet there is nothing to
 * read (-ENXIO), and what is set is remembered in the context, or has no meaning.
 */
#ifndef KTR_KNOB_ROWS_H
#define KTR_KNOB_ROWS_H

#include "ktr/knob/knobs.h"
#include "ktr/session/session_rw.h"

static inline struct ktr__knob_context *ktr__knob_context(const struct ktr_knob_at *at)
{
	return at->table->context;
}

/* NULL: there is none yet. */
struct ktr__session_rw *ktr__knob_session(const struct ktr_knob_at *at);

#define KTR__KNOB_GET(row) int ktr__knob_get_##row(const struct ktr_knob_at *at, struct ktr_value *value)
#define KTR__KNOB_SET(row)                                                                       \
	int ktr__knob_set_##row(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)

/* knobs.c: rows that are a word of the control page and nothing else. A row's variable is its offset there. */
KTR__KNOB_GET(field);
KTR__KNOB_SET(field);

KTR__KNOB_GET(version);
KTR__KNOB_GET(session);
KTR__KNOB_SET(session);
KTR__KNOB_SET(keep_session);
KTR__KNOB_GET(entries);
KTR__KNOB_SET(entries);
KTR__KNOB_GET(clock);
KTR__KNOB_SET(clock);
KTR__KNOB_GET(clock_source);
KTR__KNOB_SET(clock_source);
KTR__KNOB_GET(clear);
KTR__KNOB_SET(clear);
KTR__KNOB_GET(recorded);
KTR__KNOB_GET(dropped);

KTR__KNOB_GET(mask);
KTR__KNOB_SET(mask);
KTR__KNOB_SET(keep);
KTR__KNOB_SET(count);
KTR__KNOB_GET(classes);
KTR__KNOB_GET(cpumask);
KTR__KNOB_SET(cpumask);
KTR__KNOB_GET(sites);
KTR__KNOB_SET(sites);
KTR__KNOB_SET(probes);

KTR__KNOB_SET(freeze);
KTR__KNOB_SET(freeze_on);
KTR__KNOB_GET(frozen_by);
KTR__KNOB_GET(trigger);
KTR__KNOB_SET(trigger);
KTR__KNOB_GET(trigger_sites);

KTR__KNOB_GET(alq_file);
KTR__KNOB_SET(alq_file);
KTR__KNOB_SET(alq_enable);
KTR__KNOB_SET(alq_rotate);
KTR__KNOB_SET(verbose);
KTR__KNOB_SET(kernel);

#undef KTR__KNOB_GET
#undef KTR__KNOB_SET

/* Names of masks' bits and of choices, as struct ktr_knob.names. */
int ktr__knob_clock_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);
int ktr__knob_follow_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);
int ktr__knob_signal_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);
int ktr__knob_output_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);
int ktr__knob_kernel_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);

#endif
