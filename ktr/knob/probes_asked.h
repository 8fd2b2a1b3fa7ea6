/* SPDX-License-Identifier: BSD-2-Clause */
/* Run-time probes that debug.ktr.probes wants on. */
#ifndef KTR_PROBES_ASKED_H
#define KTR_PROBES_ASKED_H

#include <ktr/conf.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Is a probe that is made one of them? Exported for libktr-probe, and for libktr-provider, whose probes have the
 * type "" and are named provider:module:function:name. name "": is anything wanted at all?
 */
bool ktr__probe_asked(const char *type, const char *name);

/* The list itself; "": nothing is wanted. */
const char *ktr__probes_list(void);

/*
 * The patterns, with commas between them; and a bit for each in their order, the 65th having that of the first: a
 * probe has fitted it. Atomic. Exported for libktr-provider.
 */
extern char ktr__probes_asked[KTR_KNOB_STRING_BYTES + 4];
extern uint64_t ktr__probes_fit;

/* Complains of what was wanted and has not been made. */
void ktr__probes_unmatched(void);

#endif
