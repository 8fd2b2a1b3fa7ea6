/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters: an expression over the events of one reader; ktr-filter(7) describes the language.
 *
 * What an expression says of a call site alone is settled when the filter is made: most sites are in or
 * out for good, and their events cost one look at a table. The rest get a program each, over what their
 * events differ in.
 */
#ifndef ANALYZE_FILTER_H
#define ANALYZE_FILTER_H

#include "analyze/read/tables.h"
#include "conf/expr/expr.h"

struct ktr__filter;
struct ktr__filter_spans;

/*
 * Makes a filter over the reader's tables, which it borrows. 0 with *out owned, or -errno with err
 * filled: a text that is no expression, a name that no call site has. The column is a byte of the text.
 * later: such a name may come; then err is filled, and the filter is made all the same.
 */
int ktr__filter_new(const char *text, const struct ktr__tables *tables, const struct ktr_reader_info *info,
		    int later,
		    struct ktr__filter **out, struct ktr_error *err);
void ktr__filter_free(struct ktr__filter *filter);

/*
 * Call sites whose events need not all be decoded, KTR__SIEVE_* of writer/format/codec.h: a byte for each id below
 * *n, borrowed until the filter sees a site that it has not seen before. NULL: there are none.
 */
const uint8_t *ktr__filter_sieve(const struct ktr__filter *filter, uint32_t *n);

/*
 * ktr__filter_pass() of an event of such a site (KTR__SIEVE_ASK) by its time, its CPU and those arguments, all that
 * has to be there. -1: more has.
 */
int ktr__filter_asks(const struct ktr__filter *filter, uint32_t site, const struct ktr_event *event);

/* Which arguments of the site's events it looks at, bit by bit. */
unsigned ktr__filter_args(const struct ktr__filter *filter, uint32_t id);

/*
 * What it has to know of spans before it can look at an event, borrowed; NULL where it asks for none. See
 * filter_spans.h: whoever made the filter sees to it.
 */
struct ktr__filter_spans *ktr__filter_spans(struct ktr__filter *filter);

/* Does the event pass? One reader's events, one thread at a time. */
int ktr__filter_pass(struct ktr__filter *filter, const struct ktr_event *event);

#endif
