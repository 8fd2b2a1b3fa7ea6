/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace as a source: one cursor per stream, through all directories that rotation has made.
 *
 * The lengths of files are fixed before the sidecars are read: a call site is described before its
 * first packet is written, so that all sites of what will be read are known. The youngest directory
 * describes everything; older ones are asked only where it is damaged.
 *
 * Followed, files are looked at again: a stream that has grown, a directory that rotation has begun,
 * the session of a writer that has died. The streams of a directory that rotation has left behind
 * were complete before it was moved.
 */
#include "analyze/read/trace_source.h"

#include "analyze/follow/watch.h"
#include "analyze/follow/writer_progress.h"
#include "analyze/read/sidecar.h"
#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_back.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_losses.h"
#include "analyze/read/trace_part.h"
#include "analyze/read/trace_set.h"
#include "analyze/rewrite/join.h"
#include "analyze/session/session_source.h"
#include "ktr/session/drop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRACE_ASK_NS 200000000ull /* between two questions whether somebody writes it still */

static void trace_source_close(struct ktr__cursor *cursor)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);

	ktr__packets_close(&t->file);
	if (t->back)
		free(t->back->mark);
	free(t->back);
	free(t->part);
	free(t);
}

void ktr__trace_source_close(struct ktr__event_source *source)
{
	if (source->set) {
		ktr__trace_losses_free(source->set->losses);
		ktr__writer_progress_close(source->set->progress);
		ktr__set_close(source->set);
	}
	free(source->set);
	source->set = NULL;
}

int ktr__trace_is_stream(const char *name, uint32_t *number, uint32_t *kind)
{
	const char *digits;
	unsigned long n;
	char *end;

	if (strncmp(name, KTR_STREAM_CPU, strlen(KTR_STREAM_CPU)) == 0)
		digits = name + strlen(KTR_STREAM_CPU);
	else if (strncmp(name, KTR_STREAM_RING, strlen(KTR_STREAM_RING)) == 0)
		digits = name + strlen(KTR_STREAM_RING);
	else
		return 0;
	if (*digits < '0' || *digits > '9' || strlen(digits) > 16)
		return 0;
	n = strtoul(digits, &end, 10);
	*kind = ktr__stream_kind(end);
	*number = (uint32_t)n;
	return n < UINT32_MAX && *kind < KTR_RING_KINDS;
}

/*
 * What the ends of a part tell: the span, what was lost, which processors there are. On the thread
 * path a packet may be of any processor: there all headers are looked at. 0 or -errno.
 */
static int trace_source_survey(struct ktr__trace_cursor *t, struct ktr__packets *file,
			       struct ktr__trace_part *part)
{
	struct ktr__event_source *source = t->c.source;
	struct ktr_packet_header head;
	const uint8_t *bytes;
	int64_t at = 0, n = ktr__packets_load(file, 0, &bytes, &head);

	part->n_bytes = file->n_bytes;
	if (n == 0 || n == -EBADMSG || n == -ENOTSUP) {
		at = ktr__packets_find(file, 0);
		if (at < 0 || (uint64_t)at >= file->n_bytes)
			return at < 0 ? (int)at : 0;
		n = ktr__packets_load(file, (uint64_t)at, &bytes, &head);
	}
	if (n <= 0)
		return (int)n;
	part->first_ns = head.time_begin;
	while ((head.flags & KTR_PACKET_THREAD) && n > 0) {
		if (head.cpu < KTR_CPU_MAX)
			ktr__source_cpu(source, head.cpu);
		at += n;
		n = ktr__packets_load(file, (uint64_t)at, &bytes, &head);
	}
	at = ktr__packets_before(file, file->n_bytes);
	n = at < 0 ? at : ktr__packets_load(file, (uint64_t)at, &bytes, &head);
	if (n <= 0)
		return n == -ENOENT ? 0 : (int)n;
	if (head.cpu < KTR_CPU_MAX)
		ktr__source_cpu(source, head.cpu);
	part->last_ns = head.time_end;
	if (part->first_ns <= head.time_end)
		ktr__source_span(source, part->first_ns, head.time_end);
	source->info.n_lost += head.discarded;
	t->last = head;
	t->last_end = (uint64_t)(at + n);
	return 0;
}

/* The cursor of a stream, made if there is none yet. NULL without memory. */
static struct ktr__trace_cursor *trace_source_cursor(struct ktr__event_source *source, const char *name,
						     uint32_t number, unsigned kind)
{
	struct ktr__trace_cursor *t;
	int rc = 0;

	for (unsigned i = 0; i < source->n_cursors; i++)
		if (source->cursor[i]->close == trace_source_close &&
		    strcmp(ktr__trace_of(source->cursor[i])->name, name) == 0)
			return ktr__trace_of(source->cursor[i]);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->c.source = source;
	t->c.close = trace_source_close;
	t->c.waits = 1;
	t->file.fd = -1;
	t->number = number;
	t->kind = kind;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)sizeof(t->name) - 1, name);
	if (source->reverse)
		rc = ktr__trace_reverse(t);
	else
		ktr__trace_forward(t);
	if (rc) {
		trace_source_close(&t->c);
		return NULL;
	}
	return ktr__source_add(source, &t->c) ? NULL : t;
}

/* Follow: remembers how long the last part is now. */
static void trace_source_grown(struct ktr__trace_cursor *t, uint64_t n_bytes, uint64_t now_ns)
{
	struct ktr__trace_part *part = &t->part[t->n_parts - 1];

	if (t->n_grown == KTR__TRACE_GROWN)
		memmove(&t->grown[0], &t->grown[1], --t->n_grown * sizeof(t->grown[0]));
	t->grown[t->n_grown++] = (struct ktr__trace_grown){ n_bytes, now_ns };
	part->n_bytes = n_bytes;
	if (t->opened && t->at_part == t->n_parts - 1)
		t->file.n_bytes = n_bytes;
}

/*
 * Adds the file that a stream has in a directory. One that has gone since it was listed was empty: its
 * writer, closing the trace, has taken it away. 0 or -errno.
 */
static int trace_source_add(struct ktr__event_source *source, unsigned member, const char *name,
			    uint32_t number, unsigned kind)
{
	struct ktr__trace_part part = { .member = member };
	struct ktr__trace_cursor *t;
	struct ktr__packets file;
	int rc = ktr__packets_open(&file, source->set->member[member].dir_fd, name);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	file.patience = source->set->member[member].head.is_written ? KTR__PACKETS_PATIENCE : 0;
	if (!source->set->member[member].head.has_ended)
		ktr__packets_unwritten(&file);
	t = trace_source_cursor(source, name, number, kind);
	rc = t ? trace_source_survey(t, &file, &part) : -ENOMEM;
	ktr__packets_close(&file);
	if (!rc) {
		t->n_grown = 0;
		rc = ktr__trace_add_part(t, &part);
	source->n_bytes += part.n_bytes;
	}
	/* What is in it has come just now, as far as we know. */
	if (!rc && source->follow && source->set->member[member].head.is_written)
		trace_source_grown(t, part.n_bytes, ktr__watch_now());
	return rc;
}

/* By number, the main ring before the keep ring and that of the kernel. */
static int trace_source_compare(const struct dirent **a, const struct dirent **b)
{
	uint32_t m = 0, n = 0;
	unsigned kind;

	ktr__trace_is_stream((*a)->d_name, &m, &kind);
	ktr__trace_is_stream((*b)->d_name, &n, &kind);
	return m != n ? (m > n) - (m < n) : strcmp((*a)->d_name, (*b)->d_name);
}

/* Does the stream have a file in this directory already? */
static int trace_source_has(const struct ktr__event_source *source, unsigned member, const char *name)
{
	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);

		if (source->cursor[i]->close == trace_source_close && strcmp(t->name, name) == 0 &&
		    t->n_parts && t->part[t->n_parts - 1].member == member)
			return 1;
	}
	return 0;
}

/*
 * Streams that a directory tells of and that have no file yet: all they had is gone, which is known when they are
 * come to. 0 or -ENOMEM.
 */
static int trace_source_silent(struct ktr__event_source *source, unsigned member)
{
	const struct ktr__trace_from *from = source->set->member[member].head.from;

	for (; from && (source->follow || source->kept); from = from->next) {
		struct ktr__trace_cursor *t = trace_source_cursor(source, from->name, from->number, from->kind);

		if (!t)
			return -ENOMEM;
		if (t->n_parts || strncmp(from->name, KTR_STREAM_CPU, strlen(KTR_STREAM_CPU)) != 0 ||
		    from->number >= KTR_CPU_MAX)
			continue;
		t->head.cpu = from->number;
		ktr__source_cpu(source, from->number);
	}
	return 0;
}

/* Adds the streams of a directory that are not there yet. 0 or -errno with err filled. */
static int trace_source_streams(struct ktr__event_source *source, unsigned member, struct ktr_error *err)
{
	const char *path = source->set->member[member].path;
	struct dirent **names = NULL;
	int n = scandirat(source->set->member[member].dir_fd, ".", &names, NULL, trace_source_compare), rc = 0;

	if (n < 0)
		return ktr_error_at(err, path, 0, 0, errno, "%s", strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		uint32_t number;
		unsigned kind;

		if (!rc && ktr__trace_is_stream(name, &number, &kind) &&
		    !trace_source_has(source, member, name)) {
			rc = trace_source_add(source, member, name, number, kind);
			if (rc)
				ktr_error_at(err, path, 0, 0, -rc, "%s: %s", name, strerror(-rc));
		}
		free(names[i]);
	}
	free(names);
	return rc ? rc : trace_source_silent(source, member);
}

/*
 * The tables, of the last directory; if something of it is damaged, what older ones know is put under
 * it. 0 or -errno with err filled.
 */
static int trace_source_tables(struct ktr__event_source *source, struct ktr_error *err)
{
	struct ktr__trace_set *set = source->set;
	struct ktr__lines lines = ktr__set_lines(source, &set->member[set->n - 1], err);
	int rc;

	if (source->follow)
		lines.at = &set->at;
	rc = ktr__sidecar_tables(&lines);
	source->quiet = 1;
	for (unsigned i = 0; i < set->n && !rc && lines.n_bad; i++) {
		struct ktr__lines again = ktr__set_lines(source, &set->member[i], err);

		rc = ktr__sidecar_tables(&again);
	}
	source->quiet = 0;
	return rc ? rc : ktr__trace_metadata(&lines);
}

static void trace_source_info(struct ktr__event_source *source)
{
	const struct ktr__trace_head *head = &source->set->member[source->set->n - 1].head;
	struct ktr_reader_info *info = &source->info;

	info->name = head->name;
	info->host = head->host;
	info->cmdline = head->cmdline;
	info->clock = head->clock_name;
	info->utc_offset_ns = head->utc_offset_ns;
	memcpy(info->uuid, head->uuid, sizeof(info->uuid));
	memcpy(info->boot_id, head->boot_id, sizeof(info->boot_id));
	info->utc_spread_ns = UINT64_MAX;
}

/* Does a trace that says how much it holds hold as much? */
static void trace_source_count(struct ktr__event_source *source)
{
	const struct ktr__trace_dir *member = &source->set->member[0];
	uint64_t n = 0;

	if (source->set->n > 1 || !member->head.has_ended || !member->head.complete)
		return;
	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr_packet_header *last = &ktr__trace_of(source->cursor[i])->last;

		n += last->first_event + last->n_events;
	}
	if (n < member->head.n_written)
		ktr__source_note(source, 1,
				 "%s: the ends of its streams are missing: of %llu events %llu",
				 member->path, (unsigned long long)member->head.n_written,
				 (unsigned long long)(member->head.n_written - n));
}

/* What went into no ring: no packet says so. The session of a writer that was killed may know of more. */
static void trace_source_dropped(struct ktr__event_source *source, const char *path)
{
	const struct ktr__trace_set *set = source->set;
	uint64_t n_events[KTR_DROPS] = { 0 }, by_then[KTR_DROPS] = { 0 }, now[KTR_DROPS];

	for (unsigned i = 0; i < set->n; i++)
		for (unsigned d = 0; d < KTR_DROPS; d++) {
			const struct ktr__trace_head *head = &set->member[i].head;

			n_events[d] += head->n_dropped[d];
			if (head->n_dropped_by_then[d] > by_then[d])
				by_then[d] = head->n_dropped_by_then[d];
		}
	if (source->feed) {
		ktr__dropped(&source->feed->control, now);
		for (unsigned d = 0; d < KTR_DROPS; d++)
			n_events[d] += now[d] > by_then[d] ? now[d] - by_then[d] : 0;
	}
	ktr__source_dropped(source, path, n_events);
}

static int trace_source_open(struct ktr__event_source *source, const char *path, struct ktr_error *err)
{
	struct ktr__trace_clocks clocks = { 0 };
	struct ktr__trace_set *set = source->set;
	int rc = ktr__set_open(source, set, path, source->alone, err);

	if (rc)
		return rc;
	trace_source_info(source);
	for (unsigned i = 0; i < set->n && !rc; i++)
		rc = trace_source_streams(source, i, err);
	if (!rc)
		trace_source_count(source);
	if (!rc)
		rc = ktr__join(source, err);
	if (!rc)
		trace_source_dropped(source, path);
	if (!rc)
		rc = trace_source_tables(source, err);
	if (!rc && set->n == 1 && set->member[0].head.is_rewritten) {
		struct ktr__lines lines = ktr__set_lines(source, &set->member[0], err);

		rc = ktr__trace_losses_read(&set->losses, &lines);
	}
	for (unsigned i = 0; i < set->n && !rc; i++) {
		struct ktr__lines lines = ktr__set_lines(source, &set->member[i], err);

		rc = ktr__trace_clocks(&lines, &set->member[i].head, &clocks);
	}
	if (clocks.n > 1)
		source->info.utc_spread_ns = (uint64_t)clocks.most_ns - (uint64_t)clocks.least_ns;
	return rc;
}

int ktr__trace_source(struct ktr__event_source *source, const char *path, struct ktr_error *err)
{
	const struct ktr__trace_head *head;
	int rc;

	source->info.kind = KTR_SOURCE_TRACE;
	source->info.path = path;
	source->set = calloc(1, sizeof(*source->set));
	if (!source->set)
		return -ENOMEM;
	rc = trace_source_open(source, path, err);
	if (rc || !source->follow)
		return rc;
	head = &source->set->member[source->set->n - 1].head;
	if (head->is_written)
		source->set->progress = ktr__writer_progress_open(head->uuid,
						     source->set->member[0].head.complete);
	return 0;
}

/* ---- follow ---- */

/* A file that has become shorter, be it by a repair: what was read of it was read. */
static void trace_source_shrunk(struct ktr__trace_cursor *t, uint64_t n_bytes, uint64_t now_ns)
{
	const struct ktr__trace_dir *member = &t->c.source->set->member[t->part[t->n_parts - 1].member];

	ktr__source_note(t->c.source, 0, "%s/%s: was cut to %llu bytes", member->path, t->name,
			 (unsigned long long)n_bytes);
	trace_source_grown(t, n_bytes, now_ns);
	if (t->opened && t->at_part == t->n_parts - 1 && t->next > n_bytes)
		t->next = n_bytes;
}

/* Looks how long the files of the last directory are. Returns how many have grown. */
static unsigned trace_source_look(struct ktr__event_source *source, unsigned member, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < source->n_cursors; i++) {
		struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		struct stat st;

		if (source->cursor[i]->close != trace_source_close || !t->n_parts ||
		    t->part[t->n_parts - 1].member != member)
			continue;
		t->part[t->n_parts - 1].is_cut =
			fstatat(source->set->member[member].dir_fd, t->name, &st, AT_SYMLINK_NOFOLLOW) != 0;
		if (t->part[t->n_parts - 1].is_cut)
			continue;
		if ((uint64_t)st.st_size > t->part[t->n_parts - 1].n_bytes) {
			trace_source_grown(t, (uint64_t)st.st_size, now_ns);
			n++;
		} else if ((uint64_t)st.st_size < t->part[t->n_parts - 1].n_bytes) {
			trace_source_shrunk(t, (uint64_t)st.st_size, now_ns);
		}
	}
	return n;
}

/* Everything new in the last directory. 0 or -errno. */
static int trace_source_look_again(struct ktr__event_source *source, uint64_t now_ns, int all)
{
	struct ktr__trace_set *set = source->set;
	unsigned member = set->n - 1, n = trace_source_look(source, member, now_ns);
	struct stat st;
	int rc = 0;

	if (fstat(set->member[member].dir_fd, &st) == 0 &&
	    (all || st.st_mtim.tv_sec != set->changed.tv_sec ||
	     st.st_mtim.tv_nsec != set->changed.tv_nsec)) {
		set->changed = st.st_mtim;
		rc = trace_source_streams(source, member, NULL);
		n++;
	}
	if (!rc && n) {
		struct ktr__lines lines = ktr__set_lines(source, &set->member[member], NULL);

		lines.at = &set->at;
		lines.at->offset[KTR_SIDECAR_PROCS] = 0; /* threads name their processes */
		rc = ktr__sidecar_tables(&lines);
	}
	return rc;
}

/* The same; of one that was removed, what was kept of it: also if it is removed while it is looked at. */
static int trace_source_more(struct ktr__event_source *source, uint64_t now_ns, int all)
{
	struct ktr__trace_set *set = source->set;
	struct ktr__trace_dir *last = &set->member[set->n - 1];
	int rc;

	do
		rc = trace_source_look_again(source, now_ns, all);
	while (!rc && ktr__set_is_removed(last) && ktr__set_use_kept(set, last));
	return rc;
}

/* The first directory that something is to be read of; a look is over, and all cursors have been asked since. */
static unsigned trace_source_first(const struct ktr__event_source *source)
{
	unsigned first = source->set->n - 1;

	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		unsigned at = t->opened ? t->at_part : 0;

		/* One that waits has handed out all that the directories before the last have of it. */
		if (source->cursor[i]->close == trace_source_close && t->n_parts && (!t->opened || !t->c.waits) &&
		    t->part[at].member < first)
			first = t->part[at].member;
	}
	return first;
}

uint32_t ktr__trace_source_oldest(const struct ktr__event_source *source)
{
	const struct ktr__trace_set *set = source->set;
	unsigned first = set ? trace_source_first(source) : 0;

	if (!set || set->member[first].number != KTR__SET_LIVE)
		return set ? set->member[first].number : 0;
	/* It may have been moved aside since it was looked at: its number is above that of the one before. */
	return first ? set->member[first - 1].number + 1 : 0;
}

/* Closes what has been read of directories that rotation has left behind: nothing comes to them any more. */
static void trace_source_leave(struct ktr__event_source *source)
{
	struct ktr__trace_set *set = source->set;
	unsigned first = trace_source_first(source);

	for (unsigned i = 0; i < source->n_cursors; i++) {
		struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);

		if (source->cursor[i]->close == trace_source_close && t->opened && t->c.waits &&
		    t->part[t->at_part].member < set->n - 1)
			ktr__packets_close(&t->file);
	}
	while (first-- && set->member[first].dir_fd >= 0)
		ktr__set_leave(&set->member[first]);
}

int ktr__trace_refresh(struct ktr__event_source *source, uint64_t now_ns)
{
	struct ktr__trace_set *set = source->set;
	int rc, moved;

	trace_source_leave(source);
	if (set->progress)
		ktr__writer_progress_look(set->progress);
	do {
		struct ktr__trace_dir *last;

		/* The streams of a directory that has been left are complete: this comes first. */
		moved = ktr__set_next(source, set, source->info.path);
		if (moved > 0)
			set->n--;
		rc = trace_source_more(source, now_ns, moved != 0);
		if (moved > 0) {
			set->n++;
			memset(&set->at, 0, sizeof(set->at));
			memset(&set->changed, 0, sizeof(set->changed));
		}
		last = &set->member[set->n - 1];
		if (!rc && !moved && !last->head.has_ended &&
		    now_ns - set->asked_ns >= TRACE_ASK_NS) {
			struct ktr__lines lines = ktr__set_lines(source, last, NULL);

			lines.at = &set->at;
			set->asked_ns = now_ns;
			rc = ktr__trace_head_again(&lines, &last->head);
		}
	} while (!rc && moved > 0);
	if (!rc && !moved && !set->member[set->n - 1].head.is_written)
		rc = ktr__join(source, NULL);
	if (!rc && source->feed)
		rc = ktr__session_refresh(source, now_ns);
	if (!rc)
		rc = ktr__tables_finish(&source->tables);
	return rc < 0 ? rc : moved == -ESTALE ? KTR__SOURCE_OVER : 0;
}
