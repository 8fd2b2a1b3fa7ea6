/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of sidecar_lines.h. */
#include "writer/format/sidecar_lines.h"

#define SIDECAR_LINES_MEMBER(of, kind, name) KTR__MEMBER(ktr__line_##of, kind, name),
#define SIDECAR_LINES_TABLE(name, list)                                                                         \
	const struct ktr__member ktr__line_##name[] = { list(SIDECAR_LINES_MEMBER, name) KTR__MEMBER_END };

KTR__LINE_LIST(SIDECAR_LINES_TABLE)

#define TRACE(kind, name) KTR__MEMBER(ktr__line_trace, kind, name)
#define PROC(kind, name)  KTR__MEMBER(ktr__line_proc, kind, name)

const struct ktr__member ktr__line_woven_trace[] = {
	TRACE(TEXT, kind), TRACE(U64, major), TRACE(U64, minor), TRACE(ID, uuid), TRACE(ID, boot_id),
	TRACE(TEXT, session), TRACE(TEXT, host), TRACE(TEXT, clock), TRACE(U64, base_ticks), TRACE(U64, base_ns),
	TRACE(U64, mult), TRACE(U64, shift), TRACE(I64, utc_offset_ns), TRACE(TEXT, cmdline), TRACE(BOOL, complete),
	TRACE(TEXT, writer), KTR__MEMBER_END,
};

const struct ktr__member ktr__line_woven_proc[] = {
	PROC(U64, proc), PROC(U64, pid), PROC(HEX, key), PROC(TEXT, name), PROC(CMDLINE, cmdline),
	PROC(U64, start_ns), PROC(U64, exit_ns), PROC(TAIL, alive_ns), PROC(TAIL, gone_ns), KTR__MEMBER_END,
};

#undef TRACE
#undef PROC

void ktr__line_write(struct ktr__emit *emit, const struct ktr__member *member, const void *line,
		     const struct ktr__session_map *map, int tail)
{
	ktr__json_begin(emit);
	ktr__json_members(emit, member, line, map, tail);
	ktr__json_end(emit);
}
