/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libktrread: reads traces, live sessions and dead sessions through one walk that merges all rings in
 * time order. It never records and starts nothing by itself.
 *
 * A trace is its directory NAME and those that rotation has moved to NAME.1, NAME.2 and so on, as one; and
 * where it was not ended, what its session still holds: options.alone leaves both out.
 *
 *	struct ktr_reader *r;
 *	struct ktr_event ev;
 *
 *	if (ktr_reader_open("ktr.out", NULL, &r, &err))
 *		...
 *	while (ktr_reader_next(r, &ev) > 0)
 *		printf("%" PRIu64 " %s\n", ev.time_ns, ev.site->format);
 *	ktr_reader_close(r);
 *
 * No global state: any number of readers may be open; one reader belongs to one thread at a time. What
 * it reads is untrusted input: damage ends in a note or an error, never in a crash. Nothing here may be
 * called from a signal handler; calls block on file input only.
 */
#ifndef KTR_READER_H
#define KTR_READER_H

#include <ktr/error.h>
#include <ktr/session.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* A function may have the name of its structure, as stat(2) has; g++'s -Wshadow is against it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC visibility push(default)

struct ktr_reader;

enum ktr_source_kind {
	KTR_SOURCE_TRACE,   /* a trace directory */
	KTR_SOURCE_LIVE,    /* a session some process still uses */
	KTR_SOURCE_DEAD	    /* a session nobody uses any more */
};

/* What a site's events mean, found out from its KTRGRAPH format; see event.h. */
enum ktr_event_kind {
	KTR_KIND_EVENT,	  /* a plain CTR point */
	KTR_KIND_STATE,
	KTR_KIND_COUNTER,
	KTR_KIND_POINT,
	KTR_KIND_START,
	KTR_KIND_STOP
};

struct ktr__render;

struct ktr_reader_arg {
	const char *name;	/* from the source text, or the attribute's name; never NULL */
	enum ktr_arg_type type; /* STR where the bytes were copied, whatever the C type was */
};

struct ktr_reader_site {
	uint32_t id;
	uint64_t mask;
	const char *class_name; /* "sched", or "net|rx" for several */
	const char *name;	/* short and unique enough for a table: "file.c:42" */
	const char *file;
	uint32_t line;
	const char *func;
	const char *format;
	const char *module; /* path of the executable or shared object, "" if unknown */
	enum ktr_event_kind kind;
	const char *group; /* KTRGRAPH: group, else NULL */
	const char *ident; /* KTRGRAPH: the constant id of a KTR_SCOPE, NULL where arg[0] carries it */
	int value_arg;	   /* KTRGRAPH: argument with the state, counter, point or key; -1 */
	int first_attr;	   /* KTRGRAPH: first attribute argument; others: 0 */
	unsigned n_args;
	unsigned in_str;   /* bit i: argument i is a STR or STACK, whose bytes are in ktr_event.str[i] */
	struct ktr_reader_arg arg[KTR_ARGS_MAX];
	const struct ktr__render *render; /* the library's own; NULL in a site made by hand */
};

struct ktr_reader_thread {
	uint32_t id; /* row in the thread table; 0 where unknown */
	uint32_t tid;
	uint32_t pid;
	const char *name;
	const char *process;
	uint64_t start_ns; /* 0 where unknown */
	uint64_t exit_ns;
};

struct ktr_event_bytes {
	const char *bytes; /* no NUL; valid until the next call on the reader */
	uint32_t n_bytes;
	uint8_t cut;	 /* there was more */
	uint8_t is_null; /* the pointer was NULL */
};

struct ktr_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the traced machine; + info.utc_offset_ns is UTC */
	uint64_t index;	  /* running number within its ring, losses counted */
	uint32_t cpu;
	uint8_t approx; /* the time is that of an event before it */
	uint8_t keep;	/* came from the keep ring */
	const struct ktr_reader_site *site;
	const struct ktr_reader_thread *thread; /* never NULL */
	uint64_t arg[KTR_ARGS_MAX];		/* integers extended by their sign; bits of a double */
	struct ktr_event_bytes str[KTR_ARGS_MAX]; /* of STR and STACK arguments */
};

/* A gap: so many events of one ring were overwritten or dropped between two moments. */
struct ktr_loss {
	uint32_t cpu;
	uint8_t keep;
	uint8_t removed; /* 1: with pieces of the trace that are not there any more */
	uint64_t n_events;
	uint64_t from_ns; /* last event before the gap; 0: from the beginning of recording */
	uint64_t to_ns;	  /* first event after it; 0: until the end */
};

/* Something about the source that a user should know; text is one line without a newline. */
struct ktr_note {
	int damaged; /* part of the data could not be read; the rest was */
	char text[256];
};

struct ktr_reader_info {
	enum ktr_source_kind kind;
	const char *path;
	const char *name; /* session's name */
	const char *host;
	const char *cmdline; /* of the first process */
	uint8_t uuid[16];
	int64_t utc_offset_ns; /* UTC = time_ns + this */
	uint64_t first_ns;     /* time of the first and last event; equal and 0 in an empty source */
	uint64_t last_ns;
	uint32_t n_cpus; /* highest CPU + 1 */
	uint64_t n_lost; /* [events] known at open */
	const char *clock; /* "tsc", "cntvct", "monotonic" */
	uint8_t boot_id[16];	/* of the traced machine: times of one boot compare; all 0: not known */
	uint64_t utc_spread_ns; /* how far time_ns and UTC moved against each other; UINT64_MAX: not known */
	uint64_t n_dropped[KTR_DROPS]; /* [events] of n_lost that went into no ring: no ktr_loss tells of them */
};

struct ktr_reader_options {
	size_t size; /* sizeof(struct ktr_reader_options) */
	uint64_t from_ns; /* events before it are skipped without being read */
	uint64_t to_ns;	  /* events at or after it are not read; 0: to the end */
	int reverse;	  /* newest first; sources of any size */
	int alone;	  /* this directory alone: no rotated ones, no session */
	int follow;	  /* go on with what comes: see ktr_reader_wait(); not with reverse or to_ns */
};

/*
 * Opens a trace directory, a session file, or whatever lies at path. options may be NULL. Returns 0 and
 * an owned reader in *out, or -errno with *out NULL and err (may be NULL) filled: -ENOENT, -EINVAL
 * (not a trace), -EPROTO (damaged beyond reading), -ENOTSUP (a newer major version).
 */
int ktr_reader_open(const char *path, const struct ktr_reader_options *options,
		    struct ktr_reader **out, struct ktr_error *err);
void ktr_reader_close(struct ktr_reader *reader);

/*
 * Borrowed until close. Site 0 and thread 0 stand for what is not known; other ids below n_... may have
 * no row, which gives NULL. Every event's site id, thread id and cpu lie below n_sites, n_threads and
 * info.n_cpus.
 */
const struct ktr_reader_info *ktr_reader_info(const struct ktr_reader *reader);
unsigned ktr_reader_n_sites(const struct ktr_reader *reader);   /* ids are below this */
const struct ktr_reader_site *ktr_reader_site(const struct ktr_reader *reader, uint32_t id);
unsigned ktr_reader_n_threads(const struct ktr_reader *reader); /* ids are below this */
const struct ktr_reader_thread *ktr_reader_thread(const struct ktr_reader *reader, uint32_t id);
const char *ktr_reader_class_name(const struct ktr_reader *reader, unsigned bit); /* NULL: unused */

/* What ktr_reader_next() found. */
#define KTR_READ_END   0
#define KTR_READ_EVENT 1
#define KTR_READ_LOSS  2 /* ktr_reader_loss() describes it; told next to the event it follows */
#define KTR_READ_NOTE  3 /* ktr_reader_note() describes it */
#define KTR_READ_WAIT  4 /* follow: nothing more just now; see ktr_reader_wait() */

/*
 * The next thing in time order: one of KTR_READ_*, or -errno when the source failed half-way (err is in
 * ktr_reader_error()). *event is filled for KTR_READ_EVENT only. Times never go back (in reverse, never
 * forward). A live session ends where its rings ended when it was opened, and so does a trace that is
 * being written. A loss is told right after the last event of its ring before the gap, that is in the
 * order of from_ns; in reverse after the first event after it.
 */
int ktr_reader_next(struct ktr_reader *reader, struct ktr_event *event);
/*
 * Passes over all events that are left of the walk, and adds to *n_events how many there were; what else is
 * found is told as ktr_reader_next() would, though not in the order of time. Call it until KTR_READ_END (or
 * KTR_READ_WAIT); ktr_reader_seek() and ktr_reader_window() begin another walk. Of a trace, packets that
 * lie within the walk as a whole are not decoded: their checksums are looked at and their headers tell.
 */
int ktr_reader_count(struct ktr_reader *reader, uint64_t *n_events);
const struct ktr_loss *ktr_reader_loss(const struct ktr_reader *reader);
const struct ktr_note *ktr_reader_note(const struct ktr_reader *reader);
const struct ktr_error *ktr_reader_error(const struct ktr_reader *reader);

/*
 * Follow: sleeps until there may be more to read, or for timeout_ms milliseconds (-1: for ever), and
 * looks for it; ktr_reader_next() then tells. It goes on through rotation, through a process that is
 * killed (with what its session holds) and through files that are cut. What is seen is held back until
 * whatever is older must have been seen, too: as the session's rings tell, or where it is not at hand for
 * some 50 ms; should a writer be later than that, or than 500 ms, times go back. KTR_READ_END comes when the
 * session has ended, or the trace's name has become another one's; ended tells whether the trace has had its
 * end written, which may be that of one directory only. 0, or -errno; -EINTR: a signal came.
 */
int ktr_reader_wait(struct ktr_reader *reader, int timeout_ms);
int ktr_reader_ended(const struct ktr_reader *reader);

/*
 * Continues at the first event at or after time_ns, in reverse at the last one before it, found by
 * bisection over packets: what lies before is not read. Followed, only before the first wait. 0 or
 * -errno.
 */
int ktr_reader_seek(struct ktr_reader *reader, uint64_t time_ns);

/*
 * Continues with the events of [from_ns, to_ns), as if the source had been opened with these options;
 * to_ns 0: to the end. 0 or -errno.
 */
int ktr_reader_window(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns);

/*
 * From here on the walk passes over events for which the expression does not hold; ktr-filter(7)
 * describes the language. NULL: no filter any more. Losses and notes are told all the same. 0, or -errno
 * with the filter that was there still in place and err filled: -EINVAL for what is no expression, or
 * names a class, call site, field or argument that there is none of, with the nearest one; -E2BIG for
 * one that is too long. err->column is the byte of the text, from 1.
 */
int ktr_reader_filter(struct ktr_reader *reader, const char *text, struct ktr_error *err);

/* [events] passed over so far, by all filters. */
uint64_t ktr_reader_n_filtered(const struct ktr_reader *reader);

/*
 * The sink form: one walk feeds any number of sinks. Members may be NULL. A callback that returns
 * non-zero ends the walk with that value.
 */
struct ktr_sink {
	int (*event)(struct ktr_sink *sink, const struct ktr_event *event);
	int (*loss)(struct ktr_sink *sink, const struct ktr_loss *loss);
	int (*note)(struct ktr_sink *sink, const struct ktr_note *note);
};

int ktr_reader_walk(struct ktr_reader *reader, struct ktr_sink *const *sinks, unsigned n_sinks);

/*
 * Renders the event's text as its format says, as printf would have, into text (n_bytes, always NUL
 * terminated). Conversions unknown to printf print as they stand. Returns the length it has or would
 * have had.
 */
size_t ktr_event_text(const struct ktr_event *event, char *text, size_t n_bytes);

#pragma GCC visibility pop
#pragma GCC diagnostic pop
#ifdef __cplusplus
}
#endif

#endif
