/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call site of fires by handle: what the session's row of it says, whoever makes the row, the program or
 * `ktr probe enable` from outside.
 */
#ifndef KTR_PROBE_SITE_H
#define KTR_PROBE_SITE_H

#include <stddef.h>
#include <stdio.h>

#define KTR__PROBE_SITE_FILE   "[probe]"
#define KTR__PROBE_SITE_NAMES  "arg0,arg1,arg2,arg3,arg4,arg5"
#define KTR__PROBE_SITE_FORMAT 192 /* [bytes] of a format */
#define KTR__PROBE_CLASS       "probe"
#define KTR__PROBE_CLASS_HELP  "probes that are made at run time"

/* The format: the name, and all six arguments. */
static inline void ktr__probe_site_format(const char *name, char format[KTR__PROBE_SITE_FORMAT])
{
	size_t n = 0;

	for (; *name && n < KTR__PROBE_SITE_FORMAT / 2; name++) {
		if (*name == '%')
			format[n++] = '%';
		format[n++] = *name;
	}
	snprintf(format + n, KTR__PROBE_SITE_FORMAT - n, " %%#llx %%#llx %%#llx %%#llx %%#llx %%#llx");
}

#endif
