/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Going on with a trace.
 *
 * A stream's last whole packet tells all that its ring's drain knew: the next slot, the running
 * number of the next event (hence how many continuations lie before that slot), the time, what had
 * been lost. It is looked for near the end of the file; only when nothing there makes sense is the
 * stream walked from its beginning. Metadata is cut after its last whole piece, and the sites of
 * what remains are known to be described; sidecars are cut after their last whole line, and get no
 * line that they have. Threads keep the words they have. A trace to which nothing is added stays as it was.
 *
 * Lines are our own, and say what the table of them has (writer/format/sidecar_lines.h): they need no parser.
 */
#include "writer/resume.h"

#include "ktr/session/drop.h"
#include "writer/format/packet.h"
#include "writer/format/sidecar_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* [bytes] Looked at after a stream's end: the last packet, and one it may have torn. */
#define RESUME_TAIL (2ull * KTR_PACKET_MAX)

/* The file's bytes [from, from + n). Owned; NULL: no memory, or it cannot be read (*rc). */
static char *resume_read(const struct ktr__file *file, uint64_t from, size_t n, int *rc)
{
	char *bytes = malloc(n + 1);
	size_t done = 0;

	*rc = bytes ? 0 : -ENOMEM;
	while (bytes && done < n) {
		ssize_t part = pread(file->fd, bytes + done, n - done, (off_t)(from + done));

		if (part > 0) {
			done += (size_t)part;
		} else if (part == 0 || errno != EINTR) {
			*rc = part ? -errno : -EIO;
			free(bytes);
			return NULL;
		}
	}
	if (bytes)
		bytes[n] = 0;
	return bytes;
}

/*
 * The last whole packet of the bytes: its header, and where it ends. 0 where there is none. *clean
 * tells that nothing follows it.
 */
static size_t resume_last(const uint8_t *bytes, size_t n, struct ktr_packet_header *last)
{
	struct ktr_packet_header head;
	size_t at = ktr__packet_find(bytes, n, 0), end = 0;

	while (at < n) {
		int64_t length = ktr__packet_look(bytes + at, n - at, &head);

		if (length > 0) {
			*last = head;
			end = at + (size_t)length;
			at = end;
		} else if (!length && head.flags) {
			break; /* what follows was not there yet when the writer died */
		} else {
			at = ktr__packet_find(bytes, n, at + 1);
		}
	}
	return end;
}

static void resume_ring(struct ktr__drain_ring *ring, uint32_t row,
			const struct ktr_packet_header *last)
{
	uint64_t index = last->first_event + last->n_events;

	ring->cursor = (struct ktr__ring_cursor){
		row, 1, last->next_slot, last->next_slot - index, last->next_slot, 0
	};
	ring->seq = last->seq + 1;
	ring->discarded = ring->told = last->discarded;
	ring->index = index;
	ring->time_ns = last->time_end;
	ring->cpu = last->cpu;
	ring->started = 1;
}

/* One stream: cuts what is torn, sets the ring after what is there. */
static int resume_stream(struct ktr__drain *drain, uint32_t row)
{
	struct ktr__file *file = &drain->trace.stream[row];
	uint64_t tail = file->bytes < RESUME_TAIL ? file->bytes : RESUME_TAIL,
		 from = file->bytes - tail;
	struct ktr_packet_header last = { 0 };
	size_t end = 0;
	uint8_t *bytes;
	int rc;

	if (file->fd < 0)
		return 0;
	bytes = (uint8_t *)resume_read(file, from, (size_t)tail, &rc);
	if (bytes)
		end = resume_last(bytes, (size_t)tail, &last);
	free(bytes);
	if (!rc && !end && from) {
		from = 0;
		bytes = (uint8_t *)resume_read(file, 0, (size_t)file->bytes, &rc);
		if (bytes)
			end = resume_last(bytes, (size_t)file->bytes, &last);
		free(bytes);
	}
	if (rc)
		return rc;
	if (end && (last.ring != row || last.next_slot < last.first_event + last.n_events))
		return -EPROTO;
	if (end)
		resume_ring(&drain->ring[row], row, &last);
	return ktr__trace_cut(&drain->trace, file, from + end);
}

/* The metadata's whole pieces: their sites need no second description. */
static int resume_metadata(struct ktr__drain *drain)
{
	static const char begin[] = "\nevent { id = ";
	struct ktr__file *file = &drain->trace.metadata;
	size_t n;
	int rc;
	char *text = resume_read(file, 0, (size_t)file->bytes, &rc);

	if (!text)
		return rc;
	n = ktr__metadata_check(text, (size_t)file->bytes);
	text[n] = 0;
	for (const char *at = text; (at = strstr(at, begin)); at++)
		ktr__describe_known_site(
			&drain->describe,
			(uint32_t)(strtoul(at + sizeof(begin) - 1, NULL, 10) >> 1));
	free(text);
	drain->describe.metadata_at = n;
	return n ? ktr__trace_cut(&drain->trace, file, n) : -EPROTO;
}

/* Calls back for each whole line of a sidecar and cuts what follows the last. */
static int resume_lines(struct ktr__drain *drain, enum ktr_sidecar which,
			int (*take)(struct ktr__drain *drain, const char *line, size_t n))
{
	struct ktr__file *file = &drain->trace.side[which];
	size_t good = 0;
	int rc;
	char *text = resume_read(file, 0, (size_t)file->bytes, &rc), *line = text;

	for (char *end; text && !rc && (end = strchr(line, '\n')); line = end + 1) {
		if (ktr__line_check(line, (size_t)(end - line)))
			continue;
		good = (size_t)(end + 1 - text);
		if (take)
			rc = take(drain, line, (size_t)(end - line));
		if (!rc && which != KTR_SIDECAR_INFO)
			rc = ktr__describe_known_line(&drain->describe, line, (size_t)(end - line));
	}
	free(text);
	/* Nothing is cut off a trace before it is known to be ours. */
	return rc || !drain->clock_map.clock.mult ? rc : ktr__trace_cut(&drain->trace, file, good);
}

static int resume_proc(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_proc line;

	ktr__line_scan(text, n, ktr__line_proc, &line, sizeof(line));
	ktr__describe_known_life(&drain->describe, true, (uint32_t)line.proc, line.alive_ns, line.gone_ns);
	return 0;
}

static int resume_thread(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_thread line;

	ktr__line_scan(text, n, ktr__line_thread, &line, sizeof(line));
	ktr__describe_known_life(&drain->describe, false, (uint32_t)line.thread, line.alive_ns, line.gone_ns);
	ktr__describe_known_word(&drain->describe, (uint32_t)line.thread, (uint32_t)line.word);
	return 0;
}

/* How the events of a site lie in the packets is what the trace says, not what the site's row says by now. */
static int resume_site(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_site line;

	if (!ktr__line_scan(text, n, ktr__line_site, &line, sizeof(line)))
		ktr__describe_known_types(&drain->describe, (uint32_t)line.site, line.types.n, line.types.each);
	return 0;
}

/*
 * A stream without packets began with its ring, unless a line says where: everything since that no packet
 * and no line has told of is missing.
 */
static void resume_start(struct ktr__drain *drain)
{
	memset(drain->dropped, 0, sizeof(drain->dropped));
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		drain->ring[i].cursor = (struct ktr__ring_cursor)KTR__RING_FROM_START(i);
		drain->ring[i].started = 1;
		drain->ring[i].index = drain->ring[i].lost_slot = 0;
		drain->pace[i].dropped = 0;
	}
}

/* What the trace says of events that were dropped, it need not be told again. */
static int resume_loss(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_loss line;
	char name[32];

	ktr__line_scan(text, n, ktr__line_loss, &line, sizeof(line));
	if (!ktr__line_says(&line.why, "dropped"))
		return 0;
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		ktr__trace_stream_name(&drain->trace, i, name, sizeof(name));
		if (ktr__line_says(&line.stream, name))
			drain->pace[i].dropped += line.events;
	}
	return 0;
}

/* The same of those that went into no ring. */
static void resume_dropped(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_dropped line;

	ktr__line_scan(text, n, ktr__line_dropped, &line, sizeof(line));
	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (ktr__line_says(&line.why, ktr__drop_name(i)))
			drain->dropped[i] = line.total;
}

static int resume_from(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_from line;
	uint64_t geom, head;
	uint32_t row;

	ktr__line_scan(text, n, ktr__line_from, &line, sizeof(line));
	if (line.ring >= drain->n_rows || line.index > line.slot)
		return -EPROTO;
	row = (uint32_t)line.ring;
	drain->pace[row].dropped = line.dropped;
	/*
	 * What lies before the place and is in the ring still is welcome, but was not lost. Where the ring had been
	 * read already, it lies in the trace that rotation moved away, or was not wanted.
	 */
	head = ktr__ring_head(&drain->source, row, &geom);
	if (line.unread && head - line.slot + KTR_SLOTS_MAX <= 1ull << KTR_GEOM_LOG2(geom)) {
		drain->ring[row].cursor = (struct ktr__ring_cursor)KTR__RING_FROM_OLDEST(row);
		drain->ring[row].started = 0;
		return 0;
	}
	drain->ring[row].cursor = (struct ktr__ring_cursor){
		row, 1, line.slot, line.slot - line.index, line.slot, 0
	};
	drain->ring[row].index = line.index;
	return 0;
}

/* The last line of a trace that tells it holds. */
static int resume_clock(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr_trace_clock *clock = &drain->clock_map.clock;
	struct ktr__line_clock line;

	ktr__line_scan(text, n, ktr__line_clock, &line, sizeof(line));
	clock->base_ticks = line.base_ticks;
	clock->base_ns = line.base_ns;
	clock->mult = line.mult;
	clock->shift = (uint32_t)line.shift;
	return clock->mult && clock->shift < 64 ? 0 : -EPROTO;
}

/* Is the trace that a line describes one of the session? */
static bool resume_is_ours(const struct ktr__drain *drain, const struct ktr__line_trace *line)
{
	return memcmp(line->uuid.octet, drain->plan.map->header.uuid, sizeof(line->uuid.octet)) == 0;
}

/* The line that describes the trace: of which session it is, and the clock. */
static int resume_trace(struct ktr__drain *drain, const char *text, size_t n)
{
	struct ktr__line_trace line;

	ktr__line_scan(text, n, ktr__line_trace, &line, sizeof(line));
	if (!resume_is_ours(drain, &line))
		return -ESTALE;
	drain->trace.format = (uint32_t)line.major;
	if (line.major < KTR_TRACE_OLDEST || line.major > KTR_TRACE_MAJOR)
		return -ENOTSUP;
	resume_start(drain);
	return resume_clock(drain, text, n);
}

/* A line of what concerns all streams, by its kind. */
static int resume_info(struct ktr__drain *drain, const char *text, size_t n)
{
	bool has_clock = drain->clock_map.clock.mult;
	struct ktr__line_end line; /* has the member that they all have */

	ktr__line_scan(text, n, ktr__line_end, &line, sizeof(line));
	if (has_clock && ktr__line_says(&line.kind, "from"))
		return resume_from(drain, text, n);
	if (has_clock && ktr__line_says(&line.kind, "clock"))
		return resume_clock(drain, text, n);
	drain->ended = ktr__line_says(&line.kind, "end");
	if (ktr__line_says(&line.kind, "dropped"))
		resume_dropped(drain, text, n);
	return ktr__line_says(&line.kind, "trace") ? resume_trace(drain, text, n) : 0;
}

static int resume_all(struct ktr__drain *drain)
{
	static int (*const take[KTR_SIDECARS])(struct ktr__drain * drain, const char *line, size_t n) = {
		[KTR_SIDECAR_SITES] = resume_site,
		[KTR_SIDECAR_PROCS] = resume_proc,
		[KTR_SIDECAR_THREADS] = resume_thread,
		[KTR_SIDECAR_LOSSES] = resume_loss,
	};
	int rc;

	ktr__clock_map_make(drain->plan.map, &drain->clock_map);
	drain->clock_map.clock.mult = 0;
	rc = resume_lines(drain, KTR_SIDECAR_INFO, resume_info);
	if (!rc && !drain->clock_map.clock.mult)
		rc = -EPROTO;
	for (uint32_t i = 0; i < drain->n_rows; i++)
		drain->ring[i].time_ns = drain->clock_map.clock.base_ns;
	for (int i = KTR_SIDECAR_INFO + 1; !rc && i < KTR_SIDECARS; i++)
		rc = resume_lines(drain, i, take[i]);
	if (!rc)
		rc = resume_metadata(drain);
	for (uint32_t i = 0; !rc && i < drain->n_rows; i++)
		rc = resume_stream(drain, i);
	return rc;
}

static int resume_has_packets(const struct ktr__drain *drain)
{
	for (uint32_t i = 0; i < drain->n_rows; i++)
		if (drain->trace.stream[i].bytes)
			return 1;
	return 0;
}

/* Is NAME.number of the session? Its first line tells. */
static bool resume_is_retired(const struct ktr__drain *drain, uint32_t number)
{
	const struct ktr__trace *trace = &drain->trace;
	char path[NAME_MAX + 64], text[1024];
	struct ktr__line_trace line;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s.%u/" KTR_TRACE_DIR "/info.jsonl", trace->name, number);
	fd = trace->sys->openat(trace->parent_fd, path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	n = pread(fd, text, sizeof(text) - 1, 0);
	trace->sys->close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0'; /* within the line, if it is a long one */
	ktr__line_scan(text, (size_t)n, ktr__line_trace, &line, sizeof(line));
	return resume_is_ours(drain, &line);
}

/* Those that a writer before us has rotated away are counted with ours, and removed in their turn. */
static void resume_retired(struct ktr__drain *drain)
{
	uint32_t number = ktr__trace_free_number(&drain->trace) - 1;

	for (; number && resume_is_retired(drain, number); number--) {
		if (!drain->retired)
			drain->retired = number;
		drain->oldest = number;
	}
}

int ktr__resume(struct ktr__drain *drain, struct ktr_error *err)
{
	int rc = ktr__trace_reopen(&drain->trace, err);

	if (rc)
		return rc;
	rc = resume_all(drain);
	if (rc == -ESTALE)
		return ktr_error_set(err, rc, "%s: is a trace of another session",
				     drain->trace.name);
	if (rc == -EPROTO)
		return ktr_error_set(err, rc, "%s: what describes the trace is damaged",
				     drain->trace.name);
	if (rc)
		return ktr_error_set(err, rc, "%s: cannot go on with this trace: %m",
				     drain->trace.name);
	ktr__describe_rest(&drain->describe);
	resume_retired(drain);
	drain->resumed_bytes = drain->trace.bytes;
	/* Until there are packets, also in what was rotated away, the clock may become a better one. */
	drain->begun = drain->ended || drain->retired || resume_has_packets(drain);
	return 0;
}
