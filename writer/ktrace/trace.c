/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads are found by their number, as long as they live; a number that comes again is another life
 * (KTR_WORD_LIFE_SHIFT). Descriptions are written before the packet whose events need them.
 */
#include "writer/ktrace/trace.h"

#include "conf/kit/array.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "writer/format/metadata.h"
#include "writer/format/packet.h"
#include "writer/format/sidecar_lines.h"
#include "writer/format/stream.h"

#include <ktr/session.h>
#include <ktr/version.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define TRACE_PACKET  ((size_t)64 * 1024)
#define TRACE_EVENT   ((size_t)8 * 1024) /* [bytes] no event is longer: strings are cut before */
#define TRACE_STRING  1024 /* [bytes] and of a stack KTR_STACK_MAX frames */
#define TRACE_BUCKETS 1024

struct trace_thread {
	struct trace_thread *next; /* in its bucket */
	pid_t tid, pid;
	uint32_t id, proc, word;
	uint64_t start_ns;
	char comm[16];
};

struct trace_proc {
	struct trace_proc *next;
	pid_t pid;
	uint32_t id;
	uint64_t start_time, start_ns;
	char comm[16];
};

struct ktr__ktrace_trace {
	struct ktr__trace files;
	struct ktr__emit side[KTR_SIDECARS];
	struct ktr__emit metadata;
	struct trace_thread *thread[TRACE_BUCKETS]; /* owned, those that live */
	struct trace_proc *proc[TRACE_BUCKETS];     /* likewise */
	uint16_t *lives;                            /* owned; by tid */
	uint8_t (*type)[KTR_ARGS_MAX + 1];          /* owned; by site: how many arguments, and what they are */
	uint32_t n_sites, types_room, n_threads, n_procs, n_classes, n_modules;
	uint64_t pid_ns;
	uint64_t n_events, n_before, seq; /* in the packet; of those before it */
	uint64_t first_ns, last_ns;
	int error; /* of what could not be written */
	uint8_t *at;
	uint8_t packet[TRACE_PACKET + TRACE_EVENT];
};

/* ---- what it says of itself ---- */

/* Where the clocks are. UTC less the trace's. */
static int64_t trace_anchor(struct ktr__ktrace_trace *t)
{
	struct ktr_anchor now = { 0 };

	ktr__clock_anchor(KTR_CLOCK_MONOTONIC, &now);
	ktr__line_write(&t->side[KTR_SIDECAR_ANCHORS], ktr__line_anchor,
			&(struct ktr__line_anchor){ now.ticks, now.mono_ns, now.utc_ns }, NULL, 1);
	return (int64_t)(now.utc_ns - now.mono_ns);
}

static int trace_head(struct ktr__ktrace_trace *t, const char *name, const char *cmdline)
{
	struct ktr__metadata_head head = {
		.name = name, .cmdline = cmdline, .process = "", .format = KTR_TRACE_MAJOR
	};
	uint64_t boot_id[2];
	struct utsname here;
	struct ktr__line_trace line = {
		.kind.text = "trace",
		.major = KTR_TRACE_MAJOR,
		.minor = KTR_TRACE_MINOR,
		.session.text = name,
		.clock.text = "monotonic",
		.path.text = "rseq",
		.mult = 1,
		.cmdline.text = cmdline,
		.complete = 1,
		.writer.text = KTR_VERSION_TEXT,
	};

	uname(&here);
	if (getrandom(head.uuid, sizeof(head.uuid), 0) < 0)
		return -errno;
	ktr__kernel_boot_id(boot_id);
	head.utc_offset_ns = trace_anchor(t);
	head.host = line.host.text = here.nodename;
	line.arch.text = here.machine;
	line.utc_offset_ns = head.utc_offset_ns;
	memcpy(line.uuid.octet, head.uuid, sizeof(line.uuid.octet));
	memcpy(line.boot_id.octet, boot_id, sizeof(line.boot_id.octet));
	ktr__line_write(&t->side[KTR_SIDECAR_INFO], ktr__line_trace, &line, NULL, 1);
	ktr__metadata_begin(&t->metadata, &head);
	return 0;
}

uint64_t ktr__ktrace_trace_class(struct ktr__ktrace_trace *t, const char *name, const char *help)
{
	unsigned bit = KTR_CLASS_APP_FIRST + t->n_classes++;

	ktr__line_write(&t->side[KTR_SIDECAR_CLASSES], ktr__line_class,
			&(struct ktr__line_class){ bit, { name }, { help } }, NULL, 1);
	return 1ull << bit;
}

uint32_t ktr__ktrace_trace_site(struct ktr__ktrace_trace *t, const struct ktr__ktrace_site *site)
{
	struct ktr_site_row row = { .mask = site->mask, .n_args = (uint8_t)site->n_args };
	uint32_t id = t->n_sites + 1;
	struct ktr__line_site line = {
		.site = id,
		.name.text = site->name,
		.class.text = site->class_name,
		.mask = site->mask,
		.file.text = site->file ? site->file : site->name,
		.func.text = site->func,
		.format.text = site->format,
		.names.text = site->names,
		.types.n = (uint8_t)site->n_args,
		.how.n = (uint8_t)site->n_args,
		.limit.n = (uint8_t)site->n_args,
		.module.text = "",
	};

	if (ktr__array_grow(&t->type, &t->types_room, id, sizeof(t->type[0])))
		return 0;
	t->type[id][0] = (uint8_t)site->n_args;
	memcpy(&t->type[id][1], site->type, sizeof(site->type));
	memcpy(row.type, site->type, sizeof(row.type));
	for (unsigned i = 0; i < site->n_args; i++) {
		line.types.each[i] = site->type[i];
		line.how.each[i] = site->type[i] == KTR_ARG_STR	  ? KTR_HOW_COPY :
				   site->type[i] == KTR_ARG_STACK ? KTR_HOW_STACK :
								    KTR_HOW_VALUE;
	}
	ktr__line_write(&t->side[KTR_SIDECAR_SITES], ktr__line_site, &line, NULL, 1);
	ktr__metadata_event(
		&t->metadata, t->files.metadata.bytes,
		&(struct ktr__metadata_site){ id, &row, site->class_name, site->name, site->format, site->names });
	return t->n_sites = id;
}

/* ---- who is there ---- */

static void trace_proc_line(struct ktr__ktrace_trace *t, const struct trace_proc *proc, uint64_t exit_ns)
{
	ktr__line_write(&t->side[KTR_SIDECAR_PROCS], ktr__line_proc,
			&(struct ktr__line_proc){
				.proc = proc->id,
				.pid = (uint32_t)proc->pid,
				.pid_ns = t->pid_ns,
				.start_time = proc->start_time,
				.start_ns = proc->start_ns,
				.exit_ns = exit_ns,
				.name.text = proc->comm,
				.exe.text = "",
				.cmdline.text = "",
			},
			NULL, 0);
}

static void trace_thread_line(struct ktr__ktrace_trace *t, const struct trace_thread *thread, uint64_t exit_ns)
{
	ktr__line_write(&t->side[KTR_SIDECAR_THREADS], ktr__line_thread,
			&(struct ktr__line_thread){
				.thread = thread->id,
				.word = thread->word,
				.tid = (uint32_t)thread->tid,
				.pid = (uint32_t)thread->pid,
				.proc = thread->proc,
				.name.text = thread->comm,
				.start_ns = thread->start_ns,
				.exit_ns = exit_ns,
			},
			NULL, 0);
}

static struct trace_thread **trace_thread_at(struct ktr__ktrace_trace *t, pid_t tid)
{
	struct trace_thread **at = &t->thread[(uint32_t)tid % TRACE_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static struct trace_proc **trace_proc_at(struct ktr__ktrace_trace *t, pid_t pid)
{
	struct trace_proc **at = &t->proc[(uint32_t)pid % TRACE_BUCKETS];

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static struct trace_proc *trace_proc_new(struct ktr__ktrace_trace *t, pid_t pid, const char *comm, uint64_t ns)
{
	struct trace_proc *proc = calloc(1, sizeof(*proc)), **at = &t->proc[(uint32_t)pid % TRACE_BUCKETS];

	if (!proc)
		return NULL;
	proc->pid = pid;
	proc->id = ++t->n_procs;
	proc->start_time = ktr__proc_start_time((uint32_t)pid);
	proc->start_ns = ns;
	memcpy(proc->comm, comm, strnlen(comm, sizeof(proc->comm) - 1));
	proc->next = *at;
	*at = proc;
	trace_proc_line(t, proc, 0);
	return proc;
}

/* Another program, or another name of it. */
static void trace_renamed(struct ktr__ktrace_trace *t, struct trace_thread *thread, const char *comm)
{
	struct trace_proc *proc = thread->tid == thread->pid ? *trace_proc_at(t, thread->pid) : NULL;

	memset(thread->comm, 0, sizeof(thread->comm));
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm) - 1));
	if (proc) {
		memcpy(proc->comm, thread->comm, sizeof(proc->comm));
		trace_proc_line(t, proc, 0);
	}
	trace_thread_line(t, thread, 0);
}

static uint32_t trace_word(struct ktr__ktrace_trace *t, pid_t tid)
{
	uint32_t word = (uint32_t)tid & KTR_WORD_TID;

	return word | (t->lives[word]++ & KTR_WORD_LIFE_MAX) << KTR_WORD_LIFE_SHIFT;
}

int ktr__ktrace_trace_thread(struct ktr__ktrace_trace *t, pid_t pid, pid_t tid, const char *comm, uint64_t ns)
{
	struct trace_thread **at = trace_thread_at(t, tid), *thread = *at;
	struct trace_proc *proc;

	if (thread && thread->pid == pid) {
		if (strncmp(thread->comm, comm, sizeof(thread->comm) - 1) != 0)
			trace_renamed(t, thread, comm);
		return 0;
	}
	if (thread) /* its number has another one now, whose beginning is the first that is heard of it */
		ktr__ktrace_trace_ended(t, thread->pid, tid, ns);
	proc = *trace_proc_at(t, pid);
	if (!proc)
		proc = trace_proc_new(t, pid, comm, ns);
	thread = proc ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread)
		return -ENOMEM;
	at = &t->thread[(uint32_t)tid % TRACE_BUCKETS];
	thread->next = *at;
	*at = thread;
	thread->tid = tid;
	thread->pid = pid;
	thread->id = ++t->n_threads;
	thread->proc = proc->id;
	thread->word = trace_word(t, tid);
	thread->start_ns = ns;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm) - 1));
	trace_thread_line(t, thread, 0);
	return 0;
}

void ktr__ktrace_trace_module(struct ktr__ktrace_trace *t, pid_t pid, uint64_t base, uint64_t end, const char *path,
			      const uint8_t *id, size_t n_id)
{
	const struct trace_proc *proc = *trace_proc_at(t, pid);
	struct ktr__line_module line = { .base = base, .end = end, .path.text = path };

	if (!proc)
		return;
	n_id = n_id < KTR_BUILD_ID_MAX ? n_id : KTR_BUILD_ID_MAX;
	line.module = ++t->n_modules;
	line.proc = proc->id;
	line.build_id.n = (uint8_t)n_id;
	memcpy(line.build_id.octet, id, n_id);
	ktr__line_write(&t->side[KTR_SIDECAR_MODULES], ktr__line_module, &line, NULL, 1);
}

static void trace_thread_end(struct ktr__ktrace_trace *t, struct trace_thread **at, uint64_t ns)
{
	struct trace_thread *thread = *at;

	trace_thread_line(t, thread, ns);
	*at = thread->next;
	free(thread);
}

void ktr__ktrace_trace_ended(struct ktr__ktrace_trace *t, pid_t pid, pid_t tid, uint64_t ns)
{
	struct trace_thread **thread = trace_thread_at(t, tid);
	struct trace_proc **at = trace_proc_at(t, pid), *proc = *at;

	if (tid) {
		if (*thread)
			trace_thread_end(t, thread, ns);
		return;
	}
	for (unsigned i = 0; i < TRACE_BUCKETS; i++)
		for (thread = &t->thread[i]; *thread;) {
			if ((*thread)->pid == pid)
				trace_thread_end(t, thread, ns);
			else
				thread = &(*thread)->next;
		}
	if (!proc)
		return;
	trace_proc_line(t, proc, ns);
	*at = proc->next;
	free(proc);
}

/* ---- events ---- */

static uint8_t *trace_put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *trace_event_head(uint8_t *at, uint32_t id, uint64_t ns, uint64_t last_ns, uint32_t word)
{
	uint16_t id16 = (uint16_t)id;
	uint32_t time32 = (uint32_t)ns;

	if (id >= KTR_EVENT_ID_EXTENDED || ns - last_ns > UINT32_MAX) {
		id16 = KTR_EVENT_ID_EXTENDED;
		at = trace_put(at, &id16, sizeof(id16));
		at = trace_put(at, &id, sizeof(id));
		at = trace_put(at, &ns, sizeof(ns));
	} else {
		at = trace_put(at, &id16, sizeof(id16));
		at = trace_put(at, &time32, sizeof(time32));
	}
	return trace_put(at, &word, sizeof(word));
}

static uint8_t *trace_event_args(uint8_t *at, const uint8_t *type, const struct ktr__ktrace_value *value,
				 uint8_t odd[2])
{
	static const uint8_t width[KTR_ARG_TYPES] = {
#define TRACE_WIDTH(name, text, bytes) [KTR_ARG_##name] = bytes,
		KTR_ARG_LIST(TRACE_WIDTH)
#undef TRACE_WIDTH
	};

	for (unsigned i = 0; i < type[0]; i++, value++) {
		size_t n = value->n < TRACE_STRING ? value->n : TRACE_STRING;
		uint16_t n_frames = (uint16_t)(n / 8);

		if (type[1 + i] != KTR_ARG_STR && type[1 + i] != KTR_ARG_STACK) {
			at = trace_put(at, &value->number, width[type[1 + i]]);
			continue;
		}
		odd[0] |= (uint8_t)((value->cut || n < value->n) << i);
		if (type[1 + i] == KTR_ARG_STACK)
			at = trace_put(at, &n_frames, sizeof(n_frames));
		at = trace_put(at, value->bytes ? value->bytes : "", value->bytes ? n : 0);
		if (type[1 + i] == KTR_ARG_STR)
			*at++ = 0;
	}
	return at;
}

int ktr__ktrace_trace_event(struct ktr__ktrace_trace *t, uint32_t site, pid_t tid, uint64_t ns,
			    const struct ktr__ktrace_value *value)
{
	const struct trace_thread *thread = *trace_thread_at(t, tid);
	uint8_t *begin = t->at, odd[2] = { 0, 0 };
	uint32_t id = site << 1;

	if (t->error)
		return t->error;
	if (!site || !thread)
		return -ENOMEM;
	if (ns < t->last_ns)
		ns = t->last_ns;
	if (!t->n_events)
		t->first_ns = t->last_ns = ns;
	t->at = trace_event_head(begin, id, ns, t->last_ns, thread->word);
	t->at = trace_event_args(t->at, t->type[site], value, odd);
	if (odd[0]) {
		/* The id comes first, or after the mark of an extended one. */
		id |= KTR_EVENT_ODD;
		memcpy(begin + (begin[0] == 0xff && begin[1] == 0xff ? 2 : 0), &id, 2);
		t->at = trace_put(t->at, odd, sizeof(odd));
	}
	t->last_ns = ns;
	t->n_events++;
	return t->at - t->packet > (ptrdiff_t)TRACE_PACKET ? ktr__ktrace_trace_flush(t) : 0;
}

/* ---- to the disk ---- */

static int trace_write(struct ktr__ktrace_trace *t, struct ktr__emit *emit, struct ktr__file *file)
{
	int rc = emit->failed ? -ENOMEM : 0;

	if (!rc && emit->n)
		rc = ktr__trace_append(&t->files, file, emit->text, emit->n);
	emit->n = 0;
	return rc;
}

static int trace_describe(struct ktr__ktrace_trace *t)
{
	int rc = 0;

	for (int i = 0; i < KTR_SIDECARS && !rc; i++)
		rc = trace_write(t, &t->side[i], &t->files.side[i]);
	if (t->metadata.n)
		ktr__metadata_end(&t->metadata, t->files.metadata.bytes, 0);
	return rc ? rc : trace_write(t, &t->metadata, &t->files.metadata);
}

static int trace_packet(struct ktr__ktrace_trace *t)
{
	struct ktr_packet_header head = {
		.first_slot = t->n_before,
		.next_slot = t->n_before + t->n_events,
		.first_event = t->n_before,
		.time_begin = t->first_ns,
		.time_end = t->last_ns,
		.seq = t->seq,
		.n_events = (uint32_t)t->n_events,
	};
	struct ktr__file *file;
	int rc = ktr__trace_stream(&t->files, 0, &file);

	ktr__packet_seal(t->packet, (size_t)(t->at - t->packet), &head);
	if (!rc)
		rc = ktr__trace_append(&t->files, file, t->packet, (size_t)(t->at - t->packet));
	if (rc)
		return rc;
	t->seq++;
	t->n_before += t->n_events;
	t->n_events = 0;
	t->at = t->packet + KTR_PACKET_EVENTS;
	return 0;
}

size_t ktr__ktrace_trace_waiting(const struct ktr__ktrace_trace *t)
{
	return t->error ? 0 : t->n_events;
}

int ktr__ktrace_trace_flush(struct ktr__ktrace_trace *t)
{
	if (!t->error)
		t->error = trace_describe(t);
	if (!t->error && t->n_events)
		t->error = trace_packet(t);
	return t->error;
}

/* ---- to begin and end ---- */

static void trace_free(struct ktr__ktrace_trace *t)
{
	for (unsigned i = 0; i < TRACE_BUCKETS; i++) {
		for (struct trace_thread *thread = t->thread[i], *next; thread; thread = next) {
			next = thread->next;
			free(thread);
		}
		for (struct trace_proc *proc = t->proc[i], *next; proc; proc = next) {
			next = proc->next;
			free(proc);
		}
	}
	ktr__trace_fini(&t->files);
	for (int i = 0; i < KTR_SIDECARS; i++)
		ktr__emit_free(&t->side[i]);
	ktr__emit_free(&t->metadata);
	free(t->lives);
	free(t->type);
	free(t);
}

int ktr__ktrace_trace_open(struct ktr__ktrace_trace **out, const char *path, const char *name, const char *cmdline,
			   struct ktr_error *err)
{
	struct ktr__ktrace_trace *t = calloc(1, sizeof(*t));
	int rc;

	*out = NULL;
	if (!t)
		return ktr_error_set(err, ENOMEM, "no memory");
	t->at = t->packet + KTR_PACKET_EVENTS;
	t->pid_ns = ktr__proc_own_ns();
	t->lives = calloc(KTR_WORD_TID + 1, sizeof(*t->lives));
	rc = ktr__trace_init(&t->files, &ktr__sys, path, KTR_PATH_RSEQ, 1, err);
	if (!rc && !t->lives)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	if (!rc)
		rc = ktr__trace_make_way(&t->files, err);
	if (!rc)
		rc = ktr__trace_create(&t->files, err);
	if (!rc) {
		rc = trace_head(t, name, cmdline);
		if (!rc)
			rc = ktr__ktrace_trace_flush(t);
		if (rc)
			ktr_error_set(err, -rc, "%s: cannot write: %m", path);
	}
	if (!rc)
		rc = ktr__trace_publish(&t->files, err);
	if (rc)
		trace_free(t);
	else
		*out = t;
	return rc;
}

int ktr__ktrace_trace_close(struct ktr__ktrace_trace *t)
{
	int rc;

	if (!t)
		return 0;
	rc = ktr__ktrace_trace_flush(t);
	if (!rc) {
		trace_anchor(t);
		ktr__line_write(&t->side[KTR_SIDECAR_INFO], ktr__line_end,
				&(struct ktr__line_end){ { "end" }, t->last_ns, t->n_before, 0 }, NULL, 1);
		rc = ktr__ktrace_trace_flush(t);
	}
	trace_free(t);
	return rc;
}
