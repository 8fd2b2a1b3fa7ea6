/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces in other people's formats: one exporter per file export_*.c, all in one table.
 *
 *	ktr__export_begin(&export, format, reader, "trace.json", err);
 *	... a walk feeds export->sink ...
 *	ktr__export_end(export, rc, note, err);
 *
 * An exporter gets plain events and losses, or, with `slices`, what viewers draw (visualize/model/slices.h).
 * Whatever it calls a name is clean (visualize/model/label.h) unless it says that it repairs bytes itself.
 */
#ifndef VISUALIZE_EXPORT_H
#define VISUALIZE_EXPORT_H

#include "analyze/print/crew.h"
#include "analyze/print/newfile.h"
#include "visualize/model/slices.h"

#include <ktr/error.h>
#include <ktr/reader.h>

#include <stddef.h>

struct ktr__export;

/* What several threads can do for one export. The last two write to its `out`. */
enum ktr__export_sharing {
	KTR__EXPORT_ALONE, /* nothing, and it writes as it likes */
	KTR__EXPORT_APART, /* likewise, by a thread that it starts if n_threads allows it; it tells of errors */
	KTR__EXPORT_IN_ORDER, /* one of them has the events, in their order; others read and write */
	KTR__EXPORT_LINES /* each event is told by itself: each has data of its own */
};

struct ktr__export_format {
	const char *name;
	const char *help; /* one line: what opens it */
	size_t n_data;    /* [bytes] of the export's data, zeroed before begin */
	/* All return 0 or -errno, and may be NULL. free: what the data own, not the data. */
	int (*begin)(struct ktr__export *e);
	int (*event)(struct ktr__export *e, const struct ktr_event *event);
	int (*loss)(struct ktr__export *e, const struct ktr_loss *loss);
	int (*end)(struct ktr__export *e); /* after the last event */
	void (*free)(struct ktr__export *e);
	void (*stop)(struct ktr__export *e); /* something went wrong: nobody writes to the file any more */
	const struct ktr__slices_to *slices; /* context: the export */
	enum ktr__export_sharing sharing;
	const char *file_name; /* of a file in a folder, where that is given instead of a file; NULL: none may be */
};

struct ktr__export {
	struct ktr_sink sink; /* first */
	const struct ktr__export_format *format;
	struct ktr_reader *reader;
	const struct ktr_reader_info *info; /* of the whole source: a window ends with its last event */
	struct ktr__newfile file;
	FILE *to; /* that of file; NULL: out alone is to be used */
	struct ktr__out *out;	      /* where what is shared goes */
	struct ktr__out own;	      /* likewise, on its way to the file */
	struct ktr__symbols *symbols; /* names for addresses, or NULL */
	struct ktr__slices slices;
	void *data; /* the exporter's; in memory */
	unsigned n_threads; /* with the caller's: set by it after the beginning; 0 is 1 */
	int error;
	char path[4096]; /* of the file in such a folder; "": none */
	struct ktr_error why; /* what went wrong, where the format knows */
	char note[256]; /* what could not be told in this format, for the user; "" */
	max_align_t memory[];
};

/* Ends with NULL. */
extern const struct ktr__export_format *const ktr__export_formats[];

const struct ktr__export_format *ktr__export_find(const char *name);

/* Owned export, or -errno with err filled. */
int ktr__export_begin(struct ktr__export **out, const struct ktr__export_format *format,
		      struct ktr_reader *reader, const char *path, struct ktr_error *err);

/* of: a struct ktr__export that has begun. NULL where the format is for one alone. */
const struct ktr__crew_trade *ktr__export_trade(const struct ktr__export_format *format);

/*
 * Ends and frees it. With rc 0 the file appears, else it does not. rc, or -errno with err filled.
 * note, at least sizeof(((struct ktr__export *)0)->note) bytes, gets the export's.
 */
int ktr__export_end(struct ktr__export *e, int rc, char *note, struct ktr_error *err);

/* Of what is shared: has room for KTR__OUT_LINE bytes in e->out. 0 or -errno. */
int ktr__export_line(struct ktr__export *e);

/* Bytes as a string of JSON, clean, with the quotes. */
void ktr__export_json(FILE *to, const char *bytes, size_t n);

#endif
