/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expression is a filter, whose `span NAME` is that of spans that end with the event it looks at. The rings are
 * stopped by the knob, as anybody would from outside; the session is kept, as after any other trigger.
 *
 * It comes late: by the reader's look at the rings (WATCH_WAIT_MS at most), and the half millisecond that it
 * holds events back to merge those of all CPUs. ktr-run(1) says so.
 */
#include "tools/record/span_watch.h"

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_spans.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "tools/filter_option.h"
#include "tools/options.h"
#include "visualize/model/label.h"

#include <ktr/ctl.h>
#include <ktr/reader.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WATCH_WAIT_MS 2 /* between two looks at the rings */
#define WATCH_LAST                                                                                 \
	3 /* looks that find nothing, when the program has ended: longer than events are held back */
#define WATCH_LOOK_NS                                                                              \
	2000000 /* between two looks for the session, whose rings come with the first event */

struct watch_after {
	uint64_t *n; /* owned; by CPU: events since */
	uint32_t room;
};

static int watch_is_over(const struct span_watch *watch)
{
	return __atomic_load_n(&watch->is_over, __ATOMIC_ACQUIRE);
}

static void watch_fail(struct span_watch *watch, const struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	fail(watch->command, "--trigger: %s", ktr_error_print(err, line, sizeof(line)));
	watch->has_failed = 1;
}

/* The session's reader, as soon as there is one. NULL: nobody wants it any more. */
static struct ktr_reader *watch_open(struct span_watch *watch)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	const struct timespec pause = { 0, WATCH_LOOK_NS };
	struct ktr_reader *reader;

	for (int last = 0; !last;) {
		last = watch_is_over(watch);
		if (watch->find(watch->context, watch->path) &&
		    !ktr_reader_open(watch->path, &options, &reader, NULL))
			return reader;
		if (!last)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Stops the rings, and says which span it was. */
static void watch_stop(struct span_watch *watch, const char *span, uint64_t took_ns,
		       uint64_t end_ns)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_session *session;
	struct timespec now;
	int rc = ktr_session_attach(watch->path, &session, &err);

	if (!rc)
		rc = ktr_conf_set(ktr_session_conf(session), "debug.ktr.keep_session", "1", &err);
	if (rc >= 0)
		rc = ktr_conf_set(ktr_session_conf(session), "debug.ktr.freeze", "1", &err);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ktr_session_close(session);
	if (rc < 0) {
		watch_fail(watch, &err);
		return;
	}
	fail(watch->command, "--trigger: %s took %s; the rings stopped %s after its end", span,
	     ktr__label_duration(took_ns).text,
	     ktr__label_duration((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
				 end_ns)
		     .text);
	watch->has_stopped = 1;
	if (watch->done)
		*watch->done = 1;
}

/* Has a CPU recorded its share by this event? 1 or 0; 1 also without memory: sooner is better than never. */
static int watch_has_share(struct watch_after *after, uint64_t wanted,
			   const struct ktr_event *event)
{
	return ktr__array_grow(&after->n, &after->room, event->cpu, sizeof(*after->n)) ||
	       ++after->n[event->cpu] >= wanted;
}

struct watch_held {
	char span[160];
	uint64_t took_ns, end_ns; /* end_ns 0: it has not held yet */
	struct watch_after after;
};

/* 1: the rings are to stop now. 0, or -errno. */
static int watch_event(struct span_watch *watch, struct ktr__filter *filter,
		       struct watch_held *held, const struct ktr_event *event)
{
	struct ktr__filter_spans *spans = ktr__filter_spans(filter);
	int rc;

	if (held->end_ns)
		return watch_has_share(&held->after, watch->after, event);
	rc = ktr__filter_spans_event(spans, event);
	if (rc || !ktr__filter_pass(filter, event))
		return rc;
	snprintf(held->span, sizeof(held->span), "%s",
		 ktr__filter_spans_ended(spans, &held->took_ns));
	held->end_ns = event->time_ns;
	return !watch->after;
}

static void watch_follow(struct span_watch *watch, struct ktr_reader *reader,
			 struct ktr__filter *filter)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct watch_held held = { .end_ns = 0 };
	const struct ktr_event *event;
	int what, rc = 0, idle = 0;

	while (!rc && idle < WATCH_LAST &&
	       (what = ktr__reader_advance(reader, &event)) != KTR_READ_END) {
		idle = what == KTR_READ_WAIT && watch_is_over(watch) ? idle + 1 : 0;
		if (what == KTR_READ_EVENT)
			rc = watch_event(watch, filter, &held, event);
		else if (what == KTR_READ_LOSS)
			ktr__filter_spans_loss(ktr__filter_spans(filter), ktr_reader_loss(reader));
		else if (what == KTR_READ_WAIT)
			rc = ktr_reader_wait(reader, WATCH_WAIT_MS);
		else if (what < 0)
			rc = what;
		rc = rc == -EINTR ? 0 : rc;
	}
	free(held.after.n);
	if (rc < 0) {
		ktr_error_at(&err, watch->path, 0, 0, -rc, "%s", strerror(-rc));
		watch_fail(watch, &err);
	} else if (held.end_ns) {
		/* Also where the program ends before each has its share. */
		watch_stop(watch, held.span, held.took_ns, held.end_ns);
	}
}

static void *watch_main(void *context)
{
	struct span_watch *watch = context;
	struct ktr_reader *reader = watch_open(watch);
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__filter *filter = NULL;
	int rc;

	if (!reader)
		return NULL;
	rc = ktr__filter_new(watch->text, ktr__reader_tables(reader), ktr_reader_info(reader), 1,
			     &filter, &err);
	if (!rc)
		rc = ktr__filter_spans_begin(ktr__filter_spans(filter),
					     ktr_reader_info(reader)->first_ns, 1);
	if (rc && err.code) {
		filter_complain(watch->command, "--trigger", watch->text, &err);
		watch->has_failed = 1;
	} else if (!rc) {
		watch_follow(watch, reader, filter);
	}
	ktr__filter_free(filter);
	ktr_reader_close(reader);
	return NULL;
}

/* Signals are for the others. */
void span_watch_begin(struct span_watch *watch)
{
	sigset_t all, outer;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &outer);
	rc = pthread_create(&watch->thread, NULL, watch_main, watch);
	pthread_sigmask(SIG_SETMASK, &outer, NULL);
	watch->is_running = !rc;
	if (rc)
		fail(watch->command, "--trigger: no thread to watch: %s", strerror(rc));
}

int span_watch_end(struct span_watch *watch)
{
	if (!watch->is_running)
		return 1;
	__atomic_store_n(&watch->is_over, 1, __ATOMIC_RELEASE);
	pthread_join(watch->thread, NULL);
	watch->is_running = 0;
	return watch->has_stopped || watch->has_failed;
}
