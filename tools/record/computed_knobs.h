/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knobs that only tell, too dear for a traced program to carry: call sites and what was counted there,
 * classes, and what each CPU's rings have recorded and lost.
 */
#ifndef TOOLS_COMPUTED_KNOBS_H
#define TOOLS_COMPUTED_KNOBS_H

#include "ktr/session/session_map.h"

#include <ktr/conf.h>

struct computed_knobs {
	struct ktr__session_map map;
	struct ktr_control control; /* as of opening */
	struct ktr_knobs table;
};

/* Opens the session file at path once more, for reading, and adds the knobs to a tree. 0 or -errno. */
int computed_knobs_open(struct computed_knobs *computed, const char *path, struct ktr_conf *conf,
		       struct ktr_error *err);
void computed_knobs_close(struct computed_knobs *computed, struct ktr_conf *conf);

#endif
