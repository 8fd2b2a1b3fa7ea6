/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durations out of a walk. Spans, states and pairs by hand come from analyze/; gaps need one moment
 * per thread, which is kept here.
 *
 * A duration belongs to the window when it ends in it. One that is still open when the trace ends
 * has no length, so it is in no distribution; the longest of them is told in a note, because the
 * span that never ended is often the one that is looked for.
 */
#include "visualize/chart/durations.h"

#include "analyze/filter/pattern.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The series that is known by that hash; *fresh when it is new and wants a name. */
static unsigned durations_series(struct ktr__durations *d, uint64_t hash, int *fresh)
{
	unsigned i = 0;

	while (i < d->n_series && d->series[i].hash != hash)
		i++;
	*fresh = i == d->n_series;
	if (*fresh && i == KTR__DURATIONS_SERIES) {
		i--;
		*fresh = 0;
		strcpy(d->series[i].name, "all others");
	} else if (*fresh) {
		d->series[d->n_series++].hash = hash;
	}
	return i;
}

static void durations_who(char *who, size_t size, const struct ktr_event_bytes *ident,
			  const struct ktr_reader_thread *thread)
{
	if (ident != NULL && ident->n_bytes > 0)
		ktr__label_clean(who, size, ident->bytes, ident->n_bytes);
	else if (thread->name != NULL)
		ktr__label_clean(who, size, thread->name, strlen(thread->name));
	if (who[0] == '\0')
		snprintf(who, size, "thread %" PRIu32, thread->tid);
}

static void durations_longest(struct ktr__duration_longest *longest, uint64_t from, uint64_t ns,
			      const struct ktr_event_bytes *ident, const struct ktr_reader_thread *thread)
{
	if (longest->n++ > 0 && ns <= longest->ns)
		return;
	longest->ns = ns;
	longest->from_ns = from;
	longest->who[0] = '\0';
	durations_who(longest->who, sizeof(longest->who), ident, thread);
}

/* Adds one duration that has ended; unsure: events were lost in it, of which one may have ended it. */
static int durations_add(struct ktr__durations *d, unsigned i, uint64_t from, uint64_t to, int unsure,
			 const struct ktr_event_bytes *ident, const struct ktr_reader_thread *thread)
{
	struct ktr__duration_series *s = &d->series[i];
	uint64_t ns = to > from ? to - from : 0;

	if (to < d->plot->grid.from_ns)
		return 0;
	if (ktr__histogram_add(&s->histogram, ns) != 0)
		return -ENOMEM;
	durations_longest(&s->longest, from, ns, ident, thread);
	if (!unsure)
		durations_longest(&s->sure, from, ns, ident, thread);
	if (d->call != NULL)
		d->call(d->plot, from, to);
	return 0;
}

static int durations_wants(const struct ktr__durations *d, const struct ktr__span *span)
{
	const struct ktr__plot_options *o = &d->plot->options;

	if (span->pair)
		return 1;
	if (!ktr__pattern_matches(o->group, span->group, strlen(span->group)))
		return 0;
	if (o->span == NULL)
		return span->kind == KTR_KIND_START;
	if (span->kind == KTR_KIND_STATE)
		return ktr__pattern_matches(o->span, span->state.bytes, span->state.n_bytes);
	return ktr__pattern_matches(o->span, span->group, strlen(span->group)) ||
	       ktr__pattern_matches(o->span, span->ident.bytes, span->ident.n_bytes);
}

/* Spans go by group, scopes by name, states by group and state. */
static unsigned durations_span_series(struct ktr__durations *d, const struct ktr__span *span)
{
	int by_ident = span->site->ident != NULL && !span->pair, fresh;
	const struct ktr_event_bytes *more = span->kind == KTR_KIND_STATE ? &span->state
					     : by_ident                   ? &span->ident
									  : NULL;
	uint64_t hash = ktr__hash_bytes((uint64_t)span->kind, span->group, strlen(span->group));
	char name[KTR__LABEL_BYTES], clean[KTR__LABEL_BYTES];
	unsigned i;

	if (more != NULL)
		hash = ktr__hash_bytes(hash, more->bytes, more->n_bytes);
	i = durations_series(d, hash, &fresh);
	if (!fresh)
		return i;
	ktr__label_clean(name, sizeof(name), span->group, strlen(span->group));
	if (more != NULL)
		ktr__label_clean(clean, sizeof(clean), more->bytes, more->n_bytes);
	if (more == NULL)
		snprintf(d->series[i].name, sizeof(d->series[i].name), "%s", name);
	else if (by_ident)
		snprintf(d->series[i].name, sizeof(d->series[i].name), "%s", clean);
	else
		snprintf(d->series[i].name, sizeof(d->series[i].name), "%s: %s", name, clean);
	return i;
}

static int durations_span(void *context, const struct ktr__span *span)
{
	struct ktr__durations *d = context;
	struct ktr__duration_series *s;
	/* A scope's id is its name, and says nothing about who. */
	const struct ktr_event_bytes *ident =
		span->site->ident != NULL && !span->pair ? NULL : &span->ident;
	unsigned i;

	if (span->to_ns < d->plot->grid.from_ns || !durations_wants(d, span))
		return 0;
	if (span->flags & KTR__SPAN_NO_START) {
		d->n_missed++;
		return 0;
	}
	i = durations_span_series(d, span);
	s = &d->series[i];
	s->n_unsure += (span->flags & KTR__SPAN_UNSURE) != 0;
	if (!(span->flags & KTR__SPAN_NO_END))
		return durations_add(d, i, span->from_ns, span->to_ns, (span->flags & KTR__SPAN_UNSURE) != 0, ident,
				     span->thread);
	s->n_open++;
	if (span->to_ns - span->from_ns >= s->open_longest_ns) {
		s->open_longest_ns = span->to_ns - span->from_ns;
		s->open_who[0] = '\0';
		durations_who(s->open_who, sizeof(s->open_who), ident, span->thread);
	}
	return 0;
}

int ktr__durations_begin(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__durations *d = plot->state;

	d->plot = plot;
	d->series = calloc(KTR__DURATIONS_SERIES, sizeof(*d->series));
	if (d->series == NULL ||
	    ktr__spans_new(&d->spans, plot->info->first_ns, durations_span, d) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	if (plot->options.pair != NULL &&
	    ktr__pairs_new(&d->pairs, plot->options.pair, 1, d->spans) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return 0;
}

void ktr__durations_end(struct ktr__plot *plot)
{
	struct ktr__durations *d = plot->state;

	for (unsigned i = 0; i < d->n_series; i++)
		ktr__histogram_free(&d->series[i].histogram);
	free(d->series);
	free(d->thread);
	ktr__streams_free(&d->streams);
	ktr__pairs_free(d->pairs);
	ktr__spans_free(d->spans);
}

int ktr__durations_event(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct ktr__durations *d = plot->state;

	if (d->pairs != NULL)
		return ktr__pairs_event(d->pairs, event);
	if (event->site->kind == KTR_KIND_STATE && plot->options.span == NULL)
		return 0; /* nobody asked for states */
	return ktr__spans_event(d->spans, event);
}

int ktr__durations_gap(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct ktr__durations *d = plot->state;
	const struct ktr__plot_options *o = &plot->options;
	const struct ktr_reader_site *site = event->site;
	struct ktr__duration_thread *thread;
	int fresh, result = 0;
	unsigned i;

	if (ktr__streams_see(&d->streams, event->thread->id, event->cpu, event->keep) != 0)
		return -ENOMEM;
	if (o->group != NULL &&
	    (site->group == NULL || !ktr__pattern_matches(o->group, site->group, strlen(site->group))))
		return 0;
	if (o->site != NULL && !ktr__pattern_is_site(o->site, site))
		return 0;
	if (ktr__array_grow(&d->thread, &d->n_threads, event->thread->id, sizeof(*d->thread)) != 0)
		return -ENOMEM;
	thread = &d->thread[event->thread->id];
	if (thread->open && ktr__streams_lost(&d->streams, event->thread->id, thread->from_ns)) {
		d->n_doubted += event->time_ns >= d->plot->grid.from_ns;
	} else if (thread->open) {
		i = durations_series(d, 1, &fresh);
		if (fresh)
			snprintf(d->series[i].name, sizeof(d->series[i].name), "gaps");
		result = durations_add(d, i, thread->from_ns, event->time_ns, 0, NULL, event->thread);
	}
	thread->open = 1;
	thread->who = event->thread;
	thread->from_ns = event->time_ns;
	return result;
}

/* A gap may last to the end, of the trace or of the thread: those that are longer than all that ended. */
static void durations_silent(struct ktr__durations *d, uint64_t end)
{
	struct ktr__duration_series *s = d->series;

	for (uint32_t i = 0; d->n_series > 0 && i < d->n_threads; i++) {
		const struct ktr__duration_thread *thread = &d->thread[i];
		uint64_t to = end, ns;

		if (!thread->open || ktr__streams_lost(&d->streams, i, thread->from_ns))
			continue;
		if (thread->who->exit_ns > 0 && thread->who->exit_ns < end)
			to = thread->who->exit_ns;
		ns = to > thread->from_ns ? to - thread->from_ns : 0;
		if (ns <= s->histogram.max)
			continue;
		s->n_open++;
		if (ns > s->open_longest_ns) {
			s->open_longest_ns = ns;
			s->open_who[0] = '\0';
			durations_who(s->open_who, sizeof(s->open_who), NULL, thread->who);
		}
	}
}

void ktr__durations_loss(struct ktr__plot *plot, const struct ktr_loss *loss)
{
	struct ktr__durations *d = plot->state;

	ktr__spans_loss(d->spans, loss);
	ktr__streams_loss(&d->streams, loss);
}

static int durations_by_time(const void *a, const void *b)
{
	const struct ktr__duration_series *x = a, *y = b;

	if (x->histogram.sum != y->histogram.sum)
		return x->histogram.sum > y->histogram.sum ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void durations_notes(struct ktr__durations *d)
{
	struct ktr__frame *frame = &d->plot->frame;
	uint64_t n_unsure = 0;

	for (unsigned i = 0; i < d->n_series; i++) {
		const struct ktr__duration_series *s = &d->series[i];

		n_unsure += s->n_unsure;
		if (s->n_open > 0)
			ktr__frame_note(frame, "%s of %s had not ended, the longest (%s) after %s",
					ktr__label_count(s->n_open).text, s->name, s->open_who,
					ktr__label_duration(s->open_longest_ns).text);
	}
	if (n_unsure > 0)
		ktr__frame_note(frame, "%s have losses between their ends", ktr__label_count(n_unsure).text);
	if (d->n_doubted > 0)
		ktr__frame_note(frame, "%s gaps in which events were lost left out", ktr__label_count(d->n_doubted).text);
	if (d->n_missed > 0)
		ktr__frame_note(frame, "%s ends without a beginning left out", ktr__label_count(d->n_missed).text);
}

static int durations_none(struct ktr__durations *d, struct ktr_error *err)
{
	const struct ktr__plot_options *o = &d->plot->options;

	for (unsigned i = 0; i < d->n_series; i++)
		if (d->series[i].n_open > 0)
			return ktr__plot_nothing(d->plot, err,
						 "none of %" PRIu64 " spans of %.60s ended",
						 d->series[i].n_open, d->series[i].name);
	if (d->n_doubted > 0)
		return ktr__plot_nothing(d->plot, err, "events were lost in each of %" PRIu64 " gaps",
					 d->n_doubted);
	if (o->pair != NULL)
		return ktr__plot_nothing(d->plot, err, "no pair of '%.40s' and '%.40s' with the same %.40s",
					 o->pair->from, o->pair->to,
					 o->pair->key[0] ? o->pair->key : "thread");
	if (o->site != NULL)
		return ktr__plot_nothing(d->plot, err, "no site matches '%.60s'", o->site);
	if (o->span != NULL)
		return ktr__plot_nothing(d->plot, err, "no span or state matches '%.60s'", o->span);
	if (o->group != NULL)
		return ktr__plot_nothing(d->plot, err, "no group matches '%.60s'", o->group);
	return ktr__plot_nothing(
		d->plot, err,
		"no span that ended (KTR_START and STOP, KTR_SCOPE; --span times states)");
}

int ktr__durations_finish(struct ktr__durations *d, struct ktr_error *err)
{
	uint64_t end = d->plot->grid.to_ns - 1;

	if (ktr__spans_finish(d->spans, end) < 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	durations_silent(d, end);
	durations_notes(d);
	qsort(d->series, d->n_series, sizeof(*d->series), durations_by_time);
	if (d->n_series == 0 || d->series[0].histogram.n == 0)
		return durations_none(d, err);
	while (d->series[d->n_series - 1].histogram.n == 0)
		ktr__histogram_free(&d->series[--d->n_series].histogram);
	return 0;
}
