/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call site's events mean: FreeBSD's KTRGRAPH formats (ktr/event.h) taken apart.
 */
#ifndef ANALYZE_KTRGRAPH_H
#define ANALYZE_KTRGRAPH_H

#include "conf/kit/arena.h"

#include <ktr/reader.h>

/*
 * Fills kind, group, ident, value_arg and first_attr of a site whose format and arguments
 * (number, types, names) are there, and gives the id, the value and the attributes their names. A
 * format that begins like KTRGRAPH but does not keep to its grammar, or whose arguments have
 * other types than it needs, is a plain event. 0 or -ENOMEM.
 */
int ktr__ktrgraph_parse(struct ktr_reader_site *site, struct ktr__arena *arena);

/*
 * Names arguments from their source text, "a, f(b, c), \"x\"" as the macros leave it: split at
 * commas outside of brackets and quotes. Arguments without one are "arg0", "arg1"... 0 or
 * -ENOMEM.
 */
int ktr__ktrgraph_names(struct ktr_reader_site *site, const char *names, struct ktr__arena *arena);

/* Makes the names of one site's arguments different from each other: "n", "n_2". 0 or -ENOMEM. */
int ktr__ktrgraph_unique(struct ktr_reader_site *site, struct ktr__arena *arena);

/* A number of any type, as far as a double can tell. */
double ktr__event_number(const struct ktr_event *event, unsigned arg);

/* "event", "state", "counter", "point", "start", "stop". */
const char *ktr__ktrgraph_text(enum ktr_event_kind kind);

#endif
