/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public reader: a source, and the merge of its cursors.
 *
 * The cursor whose event was handed out last is moved only when the next one is asked for, so
 * that strings, which lie in the cursor's buffer, stay valid until then. Moving it may add to the
 * source's queue of losses and notes, which goes before the next event.
 *
 * Followed, a cursor that has no event leaves the merge and is asked again after each look. An event
 * is held back until all that is older must have been seen: the session's rings tell (writer_progress.h), or
 * else READER_HOLD_NS after it was first seen. That is by when it was seen, not by its own time:
 * clocks of events drift.
 */
#include "analyze/read/reader.h"

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_spans.h"
#include "analyze/follow/watch.h"
#include "analyze/follow/writer_progress.h"
#include "analyze/read/merge.h"
#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_set.h"
#include "analyze/read/trace_source.h"
#include "analyze/session/core_source.h"
#include "analyze/session/session_feed.h"
#include "analyze/session/session_source.h"
#include "analyze/session/session_tables.h"
#include "analyze/stats/ends.h"
#include "analyze/symbols/symbols.h"

#include <ktr/trace_file.h>

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A writer has what is committed in its file within 40 ms and a round of its own (writer/drain.c),
 * so that streams are apart by no more. Rings of a session are looked at all at once: the next look
 * tells what was older.
 */
#define READER_HOLD_NS    45000000ull
#define READER_HOLD_RINGS 500000ull /* [ns] */
#define READER_HOLD_LATE  500000000ull /* [ns] a writer that is late is waited for so long */
#define READER_AGAIN      20 /* openings of a trace of which something was removed meanwhile */
#define READER_LOOK_NS    8000000ull   /* between two looks whether a writer has come so far */

struct ktr_reader {
	struct ktr__event_source source;
	struct ktr__merge merge;
	struct ktr__cursor *last; /* handed out, not moved on yet; the one in front of the merge */
	uint64_t end_key;         /* the largest key of the walk */
	struct ktr__said said;
	struct ktr_error error;
	int failed;                   /* -errno for good */
	struct ktr__symbols *symbols; /* NULL until asked for */
	struct ktr__watch watch;      /* follow */
	uint64_t mature_ns;           /* follow: what was seen before may be handed out */
	int over;                     /* follow: nothing more will come */
	uint8_t *skip_args;               /* owned, by site: its arguments are not wanted; NULL: all are */
	uint32_t n_skip_args;
	char *path;
};

static int reader_fail(struct ktr_reader *reader, int rc)
{
	ktr_error_at(&reader->error, reader->path, 0, 0, -rc, "%s", strerror(-rc));
	reader->failed = rc;
	return rc;
}

/* Asks the cursors that had no event. 0 or -errno. */
static int reader_resume(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	for (unsigned i = 0; i < source->n_cursors; i++) {
		struct ktr__cursor *cursor = source->cursor[i];
		int rc = cursor->waits ? cursor->advance(cursor) : 0;

		if (rc < 0)
			return rc;
		if (rc)
			ktr__merge_add(&reader->merge, cursor, i);
		cursor->waits &= !rc;
	}
	return 0;
}

/* Fetches every cursor's first event. 0 or -errno. */
static int reader_prime(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	reader->merge.n = 0;
	reader->last = NULL;
	for (unsigned i = 0; i < source->n_cursors; i++) {
		source->cursor[i]->waits = 1;
		source->cursor[i]->counts = 0;
	}
	return reader_resume(reader);
}

/*
 * Forward the walk is [from_ns, to_ns) and cursors start at from_ns; in reverse they start below
 * to_ns, and the last key is the complement of from_ns. Keys of a walk to the end have no bound.
 * again: the cursors have been moved already.
 */
static int reader_start(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns, int again)
{
	struct ktr__event_source *source = &reader->source;
	uint64_t start = source->reverse ? (to_ns ? to_ns : UINT64_MAX) : from_ns;
	int rc = 0;

	reader->end_key = UINT64_MAX;
	if (source->reverse)
		reader->end_key = ~from_ns;
	else if (to_ns)
		reader->end_key = to_ns - 1;
	source->end_ns = source->reverse ? ~reader->end_key : reader->end_key;
	for (unsigned i = 0; i < source->n_cursors && !rc; i++)
		if (again || start != (source->reverse ? UINT64_MAX : 0))
			rc = source->cursor[i]->seek(source->cursor[i], start);
	return rc ? rc : reader_prime(reader);
}

/* A file: a session, a core, or something that was taken for one, or a piece of a trace. */
static int reader_open_file(struct ktr_reader *reader, struct ktr_error *err)
{
	struct ktr_error why = KTR_ERROR_NONE;
	int rc = ktr__session_source(&reader->source, reader->path, &why);
	const char *slash = strrchr(reader->path, '/');
	char beside[PATH_MAX];

	if (rc != -EINVAL) {
		if (rc && err)
			*err = why;
		return rc;
	}
	rc = ktr__core_source(&reader->source, reader->path, err);
	if (rc != -ENOEXEC)
		return rc;
	snprintf(beside, sizeof(beside), "%.*s" KTR_TRACE_METADATA, slash ? (int)(slash + 1 - reader->path) : 0,
		 reader->path);
	if (access(beside, F_OK) == 0)
		return ktr_error_at(err, reader->path, 0, 0, EINVAL,
				    "is a part of a trace: name the directory it lies in");
	return ktr_error_at(err, reader->path, 0, 0, EINVAL,
			    "is neither a trace, which is a directory, nor a session, nor a core");
}

static int reader_open_path(struct ktr_reader *reader, struct ktr_error *err)
{
	struct stat st;

	if (stat(reader->path, &st) &&
	    (errno != ENOENT || !ktr__set_await(reader->path) || stat(reader->path, &st)))
		return ktr_error_at(err, reader->path, 0, 0, errno, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ktr__trace_source(&reader->source, reader->path, err);
	if (S_ISREG(st.st_mode))
		return reader_open_file(reader, err);
	return ktr_error_at(err, reader->path, 0, 0, EINVAL,
			    "neither a trace directory nor a session file");
}

/* What is damaged when no event has been read yet is what describes them. */
static void reader_judge(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	for (unsigned i = source->queue.first; i < source->queue.n; i++)
		source->undecodable |= source->queue.item[i].what == KTR_READ_NOTE &&
				 source->queue.item[i].u.note.damaged;
}

/* As reader_open(). *gone: something of the trace was removed meanwhile. */
static int reader_open_once(const char *path, const struct ktr_reader_options *all,
			    const struct ktr_trace_clock *clock, struct ktr_reader **out, struct ktr_error *err,
			    int *gone)
{
	struct ktr_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	*gone = 0;
	if (!reader)
		return ktr_error_at(err, path, 0, 0, ENOMEM, "no memory");
	reader->path = strdup(path);
	/* Names of rotated traces are made by adding to it. */
	for (size_t n = reader->path ? strlen(path) : 0; n > 1 && reader->path[n - 1] == '/'; n--)
		reader->path[n - 1] = 0;
	reader->source.reverse = all->reverse != 0;
	reader->source.alone = all->alone != 0;
	reader->source.clock = clock;
	reader->source.follow = all->follow && !all->reverse;
	reader->watch.fd = -1;
	rc = reader->path ? ktr__tables_init(&reader->source.tables) : -ENOMEM;
	/* Watched before it is read: nothing comes in between. */
	if (!rc && reader->source.follow)
		ktr__watch_open(&reader->watch, reader->path);
	if (!rc)
		rc = reader_open_path(reader, err);
	if (!rc)
		rc = ktr__tables_finish(&reader->source.tables);
	if (!rc && reader->source.feed)
		ktr__session_ends(reader->source.feed);
	reader_judge(reader);
	if (!rc)
		rc = ktr__merge_room(&reader->merge, reader->source.n_cursors);
	if (!rc)
		rc = reader_start(reader, all->from_ns, all->to_ns, 0);
	reader->source.clock = NULL;
	*gone = reader->source.set && ktr__set_has_gone(reader->source.set);
	if (rc) {
		ktr_error_at(err, path, 0, 0, -rc, "%s", strerror(-rc));
		ktr_reader_close(reader);
		return rc;
	}
	*out = reader;
	return 0;
}

/*
 * Rotation removes pieces while a trace is opened, the trace of the name among them, if that takes long. What is
 * there then is complete without them. clock: NULL, or that of another look at the same session, so that times are
 * the same: each measures it anew, and comes to some nanoseconds more or less.
 */
static int reader_open(const char *path, const struct ktr_reader_options *options,
		       const struct ktr_trace_clock *clock, struct ktr_reader **out, struct ktr_error *err)
{
	struct ktr_reader_options all = { .size = sizeof(all) };
	struct ktr_error why = KTR_ERROR_NONE;
	int rc, gone;

	*out = NULL;
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	for (unsigned i = 0;; i++) {
		rc = reader_open_once(path, &all, clock, out, &why, &gone);
		if (!gone || i == READER_AGAIN)
			break;
		memset(&why, 0, sizeof(why));
		ktr_reader_close(*out);
		*out = NULL;
	}
	if (rc && err && !err->code)
		*err = why;
	return rc;
}

int ktr_reader_open(const char *path, const struct ktr_reader_options *options,
		    struct ktr_reader **out, struct ktr_error *err)
{
	return reader_open(path, options, NULL, out, err);
}

void ktr_reader_close(struct ktr_reader *reader)
{
	if (!reader)
		return;
	ktr__symbols_free(reader->symbols);
	ktr__watch_close(&reader->watch);
	ktr__merge_free(&reader->merge);
	ktr__source_close(&reader->source);
	free(reader->skip_args);
	free(reader->path);
	free(reader);
}

/* Moves the cursor handed out last. 0 or -errno. */
static inline int reader_move(struct ktr_reader *reader)
{
	struct ktr__cursor *last = reader->last;
	int rc;

	if (!last)
		return 0;
	reader->last = NULL;
	rc = last->advance(last);
	if (rc > 0)
		ktr__merge_replace(&reader->merge);
	else if (rc == 0)
		ktr__merge_remove(&reader->merge);
	last->waits = rc == 0;
	return rc < 0 ? rc : 0;
}

/* What is not there is zero in the cursor's event already, but for str[], of which few are used. */
static inline void reader_copy(const struct ktr_event *from, struct ktr_event *event)
{
	memcpy(event, from, offsetof(struct ktr_event, str));
	for (unsigned left = from->site->in_str; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		event->str[i] = from->str[i];
	}
}

static uint64_t reader_hold(const struct ktr_reader *reader)
{
	return reader->source.set ? READER_HOLD_NS : READER_HOLD_RINGS;
}

/*
 * May something older than the next event be yet to come? Where the session tells, it is asked, and
 * waited for if its writer is late; else time does.
 */
static int reader_is_early(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;
	struct ktr__cursor *top = reader->merge.heap[0].cursor;
	struct ktr__writer_progress *progress = source->set ? source->set->progress : NULL;
	uint64_t now;

	if (reader->over)
		return 0;
	if (progress && ktr__writer_progress_is_oldest(progress, source, top, source->n_cursors - reader->merge.n))
		return 0;
	now = ktr__watch_now();
	reader->mature_ns = now - (progress ? READER_HOLD_LATE : reader_hold(reader));
	return top->seen_ns > reader->mature_ns;
}

/* ktr_reader_next(), but the event stays where it is: it is that of reader->last. */
static inline int reader_step(struct ktr_reader *reader)
{
	int rc, is_over;

	if (reader->failed)
		return reader->failed;
	rc = reader_move(reader);
	if (rc || reader->source.out_of_memory)
		return reader_fail(reader, rc ? rc : -ENOMEM);
	is_over = !reader->merge.n || reader->merge.heap[0].key > reader->end_key;
	rc = ktr__source_said(&reader->source, is_over ? UINT64_MAX : reader->merge.heap[0].key, &reader->said);
	if (rc)
		return rc;
	if (is_over)
		return reader->source.follow && !reader->over ? KTR_READ_WAIT : KTR_READ_END;
	if (reader->merge.heap[0].cursor->seen_ns > reader->mature_ns && reader_is_early(reader))
		return KTR_READ_WAIT;
	reader->last = reader->merge.heap[0].cursor;
	if (reader->source.follow)
		ktr__source_span(&reader->source, reader->last->event.time_ns, reader->last->event.time_ns);
	ktr__ends_see(reader->last->event.thread, reader->last->event.time_ns);
	return KTR_READ_EVENT;
}

int ktr_reader_next(struct ktr_reader *reader, struct ktr_event *event)
{
	int what = reader_step(reader);

	if (what == KTR_READ_EVENT)
		reader_copy(&reader->last->event, event);
	return what;
}

int ktr__reader_advance(struct ktr_reader *reader, const struct ktr_event **event)
{
	int what = reader_step(reader);

	*event = what == KTR_READ_EVENT ? &reader->last->event : NULL;
	return what;
}

/* Counts one cursor's events one by one; otherwise as of its count(). */
static int reader_count_slowly(struct ktr_reader *reader, struct ktr__cursor *cursor, uint64_t *n)
{
	for (;;) {
		int rc = cursor->advance(cursor);

		if (rc <= 0 || cursor->key > reader->end_key)
			return rc < 0 ? rc : 0;
		++*n;
		if (ktr__source_speaks(&reader->source))
			return 1;
	}
}

/* The events that cursors have fetched already are counted; what comes after them is to be. 0 or -errno. */
static int reader_count_fetched(struct ktr_reader *reader, uint64_t *n)
{
	struct ktr__merge *merge = &reader->merge;
	int rc = reader_move(reader);

	for (unsigned i = 0; i < merge->n && !rc; i++) {
		merge->heap[i].cursor->counts = merge->heap[i].key <= reader->end_key;
		*n += merge->heap[i].key <= reader->end_key;
	}
	merge->n = 0;
	return rc;
}

int ktr_reader_count(struct ktr_reader *reader, uint64_t *n_events)
{
	struct ktr__event_source *source = &reader->source;
	int rc = 0;

	if (reader->failed)
		return reader->failed;
	if (source->follow) {
		while ((rc = reader_step(reader)) == KTR_READ_EVENT)
			++*n_events;
		return rc;
	}
	if (reader->merge.n)
		rc = reader_count_fetched(reader, n_events);
	/* Each by itself: the order of time is of no matter. */
	for (unsigned i = 0; i < source->n_cursors && rc >= 0 && !ktr__source_speaks(source); i++) {
		struct ktr__cursor *cursor = source->cursor[i];

		if (!cursor->counts)
			continue;
		rc = cursor->count ? cursor->count(cursor, n_events)
				   : reader_count_slowly(reader, cursor, n_events);
		cursor->counts = rc > 0;
	}
	if (rc < 0 || source->out_of_memory)
		return reader_fail(reader, rc < 0 ? rc : -ENOMEM);
	return ktr__source_said(source, UINT64_MAX, &reader->said);
}

/* How long to sleep at most, given when the next event may be handed out. [ns] */
static uint64_t reader_pause(const struct ktr_reader *reader, int timeout_ms)
{
	uint64_t pause = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * 1000000u, due;

	if (!reader->merge.n)
		return pause;
	due = reader->merge.heap[0].cursor->seen_ns + reader_hold(reader);
	due = due > ktr__watch_now() ? due - ktr__watch_now() : 0;
	if (reader->source.set && reader->source.set->progress)
		due = READER_LOOK_NS;
	return due < pause ? due : pause;
}

/* One look for more. 0 or -errno. */
static int reader_refresh(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;
	unsigned n_cursors = source->n_cursors;
	uint64_t now = ktr__watch_now(), n_events = source->info.last_ns;
	int rc = reader_move(reader);

	if (!rc)
		rc = source->set ? ktr__trace_refresh(source, now)
				 : ktr__session_refresh(source, now);
	if (rc == KTR__SOURCE_OVER)
		reader->over = 1;
	if (rc >= 0 && source->n_cursors != n_cursors)
		rc = ktr__merge_room(&reader->merge, source->n_cursors);
	if (rc >= 0)
		rc = reader_resume(reader);
	ktr__watch_busy(&reader->watch, reader->merge.n || source->info.last_ns != n_events);
	return rc;
}

int ktr_reader_wait(struct ktr_reader *reader, int timeout_ms)
{
	struct ktr__event_source *source = &reader->source;
	int rc;

	if (reader->failed)
		return reader->failed;
	if (!source->follow)
		return -EINVAL;
	if (reader->over)
		return 0;
	rc = ktr__watch_wait(&reader->watch, reader_pause(reader, timeout_ms));
	if (rc == -EINTR)
		return rc;
	rc = reader_refresh(reader);
	return rc < 0 ? reader_fail(reader, rc) : 0;
}

int ktr_reader_ended(const struct ktr_reader *reader)
{
	const struct ktr__trace_set *set = reader->source.set;

	if (!reader->source.follow || reader->over)
		return 1;
	/* Ended, or given up by a writer that was killed, whose session has told the rest. */
	return set && (set->member[set->n - 1].head.has_ended || set->is_joined);
}

int ktr_reader_seek(struct ktr_reader *reader, uint64_t time_ns)
{
	struct ktr__event_source *source = &reader->source;
	int rc = 0;

	if (reader->failed)
		return reader->failed;
	ktr__source_forget_losses(source);
	for (unsigned i = 0; i < source->n_cursors && !rc; i++)
		rc = source->cursor[i]->seek(source->cursor[i], time_ns);
	if (!rc)
		rc = reader_prime(reader);
	return rc ? reader_fail(reader, rc) : 0;
}

int ktr_reader_window(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
	int rc;

	if (reader->failed)
		return reader->failed;
	ktr__source_forget_losses(&reader->source);
	rc = reader_start(reader, from_ns, to_ns, 1);
	return rc ? reader_fail(reader, rc) : 0;
}

/* Events fetched already may not pass any more: their cursors go on to the next that does. */
static int reader_refilter(struct ktr_reader *reader)
{
	struct ktr__merge *merge = &reader->merge;
	int rc = reader_move(reader);
	unsigned n = merge->n;

	merge->n = 0;
	for (unsigned i = 0; i < n && rc >= 0; i++) {
		struct ktr__merge_leaf leaf = merge->heap[i]; /* adding touches none after it */
		struct ktr__cursor *cursor = leaf.cursor;

		rc = ktr__source_wants(&reader->source, &cursor->event) ? 1 : cursor->advance(cursor);
		if (rc > 0)
			ktr__merge_add(merge, cursor, leaf.number);
		cursor->waits = rc == 0;
	}
	return rc < 0 ? reader_fail(reader, rc) : 0;
}

/* Has the codec pass over arguments that neither the caller nor the filter looks at. */
static void reader_spare(struct ktr_reader *reader)
{
	const struct ktr__filter *filter = reader->source.filter;
	struct ktr__tables *tables = &reader->source.tables;

	for (uint32_t id = 1; id < reader->n_skip_args; id++) {
		struct ktr__program *program = &tables->program[id];
		int skip_args = reader->skip_args[id] && !(filter && ktr__filter_looks(filter, id));

		if (program->ready)
			program->ready = skip_args ? KTR__PROGRAM_SKIP_ARGS : KTR__PROGRAM_READY;
	}
}

int ktr__reader_wants(struct ktr_reader *reader, ktr__reader_wants_fn *wants, const void *context)
{
	struct ktr__tables *tables = &reader->source.tables;

	if (reader->skip_args)
		memset(reader->skip_args, 0, reader->n_skip_args);
	reader_spare(reader);
	free(reader->skip_args);
	reader->n_skip_args = 0;
	reader->skip_args = wants && tables->n_sites ? calloc(tables->n_sites, 1) : NULL;
	if (!reader->skip_args)
		return wants && tables->n_sites ? -ENOMEM : 0;
	reader->n_skip_args = tables->n_sites;
	for (uint32_t id = 1; id < reader->n_skip_args; id++)
		reader->skip_args[id] = tables->site[id] && !wants(context, tables->site[id]);
	reader_spare(reader);
	return 0;
}

void ktr__reader_watch(struct ktr_reader *reader, ktr__reader_watch_fn *watch, void *context)
{
	reader->source.watch = watch;
	reader->source.watch_context = context;
}

uint64_t ktr__reader_bytes(const struct ktr_reader *reader)
{
	return reader->source.n_bytes;
}

/* Opens the source once more, forward and from its beginning. */
static int reader_again(const struct ktr_reader *reader, struct ktr_reader **out, struct ktr_error *err)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .alone = reader->source.alone };
	const struct ktr__session_feed *feed = reader->source.feed;

	return reader_open(reader->path, &options, feed ? &feed->clock : NULL, out, err);
}

/* Has the filter know of all spans, if it asks for any. 0 or -errno with err filled. */
static int reader_filter_spans(struct ktr_reader *reader, struct ktr__filter *filter, struct ktr_error *err)
{
	struct ktr__filter_spans *spans = ktr__filter_spans(filter);
	struct ktr_reader *again;
	int rc;

	if (!spans)
		return 0;
	if (reader->source.follow)
		return ktr_error_at(err, NULL, 0, 1, EINVAL,
				    "how long a span takes is known at its end: nothing that is followed can be filtered by it");
	rc = reader_again(reader, &again, err);
	if (!rc)
		rc = ktr__filter_spans_walk(spans, again, err);
	ktr_reader_close(again);
	return rc;
}

int ktr_reader_filter(struct ktr_reader *reader, const char *text, struct ktr_error *err)
{
	struct ktr__event_source *source = &reader->source;
	struct ktr__filter *filter = NULL;
	int rc;

	if (reader->failed)
		return reader->failed;
	if (text) {
		struct ktr_error why = KTR_ERROR_NONE;

		rc = ktr__filter_new(text, &source->tables, &source->info, source->follow, &filter, &why);
		if (!rc)
			rc = reader_filter_spans(reader, filter, &why);
		if (rc)
			ktr__filter_free(filter);
		if (rc)
			return ktr_error_at(err, NULL, 0, why.column, -rc, "%s", why.text);
		if (why.code)
			ktr__source_note(source, 0, "filter, column %u: %s, so far", why.column, why.text);
	}
	ktr__filter_free(source->filter);
	source->filter = filter;
	source->never = filter ? ktr__filter_never(filter, &source->n_never) : NULL;
	reader_spare(reader);
	rc = reader_refilter(reader);
	return rc ? ktr_error_at(err, reader->path, 0, 0, -rc, "%s", strerror(-rc)) : 0;
}

uint64_t ktr_reader_n_filtered(const struct ktr_reader *reader)
{
	return reader->source.n_filtered;
}

static inline int reader_tell(int what, struct ktr_reader *reader, struct ktr_sink *sink)
{
	switch (what) {
	case KTR_READ_EVENT:
		return sink->event ? sink->event(sink, &reader->last->event) : 0;
	case KTR_READ_LOSS:
		return sink->loss ? sink->loss(sink, ktr_reader_loss(reader)) : 0;
	default:
		return sink->note ? sink->note(sink, ktr_reader_note(reader)) : 0;
	}
}

int ktr_reader_walk(struct ktr_reader *reader, struct ktr_sink *const *sinks, unsigned n_sinks)
{
	int what, rc;

	while ((what = reader_step(reader)) > 0)
		for (unsigned i = 0; i < n_sinks; i++) {
			rc = reader_tell(what, reader, sinks[i]);
			if (rc)
				return rc;
		}
	return what;
}

const struct ktr_reader_info *ktr_reader_info(const struct ktr_reader *reader)
{
	return &reader->source.info;
}

unsigned ktr_reader_n_sites(const struct ktr_reader *reader)
{
	return reader->source.tables.n_sites;
}

const struct ktr_reader_site *ktr_reader_site(const struct ktr_reader *reader, uint32_t id)
{
	const struct ktr__tables *tables = &reader->source.tables;

	return id < tables->n_sites ? tables->site[id] : NULL;
}

unsigned ktr_reader_n_threads(const struct ktr_reader *reader)
{
	return reader->source.tables.n_threads;
}

const struct ktr_reader_thread *ktr_reader_thread(const struct ktr_reader *reader, uint32_t id)
{
	const struct ktr__tables *tables = &reader->source.tables;

	return id < tables->n_threads && tables->thread[id] ? &tables->thread[id]->thread : NULL;
}

const char *ktr_reader_class_name(const struct ktr_reader *reader, unsigned bit)
{
	return bit < KTR_CLASS_MAX ? reader->source.tables.class_name[bit] : NULL;
}

const struct ktr__tables *ktr__reader_tables(const struct ktr_reader *reader)
{
	return &reader->source.tables;
}

struct ktr__symbols *ktr__reader_symbols(struct ktr_reader *reader)
{
	if (!reader->symbols)
		reader->symbols = ktr__symbols_new(&reader->source.tables);
	return reader->symbols;
}

const struct ktr_loss *ktr_reader_loss(const struct ktr_reader *reader)
{
	return &reader->said.u.loss;
}

const struct ktr_note *ktr_reader_note(const struct ktr_reader *reader)
{
	return &reader->said.u.note;
}

const struct ktr_error *ktr_reader_error(const struct ktr_reader *reader)
{
	return &reader->error;
}
