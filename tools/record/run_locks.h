/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr run --lock` may ask for. */
#ifndef TOOLS_RUN_LOCKS_H
#define TOOLS_RUN_LOCKS_H

#include <stddef.h>

/* The probes of a kind, whose name has so many bytes, as debug.ktr.probes takes them. NULL: it is no kind. */
const char *run_locks_probes(const char *kind, size_t n_bytes);

/* Are all of them kinds, separated by commas? 0, or 2 after a complaint. */
int run_locks_check(const char *command, const char *kinds);

#endif
