/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens readers: what a path names becomes a source with its cursors, and the walk begins. */
#include "analyze/read/reader_inside.h"

#include "analyze/read/tables.h"
#include "analyze/read/trace_set.h"
#include "analyze/read/trace_source.h"
#include "analyze/session/core_source.h"
#include "analyze/session/session_feed.h"
#include "analyze/session/session_source.h"
#include "analyze/session/session_tables.h"
#include "analyze/symbols/symbols.h"

#include <ktr/trace_file.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READER_OPEN_AGAIN 20 /* openings of a trace of which something was removed meanwhile */

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
static void reader_open_judge(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	for (unsigned i = source->queue.first; i < source->queue.n; i++)
		source->undecodable |= source->queue.item[i].what == KTR_READ_NOTE &&
				 source->queue.item[i].u.note.damaged;
}

/* As reader_open_again(). *gone: something of the trace was removed meanwhile. */
static int reader_open_once(const char *path, const struct ktr_reader_options *all,
			    const struct ktr_trace_clock *clock, const char *kept, struct ktr_reader **out,
			    struct ktr_error *err, int *gone)
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
	reader->source.kept = kept;
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
	reader_open_judge(reader);
	if (!rc)
		rc = ktr__merge_room(&reader->merge, reader->source.n_cursors);
	if (!rc)
		rc = ktr__reader_start(reader, all->from_ns, all->to_ns, 0);
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
static int reader_open_again(const char *path, const struct ktr_reader_options *options,
		       const struct ktr_trace_clock *clock, const char *kept, struct ktr_reader **out,
		       struct ktr_error *err)
{
	struct ktr_reader_options all = { .size = sizeof(all) };
	struct ktr_error why = KTR_ERROR_NONE;
	int rc, gone;

	*out = NULL;
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	for (unsigned i = 0;; i++) {
		rc = reader_open_once(path, &all, clock, kept, out, &why, &gone);
		if (!gone || i == READER_OPEN_AGAIN)
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
	return reader_open_again(path, options, NULL, NULL, out, err);
}

int ktr__reader_open_kept(const char *path, const struct ktr_reader_options *options, const char *key,
			  struct ktr_reader **out, struct ktr_error *err)
{
	return reader_open_again(path, options, NULL, key, out, err);
}

int ktr__reader_again(const struct ktr_reader *reader, struct ktr_reader **out, struct ktr_error *err)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .alone = reader->source.alone };
	const struct ktr__session_feed *feed = reader->source.feed;

	return reader_open_again(reader->path, &options, feed ? &feed->clock : NULL, reader->source.kept, out, err);
}

void ktr_reader_close(struct ktr_reader *reader)
{
	if (!reader)
		return;
	ktr__symbols_free(reader->symbols);
	free(reader->code_folder);
	ktr__watch_close(&reader->watch);
	ktr__merge_free(&reader->merge);
	ktr__source_close(&reader->source);
	free(reader->args);
	free(reader->path);
	free(reader);
}
