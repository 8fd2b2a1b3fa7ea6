/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events into packets again.
 *
 * A stream collects one packet in memory, TRACE_WRITER_PACKET bytes at most, and appends it as a whole; it
 * ends one where a loss stands, since foreign readers count losses from packet to packet. The slots of
 * a packet, which no ring has any more, are the running numbers of its events.
 *
 * Threads get their words as the writer gives them (writer/describe.c): tid, and which life of it. A thread that
 * several sources tell of, the program itself and who traces its system calls, is one: its events stand together.
 */
#include "analyze/rewrite/trace_writer.h"

#include "analyze/read/reader.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/stats/ends.h"
#include "analyze/stats/keyed.h"
#include "conf/kit/array.h"
#include "writer/format/metadata.h"
#include "writer/format/packet.h"
#include "writer/format/stream.h"

#include <ktr/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TRACE_WRITER_PACKET ((size_t)128 * 1024)
#define TRACE_WRITER_ROOM                                                                                \
	(TRACE_WRITER_PACKET +                                                                           \
	 16384) /* [bytes] and the longest event: all arguments strings, or stacks */

struct trace_writer_stream {
	uint8_t *packet; /* owned; NULL until it has events */
	uint8_t *at;
	uint64_t time_ns; /* of the last event */
	uint64_t first_ns;
	uint32_t n_events; /* in the packet */
	uint64_t n_before; /* [events] of earlier packets, and lost ones */
	uint64_t seq;
	uint64_t discarded;
	uint64_t told;     /* of discarded, by packets */
	uint64_t front_ns; /* where losses before the first event began; 0: not known */
};

struct trace_writer_from {
	struct ktr__trace_writer_place place;
	uint32_t first_site;
	uint32_t first_proc;
	uint32_t n_threads;
	uint32_t *word; /* owned; by thread id */
};

/* A thread as the trace has it, by the key of its process and its number; of several lives the last. */
struct trace_writer_thread {
	struct ktr__keyed_row keyed;
	uint32_t source; /* whose it was first */
	uint32_t word, proc;
	struct ktr_reader_thread row; /* names are those of the source */
	struct ktr__end end;
};

struct ktr__trace_writer {
	struct ktr__trace trace;
	struct ktr__trace_head head;
	struct trace_writer_stream *stream; /* owned; by row */
	struct trace_writer_from *from;     /* owned */
	uint32_t n_from, from_room;
	uint32_t n_sites, n_threads, n_procs, n_modules; /* ids given away */
	const char *class_name[KTR_CLASS_MAX];
	uint16_t *lives; /* owned; by tid */
	struct ktr__keyed known; /* struct trace_writer_thread */
	struct ktr__emit side[KTR_SIDECARS];
	struct ktr__emit metadata;
	struct ktr__trace_writer_stats stats;
	uint64_t last_ns;
};

int ktr__trace_writer_open(struct ktr__trace_writer **out, const char *path,
			   const struct ktr__trace_head *head, uint32_t n_cpus, struct ktr_error *err)
{
	struct ktr__trace_writer *w = calloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	if (!w)
		return ktr_error_set(err, ENOMEM, "no memory");
	w->head = *head;
	w->head.format = KTR_TRACE_MAJOR;
	w->n_sites = w->n_threads = w->n_procs = w->n_modules = 1;
	rc = ktr__trace_init(&w->trace, &ktr__sys, path, KTR_PATH_RSEQ, n_cpus ? n_cpus : 1, err);
	w->stream = calloc(2 * (size_t)(n_cpus ? n_cpus : 1), sizeof(*w->stream));
	w->lives = calloc(KTR_WORD_TID + 1, sizeof(*w->lives));
	if (!rc && (!w->stream || !w->lives))
		rc = ktr_error_set(err, ENOMEM, "no memory");
	if (!rc && getrandom(w->head.uuid, sizeof(w->head.uuid), 0) < 0)
		rc = ktr_error_set(err, errno, "no random numbers: %m");
	if (!rc)
		rc = ktr__trace_make_way(&w->trace, err);
	if (!rc)
		rc = ktr__trace_create(&w->trace, err);
	if (rc)
		ktr__trace_writer_close(w, 1, NULL, NULL);
	else
		*out = w;
	return rc;
}

/* ---- what events refer to ---- */

/* The bit of a class by its name: the one it had, or a free one. -EMFILE: there is none. */
static int trace_writer_bit(struct ktr__trace_writer *w, unsigned bit, const char *name)
{
	unsigned free_bit = KTR_CLASS_MAX;

	if (bit < KTR_CLASS_APP_FIRST)
		return (int)bit;
	for (unsigned i = KTR_CLASS_MAX; i-- > KTR_CLASS_APP_FIRST;) {
		if (w->class_name[i] && strcmp(w->class_name[i], name) == 0)
			return (int)i;
		if (!w->class_name[i])
			free_bit = i;
	}
	if (!w->class_name[bit])
		free_bit = bit;
	if (free_bit == KTR_CLASS_MAX)
		return -EMFILE;
	w->class_name[free_bit] = name;
	ktr__rewrite_class(&w->side[KTR_SIDECAR_CLASSES], free_bit, name);
	return (int)free_bit;
}

/* The mask of a site as the new trace numbers classes. 0 or -EMFILE. */
static int trace_writer_mask(struct ktr__trace_writer *w, const struct ktr_reader *reader, uint64_t *mask)
{
	uint64_t out = 0;

	for (unsigned i = 0; i < KTR_CLASS_MAX; i++) {
		const char *name = ktr_reader_class_name(reader, i);
		int bit = (int)i;

		if (!(*mask >> i & 1))
			continue;
		if (name && *mask != KTR_ALL)
			bit = trace_writer_bit(w, i, name);
		if (bit < 0)
			return bit;
		out |= 1ull << bit;
	}
	*mask = out;
	return 0;
}

static int trace_writer_sites(struct ktr__trace_writer *w, const struct ktr_reader *reader,
			      struct trace_writer_from *from)
{
	uint32_t n = ktr_reader_n_sites(reader);
	int rc = 0;

	from->first_site = w->n_sites - 1;
	for (uint32_t id = 1; id < n && !rc; id++) {
		const struct ktr_reader_site *there = ktr_reader_site(reader, id);
		struct ktr_reader_site site;

		if (!there)
			continue;
		site = *there;
		site.id += from->first_site;
		if (site.id >= w->n_sites)
			w->n_sites = site.id + 1;
		rc = trace_writer_mask(w, reader, &site.mask);
		ktr__rewrite_site(&w->side[KTR_SIDECAR_SITES], &site);
		ktr__rewrite_event(&w->metadata, &site);
	}
	return rc;
}

static uint32_t trace_writer_word(struct ktr__trace_writer *w, uint32_t tid)
{
	uint32_t word = tid & KTR_WORD_TID, life;

	life = w->lives[word]++ % (KTR_WORD_LIFE_MAX + 1);
	if (!word && !life)
		life = w->lives[word]++; /* 0 is nobody's */
	return word | life << KTR_WORD_LIFE_SHIFT;
}

/* The id of a process, whose row the source has. 0: unknown. */
static uint32_t trace_writer_proc(struct ktr__trace_writer *w, const struct trace_writer_from *from,
				  uint32_t row)
{
	uint32_t proc = row ? from->first_proc + row : 0;

	if (proc >= w->n_procs)
		w->n_procs = proc + 1;
	return proc;
}

/* The key of the thread's process in the new trace. */
static uint64_t trace_writer_key(const struct trace_writer_from *from, const struct ktr_reader_thread *thread)
{
	uint64_t key = ktr__tables_process_key(thread);

	return from->place.machine ? ktr__process_key((uint32_t)key, key >> 32, from->place.machine) : key;
}

static uint64_t trace_writer_shift(uint64_t ns, int64_t shift)
{
	return ns ? ns + (uint64_t)shift : 0;
}

static struct ktr__end trace_writer_end(struct ktr__end end, int64_t shift)
{
	end.start_ns = trace_writer_shift(end.start_ns, shift);
	end.exit_ns = trace_writer_shift(end.exit_ns, shift);
	end.alive_ns = trace_writer_shift(end.alive_ns, shift);
	if (end.gone_ns != KTR__END_GONE)
		end.gone_ns = trace_writer_shift(end.gone_ns, shift);
	return end;
}

static struct ktr__end trace_writer_process_end(const struct ktr_reader_thread *thread, int64_t shift)
{
	static const struct ktr__end none;
	const struct ktr__process *process = ktr__ends_row(thread)->process;

	return trace_writer_end(process ? process->end : none, shift);
}

/* The earlier beginning and the later end, 0 being neither; the name of the first. */
static void trace_writer_widen(struct trace_writer_thread *known, const struct ktr__end *end)
{
	if (end->start_ns && (!known->end.start_ns || end->start_ns < known->end.start_ns))
		known->end.start_ns = end->start_ns;
	if (end->exit_ns > known->end.exit_ns)
		known->end.exit_ns = end->exit_ns;
	if (end->alive_ns > known->end.alive_ns)
		known->end.alive_ns = end->alive_ns;
}

/* The thread as an earlier source has told of it, in *known; NULL there: none has. 0 or -ENOMEM. */
static int trace_writer_known(struct ktr__trace_writer *w, uint64_t key, uint32_t tid,
			      struct trace_writer_thread **known)
{
	const uint64_t by[4] = { key, tid, 0, 0 };
	struct trace_writer_thread *row = ktr__keyed_get(&w->known, by, sizeof(*row));

	*known = NULL;
	if (!row)
		return -ENOMEM;
	if (row->word && row->source != w->n_from && tid)
		*known = row;
	return 0;
}

static void trace_writer_remember(struct ktr__trace_writer *w, uint64_t key, const struct ktr_reader_thread *thread,
				  uint32_t word, uint32_t proc, const struct ktr__end *end)
{
	const uint64_t by[4] = { key, thread->tid, 0, 0 };
	struct trace_writer_thread *row = ktr__keyed_find(&w->known, by);

	if (!row)
		return;
	row->source = w->n_from;
	row->word = word;
	row->proc = proc;
	row->row = *thread;
	row->end = *end;
}

/* Threads, and their processes as far as threads tell of them. 0 or -ENOMEM. */
static int trace_writer_threads(struct ktr__trace_writer *w, const struct ktr_reader *reader,
				struct trace_writer_from *from)
{
	const char *cmdline = ktr_reader_info(reader)->cmdline;
	uint32_t first = w->n_threads - 1, last_proc = 0;

	from->n_threads = ktr_reader_n_threads(reader);
	from->word = calloc(from->n_threads, sizeof(*from->word));
	if (!from->word)
		return -ENOMEM;
	for (uint32_t id = 1; id < from->n_threads; id++) {
		const struct ktr_reader_thread *there = ktr_reader_thread(reader, id);
		struct trace_writer_thread *known;
		struct ktr_reader_thread thread;
		struct ktr__end end;
		uint32_t proc;

		if (!there)
			continue;
		thread = *there;
		if (trace_writer_known(w, trace_writer_key(from, there), thread.tid, &known))
			return -ENOMEM;
		if (known) {
			end = trace_writer_end(ktr__ends_row(there)->end, from->place.shift_ns);
			trace_writer_widen(known, &end);
			from->word[id] = known->word;
			ktr__rewrite_thread(&w->side[KTR_SIDECAR_THREADS], &known->row, known->word, known->proc,
					    &known->end);
			continue;
		}
		proc = trace_writer_proc(w, from, ktr__tables_proc(there));
		end = trace_writer_process_end(there, from->place.shift_ns);
		if (proc && proc != last_proc)
			ktr__rewrite_proc(&w->side[KTR_SIDECAR_PROCS], proc, thread.pid,
					trace_writer_key(from, there), thread.process,
					proc == from->first_proc + 1 ? cmdline : "", &end);
		last_proc = proc;
		thread.id += first;
		end = trace_writer_end(ktr__ends_row(there)->end, from->place.shift_ns);
		if (thread.id >= w->n_threads)
			w->n_threads = thread.id + 1;
		from->word[id] = trace_writer_word(w, thread.tid);
		trace_writer_remember(w, trace_writer_key(from, there), &thread, from->word[id], proc, &end);
		ktr__rewrite_thread(&w->side[KTR_SIDECAR_THREADS], &thread, from->word[id], proc, &end);
	}
	return 0;
}

/* What addresses lie in: names of functions are found by it. */
static void trace_writer_modules(struct ktr__trace_writer *w, const struct ktr_reader *reader,
				 const struct trace_writer_from *from)
{
	const struct ktr__tables *tables = ktr__reader_tables(reader);

	for (uint32_t id = 1; id < tables->n_modules; id++)
		if (tables->module[id])
			ktr__rewrite_module(&w->side[KTR_SIDECAR_MODULES], w->n_modules++,
					  trace_writer_proc(w, from, tables->module[id]->proc),
					  tables->module[id]);
}

int ktr__trace_writer_source(struct ktr__trace_writer *w, const struct ktr_reader *reader,
			     struct ktr__trace_writer_place place, struct ktr_error *err)
{
	const uint64_t *n_dropped = ktr_reader_info(reader)->n_dropped;
	struct trace_writer_from *from;
	int rc;

	if (ktr__array_grow(&w->from, &w->from_room, w->n_from, sizeof(*from)))
		return ktr_error_set(err, ENOMEM, "no memory");
	from = &w->from[w->n_from];
	from->place = place;
	from->first_proc = w->n_procs - 1;
	if (!w->n_from) {
		ktr__rewrite_metadata(&w->metadata, &w->head, "", 0);
		ktr__rewrite_head(&w->side[KTR_SIDECAR_INFO], &w->head, "weaver");
	}
	w->n_from++;
	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (n_dropped[i]) {
			ktr__rewrite_dropped(&w->side[KTR_SIDECAR_INFO], i, n_dropped[i]);
			w->stats.n_lost += n_dropped[i];
		}
	rc = trace_writer_sites(w, reader, from);
	if (rc == -EMFILE)
		return ktr_error_set(err, EMFILE, "%s: there are more classes than bits for them",
				     ktr_reader_info(reader)->path);
	if (!rc)
		rc = trace_writer_threads(w, reader, from);
	if (!rc)
		trace_writer_modules(w, reader, from);
	return rc ? ktr_error_set(err, -rc, "no memory") : (int)w->n_from - 1;
}

static int trace_writer_write(struct ktr__trace_writer *w, struct ktr__emit *emit, struct ktr__file *file)
{
	int rc = emit->failed ? -ENOMEM : 0;

	if (!rc && emit->n)
		rc = ktr__trace_append(&w->trace, file, emit->text, emit->n);
	emit->n = 0;
	return rc;
}

static int trace_writer_flush(struct ktr__trace_writer *w)
{
	int rc = 0;

	for (int i = 0; i < KTR_SIDECARS && !rc; i++)
		rc = trace_writer_write(w, &w->side[i], &w->trace.side[i]);
	return rc;
}

int ktr__trace_writer_begin(struct ktr__trace_writer *w, struct ktr_error *err)
{
	int rc;

	ktr__metadata_end(&w->metadata, 0, 0);
	rc = trace_writer_flush(w);
	if (!rc)
		rc = trace_writer_write(w, &w->metadata, &w->trace.metadata);
	return rc ? ktr_error_set(err, -rc, "%s: cannot write: %m", w->trace.name) : 0;
}

/* ---- packets ---- */

/* Appends a packet that ends at `end`, with a count of lost events. 0 or -errno. */
static int trace_writer_packet(struct ktr__trace_writer *w, uint32_t row, const uint8_t *end,
			       uint64_t discarded)
{
	struct trace_writer_stream *s = &w->stream[row];
	size_t n = (size_t)(end - s->packet);
	struct ktr_packet_header head = {
		.flags = row >= w->trace.n_rings ? KTR_PACKET_KEEP : 0,
		.first_slot = s->n_before,
		.next_slot = s->n_before + s->n_events,
		.time_begin = s->n_events ? s->first_ns : s->time_ns,
		.time_end = s->time_ns,
		.seq = s->seq++,
		.discarded = discarded,
		.first_event = s->n_before,
		.n_events = s->n_events,
		.ring = row,
		.cpu = row % w->trace.n_rings,
	};
	struct ktr__file *file;
	int rc = ktr__trace_stream(&w->trace, row, &file);

	ktr__packet_seal(s->packet, n, &head);
	if (!rc)
		rc = ktr__trace_append(&w->trace, file, s->packet, n);
	s->told = discarded;
	s->n_before += s->n_events;
	s->n_events = 0;
	s->at = s->packet + KTR_PACKET_EVENTS;
	return rc;
}

/* Has the stream a packet to write into? Losses before all others need an empty one to count from. */
static int trace_writer_room(struct ktr__trace_writer *w, uint32_t row, uint64_t time_ns)
{
	struct trace_writer_stream *s = &w->stream[row];
	int rc = 0;

	if (!s->packet) {
		s->packet = malloc(TRACE_WRITER_ROOM);
		if (!s->packet)
			return -ENOMEM;
		s->at = s->packet + KTR_PACKET_EVENTS;
	}
	if (!s->seq && !s->n_events && s->discarded) {
		uint64_t lost = s->n_before;

		s->n_before = 0;
		s->time_ns = s->front_ns && s->front_ns < time_ns ? s->front_ns : time_ns;
		rc = trace_writer_packet(w, row, s->at, 0);
		s->n_before = lost;
	}
	return rc;
}

static uint8_t *trace_writer_put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *trace_writer_head(uint8_t *at, uint32_t id, uint64_t time_ns, uint64_t last_ns)
{
	uint16_t id16 = (uint16_t)id;
	uint32_t time32 = (uint32_t)time_ns;

	if (id >= KTR_EVENT_ID_EXTENDED || time_ns - last_ns > UINT32_MAX) {
		id16 = KTR_EVENT_ID_EXTENDED;
		at = trace_writer_put(at, &id16, 2);
		at = trace_writer_put(at, &id, 4);
		return trace_writer_put(at, &time_ns, 8);
	}
	at = trace_writer_put(at, &id16, 2);
	return trace_writer_put(at, &time32, 4);
}

static uint8_t *trace_writer_string(uint8_t *at, const struct ktr_event_bytes *str)
{
	size_t n = str->n_bytes < KTR_PAYLOAD_BYTES ? str->n_bytes : KTR_PAYLOAD_BYTES;

	if (str->is_null)
		return trace_writer_put(at, "(null)", 7);
	/* A NUL would end it in the packet. */
	n = strnlen(str->bytes, n);
	at = trace_writer_put(at, str->bytes, n);
	*at = 0;
	return at + 1;
}

static uint8_t *trace_writer_args(uint8_t *at, const struct ktr_event *event)
{
	static const uint8_t width[KTR_ARG_TYPES] = {
#define TRACE_WRITER_WIDTH(name, text, bytes) [KTR_ARG_##name] = bytes,
		KTR_ARG_LIST(TRACE_WRITER_WIDTH)
#undef TRACE_WRITER_WIDTH
	};

	for (unsigned i = 0; i < event->site->n_args; i++) {
		const struct ktr_event_bytes *str = &event->str[i];
		uint16_t n;

		switch (event->site->arg[i].type) {
		case KTR_ARG_STR:
			at = trace_writer_string(at, str);
			break;
		case KTR_ARG_STACK:
			n = (uint16_t)(str->n_bytes / 8 < KTR_STACK_MAX ? str->n_bytes / 8
									: KTR_STACK_MAX);
			at = trace_writer_put(at, &n, 2);
			at = trace_writer_put(at, str->bytes, 8u * n);
			break;
		default:
			at = trace_writer_put(at, &event->arg[i], width[event->site->arg[i].type]);
		}
	}
	return at;
}

/* Which strings are missing something: an odd event says so after its arguments. */
static unsigned trace_writer_odd(const struct ktr_event *event, uint8_t odd[2])
{
	odd[0] = odd[1] = 0;
	for (unsigned i = 0; i < event->site->n_args; i++)
		if (event->site->in_str >> i & 1) {
			odd[0] |= (uint8_t)((event->str[i].cut != 0) << i);
			odd[1] |= (uint8_t)((event->str[i].is_null != 0) << i);
		}
	return odd[0] || odd[1];
}

static uint32_t trace_writer_row(const struct ktr__trace_writer *w, int source, uint32_t cpu, int keep)
{
	cpu += w->from[source].place.first_cpu;
	return cpu % w->trace.n_rings + (keep ? w->trace.n_rings : 0);
}

static void trace_writer_pack(struct trace_writer_stream *s, const struct trace_writer_from *from,
			      uint64_t time_ns, const struct ktr_event *event)
{
	uint32_t word = event->thread->id < from->n_threads ? from->word[event->thread->id] : 0;
	uint32_t id = event->site->id ? (event->site->id + from->first_site) << 1 : 0, zero = 0;
	uint8_t odd[2];

	if (id && trace_writer_odd(event, odd))
		id |= KTR_EVENT_ODD;
	word |= event->approx ? KTR_WORD_APPROX : 0;
	s->at = trace_writer_head(s->at, id, time_ns, s->n_events ? s->time_ns : s->first_ns);
	s->at = trace_writer_put(s->at, &word, 4);
	if (!id) {
		s->at = trace_writer_put(s->at, &zero, 4);
		s->at = trace_writer_put(s->at, event->arg, sizeof(event->arg));
		return;
	}
	s->at = trace_writer_args(s->at, event);
	if (id & KTR_EVENT_ODD)
		s->at = trace_writer_put(s->at, odd, 2);
}

int ktr__trace_writer_event(struct ktr__trace_writer *w, int source, const struct ktr_event *event)
{
	const struct trace_writer_from *from = &w->from[source];
	uint32_t row = trace_writer_row(w, source, event->cpu, event->keep);
	struct trace_writer_stream *s = &w->stream[row];
	uint64_t time_ns = event->time_ns + (uint64_t)from->place.shift_ns;
	int rc = trace_writer_room(w, row, time_ns);

	if (!rc && s->at - s->packet > (ptrdiff_t)TRACE_WRITER_PACKET)
		rc = trace_writer_packet(w, row, s->at, s->discarded);
	if (rc)
		return rc;
	if (time_ns < s->time_ns)
		time_ns = s->time_ns;
	if (!s->n_events)
		s->first_ns = time_ns;
	trace_writer_pack(s, from, time_ns, event);
	s->n_events++;
	s->time_ns = w->last_ns = time_ns;
	w->stats.n_events++;
	return 0;
}

int ktr__trace_writer_loss(struct ktr__trace_writer *w, int source, const struct ktr_loss *loss)
{
	uint32_t row = trace_writer_row(w, source, loss->cpu, loss->keep);
	struct trace_writer_stream *s = &w->stream[row];
	struct ktr_loss told = *loss;
	char name[32];
	int rc = 0;

	if (s->n_events)
		rc = trace_writer_packet(w, row, s->at, s->discarded);
	told.cpu = row % w->trace.n_rings;
	told.from_ns = trace_writer_shift(loss->from_ns, w->from[source].place.shift_ns);
	told.to_ns = trace_writer_shift(loss->to_ns, w->from[source].place.shift_ns);
	ktr__trace_stream_name(&w->trace, row, name, sizeof(name));
	/* The first packet of all is the empty one of trace_writer_room(). */
	ktr__rewrite_loss(&w->side[KTR_SIDECAR_LOSSES], name, &told, s->seq ? s->seq : 1);
	if (!s->discarded)
		s->front_ns = told.from_ns;
	s->discarded += loss->n_events;
	s->n_before += loss->n_events;
	w->stats.n_lost += loss->n_events;
	return rc;
}

/* The last packets, with losses that no event follows. 0 or -errno. */
static int trace_writer_finish(struct ktr__trace_writer *w)
{
	int rc = 0;

	for (uint32_t row = 0; row < 2 * w->trace.n_rings && !rc; row++) {
		struct trace_writer_stream *s = &w->stream[row];

		if (!s->n_events && s->discarded == s->told)
			continue;
		rc = trace_writer_room(w, row, w->last_ns);
		if (!rc)
			rc = trace_writer_packet(w, row, s->at, s->discarded);
	}
	ktr__rewrite_end(&w->side[KTR_SIDECAR_INFO], w->last_ns, w->stats.n_events, w->stats.n_lost);
	return rc ? rc : trace_writer_flush(w);
}

int ktr__trace_writer_close(struct ktr__trace_writer *w, int abandon, struct ktr__trace_writer_stats *stats,
			    struct ktr_error *err)
{
	int rc = abandon ? 0 : trace_writer_finish(w);

	if (rc)
		ktr_error_set(err, -rc, "%s: cannot write: %m", w->trace.name);
	else if (!abandon)
		rc = ktr__trace_publish(&w->trace, err);
	if (stats)
		*stats = w->stats;
	for (uint32_t row = 0; w->stream && row < 2 * w->trace.n_rings; row++)
		free(w->stream[row].packet);
	ktr__trace_fini(&w->trace);
	for (int i = 0; i < KTR_SIDECARS; i++)
		ktr__emit_free(&w->side[i]);
	ktr__emit_free(&w->metadata);
	for (uint32_t i = 0; i < w->n_from; i++)
		free(w->from[i].word);
	ktr__keyed_free(&w->known);
	free(w->from);
	free(w->stream);
	free(w->lives);
	free(w);
	return rc;
}
