/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session as a source, live or dead: one cursor per ring that has anything.
 *
 * What the rings hold is copied when the session is opened, up to where each ring's head was at
 * the beginning, so that the walk of a live session ends, shows one moment, and loses nothing
 * while somebody looks at the first page. Sites and threads are read after the rings: what an
 * entry refers to was there before it. Entries are untrusted: a time that goes back is raised to
 * the one before it.
 *
 * Followed, each look copies what has come since; what has been handed out is forgotten.
 */
#include "analyze/session/session_source.h"

#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/ticks.h"
#include "analyze/session/session_feed.h"
#include "analyze/session/session_tables.h"
#include "conf/kit/array.h"
#include "ktr/session/drop.h"
#include "writer/format/cmdline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSION_BATCH  1024u        /* [slots] copied at a time: 64 KiB */
#define SESSION_BEHIND (1u << 20)   /* [slots] not handed out yet: the ring need not be copied on */
#define SESSION_ASK_NS 200000000ull /* between two questions whether it lives */

_Static_assert(SESSION_BATCH >= KTR__RING_BUFFER_MIN, "any event fits");

/* ---- rings ---- */

static int session_room(struct ktr__session_cursor *s)
{
	uint64_t room = s->room ? s->room * 2 : SESSION_BATCH;
	struct ktr_entry *grown;

	if (s->room - s->n >= SESSION_BATCH)
		return 0;
	grown = realloc(s->slot, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->slot = grown;
	s->room = room;
	return 0;
}

static int session_add_gap(struct ktr__session_cursor *s, uint64_t n_events)
{
	if (ktr__array_grow(&s->gap, &s->gap_room, s->n_gaps, sizeof(*s->gap)))
		return -ENOMEM;
	s->gap[s->n_gaps++] = (struct ktr__session_gap){ s->n, n_events };
	s->n_lost += n_events;
	return 0;
}

/*
 * Turns the ticks of the slots from `from` on into nanoseconds that never go back, and counts
 * events.
 */
static void session_times(struct ktr__session_feed *o, struct ktr__session_cursor *s, uint64_t from)
{
	uint64_t first_ns = 0, n = s->n_events;

	for (uint64_t i = from; i < s->n; i++) {
		uint64_t word = s->slot[i].timestamp, ns;

		if (ktr__slot_is_cont(&s->slot[i]))
			continue;
		ns = ktr_trace_ns(&o->clock, word & KTR_TIME_TICKS);
		if (ns > KTR_TIME_TICKS)
			ns = KTR_TIME_TICKS;
		if (ns < s->copied_ns) {
			ns = s->copied_ns;
			word |= KTR_TIME_APPROX;
		}
		s->copied_ns = ns;
		s->slot[i].timestamp = ns | (word & KTR_TIME_APPROX);
		if (s->n_events++ == n)
			first_ns = ns;
		if (s->by_thread)
			s->cpu = s->slot[i].thread >> KTR_THREAD_BITS;
		ktr__source_cpu(o->source, ktr__session_cpu(s, i));
	}
	if (s->n_events > n) {
		ktr__source_span(o->source, first_ns, s->copied_ns);
		ktr__source_span(o->source, s->copied_ns, s->copied_ns);
	}
}

/*
 * Copies what one ring has beyond its last copy. 0, -ENOMEM, or -ESTALE where a session that goes on
 * with a trace lives and the ring has been overrun: the trace's own end is better then. What cannot
 * be read is noted.
 */
static int session_copy(struct ktr__session_feed *o, struct ktr__session_cursor *s, uint32_t ring)
{
	struct ktr__ring_source source = { .header = &o->map.header, .fd = o->map.fd };
	struct ktr__ring_batch batch;
	int rc;

	for (;;) {
		if (session_room(s))
			return -ENOMEM;
		rc = ktr__ring_read(&source, &s->ring, o->head[ring], s->slot + s->n, SESSION_BATCH,
				    &batch);
		if (rc <= 0)
			break;
		if (batch.lost && o->joins && o->alive > 0 && !s->n_events)
			return -ESTALE;
		if (batch.damaged)
			ktr__source_note(o->source, 1,
					 "%s: the counters of ring %u contradict each other",
					 o->path, ring);
		if (batch.lost && session_add_gap(s, batch.lost))
			return -ENOMEM;
		memmove(s->slot + s->n, batch.entry, batch.n * sizeof(*s->slot));
		s->n += batch.n;
		session_times(o, s, s->n - batch.n);
	}
	if (rc && !(rc == -EAGAIN && o->source->follow))
		ktr__source_note(o->source, 1, "%s: ring %u cannot be read: %s", o->path, ring,
				 rc == -EAGAIN ? "it changes too fast" : strerror(-rc));
	return 0;
}

static int session_drop(struct ktr__session_cursor *s, uint64_t dropped)
{
	uint64_t n = dropped > s->dropped ? dropped - s->dropped : 0;

	s->dropped += n;
	return n ? session_add_gap(s, n) : 0;
}

static void session_start(struct ktr__session_feed *o, struct ktr__session_cursor *s, uint32_t ring)
{
	const struct ktr_header *header = &o->map.header;

	s->kind = ring / header->n_rings;
	s->by_thread = header->path == KTR_PATH_THREAD;
	s->cpu = s->by_thread ? 0 : ring % header->n_rings;
	s->ring = (struct ktr__ring_cursor)KTR__RING_FROM_START(ring);
	if (!o->start)
		return;
	s->ring = o->start[ring].cursor;
	s->base_index = o->start[ring].index;
	s->base_ns = s->copied_ns = o->start[ring].time_ns;
	s->dropped = o->start[ring].dropped;
}

/* Makes the cursor of one ring, if it has anything. 0 or -ENOMEM. */
static int session_ring(struct ktr__session_feed *o, uint32_t ring)
{
	struct ktr__session_cursor *s;
	struct ktr_ring row;
	int rc;

	memset(&row, 0, sizeof(row));
	rc = ktr__map_ring(&o->map, ring, &row);
	if (rc || (!o->head[ring] && !row.dropped))
		return 0;
	s = ktr__session_cursor(o->source);
	if (!s)
		return -ENOMEM;
	session_start(o, s, ring);
	rc = session_copy(o, s, ring);
	if (!rc)
		rc = session_drop(s, row.dropped);
	if (rc || (o->joins && !s->n && !s->n_gaps && !o->source->follow)) {
		s->c.close(&s->c);
		return rc == -ESTALE ? 0 : rc;
	}
	ktr__source_cpu(o->source, s->cpu);
	o->source->info.n_lost += s->n_lost;
	ktr__session_rewind(s);
	rc = ktr__source_add(o->source, &s->c);
	if (!rc)
		o->cursor[ring] = s;
	return rc;
}

/* Follow: forgets what has been handed out, and copies on. 0 or -errno. */
static int session_more(struct ktr__session_feed *o, uint32_t ring, uint64_t now_ns)
{
	struct ktr__session_cursor *s = o->cursor[ring];
	struct ktr_ring row;
	int rc;

	if (s->n - s->at > SESSION_BEHIND)
		return 0;
	if (s->at == s->n && s->gap_at == s->n_gaps)
		s->at = s->n = s->gap_at = s->n_gaps = 0;
	s->fresh = s->n;
	s->fresh_ns = now_ns;
	if (ktr__map_ring(&o->map, ring, &row) == 0 && row.dropped > s->dropped) {
		rc = session_drop(s, row.dropped);
		if (rc)
			return rc;
	}
	return session_copy(o, s, ring);
}

/*
 * Heads of all rings; and does a copy of what they hold fit into memory? 0 or -errno with err
 * filled.
 */
static int session_heads(struct ktr__session_feed *o)
{
	struct ktr__ring_source source = { .header = &o->map.header, .fd = o->map.fd };
	uint64_t n_bytes = 0,
		 memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < o->n_rings; i++) {
		uint64_t geom = 0, held;

		o->head[i] = ktr__ring_head(&source, i, &geom);
		held = geom ? 1ull << KTR_GEOM_LOG2(geom) : 0;
		n_bytes += (held < o->head[i] ? held : o->head[i]) * sizeof(struct ktr_entry);
	}
	if (n_bytes > memory / 2)
		return ktr_error_at(o->err, o->path, 0, 0, ENOMEM,
				    "the session's rings hold %" PRIu64
				    " MiB, more than half of this "
				    "machine's memory",
				    n_bytes >> 20);
	return 0;
}

/* ---- the rest ---- */

static void session_drops(struct ktr__session_feed *o)
{
	uint64_t n_events[KTR_DROPS];

	ktr__dropped(&o->control, n_events);
	ktr__source_dropped(o->source, o->path, n_events);
}

static int session_info(struct ktr__session_feed *o)
{
	struct ktr_reader_info *info = &o->source->info;
	struct ktr__arena *arena = &o->source->tables.arena;
	const struct ktr_header *h = &o->map.header;
	char cmdline[4096] = "";
	struct ktr_proc_row proc;

	info->kind = o->alive > 0 ? KTR_SOURCE_LIVE : KTR_SOURCE_DEAD;
	info->path = o->path;
	info->name = ktr__arena_copy(arena, h->name, strnlen(h->name, sizeof(h->name)));
	info->host = ktr__arena_copy(arena, h->host, strnlen(h->host, sizeof(h->host)));
	if (ktr__map_proc(&o->map, 1, &proc) == 0)
		ktr__map_cmdline(&o->map, proc.cmdline, cmdline, sizeof(cmdline));
	info->cmdline = ktr__arena_copy(arena, cmdline, strlen(cmdline));
	info->clock = h->clock == KTR_CLOCK_TSC      ? "tsc"
		      : h->clock == KTR_CLOCK_CNTVCT ? "cntvct"
						     : "monotonic";
	memcpy(info->uuid, h->uuid, sizeof(info->uuid));
	memcpy(info->boot_id, h->boot_id, sizeof(info->boot_id));
	info->utc_spread_ns = UINT64_MAX;
	return info->name && info->host && info->cmdline ? 0 : -ENOMEM;
}

static int session_clock(struct ktr__session_feed *o)
{
	int rc;

	if (o->source->clock) {
		o->clock = *o->source->clock;
		return 0;
	}
	rc = ktr__ticks_map(&o->map, &o->control, &o->clock, &o->source->info.utc_offset_ns);

	if (rc == KTR__TICKS_NOMINAL)
		ktr__source_note(o->source, 0, "%s: times come from the clock's nominal rate",
				 o->path);
	if (rc == KTR__TICKS_UNKNOWN)
		ktr__source_note(o->source, 0,
				 "%s: the clock's rate is unknown: times are in its ticks",
				 o->path);
	return rc < 0 ? rc : 0;
}

static int session_read(struct ktr__session_feed *o)
{
	int rc = session_heads(o);

	if (!rc)
		rc = ktr__map_control(&o->map, &o->control);
	if (!rc && !o->joins)
		rc = session_info(o);
	if (!rc && !o->joins)
		rc = session_clock(o);
	for (uint32_t ring = 0; ring < o->n_rings && !rc; ring++)
		rc = session_ring(o, ring);
	if (!rc)
		rc = ktr__session_tables(o);
	if (!rc && !o->joins)
		session_drops(o);
	return rc;
}

void ktr__session_feed_close(struct ktr__session_feed *feed)
{
	if (!feed)
		return;
	ktr__map_close(&feed->map);
	free(feed->path);
	free(feed->cursor);
	free(feed->site);
	free(feed->head);
	free(feed);
}

int ktr__session_feed(struct ktr__event_source *source, struct ktr__session_map *map, const char *path,
		      const struct ktr__session_start *start, const struct ktr_trace_clock *clock,
		      struct ktr_error *err)
{
	struct ktr__session_feed *o = calloc(1, sizeof(*o));
	int rc = -ENOMEM;

	if (!o) {
		ktr__map_close(map);
		return rc;
	}
	source->feed = o;
	o->source = source;
	o->map = *map;
	o->start = start;
	o->joins = start != NULL;
	o->err = err;
	if (clock)
		o->clock = *clock;
	o->alive = ktr__map_alive(&o->map);
	o->n_rings = ktr__header_n_ring_rows(&o->map.header);
	o->path = strdup(path);
	o->cursor = calloc(o->n_rings + 1, sizeof(struct ktr__session_cursor *));
	o->head = calloc(o->n_rings + 1, sizeof(*o->head));
	if (o->path && o->cursor && o->head)
		rc = session_read(o);
	o->start = NULL;
	o->err = NULL;
	return rc;
}

int ktr__session_source(struct ktr__event_source *source, const char *path, struct ktr_error *err)
{
	struct ktr__session_map map;
	int rc = ktr__map_open(path, 0, &map, err);

	if (!rc)
		rc = ktr__session_feed(source, &map, path, NULL, NULL, err);
	if (rc)
		ktr_error_at(err, path, 0, 0, -rc, "%s", strerror(-rc));
	return rc;
}

int ktr__session_refresh(struct ktr__event_source *source, uint64_t now_ns)
{
	struct ktr__session_feed *o = source->feed;
	int rc = 0;

	if (o->alive > 0 && now_ns - o->asked_ns >= SESSION_ASK_NS) {
		o->alive = ktr__map_alive(&o->map);
		o->asked_ns = now_ns;
	}
	for (uint32_t i = 0; i < o->n_rings; i++)
		o->head[i] = ktr__ring_head(
			&(struct ktr__ring_source){ .header = &o->map.header, .fd = o->map.fd }, i, NULL);
	for (uint32_t i = 0; i < o->n_rings && !rc; i++)
		rc = o->cursor[i] ? session_more(o, i, now_ns) : session_ring(o, i);
	if (!rc)
		rc = ktr__session_tables(o);
	if (!rc)
		rc = ktr__tables_finish(&source->tables);
	return rc < 0 ? rc : o->alive > 0 ? 0 : KTR__SOURCE_OVER;
}
