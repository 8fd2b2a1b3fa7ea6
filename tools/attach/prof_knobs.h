/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kern.prof, BSD's names of a kernel's profiling (CTL_KERN, KERN_PROF), of a session that kgmon controls: state
 * (GPROF_STATE), count (GPROF_COUNT), froms (GPROF_FROMS), tos (GPROF_TOS), gmonparam (GPROF_GMONPARAM).
 */
#ifndef TOOLS_PROF_KNOBS_H
#define TOOLS_PROF_KNOBS_H

#include <ktr/conf.h>

#include <limits.h>

struct prof_knobs {
	struct ktr_knobs table;
	char path[PATH_MAX];
};

/* Adds the knobs of the session at path to a tree; it is opened when one of them is asked for. 0 or -errno. */
int prof_knobs_open(struct prof_knobs *prof, const char *path, struct ktr_conf *conf, struct ktr_error *err);
void prof_knobs_close(struct prof_knobs *prof, struct ktr_conf *conf);

#endif
