/* SPDX-License-Identifier: BSD-2-Clause */
/* The three views of dtrace-visualize, as text. Events are in order of time. */
#ifndef TOOLS_DTRACE_VIEWS_H
#define TOOLS_DTRACE_VIEWS_H

#include "tools/bsd/dtrace_events.h"

#include <stdio.h>

void dtrace_view_performance(const struct dtrace_events *events, FILE *to);
void dtrace_view_frequency(const struct dtrace_events *events, FILE *to);
void dtrace_view_timeline(const struct dtrace_events *events, unsigned width, FILE *to);

#endif
