/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metadata of a trace: TSDL text (CTF 1.8.3, section 7) that tells any CTF reader what
 * ktr/trace_file.h says in prose.
 */
#ifndef WRITER_METADATA_H
#define WRITER_METADATA_H

#include "writer/format/emit.h"

#include <ktr/session.h>
#include <ktr/trace_file.h>

/* What the head of the metadata says. All borrowed. */
struct ktr__metadata_head {
	const char *host;
	const char *name;    /* of the session */
	const char *cmdline; /* of the first process */
	const char *process; /* its name */
	uint32_t pid;
	uint8_t uuid[16];
	int64_t utc_offset_ns;
	uint32_t format; /* of the packets: a KTR_TRACE_MAJOR */
};

/* A call site with its strings. All borrowed. */
struct ktr__metadata_site {
	uint32_t id;
	const struct ktr_site_row *row;
	const char *class_name;
	const char *file;
	const char *format;
	const char *names;
};

/* What types of arguments are called in it; NULL: such an argument is more than one field. */
extern const char *const ktr__metadata_types[KTR_ARG_TYPES];

/* The text before any event class. */
void ktr__metadata_begin(struct ktr__emit *emit, const struct ktr__metadata_head *head);

/*
 * These append to emit, whose first byte goes to offset `at` of the file: where a declaration would cross the end
 * of a page of it (KTR_TRACE_PAGE), newlines come before.
 */

/* The event classes of a call site. row->n_args and types have passed ktr__program_make(). */
void ktr__metadata_event(struct ktr__emit *emit, uint64_t at, const struct ktr__metadata_site *site);

/* Ends the piece that began at offset `from` of emit with its checksum. */
void ktr__metadata_end(struct ktr__emit *emit, uint64_t at, size_t from);

#endif
