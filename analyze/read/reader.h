/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What our own commands ask of a reader beyond <ktr/reader.h>, to be faster by it.
 */
#ifndef ANALYZE_READER_H
#define ANALYZE_READER_H

#include <ktr/reader.h>

struct ktr__symbols;
struct ktr__tables;

/*
 * ktr_reader_next() without a copy: *event is the reader's own, valid until the next call, and NULL where
 * there is none.
 */
int ktr__reader_advance(struct ktr_reader *reader, const struct ktr_event **event);

/*
 * From here on the arguments of sites that wants() does not hold for are of no use: what is read of a
 * trace passes over them, and arg[] and str[] of their events mean nothing. A filter sees those that it
 * looks at all the same. NULL: all are wanted. 0 or -ENOMEM, with all of them wanted.
 */
typedef int ktr__reader_wants_fn(const void *context, const struct ktr_reader_site *site);
int ktr__reader_wants(struct ktr_reader *reader, ktr__reader_wants_fn *wants, const void *context);

/*
 * From here on it is told of each packet of a trace that is read: when its first event was, in reverse its last,
 * and how many events and bytes it has. NULL: nobody.
 */
typedef void ktr__reader_watch_fn(void *context, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes);
void ktr__reader_watch(struct ktr_reader *reader, ktr__reader_watch_fn *watch, void *context);

/* [bytes] of packets that its whole walk has; 0 for a session. */
uint64_t ktr__reader_bytes(const struct ktr_reader *reader);

/* Returns the tables that it reads with, borrowed until it is closed. */
const struct ktr__tables *ktr__reader_tables(const struct ktr_reader *reader);

/* Returns names for addresses, made when first asked for and borrowed until it is closed; NULL without memory. */
struct ktr__symbols *ktr__reader_symbols(struct ktr_reader *reader);

#endif
