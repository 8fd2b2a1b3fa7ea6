/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands that only look at a process do first, and how they say that they may not. */
#ifndef TOOLS_ATTACH_LOOK_H
#define TOOLS_ATTACH_LOOK_H

#include "tools/attach/attach_facts.h"

#include <ktr/error.h>

/* Fills in the facts. 0, or an exit status: it may not be looked at, which has been said. */
int attach_look(const char *command, pid_t pid, struct attach_facts *facts);

/* Says why not. Returns an exit status. */
int attach_look_fails(const char *command, const struct attach_facts *facts, const struct ktr_error *err);

/* The same after the kernel has said no, by errno. */
int attach_look_refused(const char *command, const struct attach_facts *facts, int code);

#endif
