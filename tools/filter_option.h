/* SPDX-License-Identifier: BSD-2-Clause */
/* --filter EXPR: the same in every command that reads events; ktr-filter(7). */
#ifndef TOOLS_FILTER_OPTION_H
#define TOOLS_FILTER_OPTION_H

#include "tools/options.h"

#include <ktr/reader.h>

#define OPTION_FILTER(of, member)                                                                  \
	OPTION_TEXT(0, "filter", "EXPR", of, member, "only events for which it holds: 'class == net and n > 9'")

/*
 * Sets the reader's filter; text NULL: none. 0, or the exit status after a complaint, which shows the
 * place in the expression.
 */
int filter_use(const char *command, struct ktr_reader *reader, const char *text);

/* Complains of an expression and shows the place in it. what: the option or knob. */
void filter_complain(const char *command, const char *what, const char *text, const struct ktr_error *err);

/* Behind another complaint, that there is nothing: a line, where it is the filter that left nothing. */
void filter_tell(const char *command, const struct ktr_reader *reader);

#endif
