/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The knobs under debug.ktr: one table of rows, for the process's own session and, in the tools, for
 * any session that is mapped.
 */
#ifndef KTR_KNOBS_H
#define KTR_KNOBS_H

#include <ktr/conf.h>
#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

/*
 * What a table works on. own is set where the rows act on this process too (its writer); otherwise
 * only on the session.
 */
struct ktr__knob_context {
	struct ktr__session_rw *session;
	bool own;
	enum { KTR__ENABLE_UNSAID, KTR__ENABLE_NO, KTR__ENABLE_YES } enable; /* alq_enable at start */
	bool early_sites;    /* single call sites, or probes, were asked for */
	uint32_t clock;	     /* KTR_CLOCK_* that the session is to have; 0: ktr__clock_choose() knows */
	uint64_t early_mask; /* asked for while there was no session */
	char file[KTR_ALQ_FILE_MAX]; /* alq_file */
	char name[KTR_SESSION_NAME_MAX]; /* of the session that is to be made or joined */
};

extern const struct ktr_knob ktr__knob_rows[];
extern const unsigned ktr__n_knob_rows;

/* Class names for masks: FreeBSD's, "all", then the session's own. context: struct ktr__knob_context. */
int ktr__knob_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);

#endif
