/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls: the part of a report that --syscalls asks for. */
#ifndef TOOLS_REPORT_SYSCALLS_H
#define TOOLS_REPORT_SYSCALLS_H

#include "tools/report/report.h"

#include <jansson.h>
#include <stdio.h>

void report_syscalls_text(const struct report *report, FILE *to);
json_t *report_syscalls_json(const struct report *report); /* NULL: no memory */

#endif
