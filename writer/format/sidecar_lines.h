/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a trace's sidecars (ktr/trace_file.h), one list for each: its members, and how each is written.
 * A structure and a table are made of each list. The writer and what rewrites traces fill the structure, and
 * readers get it back. So a new member is added here, where its value is filled in, and where it is looked at.
 *
 * Members of the kind TAIL stand at the end of a line, and are left out together. Those of the kind WOVEN are
 * only in traces that are made of others, whose lines have the tables at the end.
 */
#ifndef WRITER_SIDECAR_LINES_H
#define WRITER_SIDECAR_LINES_H

#include "writer/format/emit.h"

#include <stdbool.h>

#define KTR__LINE_TRACE(X, of)										\
	X(of, TEXT, kind) X(of, U64, major) X(of, U64, minor) X(of, ID, uuid) X(of, TEXT, session)	\
	X(of, TEXT, host) X(of, ID, boot_id) X(of, U64, pid) X(of, TEXT, arch) X(of, TEXT, path)	\
	X(of, TEXT, clock) X(of, U64, base_ticks) X(of, U64, base_ns) X(of, U64, mult)			\
	X(of, U64, shift) X(of, I64, utc_offset_ns) X(of, TEXT, cmdline) X(of, BOOL, complete)		\
	X(of, TEXT, writer)
#define KTR__LINE_CLOCK(X, of)										\
	X(of, TEXT, kind) X(of, U64, base_ticks) X(of, U64, base_ns) X(of, U64, mult)			\
	X(of, U64, shift)
#define KTR__LINE_END(X, of)										\
	X(of, TEXT, kind) X(of, U64, ns) X(of, U64, events) X(of, U64, lost)
#define KTR__LINE_DROPPED(X, of)									\
	X(of, TEXT, kind) X(of, TEXT, why) X(of, U64, events) X(of, U64, total) X(of, TAIL, from_ns)	\
	X(of, TAIL, to_ns)
#define KTR__LINE_FROM(X, of)										\
	X(of, TEXT, kind) X(of, U64, ring) X(of, U64, slot) X(of, U64, index) X(of, U64, dropped)	\
	X(of, BOOL, unread) X(of, TEXT, stream)
#define KTR__LINE_CLASS(X, of)										\
	X(of, U64, bit) X(of, TEXT, name) X(of, STRING, help)
#define KTR__LINE_PROC(X, of)										\
	X(of, U64, proc) X(of, U64, pid) X(of, U64, ppid) X(of, U64, uid) X(of, U64, pid_ns)		\
	X(of, U64, start_time) X(of, U64, start_ns) X(of, U64, exit_ns) X(of, TEXT, name)		\
	X(of, STRING, exe) X(of, CMDLINE, cmdline) X(of, WOVEN, key) X(of, TAIL, alive_ns)		\
	X(of, TAIL, gone_ns)
#define KTR__LINE_THREAD(X, of)										\
	X(of, U64, thread) X(of, U64, word) X(of, U64, tid) X(of, U64, pid) X(of, U64, proc)		\
	X(of, TEXT, name) X(of, U64, start_ns) X(of, U64, exit_ns) X(of, TAIL, alive_ns)		\
	X(of, TAIL, gone_ns)
#define KTR__LINE_MODULE(X, of)										\
	X(of, U64, module) X(of, U64, proc) X(of, HEX, base) X(of, HEX, end) X(of, STRING, path)	\
	X(of, OCTETS, build_id)
#define KTR__LINE_SITE(X, of)										\
	X(of, U64, site) X(of, TEXT, name) X(of, TEXT, class) X(of, HEX, mask) X(of, STRING, file)	\
	X(of, U64, line) X(of, STRING, func) X(of, STRING, format) X(of, STRING, names)			\
	X(of, TYPES, types) X(of, NUMBERS, how) X(of, NUMBERS, limit) X(of, STRING, module)		\
	X(of, OCTETS, build_id) X(of, HEX, offset) X(of, HEX, key)
#define KTR__LINE_ANCHOR(X, of)										\
	X(of, U64, ticks) X(of, U64, mono_ns) X(of, U64, utc_ns)
#define KTR__LINE_LOSS(X, of)										\
	X(of, TEXT, stream) X(of, U64, cpu) X(of, BOOL, keep) X(of, TEXT, why) X(of, U64, events)	\
	X(of, U64, from_ns) X(of, U64, to_ns) X(of, U64, seq)

/* X(its structure and table, its list) */
#define KTR__LINE_LIST(X)                                                                                       \
	X(trace, KTR__LINE_TRACE) X(clock, KTR__LINE_CLOCK) X(end, KTR__LINE_END) X(dropped, KTR__LINE_DROPPED) \
	X(from, KTR__LINE_FROM) X(class, KTR__LINE_CLASS) X(proc, KTR__LINE_PROC) X(thread, KTR__LINE_THREAD)   \
	X(module, KTR__LINE_MODULE) X(site, KTR__LINE_SITE) X(anchor, KTR__LINE_ANCHOR) X(loss, KTR__LINE_LOSS)

/* What a field of each kind is. */
#define KTR__LINE_TYPE(kind, type) typedef type ktr__line_##kind;
KTR__MEMBER_LIST(KTR__LINE_TYPE)

#define KTR__LINE_FIELD(of, kind, name) ktr__line_##kind name;
#define KTR__LINE_DECLARE(name, list)                                                                           \
	struct ktr__line_##name {                                                                               \
		list(KTR__LINE_FIELD, name)                                                                     \
	};                                                                                                      \
	extern const struct ktr__member ktr__line_##name[];

KTR__LINE_LIST(KTR__LINE_DECLARE)

/* Two lines have another order, and fewer members, in traces that are made of others. */
extern const struct ktr__member ktr__line_rewritten_trace[];
extern const struct ktr__member ktr__line_rewritten_proc[];

/*
 * Writes a line. map: where the offsets of strings lead; NULL: these members are pointers. tail: 0 leaves out
 * what may be left out at its end.
 */
void ktr__line_write(struct ktr__emit *emit, const struct ktr__member *member, const void *line,
		     const struct ktr__session_map *map, int tail);

/*
 * Takes a line of ours back without a parser: numbers, identities, types of arguments, and texts, which point to
 * where they lie in the line, as they were written and up to a quote. What the line lacks becomes 0, and so do
 * octets and lists of numbers. A type of arguments that is unknown is KTR_ARG_NONE. The line ends in its checksum,
 * or in a NUL. into: the structure that the members are of. 0; -EINVAL: a list of types is none, or too long.
 */
int ktr__line_scan(const char *line, size_t n_bytes, const struct ktr__member *member, void *into,
		   size_t into_size);

/* Is a text that ktr__line_scan() found this word? Words have no characters that are written as others. */
bool ktr__line_says(const union ktr__member_text *text, const char *word);

#endif
