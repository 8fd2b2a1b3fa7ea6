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
 * Lines are our own (emit.c), so that members are found by their names and need no parser.
 */
#include "writer/resume.h"

#include "ktr/session/drop.h"
#include "writer/format/packet.h"

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

/* A member's number, or 0. */
static uint64_t resume_number(const char *line, const char *member)
{
	const char *at = strstr(line, member);

	return at ? strtoull(at + strlen(member), NULL, 10) : 0;
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
			int (*take)(struct ktr__drain *drain, const char *line))
{
	struct ktr__file *file = &drain->trace.side[which];
	size_t good = 0;
	int rc;
	char *text = resume_read(file, 0, (size_t)file->bytes, &rc), *line = text;

	for (char *end; text && !rc && (end = strchr(line, '\n')); line = end + 1) {
		if (ktr__line_check(line, (size_t)(end - line)))
			continue;
		*end = 0;
		good = (size_t)(end + 1 - text);
		if (take)
			rc = take(drain, line);
		if (!rc && which != KTR_SIDECAR_INFO)
			rc = ktr__describe_known_line(&drain->describe, line, (size_t)(end - line));
	}
	free(text);
	/* Nothing is cut off a trace before it is known to be ours. */
	return rc || !drain->clock_map.clock.mult ? rc : ktr__trace_cut(&drain->trace, file, good);
}

static int resume_proc(struct ktr__drain *drain, const char *line)
{
	ktr__describe_known_life(&drain->describe, true, (uint32_t)resume_number(line, "\"proc\":"),
				 resume_number(line, ",\"alive_ns\":"), resume_number(line, ",\"gone_ns\":"));
	return 0;
}

static int resume_thread(struct ktr__drain *drain, const char *line)
{
	ktr__describe_known_life(&drain->describe, false, (uint32_t)resume_number(line, "\"thread\":"),
				 resume_number(line, ",\"alive_ns\":"), resume_number(line, ",\"gone_ns\":"));
	ktr__describe_known_word(&drain->describe, (uint32_t)resume_number(line, "\"thread\":"),
				 (uint32_t)resume_number(line, "\"word\":"));
	return 0;
}

/*
 * How the events of a site lie in the packets is what the trace says, not what the site's row says by now. A quote
 * within a string has a backslash before it, and no comma.
 */
static int resume_site(struct ktr__drain *drain, const char *line)
{
	static const char names[KTR_ARG_TYPES][6] = {
#define RESUME_TYPE(type, text, width) [KTR_ARG_##type] = #type,
		KTR_ARG_LIST(RESUME_TYPE)
#undef RESUME_TYPE
	};
	static const char key[] = ",\"types\":[";
	const char *at = strstr(line, key);
	uint8_t type[KTR_ARGS_MAX] = { 0 };
	unsigned n = 0, t;

	for (at = at ? at + sizeof(key) - 1 : ""; *at == '"' && n < KTR_ARGS_MAX; at += *at == ',') {
		size_t length = strcspn(++at, "\"");

		for (t = 0; t < KTR_ARG_TYPES; t++)
			if (strlen(names[t]) == length && memcmp(names[t], at, length) == 0)
				type[n] = (uint8_t)t;
		n++;
		at += length + (at[length] == '"');
	}
	if (*at == ']')
		ktr__describe_known_types(&drain->describe, (uint32_t)resume_number(line, "\"site\":"), n, type);
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
static int resume_loss(struct ktr__drain *drain, const char *line)
{
	static const char key[] = "\"stream\":\"";
	const char *at = strstr(line, key);
	char name[32];
	size_t n;

	if (!at || !strstr(line, "\"why\":\"dropped\""))
		return 0;
	at += sizeof(key) - 1;
	n = strcspn(at, "\"");
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		ktr__trace_stream_name(&drain->trace, i, name, sizeof(name));
		if (strlen(name) == n && memcmp(name, at, n) == 0)
			drain->pace[i].dropped += resume_number(line, "\"events\":");
	}
	return 0;
}

/* The same of those that went into no ring. */
static void resume_dropped(struct ktr__drain *drain, const char *line)
{
	char why[32];

	for (unsigned i = 0; i < KTR_DROPS; i++) {
		snprintf(why, sizeof(why), "\"why\":\"%s\"", ktr__drop_name(i));
		if (strstr(line, why))
			drain->dropped[i] = resume_number(line, "\"total\":");
	}
}

static int resume_from(struct ktr__drain *drain, const char *line)
{
	uint64_t slot = resume_number(line, "\"slot\":"), index = resume_number(line, "\"index\":");
	uint64_t geom, row = resume_number(line, "\"ring\":"), head;

	if (row >= drain->n_rows || index > slot)
		return -EPROTO;
	drain->pace[row].dropped = resume_number(line, "\"dropped\":");
	/*
	 * What lies before the place and is in the ring still is welcome, but was not lost. Where the ring had been
	 * read already, it lies in the trace that rotation moved away, or was not wanted.
	 */
	head = ktr__ring_head(&drain->source, (uint32_t)row, &geom);
	if (strstr(line, "\"unread\":true") && head - slot + KTR_SLOTS_MAX <= 1ull << KTR_GEOM_LOG2(geom)) {
		drain->ring[row].cursor = (struct ktr__ring_cursor)KTR__RING_FROM_OLDEST((uint32_t)row);
		drain->ring[row].started = 0;
		return 0;
	}
	drain->ring[row].cursor = (struct ktr__ring_cursor){
		(uint32_t)row, 1, slot, slot - index, slot, 0
	};
	drain->ring[row].index = index;
	return 0;
}

/* The last line of a trace that tells it holds. */
static int resume_clock(struct ktr__drain *drain, const char *line)
{
	struct ktr_trace_clock *clock = &drain->clock_map.clock;

	clock->base_ticks = resume_number(line, "\"base_ticks\":");
	clock->base_ns = resume_number(line, "\"base_ns\":");
	clock->mult = resume_number(line, "\"mult\":");
	clock->shift = (uint32_t)resume_number(line, "\"shift\":");
	return clock->mult && clock->shift < 64 ? 0 : -EPROTO;
}

/* Does a line say that its trace is of the session? */
static bool resume_is_ours(const struct ktr__drain *drain, const char *line)
{
	const uint8_t *uuid = drain->plan.map->header.uuid;
	char text[48] = "\"uuid\":\"";

	for (unsigned i = 0; i < 16; i++) {
		text[8 + 2 * i] = "0123456789abcdef"[uuid[i] >> 4];
		text[9 + 2 * i] = "0123456789abcdef"[uuid[i] & 15];
	}
	return strstr(line, text) != NULL;
}

/* The line that tells the clock, and of which session the trace is. */
static int resume_info(struct ktr__drain *drain, const char *line)
{

	if (strstr(line, "\"kind\":\"from\"") && drain->clock_map.clock.mult)
		return resume_from(drain, line);
	if (strstr(line, "\"kind\":\"clock\"") && drain->clock_map.clock.mult)
		return resume_clock(drain, line);
	drain->ended = strstr(line, "\"kind\":\"end\"") != NULL;
	if (strstr(line, "\"kind\":\"dropped\""))
		resume_dropped(drain, line);
	if (!strstr(line, "\"kind\":\"trace\""))
		return 0;
	if (!resume_is_ours(drain, line))
		return -ESTALE;
	drain->trace.format = (uint32_t)resume_number(line, "\"major\":");
	if (drain->trace.format < KTR_TRACE_OLDEST || drain->trace.format > KTR_TRACE_MAJOR)
		return -ENOTSUP;
	resume_start(drain);
	return resume_clock(drain, line);
}

static int resume_all(struct ktr__drain *drain)
{
	static int (*const take[KTR_SIDECARS])(struct ktr__drain * drain, const char *line) = {
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
	char path[NAME_MAX + 64], line[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s.%u/" KTR_TRACE_DIR "/info.jsonl", trace->name, number);
	fd = trace->sys->openat(trace->parent_fd, path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	n = pread(fd, line, sizeof(line) - 1, 0);
	trace->sys->close(fd);
	line[n > 0 ? n : 0] = '\0';
	return resume_is_ours(drain, line);
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
	/* Until there are packets, the clock may become a better one. */
	drain->begun = drain->ended || resume_has_packets(drain);
	return 0;
}
