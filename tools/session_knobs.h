/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knobs that only tell, too dear for a traced program to carry: call sites and what was counted there,
 * classes, and what each CPU's rings have recorded and lost.
 */
#ifndef TOOLS_SESSION_KNOBS_H
#define TOOLS_SESSION_KNOBS_H

#include "ktr/session_map.h"

#include <ktr/conf.h>

struct session_knobs {
	struct ktr__session_map map;
	struct ktr_control control; /* as of opening */
	struct ktr_knobs table;
};

/* Opens the session file at path once more, for reading, and adds the knobs to a tree. 0 or -errno. */
int session_knobs_open(struct session_knobs *knobs, const char *path, struct ktr_conf *conf,
		       struct ktr_error *err);
void session_knobs_close(struct session_knobs *knobs, struct ktr_conf *conf);

#endif
