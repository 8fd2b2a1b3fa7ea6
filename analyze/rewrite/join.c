/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins file and session, reading only; writer/resume.c does the same for good.
 *
 * The last whole packet of a stream tells all that its writer knew: the next slot, the running number
 * of the next event (hence how many continuations lie before that slot), the time. A torn packet
 * after it is left out of the walk: its events come out of the ring. Where a ring of a session
 * that lives has been overrun since its file was looked at, nothing is taken from it: the writer has
 * what is missing, and the file's end is where the walk ends.
 */
#include "analyze/rewrite/join.h"

#include "analyze/read/sidecar.h"
#include "analyze/read/source.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_set.h"
#include "analyze/session/session_feed.h"
#include "analyze/session/session_source.h"
#include "ktr/session/session_find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct join_search {
	const uint8_t *uuid;
	char *path;
	size_t size;
};

static int join_is_it(void *context, const char *path, const char *name)
{
	struct join_search *search = context;
	struct ktr__session_map map;
	int found;

	(void)name;
	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	found = memcmp(map.header.uuid, search->uuid, sizeof(map.header.uuid)) == 0;
	ktr__map_close(&map);
	if (found)
		snprintf(search->path, search->size, "%s", path);
	return found;
}

int ktr__join_find(const uint8_t uuid[16], char *path, size_t size, struct ktr_error *err)
{
	struct join_search search = { uuid, path, size };
	int rc = ktr__session_walk(join_is_it, &search, err);

	return rc > 0 ? 0 : rc ? rc : -ENOENT;
}

/*
 * The last packet of a stream, as its files are now, and where it ends. A stream that has none keeps
 * magic 0. 0 or -errno.
 */
static int join_last(struct ktr__trace_cursor *t)
{
	struct ktr__trace_set *set = t->c.source->set;
	const uint8_t *bytes;

	memset(&t->last, 0, sizeof(t->last));
	t->last_end = 0;
	for (unsigned i = t->n_parts; i-- && !t->last.magic;) {
		struct ktr__trace_dir *member = &set->member[t->part[i].member];
		struct ktr__packets file;
		int64_t at, n = 0;
		int entered = ktr__set_enter(set, member, t->c.source->info.path), rc;

		rc = entered < 0 ? entered : -ENOENT;
		if (member->dir_fd >= 0)
			rc = ktr__packets_open(&file, member->dir_fd, t->name);
		if (entered > 0)
			ktr__set_leave(member);
		if (rc == -ENOENT)
			continue; /* it stayed empty, and its writer has taken it away; or it was removed */
		if (rc)
			return rc;
		if (file.n_bytes > t->part[i].n_bytes)
			file.n_bytes = t->part[i].n_bytes;
		ktr__packets_unwritten(&file);
		at = ktr__packets_before(&file, file.n_bytes);
		if (at >= 0)
			n = ktr__packets_load(&file, (uint64_t)at, &bytes, &t->last);
		ktr__packets_close(&file);
		if (n < 0 || (at < 0 && at != -ENOENT))
			return n < 0 ? (int)n : (int)at;
		if (at >= 0 && i == t->n_parts - 1)
			t->last_end = (uint64_t)(at + n);
	}
	return 0;
}

struct join {
	struct ktr__event_source *source;
	struct ktr__session_start *start;
	uint32_t n;         /* rings, of all kinds */
	uint32_t n_rings;   /* of each kind */
	const char *prefix; /* of streams */
};

/* "cpu_0.keep" to its ring, or n. */
static uint32_t join_ring(const struct join *j, const char *stream)
{
	size_t n_prefix = strlen(j->prefix);
	unsigned long number;
	unsigned kind;
	char *end;

	if (strncmp(stream, j->prefix, n_prefix) != 0)
		return j->n;
	number = strtoul(stream + n_prefix, &end, 10);
	if (number >= j->n_rings)
		return j->n;
	kind = ktr__stream_kind(end);
	return kind < KTR_RING_KINDS && number + kind * j->n_rings < j->n
		       ? (uint32_t)number + kind * j->n_rings
		       : j->n;
}

static void join_dropped(void *context, const char *stream, uint64_t n_events)
{
	const struct join *j = context;
	uint32_t ring = join_ring(j, stream);

	if (ring < j->n)
		j->start[ring].dropped += n_events;
}

static void join_from(void *context, uint32_t ring, uint64_t slot, uint64_t index)
{
	const struct join *j = context;

	if (ring >= j->n || index > slot)
		return;
	j->start[ring].cursor = (struct ktr__ring_cursor){ ring, 1, slot, slot - index, slot, 0 };
	j->start[ring].index = index;
}

/* What a directory says of where streams begin in it, or else of what was dropped. 0 or -errno. */
static int join_member(struct join *j, unsigned i, int from)
{
	struct ktr__trace_dir *member = &j->source->set->member[i];
	int entered = ktr__set_enter(j->source->set, member, j->source->info.path), rc;
	struct ktr__lines lines = ktr__set_lines(j->source, member, NULL);

	if (entered < 0 || member->dir_fd < 0)
		return entered < 0 ? entered : 0;
	rc = from ? ktr__sidecar_from(&lines, join_from, j) : ktr__sidecar_dropped(&lines, join_dropped, j);
	if (entered)
		ktr__set_leave(member);
	return rc;
}

/* Where each ring's reading begins. 0, -EPROTO when the session contradicts the trace, or -errno. */
static int join_starts(struct join *j, int complete)
{
	struct ktr__event_source *source = j->source;
	unsigned last = source->set->n - 1;
	int rc;

	for (uint32_t i = 0; i < j->n; i++) {
		struct ktr__ring_cursor all = KTR__RING_FROM_START(i);
		struct ktr__ring_cursor oldest = KTR__RING_FROM_OLDEST(i);

		j->start[i].cursor = complete ? all : oldest;
	}
	/* What lies before that was in pieces, of which some may not be there any more. */
	rc = source->set->member[last].head.complete ? 0 : join_member(j, last, 1);
	for (unsigned i = 0; i < source->n_cursors && !rc; i++) {
		struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		uint32_t ring = join_ring(j, t->name);
		uint64_t index;

		rc = join_last(t);
		index = t->last.first_event + t->last.n_events;
		if (rc || ring >= j->n || !t->last.magic)
			continue;
		if (t->last.ring != ring || t->last.next_slot < index)
			return -EPROTO;
		if (j->start[ring].index > index)
			continue;
		j->start[ring] = (struct ktr__session_start){
			.cursor = { ring, 1, t->last.next_slot, t->last.next_slot - index,
				    t->last.next_slot, 0 },
			.index = index,
			.time_ns = t->last.time_end,
		};
	}
	for (unsigned i = 0; i < source->set->n && !rc; i++)
		rc = join_member(j, i, 0);
	return rc;
}

/* What lies after the last packets is in the rings, and left out of the files. */
static void join_trim(struct ktr__event_source *source, unsigned n_cursors)
{
	for (unsigned i = 0; i < n_cursors; i++) {
		struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		struct ktr__trace_part *part = t->n_parts ? &t->part[t->n_parts - 1] : NULL;

		if (!part || part->member != source->set->n - 1)
			continue;
		part->n_bytes = t->last_end;
		if (t->opened && t->at_part == t->n_parts - 1)
			t->file.n_bytes = t->last_end;
	}
}

static void join_say(struct ktr__event_source *source, const char *session)
{
	const char *path = source->set->member[source->set->n - 1].path;
	const struct ktr__session_feed *feed = source->feed;
	uint64_t n_events = 0, n_lost = 0;

	for (uint32_t i = 0; i < feed->n_rings; i++)
		if (feed->cursor[i]) {
			n_events += feed->cursor[i]->n_events;
			n_lost += feed->cursor[i]->n_lost;
		}
	if (feed->alive > 0)
		ktr__source_note(
			source, 0,
			"%s: the trace is still being written; %llu newer events come from "
			"session %s",
			path, (unsigned long long)n_events, session);
	else
		ktr__source_note(source, 0,
				 "%s: whoever wrote the trace was killed; joined with session %s: "
				 "%llu more events, %llu lost",
				 path, session, (unsigned long long)n_events,
				 (unsigned long long)n_lost);
}

/* The session is found: 0 or -errno. */
static int join_session(struct ktr__event_source *source, const struct ktr__trace_head *head,
			struct ktr__session_map *map, const char *path)
{
	const struct ktr_header *header = &map->header;
	unsigned n_cursors = source->n_cursors;
	struct join j = { .source = source,
			  .n = ktr__header_n_ring_rows(header),
			  .n_rings = header->n_rings,
			  .prefix = header->path == KTR_PATH_THREAD ? KTR_STREAM_RING
								    : KTR_STREAM_CPU };
	char name[sizeof(header->name) + 1] = "";
	int rc;

	memcpy(name, header->name, sizeof(header->name));
	j.start = calloc(j.n ? j.n : 1, sizeof(*j.start));
	rc = j.start ? join_starts(&j, source->set->member[0].head.complete) : -ENOMEM;
	if (rc)
		ktr__map_close(map);
	else
		rc = ktr__session_feed(source, map, path, j.start, &head->clock, NULL);
	free(j.start);
	if (rc)
		return rc;
	join_trim(source, n_cursors);
	join_say(source, name);
	return 0;
}

static void join_unfinished(struct ktr__event_source *source, const struct ktr__trace_dir *member)
{
	if (member->head.is_written)
		ktr__source_note(source, 0, "%s: the trace is still being written", member->path);
	else
		ktr__source_note(
			source, 0,
			"%s: the trace was not finished: whoever wrote it was killed, and the last "
			"events may be missing",
			member->path);
}

/* Threads go on while their process ends: a session that has more than the trace, which has its end, stays. */
static bool join_is_late(const struct ktr__session_map *map)
{
	struct ktr_control control;

	return ktr__map_control(map, &control) == 0 && control.keep_session == KTR_KEEP_UNWRITTEN &&
	       control.writer_ends == KTR_WRITER_LEAVES;
}

int ktr__join(struct ktr__event_source *source, struct ktr_error *err)
{
	static const uint8_t none[16];
	const struct ktr__trace_dir *last = &source->set->member[source->set->n - 1];
	struct ktr__session_map map;
	char path[PATH_MAX];
	int rc = -ENOENT;

	if (last->number != KTR__SET_LIVE || source->set->is_joined || !ktr__set_has_name(last) ||
	    (source->follow && (last->head.has_ended || last->head.is_written)))
		return 0;
	if (!source->alone && last->head.clock.mult && memcmp(last->head.uuid, none, 16) != 0)
		rc = ktr__join_find(last->head.uuid, path, sizeof(path), NULL);
	if (!rc)
		rc = ktr__map_open(path, KTR__MAP_OWN, &map, NULL);
	if (last->head.has_ended && (rc || !join_is_late(&map))) {
		if (!rc)
			ktr__map_close(&map);
		return 0;
	}
	source->set->is_joined = 1;
	if (!rc)
		rc = join_session(source, &last->head, &map, path);
	if (rc == -ENOMEM)
		return ktr_error_at(err, last->path, 0, 0, ENOMEM, "no memory");
	if (rc)
		join_unfinished(source, last);
	return 0;
}
