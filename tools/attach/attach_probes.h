/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes of a process that has a session, switched from outside. */
#ifndef TOOLS_ATTACH_PROBES_H
#define TOOLS_ATTACH_PROBES_H

#include <ktr/error.h>

/*
 * Switches on all that fit the SPECs, separated by commas, of the session at a path, and waits until that is done.
 * 0 or -errno, err filled: the first that could not be. Those before it are on.
 */
int attach_probes_on(const char *session, const char *specs, struct ktr_error *err);

#endif
