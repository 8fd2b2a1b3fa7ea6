/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs given by hand: the time from an event of one call site to one of another, as spans.
 *
 *	ktr__pair_parse(&pair, "net.c:40..net.c:77:id", &err);
 *	ktr__pairs_check(&pair, 1, reader, &err);	the sites are there, and have the key
 *	ktr__pairs_new(&pairs, &pair, 1, spans);
 *	...	ktr__pairs_event(pairs, &event);	for each event; spans are told of losses
 *
 * Without a key both ends are of the same thread. With one they have the same value of it and are of
 * the same process; the key is an argument ("arg0", or its name), "cpu" or "process". Spans pair up as
 * START and STOP do (spans.h): among several that are open with one key, the last one ends first, and
 * its depth says that there were others. An event that is of both sites ends one span and begins the next.
 */
#ifndef ANALYZE_PAIRS_H
#define ANALYZE_PAIRS_H

#include "analyze/spans/spans.h"

#define KTR__PAIR_BYTES 160
#define KTR__PAIRS_MAX  16

struct ktr__pair {
	char from[KTR__PAIR_BYTES]; /* a site as of ktr__pattern_is_site() */
	char to[KTR__PAIR_BYTES];
	char key[64]; /* "": the thread */
};

/* "A..B" or "A..B:KEY". 0, or -EINVAL with err filled. */
int ktr__pair_parse(struct ktr__pair *pair, const char *text, struct ktr_error *err);

/* From its parts; key may be NULL. */
int ktr__pair_set(struct ktr__pair *pair, const char *from, const char *to, const char *key,
		  struct ktr_error *err);

/* Do the reader's sites have what the pairs name? 0, or -ENOENT with the nearest name in err. */
int ktr__pairs_check(const struct ktr__pair *pair, unsigned n, const struct ktr_reader *reader,
		     struct ktr_error *err);

struct ktr__pairs;

/* Borrows spans, copies the pairs. 0 with an owned object in *out, or -ENOMEM. */
int ktr__pairs_new(struct ktr__pairs **out, const struct ktr__pair *pair, unsigned n,
		   struct ktr__spans *spans);
void ktr__pairs_free(struct ktr__pairs *pairs);

/* 0, -ENOMEM, or what the callback of spans returned. span.pair is the pair's number, from 1. */
int ktr__pairs_event(struct ktr__pairs *pairs, const struct ktr_event *event);

#endif
