/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions a reader and runs it.
 *
 * The last N events are found without holding them: of a trace by walking N events back from its
 * end and then forward from there, which reads no more than they take; a session, which can be
 * walked again at no cost, is counted first, since another look at it would show another moment.
 */
#include "tools/walk.h"

#include "analyze/read/reader.h"
#include "tools/progress.h"
#include "visualize/model/time_spec.h"

#include <inttypes.h>
#include <stdio.h>

static int walk_reader(struct walk *walk, int reverse, struct ktr_reader **reader)
{
	struct ktr_reader_options options = { .size = sizeof(options),
					      .reverse = reverse,
					      .alone = walk->alone };
	struct ktr_error err = KTR_ERROR_NONE;

	if (ktr_reader_open(walk->path, &options, reader, &err))
		return fail_with(walk->find.command, &err);
	return 0;
}

static int walk_failed(struct walk *walk, const struct ktr_reader *reader)
{
	return fail_with(walk->find.command, ktr_reader_error(reader));
}

/* The window in nanoseconds. 0 or 2 after a complaint. */
static int walk_window(struct walk *walk)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	const char *which = "--from";
	int rc = 0;

	walk->from_ns = 0;
	walk->to_ns = UINT64_MAX;
	if (walk->from)
		rc = ktr__time_spec_parse(walk->from, walk->info, &walk->from_ns, &err);
	if (!rc && walk->to) {
		which = "--to";
		rc = ktr__time_spec_parse(walk->to, walk->info, &walk->to_ns, &err);
	}
	if (rc)
		return usage_error(walk->find.command, "%s: %s", which,
				   ktr_error_print(&err, line, sizeof(line)));
	if (walk->from_ns >= walk->to_ns)
		return usage_error(walk->find.command, "the window ends before it begins");
	return 0;
}

/*
 * Goes to where the walk begins. Only then the filter is set: what lies before is not worth a look. 0,
 * or the exit status after a complaint.
 */
static int walk_begin(struct walk *walk, struct ktr_reader *reader)
{
	if ((walk->from_ns || walk->to_ns != UINT64_MAX) &&
	    ktr_reader_window(reader, walk->from_ns, walk->to_ns))
		return walk_failed(walk, reader);
	return filter_use(walk->find.command, reader, walk->filter);
}

static int walk_is_outside(const struct walk *walk, const struct ktr_event *event)
{
	return event->time_ns < walk->from_ns || event->time_ns >= walk->to_ns;
}

int walk_back(struct walk *walk)
{
	uint64_t n = 0, time_ns = walk->to_ns;
	struct ktr_reader *back;
	struct ktr_event event;
	int what, rc = walk_reader(walk, 1, &back);

	if (rc)
		return rc;
	rc = walk_begin(walk, back);
	while (!rc && (what = ktr_reader_next(back, &event)) != KTR_READ_END) {
		if (what < 0)
			rc = walk_failed(walk, back);
		if (what != KTR_READ_EVENT)
			continue;
		if (!walk->n_last)
			walk->from_ns = event.time_ns + 1;
		if (walk_is_outside(walk, &event) || (n >= walk->n_last && event.time_ns != time_ns))
			break;
		time_ns = event.time_ns;
		n++;
	}
	ktr_reader_close(back);
	if (n) {
		walk->from_ns = time_ns;
		walk->n_skip = n > walk->n_last ? n - walk->n_last : 0;
	}
	return rc;
}

static void walk_note(struct walk *walk, const struct ktr_note *note)
{
	notes_add(&walk->notes, note);
	walk->partial |= walk->notes.partial;
}

int walk_count(struct walk *walk, uint64_t *n)
{
	const struct ktr_event *event;
	int what;

	*n = 0;
	while ((what = ktr__reader_advance(walk->reader, &event)) != KTR_READ_END) {
		if (what < 0)
			return walk_failed(walk, walk->reader);
		if (what == KTR_READ_NOTE)
			walk_note(walk, ktr_reader_note(walk->reader));
		if (what == KTR_READ_EVENT && walk_is_outside(walk, event))
			break;
		*n += what == KTR_READ_EVENT;
	}
	if (ktr_reader_seek(walk->reader, walk->reverse ? UINT64_MAX : 0))
		return walk_failed(walk, walk->reader);
	return 0;
}

/* A session: how many events are there in all? */
static int walk_last_of_session(struct walk *walk)
{
	uint64_t n = 0;
	int rc = walk_begin(walk, walk->reader);

	if (!rc)
		rc = walk_count(walk, &n);
	walk->n_skip = n > walk->n_last ? n - walk->n_last : 0;
	return rc;
}

/*
 * What is asked for as the last N events. The trace that grows while it is read ends where it
 * ended when it was opened first.
 */
static int walk_last(struct walk *walk)
{
	if (!walk->n_last)
		return 0;
	if (walk->n_head)
		return usage_error(walk->find.command, "-n and --head exclude each other");
	if (walk->reverse) {
		walk->n_head = walk->n_last;
		return 0;
	}
	if (walk->info->kind != KTR_SOURCE_TRACE)
		return walk_last_of_session(walk);
	if (walk->to_ns == UINT64_MAX)
		walk->to_ns = walk->info->last_ns + 1;
	return walk_back(walk);
}

int walk_open(struct walk *walk, int argc, char **argv)
{
	int rc = find_source(&walk->find, argc, argv, 0, walk->path, sizeof(walk->path));

	return rc ? rc : walk_open_path(walk);
}

int walk_open_path(struct walk *walk)
{
	int rc = walk_reader(walk, walk->reverse, &walk->reader);

	if (rc)
		return rc;
	walk->info = ktr_reader_info(walk->reader);
	rc = walk_window(walk);
	if (!rc)
		rc = walk_last(walk);
	if (!rc)
		rc = walk_begin(walk, walk->reader);
	if (rc)
		ktr_reader_close(walk->reader);
	return rc;
}

static int walk_tell_event(struct walk *walk, const struct ktr_event *event, struct ktr_sink *const *sinks,
			   unsigned n_sinks)
{
	int rc = 0;

	if (walk->n_skip) {
		walk->n_skip--;
		return 0;
	}
	walk->n_events++;
	for (unsigned i = 0; i < n_sinks && !rc; i++)
		if (sinks[i]->event)
			rc = sinks[i]->event(sinks[i], event);
	return rc;
}

/* What is no event. Losses among what is skipped are of no interest. */
static int walk_tell(struct walk *walk, int what, struct ktr_sink *const *sinks, unsigned n_sinks)
{
	int rc = 0;

	if (what == KTR_READ_NOTE)
		walk_note(walk, ktr_reader_note(walk->reader));
	else if (walk->n_skip)
		return 0;
	else
		walk->n_lost += ktr_reader_loss(walk->reader)->n_events;
	for (unsigned i = 0; i < n_sinks && !rc; i++) {
		struct ktr_sink *sink = sinks[i];

		if (what == KTR_READ_LOSS && sink->loss)
			rc = sink->loss(sink, ktr_reader_loss(walk->reader));
		else if (what == KTR_READ_NOTE && sink->note)
			rc = sink->note(sink, ktr_reader_note(walk->reader));
	}
	return rc;
}

static int walk_all(struct walk *walk, struct ktr_sink *const *sinks, unsigned n_sinks)
{
	const struct ktr_event *event;
	int what, rc = 0;

	while (!rc && (what = ktr__reader_advance(walk->reader, &event)) != KTR_READ_END) {
		if (what < 0) {
			walk_failed(walk, walk->reader);
			walk->partial = 1;
			return what;
		}
		if (what != KTR_READ_EVENT) {
			rc = walk_tell(walk, what, sinks, n_sinks);
			continue;
		}
		if (walk_is_outside(walk, event))
			break;
		rc = walk_tell_event(walk, event, sinks, n_sinks);
		if (!rc && walk->n_head && walk->n_events == walk->n_head)
			break;
	}
	walk->whole = !rc;
	return rc;
}

int walk_run(struct walk *walk, struct ktr_sink *const *sinks, unsigned n_sinks)
{
	int rc;

	/* Backwards through a part, nothing tells how much it is. */
	if (walk->reverse && (walk->from || walk->to)) {
		progress_count(walk->find.command);
		ktr__reader_watch(walk->reader, progress_step, NULL);
	} else {
		progress_watch(walk->find.command, walk->reader, walk->from_ns, walk->to_ns);
	}
	rc = walk_all(walk, sinks, n_sinks);
	ktr__reader_watch(walk->reader, NULL, NULL);
	progress_end();
	return rc;
}

int walk_print(struct walk *walk, const struct ktr__crew_trade *trade, void *of, struct ktr_sink *sink,
	       int *printed)
{
	unsigned n_threads = ktr__crew_threads(walk->n_threads);
	struct ktr__crew *crew = NULL;
	int rc;

	*printed = 0;
	if (n_threads < 2 || ktr__crew_open(&crew, trade, of, n_threads))
		return walk_run(walk, &sink, 1);
	sink = ktr__crew_sink(crew);
	rc = walk_run(walk, &sink, 1);
	*printed = ktr__crew_close(crew);
	return rc ? rc : *printed;
}

static unsigned walk_wants_none(const void *context, const struct ktr_reader_site *site)
{
	(void)context;
	(void)site;
	return 0;
}

int walk_total(struct walk *walk)
{
	int what;

	/* Without memory for it, all arguments are read: that takes longer, and is all. */
	ktr__reader_wants(walk->reader, walk_wants_none, NULL);
	progress_count(walk->find.command);
	ktr__reader_watch(walk->reader, progress_step, NULL);
	while ((what = ktr_reader_count(walk->reader, &walk->n_events)) > 0)
		if (what == KTR_READ_NOTE)
			walk_note(walk, ktr_reader_note(walk->reader));
		else
			walk->n_lost += ktr_reader_loss(walk->reader)->n_events;
	progress_end();
	if (what < 0) {
		walk_failed(walk, walk->reader);
		walk->partial = 1;
	}
	walk->whole = !what;
	return what;
}

/* Why there was nothing to show. 1 where that is the answer to what was asked for, and else 0. */
static int walk_tell_empty(const struct walk *walk)
{
	const char *command = walk->find.command;
	uint64_t n_filtered = ktr_reader_n_filtered(walk->reader);
	int window = walk->from || walk->to;

	if (n_filtered)
		fprintf(stderr, "%s: no event passes the filter; it looked at %" PRIu64 "%s\n", command,
			n_filtered, window ? " between --from and --to" : "");
	else if (!walk->info->last_ns)
		fprintf(stderr, walk->info->n_lost ? "%s: %s: no events; %" PRIu64 " were lost\n"
						   : "%s: %s: no events\n",
			command, walk->path, walk->info->n_lost);
	else if (window)
		fprintf(stderr, "%s: no events between --from and --to; the trace lasts %.6f s\n", command,
			(double)(walk->info->last_ns - walk->info->first_ns) * 1e-9);
	else
		fprintf(stderr, "%s: %s: no events\n", command, walk->path);
	return n_filtered || window;
}

int walk_close(struct walk *walk)
{
	walk->partial |= notes_tell(&walk->notes, walk->find.command);
	if (walk->whole && !walk->n_events)
		walk->partial |= walk_tell_empty(walk);
	ktr_reader_close(walk->reader);
	return walk->partial;
}
