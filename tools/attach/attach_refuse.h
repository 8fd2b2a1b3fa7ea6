/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a process cannot be attached to, and what else there is. */
#ifndef TOOLS_ATTACH_REFUSE_H
#define TOOLS_ATTACH_REFUSE_H

#include "tools/attach/attach_facts.h"

#include <ktr/error.h>

/*
 * Before anything is tried. Where facts->is_looked_at, less is needed: it may be stopped, live elsewhere, be
 * linked statically, and its first thread may have ended. force: also where a filter of its system calls may end
 * it. 0 or -errno, err filled.
 */
int attach_refuse(const struct attach_facts *facts, int force, struct ktr_error *err);

/* After the kernel has said no, by errno: which of the rules that may be. Returns -errno, err filled. */
int attach_refused(const struct attach_facts *facts, int code, struct ktr_error *err);

#endif
