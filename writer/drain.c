/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has what to read, when to look again, how far behind to stay.
 *
 * A drain that reads where the producer writes takes the cache lines from under it (13 to 33 ns per
 * event). So a ring is read once it holds a quarter of its capacity, and then only up to DRAIN_LAG
 * after its head; or, all of it, once in DRAIN_AGE_NS, which bounds how old an event gets before
 * it is in the file. In between the drain sleeps as long as the fastest ring would take to fill
 * that quarter at the highest rate it has shown lately. That rate fades by half in some
 * DRAIN_FADE_NS; a ring that has just been opened is taken to be as fast as any. So a drain looks
 * often where bursts are to be expected and rarely where nothing happens. Once nothing has come for
 * DRAIN_IDLE_NS, it sleeps up to DRAIN_IDLE_MAX at a time, but no longer than its rings take an event
 * per DRAIN_IDLE_SLOT: what a CPU spends on waking up, some 50 us, is then all that an idle session costs.
 *
 * When writing fails, or space runs short, rings are left alone for DRAIN_RETRY_NS at a time: they
 * keep the newest events, and the cursor knows how many it has missed. The user is told once each
 * way.
 *
 * The trace has its name from the start, and its clock DRAIN_CLOCK_NS after the session was made, or earlier if a
 * ring is half full by then; a line tells it where it is another one than was thought at first.
 */
#include "writer/drain.h"

#include "ktr/session/clock.h"
#include "ktr/session/drop.h"
#include "ktr/session/ring_area.h"
#include "writer/ended.h"
#include "writer/fill.h"
#include "writer/housekeeping.h"
#include "writer/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

#define DRAIN_LAG         1024u /* [slots] 64 KiB: less was measured to slow the producer down */
#define DRAIN_AGE_NS      40000000ull /* a tail is to be less than 100 ms late */
#define DRAIN_PAUSE_MAX   50000000ull /* [ns] */
#define DRAIN_PAUSE_BIG   20000000ull /* [ns] worth keeping a large ring from being overtaken by a burst */
#define DRAIN_IDLE_NS     1000000000ull
#define DRAIN_IDLE_MAX    80000000ull /* [ns] below 0.1 % of a core, and a tail not 100 ms late */
#define DRAIN_IDLE_SLOT   1000ull     /* [ns] */
#define DRAIN_FADE_NS     150000000ull
#define DRAIN_PEAK        0.1       /* [slots/ns] of a new main ring: one event costs 10 ns */
#define DRAIN_PAUSE_FIRST 200000ull /* [ns] until the trace has begun: rings may fill at once */
#define DRAIN_PAUSE_MIN   50000ull  /* [ns] shorter sleeps take longer: the kernel's timer slack */
#define DRAIN_RETRY_NS    200000000ull /* after a failed write */
#define DRAIN_CLOCK_NS    100000000ull /* between the anchors of the clock's map */
#define DRAIN_BROKEN_NS   1000000000ull /* before a ring that made no sense is looked at again */
#define DRAIN_ATTEND_NS   500000000ull /* until who stands by is back from a trace that was rotated away */
#define DRAIN_TRIES       3 /* of each of the last writes: later there is nobody to try */

uint64_t ktr__drain_now(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

void ktr__drain_say(struct ktr__drain *drain, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!drain->plan.say)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	drain->plan.say(drain->plan.context, line);
}

static void *drain_map(size_t n_bytes)
{
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, n_bytes, MADV_DONTFORK);
	return at;
}

static void drain_free(struct ktr__drain *drain)
{
	ktr__trace_fini(&drain->trace);
	ktr__describe_fini(&drain->describe);
	ktr__emit_free(&drain->losses);
	if (drain->buffer)
		munmap(drain->buffer, KTR_FILL_BYTES);
	if (drain->entries)
		munmap(drain->entries, KTR_FILL_ENTRIES * sizeof(struct ktr_entry));
	for (uint32_t i = 0; drain->pace && i < drain->n_rows; i++)
		if (drain->pace[i].held)
			ktr__byte_lock(drain->source.fd, drain->pace[i].held, F_UNLCK);
	free(drain->ring);
	free(drain->pace);
	free(drain);
}

/*
 * Where a ring is read from. One that has no memory yet is read from its start; of others that we come to
 * late, what is overwritten from now on is known to be lost.
 */
static void drain_start_ring(struct ktr__drain *drain, uint32_t row)
{
	struct ktr__drain_ring *ring = &drain->ring[row];
	struct ktr__ring_cursor start = KTR__RING_FROM_START(row);
	struct ktr__ring_cursor oldest = KTR__RING_FROM_OLDEST(row), head = oldest;
	struct ktr_ring header;
	uint64_t geom;

	ring->cpu = row % drain->trace.n_rings;
	ring->started = drain->plan.from == KTR__DRAIN_START ||
			!ktr__ring_head(&drain->source, row, &geom);
	ring->cursor = ring->started ? start : oldest;
	if (ring->started)
		return;
	if (ktr__map_ring(drain->plan.map, row, &header) == 0)
		drain->pace[row].dropped = header.dropped;
	if (ktr__ring_to_head(&drain->source, &head) || !head.known)
		return;
	ring->index = head.next - head.conts;
	ring->lost_slot = head.next;
	if (drain->plan.from == KTR__DRAIN_HEAD) {
		ring->cursor = head;
		ring->started = 1;
	}
}

/* Each trace counts for itself: packets from 0, losses from those no packet has told of. */
void ktr__drain_restart(struct ktr__drain *drain)
{
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		drain->ring[i].discarded -= drain->ring[i].told;
		drain->ring[i].seq = drain->ring[i].told = 0;
	}
	drain->begun_ns = ktr__drain_now();
	drain->begun_bytes = drain->trace.bytes;
	drain->begun_events = drain->stats.events;
	drain->begun_lost = drain->stats.lost;
}

int ktr__drain_head(const struct ktr__drain *drain, struct ktr__describe *describe, struct ktr__trace *trace)
{
	int rc, complete = drain->plan.from == KTR__DRAIN_START && !drain->partial;

	ktr__describe_begin(describe, &drain->clock_map.clock, drain->clock_map.utc_offset_ns, complete);
	if (!complete)
		ktr__housekeeping_from(drain, &describe->side[KTR_SIDECAR_INFO]);
	rc = ktr__describe_flush(describe, trace);
	/* Who waits for the name to appear, and then changes its user, finds all files open. */
	if (!rc)
		ktr__trace_open_ahead(trace, drain->plan.n_ahead, drain->kernel ? KTR_RING_KINDS : KTR_RING_KERNEL);
	return rc;
}

static int drain_publish(struct ktr__drain *drain, struct ktr_error *err)
{
	int rc = ktr__drain_head(drain, &drain->describe, &drain->trace);

	if (rc)
		ktr_error_set(err, rc, "%s: cannot write: %m", drain->trace.name);
	else
		rc = ktr__trace_publish(&drain->trace, err);
	if (rc)
		ktr__trace_close(&drain->trace);
	else
		ktr__drain_restart(drain);
	return rc;
}

int ktr__drain_publish(struct ktr__drain *drain)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = drain_publish(drain, &err);

	if (rc && rc != drain->stats.error)
		ktr__drain_say(drain, "%s", err.text);
	if (rc)
		drain->stats.error = rc;
	return rc;
}

/* May it be otherwise a moment later? There was no room, or the device had a fault. */
static int drain_may_pass(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EIO;
}

/* A trace that cannot be begun for want of room is begun when there is some: each round tries again. */
static int drain_create(struct ktr__drain *drain, struct ktr_error *err)
{
	struct ktr_error why = KTR_ERROR_NONE;
	int rc = ktr__trace_create(&drain->trace, &why);

	if (!rc) {
		ktr__drain_publish(drain); /* or else each round tries again */
		return 0;
	}
	if (!drain_may_pass(rc))
		return ktr_error_set(err, rc, "%s", why.text);
	ktr__drain_say(drain, "%s; recording goes on in memory", why.text);
	drain->stats.error = rc;
	return 0;
}

static int drain_init(struct ktr__drain *drain, struct ktr_error *err)
{
	const struct ktr_header *header = &drain->plan.map->header;
	struct ktr_control control;
	int rc = ktr__trace_init(&drain->trace, drain->plan.sys, drain->plan.path, header->path,
				 header->n_rings, err);

	if (rc)
		return rc;
	drain->source = (struct ktr__ring_source){
		.header = header, .base = drain->plan.base, .fd = drain->plan.map->fd
	};
	drain->n_rows = ktr__header_n_ring_rows(header);
	if (drain->n_rows > KTR_RING_KINDS * header->n_rings)
		drain->n_rows = KTR_RING_KINDS * header->n_rings;
	drain->ring = calloc(drain->n_rows, sizeof(*drain->ring));
	drain->pace = calloc(drain->n_rows, sizeof(*drain->pace));
	drain->buffer = drain_map(KTR_FILL_BYTES);
	drain->entries = drain_map(KTR_FILL_ENTRIES * sizeof(struct ktr_entry));
	rc = ktr__describe_init(&drain->describe, drain->plan.map);
	if (rc || !drain->ring || !drain->pace || !drain->buffer || !drain->entries)
		return ktr_error_set(err, ENOMEM, "no memory for the trace's buffers");
	for (uint32_t i = 0; i < drain->n_rows; i++)
		drain_start_ring(drain, i);
	if (drain->plan.from == KTR__DRAIN_HEAD && ktr__map_control(drain->plan.map, &control) == 0)
		ktr__dropped(&control, drain->dropped);
	drain->begun_ns = ktr__drain_now();
	ktr__rotate_follow(drain, drain->begun_ns, 1);
	ktr__clock_map_make(drain->plan.map, &drain->clock_map);
	drain->due_ns = ktr__drain_now();
	if (drain->clock_map.apart_ns < DRAIN_CLOCK_NS)
		drain->due_ns += DRAIN_CLOCK_NS - drain->clock_map.apart_ns;
	if (drain->plan.from == KTR__DRAIN_RESUME)
		return drain->plan.resume(drain, err);
	rc = ktr__trace_make_way(&drain->trace, err);
	return rc ? rc : drain_create(drain, err);
}

int ktr__drain_open(struct ktr__drain **out, const struct ktr__drain_plan *plan,
		    struct ktr_error *err)
{
	struct ktr__drain *drain = calloc(1, sizeof(*drain));
	int rc;

	*out = NULL;
	if (!drain)
		return ktr_error_set(err, ENOMEM, "no memory for the trace");
	drain->plan = *plan;
	rc = drain_init(drain, err);
	if (rc) {
		drain_free(drain);
		return rc;
	}
	*out = drain;
	return 0;
}

/* From now on packets are written. */
static void drain_begin(struct ktr__drain *drain)
{
	struct ktr_trace_clock thought = drain->clock_map.clock;

	ktr__clock_map_make(drain->plan.map, &drain->clock_map);
	if (memcmp(&thought, &drain->clock_map.clock, sizeof(thought)) != 0)
		ktr__describe_clock(&drain->describe, &drain->clock_map.clock);
	for (uint32_t i = 0; i < drain->n_rows; i++)
		drain->ring[i].time_ns = drain->clock_map.clock.base_ns;
	drain->begun = 1;
}

/* Time to fix the clock? all: now or never. */
static int drain_due(struct ktr__drain *drain, uint64_t now, int all)
{
	uint64_t geom;

	if (all || now >= drain->due_ns)
		return 1;
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		uint64_t head = ktr__ring_head(&drain->source, i, &geom);

		if (geom && head - drain->ring[i].cursor.next >= 1ull << KTR_GEOM_LOG2(geom) >> 1)
			return 1;
	}
	return 0;
}

void ktr__drain_refused(struct ktr__drain *drain, int rc, uint64_t now, const char *format, ...)
{
	va_list args;

	if (drain->refusal[0])
		return;
	va_start(args, format);
	vsnprintf(drain->refusal, sizeof(drain->refusal), format, args);
	va_end(args);
	drain->refused_ns = rc == -EACCES || rc == -EPERM ? now : 0;
	if (!drain->refused_ns)
		ktr__drain_say(drain, "%s", drain->refusal);
}

/* last: nobody will be asked again. */
static void drain_refused(struct ktr__drain *drain, uint64_t now, int last)
{
	if (!drain->refused_ns || drain->yields)
		return;
	drain->yields = ktr__trace_attended(&drain->trace);
	if (drain->yields || drain->refused_said || (!last && now - drain->refused_ns < DRAIN_ATTEND_NS))
		return;
	drain->refused_said = 1;
	ktr__drain_say(drain, "%s", drain->refusal);
}

static int drain_fail(struct ktr__drain *drain, int rc, uint64_t now)
{
	if (rc != drain->stats.error)
		ktr__drain_say(drain, "%s: cannot write: %s; recording goes on in memory",
			       drain->trace.name, strerror(-rc));
	drain->stats.error = rc;
	drain->retry_ns = now + DRAIN_RETRY_NS;
	return rc;
}

static uint64_t drain_lag(uint64_t capacity)
{
	return capacity / 4 < DRAIN_LAG ? capacity / 4 : DRAIN_LAG;
}

/* Up to where a ring is to be read now; its cursor when not at all. */
static uint64_t drain_stop(struct ktr__drain *drain, uint32_t row, uint64_t head, uint64_t capacity,
			   uint64_t now, int all)
{
	const struct ktr__drain_ring *ring = &drain->ring[row];
	struct ktr__drain_pace *pace = &drain->pace[row];
	uint64_t lag = drain_lag(capacity);

	if (all || now - pace->full_ns >= DRAIN_AGE_NS) {
		pace->full_ns = now;
		return head;
	}
	if (head - ring->cursor.next >= capacity / 4 + lag)
		return head - lag;
	return ring->cursor.next;
}

/* Signed on the way: no conversion of 64 unsigned bits is an instruction of its own. */
static double drain_double(uint64_t x)
{
	return (double)(int64_t)x;
}

/* Sees how fast a ring fills, which has come so far since the last look. */
static void drain_pace(struct ktr__drain *drain, uint32_t row, uint64_t came, uint64_t now)
{
	struct ktr__drain_pace *pace = &drain->pace[row];
	uint64_t over = now > drain->rate_ns ? now - drain->rate_ns : 1;
	double rate = drain_double(came) / drain_double(over);

	pace->peak = over < DRAIN_FADE_NS ? pace->peak * (1 - drain_double(over) / DRAIN_FADE_NS) : 0;
	if (!pace->open && row < drain->trace.n_rings)
		pace->peak = DRAIN_PEAK;
	if (rate > pace->peak)
		pace->peak = rate;
	pace->open = 1;
}

/*
 * How long a ring may be left alone that is empty: half of what it takes to fill where that is long; after a while
 * of nothing, what a main ring takes.
 */
static uint64_t drain_pause_max(const struct ktr__drain *drain, uint32_t row, uint64_t capacity, uint64_t now)
{
	uint64_t half_ns = (uint64_t)(int64_t)(drain_double(capacity) / (2 * DRAIN_PEAK));
	uint64_t idle_ns = DRAIN_IDLE_MAX;

	if (now - drain->moved_ns < DRAIN_IDLE_NS)
		return half_ns < DRAIN_PAUSE_BIG || half_ns > DRAIN_PAUSE_MAX ? DRAIN_PAUSE_MAX : half_ns;
	if (row < drain->trace.n_rings && capacity < DRAIN_IDLE_MAX / DRAIN_IDLE_SLOT)
		idle_ns = capacity * DRAIN_IDLE_SLOT;
	return idle_ns > DRAIN_PAUSE_MAX ? idle_ns : DRAIN_PAUSE_MAX;
}

/* How long one may that holds so much unread: what came while it was read counts too. */
static uint64_t drain_pause(const struct ktr__drain_pace *pace, uint64_t unread, uint64_t capacity, uint64_t max_ns)
{
	uint64_t worth = capacity / 4 + drain_lag(capacity);
	double pause;

	if (unread >= worth)
		return 0;
	pause = drain_double(worth - unread) / (pace->peak + 1e-9);
	return pause < drain_double(max_ns) ? (uint64_t)(int64_t)pause : max_ns;
}

/*
 * The mapping that an area is read through: that which the process records through, if it has recorded there, for
 * then all pages are in it. Where a host keeps a virtual machine's tables of pages, touching a ring's pages anew
 * takes as long as filling it: tests/bench-writer/paced.c shows the losses. Otherwise that of the drain.
 */
static const void *drain_mapping(const struct ktr__drain *drain, uint64_t offset, uint64_t bytes)
{
	const void *const mapping[] = { drain->plan.own, drain->source.base };

	for (int i = 0; i < 2; i++)
		if (mapping[i] && madvise((char *)(uintptr_t)mapping[i] + offset, bytes, MADV_POPULATE_READ) == 0)
			return mapping[i];
	return drain->source.base; /* a kernel before 5.14: each page when it is read */
}

/*
 * An open ring's entries are read through a mapping, where that has pages, while their area is held. Of a hole,
 * which nobody but a peer makes, none are asked for: that would fill it.
 */
static void drain_hold(struct ktr__drain *drain, uint32_t row, uint64_t geom)
{
	struct ktr__drain_pace *pace = &drain->pace[row];
	uint64_t offset = KTR_GEOM_OFFSET(geom), bytes = (uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom);
	int fd = drain->source.fd;

	if (pace->held)
		ktr__byte_lock(fd, pace->held, F_UNLCK);
	pace->held = 0;
	if (!drain->source.base || !ktr__ring_geom_valid(drain->source.header, row, geom) ||
	    ktr__byte_lock(fd, offset, F_RDLCK))
		return;
	ktr__ring_head(&drain->source, row, &pace->geom);
	if (pace->geom == geom && lseek(fd, (off_t)offset, SEEK_HOLE) >= (off_t)(offset + bytes)) {
		pace->held_base = drain_mapping(drain, offset, bytes);
		pace->held = offset;
	} else {
		ktr__byte_lock(fd, offset, F_UNLCK);
	}
}

/* A ring whose header makes no sense is left alone for a while: what a peer has written there may pass. */
static int drain_is_broken(struct ktr__drain *drain, uint32_t row, uint64_t now)
{
	struct ktr__drain_pace *pace = &drain->pace[row];

	if (!pace->broken)
		return 0;
	if (!pace->broken_ns) {
		pace->broken_ns = now;
		if (!drain->broken++)
			ktr__drain_say(drain, "%s: a ring makes no sense and is left alone: somebody has written into "
					      "the session", drain->trace.name);
	}
	if (!drain->all && now - pace->broken_ns < DRAIN_BROKEN_NS)
		return 1;
	pace->broken = 0;
	pace->broken_ns = 0;
	return 0;
}

/*
 * The process has dropped its rights before this ring had anything. That stops no other one; who stands by is given
 * the trace, and otherwise the user is told that it ends here for this ring.
 */
static int drain_denied(struct ktr__drain *drain, uint32_t row, int rc, uint64_t now)
{
	char name[32];

	drain->pace[row].denied = 1;
	ktr__trace_stream_name(&drain->trace, row, name, sizeof(name));
	ktr__drain_refused(drain, rc, now, "%s: %s cannot be made any more: %s; its events stay in memory",
			   drain->trace.name, name, strerror(-rc));
	return 0;
}

/* One ring: *pause_ns is lowered to what it allows. 0 or -errno of writing. */
static int drain_ring(struct ktr__drain *drain, uint32_t row, uint64_t now, unsigned flags,
		      uint64_t *pause_ns)
{
	struct ktr__drain_pace *pace = &drain->pace[row];
	const uint64_t *next = &drain->ring[row].cursor.next;
	uint64_t geom, head = ktr__ring_head(&drain->source, row, &geom);
	uint64_t capacity = 1ull << KTR_GEOM_LOG2(geom), stop, pause;
	int more = 1;

	if (!geom || pace->denied || drain_is_broken(drain, row, now))
		return 0;
	if ((drain->source.base || pace->held) && geom != pace->geom)
		drain_hold(drain, row, geom);
	drain_pace(drain, row, head > pace->head ? head - pace->head : 0, now);
	if (head != pace->head)
		drain->moved_ns = now;
	pace->head = head;
	stop = head <= *next ? *next : drain_stop(drain, row, head, capacity, now, flags & KTR__DRAIN_ALL);
	drain->source.held = pace->held;
	drain->source.held_base = pace->held_base;
	while (more > 0 && *next < stop)
		more = ktr__fill_ring(drain, row, stop, 0);
	drain->source.held = 0;
	if ((more == -EACCES || more == -EPERM) && drain->trace.published && drain->trace.stream[row].fd < 0)
		more = drain_denied(drain, row, more, now);
	head = ktr__ring_head(&drain->source, row, &geom);
	pause = drain_pause(pace, head > *next ? head - *next : 0, capacity,
			    drain_pause_max(drain, row, capacity, now));
	if (pause < *pause_ns)
		*pause_ns = pause;
	return more < 0 ? more : 0;
}

static int drain_rings(struct ktr__drain *drain, uint64_t now, unsigned flags, uint64_t *pause_ns)
{
	uint64_t allowed_ns = UINT64_MAX;
	int rc = 0;

	for (uint32_t i = 0; i < drain->n_rows && !rc; i++)
		rc = drain_ring(drain, i, now, flags, &allowed_ns);
	if (allowed_ns != UINT64_MAX)
		*pause_ns = allowed_ns;
	drain->rate_ns = now;
	return rc;
}

static int drain_write(struct ktr__drain *drain, uint64_t now, unsigned flags, uint64_t *pause_ns)
{
	int rc = 0;

	ktr__housekeeping_place(drain, now);
	if (drain->begun)
		ktr__housekeeping(drain, now);
	if (!drain->begun && !drain->trace.published && !drain->trace.hidden[0])
		rc = ktr__trace_create(&drain->trace, NULL);
	if (!rc && !drain->begun && !drain->trace.published)
		rc = ktr__drain_publish(drain);
	if (!rc && !drain->begun) {
		if (!drain_due(drain, now, flags & KTR__DRAIN_ALL)) {
			*pause_ns = DRAIN_PAUSE_FIRST;
			return 0;
		}
		drain_begin(drain);
	}
	if (!rc && !drain->full)
		rc = drain_rings(drain, now, flags, pause_ns);
	if (!rc)
		rc = ktr__describe_flush(&drain->describe, &drain->trace);
	return rc;
}

int ktr__drain_round(struct ktr__drain *drain, unsigned flags, uint64_t *pause_ns)
{
	uint64_t now = ktr__drain_now(), events = drain->stats.events, lost = drain->stats.lost;
	int rc;

	*pause_ns = DRAIN_PAUSE_MAX;
	drain->stats.rounds++;
	drain->all = (flags & KTR__DRAIN_ALL) != 0;
	if (drain->stats.error && now < drain->retry_ns && !(flags & KTR__DRAIN_ALL))
		return drain->stats.error;
	rc = drain_write(drain, now, flags, pause_ns);
	drain_refused(drain, now, 0);
	if (rc)
		return drain_fail(drain, rc, now);
	if (drain->stats.error)
		ktr__drain_say(drain, "%s: writing again", drain->trace.name);
	drain->stats.error = 0;
	/* Who is being overtaken, or almost, does not give the CPU away. */
	if (drain->stats.lost != lost ||
	    (*pause_ns < DRAIN_PAUSE_MIN && drain->stats.events != events))
		*pause_ns = 0;
	else if (*pause_ns < DRAIN_PAUSE_MIN)
		*pause_ns = DRAIN_PAUSE_MIN;
	ktr__rotate_follow(drain, now, 0);
	if (ktr__rotate_due(drain, now))
		rc = ktr__rotate(drain, now);
	if (rc)
		return drain_fail(drain, rc, now);
	return drain->full == 1 ? -ENOSPC : 0;
}

/*
 * Events committed that no packet has and no packet counts as lost. Of a ring that nothing has been read of yet,
 * and that has gone round, those that have come since.
 */
static uint64_t drain_left(struct ktr__drain *drain)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < drain->n_rows; i++) {
		struct ktr__ring_cursor cursor = { i, 0, 0, 0, 0, 0 };
		uint64_t events, index = drain->ring[i].index, geom;

		if (drain->pace[i].broken || ktr__ring_to_head(&drain->source, &cursor) || !cursor.known)
			continue;
		ktr__ring_head(&drain->source, i, &geom);
		if (!drain->ring[i].started && cursor.next <= 1ull << KTR_GEOM_LOG2(geom))
			index = 0;
		events = cursor.next - cursor.conts;
		left += events > index ? events - index : 0;
	}
	return left;
}

/* What was recorded after a size limit is not wanted any more, however much that is. */
static uint64_t drain_took(const struct ktr__drain *drain)
{
	uint64_t took = 0;

	for (uint32_t i = 0; i < drain->n_rows; i++)
		took += drain->ring[i].index;
	return drain->full == KTR__DRAIN_LIMIT ? UINT64_MAX : took;
}

/* The last packets, with the losses that no event follows. */
static int drain_rest(struct ktr__drain *drain)
{
	uint64_t pause;
	int rc = ktr__drain_round(drain, KTR__DRAIN_ALL, &pause);

	if (rc)
		return rc;
	ktr__housekeeping_dropped(drain);
	for (uint32_t i = 0; i < drain->n_rows && !rc; i++)
		if (drain->ring[i].discarded != drain->ring[i].told)
			rc = ktr__fill_ring(drain, i, drain->ring[i].cursor.next, 1);
	return rc < 0 ? rc : 0;
}

static int drain_last_lines(struct ktr__drain *drain)
{
	int rc = -EIO;

	ktr__ended_look(drain, ktr__drain_now(), true);
	ktr__describe_all(&drain->describe);
	if (drain->ended && drain->trace.bytes == drain->resumed_bytes &&
	    ktr__describe_is_flushed(&drain->describe))
		return 0;
	ktr__housekeeping_anchor(drain);
	ktr__describe_end(&drain->describe, ktr__drain_now(),
			  drain->stats.events - drain->begun_events,
			  drain->stats.lost - drain->begun_lost);
	for (int i = 0; rc && i < DRAIN_TRIES; i++)
		rc = ktr__describe_flush(&drain->describe, &drain->trace);
	return rc;
}

int ktr__drain_close(struct ktr__drain *drain, struct ktr__drain_stats *stats)
{
	int rc = -EIO;

	for (int i = 0; rc && i < DRAIN_TRIES; i++)
		rc = drain_rest(drain);
	drain_refused(drain, ktr__drain_now(), 1);
	if (!rc)
		rc = drain_last_lines(drain);
	if (!rc && drain->full)
		rc = -ENOSPC;
	if (rc)
		drain->stats.unwritten = drain_left(drain);
	drain->stats.took = drain_took(drain);
	drain->stats.bytes = drain->trace.bytes;
	drain->stats.limit = drain->full == KTR__DRAIN_LIMIT;
	drain->stats.named = drain->trace.published;
	if (stats)
		*stats = drain->stats;
	drain_free(drain);
	return rc;
}
