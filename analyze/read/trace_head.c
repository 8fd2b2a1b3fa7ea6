/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace_head.h. Lines of info.jsonl are few; those of anchors.jsonl many, and read without a parser. */
#include "analyze/read/trace_head.h"

#include "analyze/read/sidecar.h"
#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_source.h"
#include "analyze/rewrite/tsdl.h"
#include "ktr/session/drop.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * Clocks are steered by up to 500 parts in a million (adjtimex(2)), and two readings of them are
 * apart by interrupts: what is more than this was set. [ns], [1/1000000]
 */
#define HEAD_JUMP_NS 2000000
#define HEAD_STEER   500
#define HEAD_DRIFT_NS                                                                              \
	20000000 /* [ns] where the events' clock and CLOCK_MONOTONIC are apart so far, it is told */

struct trace_head {
	struct ktr__lines *lines;
	struct ktr__trace_head *head;
	int is_trace; /* the line with the version has been seen */
	int is_again; /* all has been looked at before */
};

static struct ktr_trace_clock head_clock(uint64_t base_ticks, uint64_t base_ns, uint64_t mult, uint64_t shift)
{
	return (struct ktr_trace_clock){ base_ticks, base_ns, mult & INT64_MAX, (uint32_t)shift & 63, 0 };
}

static int head_trace(struct trace_head *t, const struct ktr__line_trace *line)
{
	static const uint8_t none[16];
	struct ktr__tables *tables = &t->lines->source->tables;
	struct ktr__trace_head *head = t->head;

	if (line->major < KTR_TRACE_OLDEST || line->major > KTR_TRACE_MAJOR)
		return ktr_error_at(t->lines->err, t->lines->path, 0, 0, ENOTSUP,
				    "a trace of format %" PRIu64 ", this ktr reads formats %d to %d",
				    line->major, KTR_TRACE_OLDEST, KTR_TRACE_MAJOR);
	head->format = (uint32_t)line->major;
	head->name = ktr__sidecar_text(tables, line->session);
	head->host = ktr__sidecar_text(tables, line->host);
	head->cmdline = ktr__sidecar_text(tables, line->cmdline);
	head->clock_name = ktr__sidecar_text(tables, line->clock);
	head->utc_offset_ns = line->utc_offset_ns;
	head->clock = head_clock(line->base_ticks, line->base_ns, line->mult, line->shift);
	head->is_rewritten = strcmp(line->writer.text, "weaver") == 0;
	head->complete = line->complete != 0;
	memcpy(head->boot_id, line->boot_id.octet, sizeof(head->boot_id));
	memcpy(head->uuid, line->uuid.octet, sizeof(head->uuid));
	if (!head->name || !head->host || !head->cmdline || !head->clock_name)
		return -ENOMEM;
	t->is_trace = 1;
	return memcmp(head->uuid, none, sizeof(none)) ? 0 : -EINVAL;
}

static void head_dropped(struct ktr__trace_head *head, const struct ktr__line_dropped *line)
{
	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (strcmp(line->why.text, ktr__drop_name(i)) == 0) {
			head->n_dropped[i] += line->events;
			head->n_dropped_by_then[i] = line->total;
		}
}

/* In traces of earlier versions it has no stream. */
static int head_from(struct trace_head *t, const struct ktr__line_from *line)
{
	struct ktr__tables *tables = &t->lines->source->tables;
	struct ktr__trace_from *from;
	uint32_t number, kind;

	if (t->is_again || line->unread || !ktr__trace_is_stream(line->stream.text, &number, &kind))
		return 0;
	from = ktr__arena_alloc(&tables->arena, sizeof(*from));
	if (!from)
		return -ENOMEM;
	*from = (struct ktr__trace_from){ t->head->from, ktr__sidecar_text(tables, line->stream), number, kind,
					  line->slot, line->index };
	t->head->from = from;
	return from->name ? 0 : -ENOMEM;
}

/* A line of a kind, with the members that such a line has. */
static int head_kind(struct trace_head *t, const json_t *row, const char *kind)
{
	struct ktr__line_trace trace;
	struct ktr__line_clock clock;
	struct ktr__line_dropped dropped;
	struct ktr__line_from from;
	struct ktr__line_end end;

	if (strcmp(kind, "trace") == 0 && !t->is_trace) {
		ktr__sidecar_parse(row, ktr__line_trace, &trace);
		return head_trace(t, &trace);
	}
	if (strcmp(kind, "clock") == 0) {
		ktr__sidecar_parse(row, ktr__line_clock, &clock);
		t->head->clock = head_clock(clock.base_ticks, clock.base_ns, clock.mult, clock.shift);
	} else if (strcmp(kind, "dropped") == 0) {
		ktr__sidecar_parse(row, ktr__line_dropped, &dropped);
		head_dropped(t->head, &dropped);
	} else if (strcmp(kind, "from") == 0) {
		ktr__sidecar_parse(row, ktr__line_from, &from);
		return head_from(t, &from);
	} else if (strcmp(kind, "end") == 0) {
		ktr__sidecar_parse(row, ktr__line_end, &end);
		t->head->has_ended = 1;
		t->head->n_written += end.events;
	}
	return 0;
}

static int head_line(void *context, const char *line, size_t n)
{
	json_error_t why;
	json_t *row = json_loadb(line, n, 0, &why);
	const char *kind = json_string_value(json_object_get(row, "kind"));
	int rc = kind ? head_kind(context, row, kind) : -EINVAL;

	json_decref(row);
	return rc;
}

/* Has somebody locked it for writing? */
static int head_is_written(int dir_fd)
{
	int fd = ktr__lines_open(dir_fd, ktr__lines_file(KTR_SIDECAR_INFO)), locked;

	if (fd < 0)
		return 0;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

/* Nothing in info.jsonl tells of a trace: does the metadata? 0 or -errno with err filled. */
static int head_from_metadata(struct ktr__lines *lines, struct ktr__trace_head *head)
{
	const char *info = ktr__lines_file(KTR_SIDECAR_INFO);
	struct ktr__tsdl tsdl;
	int missing = faccessat(lines->dir_fd, info, F_OK, 0) != 0;
	int rc = ktr__tsdl_load(&tsdl, lines->dir_fd);

	if (rc == -ENOENT && missing)
		return ktr_error_at(lines->err, lines->path, 0, 0, EINVAL,
				    "not a trace: it has no %s", info);
	if (!rc)
		rc = ktr__tsdl_head(&tsdl, &lines->source->tables.arena, head);
	ktr__tsdl_free(&tsdl);
	head->is_second_hand = !rc;
	if (!rc)
		ktr__source_note(lines->source, 1,
				 "%s/%s does not describe the trace; the metadata does",
				 lines->path, info);
	else if (missing)
		return ktr_error_at(lines->err, lines->path, 0, 0, EINVAL,
				    "a CTF trace, but not one of ktr: it has no %s", info);
	else if (rc != -ENOMEM)
		return ktr_error_at(lines->err, lines->path, 0, 0, EPROTO,
				    "%s does not describe a trace", info);
	return rc;
}

int ktr__trace_head(struct ktr__lines *lines, struct ktr__trace_head *head)
{
	struct trace_head t = { lines, head, 0, 0 };
	int rc = 0;

	memset(head, 0, sizeof(*head));
	head->is_written = head_is_written(lines->dir_fd);
	if (faccessat(lines->dir_fd, ktr__lines_file(KTR_SIDECAR_INFO), F_OK, 0) == 0)
		rc = ktr__lines_read(lines, KTR_SIDECAR_INFO, head_line, &t);
	if (!rc && !t.is_trace)
		rc = head_from_metadata(lines, head);
	lines->finished = head->has_ended;
	return rc;
}

int ktr__trace_head_again(struct ktr__lines *lines, struct ktr__trace_head *head)
{
	struct trace_head t = { lines, head, 1, 1 };

	/* In this order: who writes it lets go of it after its last line. */
	head->is_written = head_is_written(lines->dir_fd);
	return ktr__lines_read(lines, KTR_SIDECAR_INFO, head_line, &t);
}

int ktr__trace_metadata(struct ktr__lines *lines)
{
	struct ktr__event_source *source = lines->source;
	struct ktr__tsdl tsdl;
	int rc = ktr__tsdl_load(&tsdl, lines->dir_fd), n;

	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		ktr__source_note(source, 1, "%s/%s: %s", lines->path, KTR_TRACE_METADATA,
				 strerror(-rc));
		return 0;
	}
	for (size_t from = 0, end = 0; (rc = ktr__tsdl_piece(&tsdl, &end)); from = end)
		if (rc == -EBADMSG || (rc == -ENODATA && lines->finished))
			ktr__source_note(source, 1, "%s/%s: bytes %zu to %zu are damaged",
					 lines->path, KTR_TRACE_METADATA, from, end);
	n = tsdl.n ? ktr__tsdl_sites(&tsdl, &source->tables) : 0;
	if (!tsdl.n)
		ktr__source_note(source, 1, "%s/%s is empty", lines->path, KTR_TRACE_METADATA);
	if (n > 0 && lines->finished)
		ktr__source_note(source, 1,
				 "%s/%s lacks %d call site%s, whose formats are lost; the metadata "
				 "tells of %s arguments",
				 lines->path, ktr__lines_file(KTR_SIDECAR_SITES), n,
				 n == 1 ? "" : "s", n == 1 ? "its" : "their");
	ktr__tsdl_free(&tsdl);
	return n < 0 ? n : 0;
}

/* ---- clocks ---- */

struct head_anchors {
	struct ktr__lines *lines;
	const struct ktr__trace_head *head;
	struct ktr__trace_clocks *clocks;
};

static struct ktr__line_anchor head_anchor_of(const char *line, size_t n)
{
	struct ktr__line_anchor anchor;

	ktr__line_scan(line, n, ktr__line_anchor, &anchor, sizeof(anchor));
	return anchor;
}

static int head_anchor(void *context, const char *line, size_t n)
{
	struct head_anchors *a = context;
	struct ktr__trace_clocks *c = a->clocks;
	struct ktr__line_anchor anchor = head_anchor_of(line, n);
	uint64_t ticks = anchor.ticks, mono_ns = anchor.mono_ns;
	int64_t offset_ns = (int64_t)(anchor.utc_ns - mono_ns);
	int64_t moved = (int64_t)((uint64_t)offset_ns - (uint64_t)c->offset_ns), drift = 0;
	uint64_t apart = mono_ns > c->mono_ns ? mono_ns - c->mono_ns : 0;
	uint64_t size = moved < 0 ? 0 - (uint64_t)moved : (uint64_t)moved;

	if (a->head->clock.mult && ticks >= a->head->clock.base_ticks)
		drift = (int64_t)(ktr_trace_ns(&a->head->clock, ticks) - mono_ns);
	if (c->mono_ns && size > HEAD_JUMP_NS + apart / 1000000 * HEAD_STEER)
		ktr__source_note(
			a->lines->source, 0,
			"%s: the wall clock was set %s by %.3f s between %.3f s and %.3f s "
			"of the events' clock; times of day are those of before",
			a->lines->path, moved < 0 ? "back" : "forward", (double)size / 1e9,
			(double)c->mono_ns / 1e9, (double)mono_ns / 1e9);
	if (!c->has_drifted && (drift > HEAD_DRIFT_NS || drift < -HEAD_DRIFT_NS)) {
		c->has_drifted = 1;
		ktr__source_note(a->lines->source, 0,
				 "%s: at %.3f s the events' clock is %.3f s %s CLOCK_MONOTONIC",
				 a->lines->path, (double)mono_ns / 1e9,
				 drift < 0 ? -(double)drift / 1e9 : (double)drift / 1e9,
				 drift < 0 ? "behind" : "ahead of");
	}
	if (!c->n || offset_ns < c->least_ns)
		c->least_ns = offset_ns;
	if (!c->n || offset_ns > c->most_ns)
		c->most_ns = offset_ns;
	c->n++;
	c->mono_ns = mono_ns;
	c->offset_ns = offset_ns;
	return 0;
}

int ktr__trace_clocks(struct ktr__lines *lines, const struct ktr__trace_head *head,
		      struct ktr__trace_clocks *clocks)
{
	struct head_anchors anchors = { lines, head, clocks };

	return ktr__lines_read(lines, KTR_SIDECAR_ANCHORS, head_anchor, &anchors);
}
