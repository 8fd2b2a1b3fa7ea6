/* SPDX-License-Identifier: BSD-2-Clause */
/* What attaching and detaching do to a session from outside. */
#ifndef TOOLS_ATTACH_KNOBS_H
#define TOOLS_ATTACH_KNOBS_H

#include <ktr/error.h>

#include <stdint.h>

/* Sets knobs, name=value in a line each, of the session at a path. 0 or -errno, err filled. */
int attach_knobs_set(const char *path, const char *lines, struct ktr_error *err);

/* The number of a knob of that session; 0: it has none, or no such knob. */
uint64_t attach_knobs_number(const char *path, const char *name);

#endif
