/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments of UTC as people type them: 2026-11-27T08:30:00.25, 2026-11-27 08:30, 2026-11-27, or seconds since 1970.
 */
#ifndef FLEET_UTC_H
#define FLEET_UTC_H

#include <stdint.h>

/* *ns since 1970. 0, or -EINVAL: it is none, or is not after 1970 and before 2200. */
int utc_parse(const char *text, int64_t *ns);

#endif
