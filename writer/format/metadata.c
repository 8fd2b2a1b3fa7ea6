/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TSDL text. The layout was tried against babeltrace2 2.0.4 down to the byte; what is not obvious:
 *
 *	cpu_id is aligned to 32 bytes, which makes the packet context start at byte 32, and timestamp_begin to 16:
 *	    that leaves gaps which are ours (ktr/trace_file.h)
 *	tid, approx and life are bit-fields of one 32-bit word: a foreign reader shows the real tid
 *	the clock counts nanoseconds: Trace Compass rounds to 256 ns at other frequencies
 *	the session's uuid is in env and not in the trace block: babeltrace2 takes two traces with one uuid for
 *	    one, and the pieces of a rotated trace share theirs
 *	no declaration crosses a page (stream.h tells why), so none may be longer than one: of the path of a source
 *	    file the end is told
 */
#include "writer/format/metadata.h"

#include "writer/format/ident.h"
#include "writer/format/packet.h"

#include <inttypes.h>
#include <string.h>

/* LTTng's levels, which readers print by name. */
#define METADATA_INFO  6
#define METADATA_DEBUG 14

/* [bytes] of the path of a source file that are told: so no declaration is longer than a page. */
#define METADATA_PATH_MAX 512

static const char metadata_types[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := i8;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := i16;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := ptr;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n"
	"trace {\n"
	"	major = 1;\n"
	"	minor = 8;\n"
	"	byte_order = le;\n"
	"	packet.header := struct { u32 magic; ";

static const char metadata_clocks[] =
	"typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := t32;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := t64;\n\n"
	"stream {\n"
	"	id = 0;\n"
	"	packet.context := struct {\n";

/* struct ktr_packet_start */
static const char metadata_packet[] =
	"		integer { size = 32; align = 256; signed = false; } cpu_id;\n"
	"		u32 content_size;\n"
	"		u32 packet_size;\n"
	"		integer { size = 64; align = 128; signed = false; map = clock.monotonic.value; } timestamp_begin;\n"
	"		t64 timestamp_end;\n"
	"		u64 packet_seq_num;\n"
	"		u64 events_discarded;\n";

/* struct ktr_packet_header */
static const char metadata_packet_oldest[] =
	"		t64 timestamp_begin;\n"
	"		t64 timestamp_end;\n"
	"		u64 content_size;\n"
	"		u64 packet_size;\n"
	"		u64 packet_seq_num;\n"
	"		u64 events_discarded;\n"
	"		integer { size = 32; align = 256; signed = false; } cpu_id;\n";

static const char metadata_stream[] =
	"	};\n"
	"	event.header := struct {\n"
	"		enum : u16 { compact = 0 ... 65534, extended = 65535 } id;\n"
	"		variant <id> {\n"
	"			struct { t32 timestamp; } compact;\n"
	"			struct { u32 id; t64 timestamp; } extended;\n"
	"		} v;\n"
	"	} align(8);\n"
	"	event.context := struct {\n"
	"		integer { size = 22; align = 8; signed = false; } tid;\n"
	"		integer { size = 1; align = 1; signed = false; } approx;\n"
	"		integer { size = 9; align = 1; signed = false; } life;\n"
	"	};\n"
	"};\n\n"
	"event {\n"
	"	id = 0;\n"
	"	stream_id = 0;\n"
	"	name = \"ktr:unknown\";\n"
	"	fields := struct { u32 site; u64 arg0; u64 arg1; u64 arg2; u64 arg3; u64 arg4; u64 arg5; };\n"
	"};\n\n";

/* The declaration that begins at offset `from` of emit goes to the next page if it would cross the end of this. */
static void metadata_keep(struct ktr__emit *emit, uint64_t at, size_t from)
{
	static const char room[KTR_TRACE_PAGE];
	size_t left = KTR_TRACE_PAGE - (at + from) % KTR_TRACE_PAGE, n = emit->n - from;

	if (emit->failed || n <= left || n > KTR_TRACE_PAGE)
		return;
	ktr__emit_bytes(emit, room, left);
	if (emit->failed)
		return;
	memmove(emit->text + from + left, emit->text + from, n);
	memset(emit->text + from, '\n', left);
}

/* The inside of a quoted string. What is not UTF-8 becomes '?': parsers of TSDL differ about it. */
static void metadata_chars(struct ktr__emit *emit, const char *text)
{
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t n = ktr__utf8_length(text);

		if (c == '"' || c == '\\')
			ktr__emit_format(emit, "\\%c", c);
		else if (c == '\n')
			ktr__emit_text(emit, "\\n");
		else if (c < 0x20 || c == 0x7f || !n)
			ktr__emit_text(emit, "?");
		else
			ktr__emit_bytes(emit, text, n);
		text += n ? n : 1;
	}
}

static void metadata_env(struct ktr__emit *emit, const char *key, const char *text)
{
	ktr__emit_format(emit, "	%s = \"", key);
	metadata_chars(emit, text);
	ktr__emit_text(emit, "\";\n");
}

/* offset_s and offset are not negative in any reader's grammar: both parts of a floor division. */
static void metadata_clock(struct ktr__emit *emit, int64_t utc_offset_ns)
{
	int64_t seconds = utc_offset_ns / 1000000000, rest = utc_offset_ns % 1000000000;

	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	if (seconds < 0)
		seconds = rest = 0;
	ktr__emit_format(emit,
			 "clock {\n"
			 "	name = monotonic;\n"
			 "	description = \"CLOCK_MONOTONIC\";\n"
			 "	freq = 1000000000;\n"
			 "	offset_s = %" PRId64 ";\n"
			 "	offset = %" PRId64 ";\n"
			 "	absolute = TRUE;\n"
			 "};\n\n",
			 seconds, rest);
}

static void metadata_environment(struct ktr__emit *emit, const struct ktr__metadata_head *head)
{
	ktr__emit_text(emit, "env {\n	tracer_name = \"ktr\";\n");
	ktr__emit_format(emit, "	tracer_major = %d;\n	tracer_minor = %d;\n",
			 (int)head->format, KTR_TRACE_MINOR);
	metadata_env(emit, "hostname", head->host);
	metadata_env(emit, "procname", head->process);
	ktr__emit_format(emit, "	vpid = %" PRIu32 ";\n", head->pid);
	metadata_env(emit, "session", head->name);
	metadata_env(emit, "cmdline", head->cmdline);
	ktr__emit_text(emit, "	uuid = \"");
	for (unsigned i = 0; i < sizeof(head->uuid); i++)
		ktr__emit_format(emit, "%02x", head->uuid[i]);
	ktr__emit_text(emit, "\";\n};\n\n");
}

/* The trace has no name before all of this is there: only what comes later may be cut off. */
void ktr__metadata_begin(struct ktr__emit *emit, const struct ktr__metadata_head *head)
{
	int oldest = head->format == KTR_TRACE_OLDEST;

	ktr__emit_bytes(emit, metadata_types, sizeof(metadata_types) - 1);
	ktr__emit_text(emit, oldest ? "u32 stream_id; };\n};\n\n" : "u8 stream_id; };\n};\n\n");
	metadata_environment(emit, head);
	metadata_clock(emit, head->utc_offset_ns);
	ktr__emit_bytes(emit, metadata_clocks, sizeof(metadata_clocks) - 1);
	ktr__emit_text(emit, oldest ? metadata_packet_oldest : metadata_packet);
	ktr__emit_bytes(emit, metadata_stream, sizeof(metadata_stream) - 1);
}

const char *const ktr__metadata_types[KTR_ARG_TYPES] = {
	[KTR_ARG_I8] = "i8",   [KTR_ARG_U8] = "u8",   [KTR_ARG_I16] = "i16", [KTR_ARG_U16] = "u16",
	[KTR_ARG_I32] = "i32", [KTR_ARG_U32] = "u32", [KTR_ARG_I64] = "i64", [KTR_ARG_U64] = "u64",
	[KTR_ARG_F64] = "f64", [KTR_ARG_PTR] = "ptr", [KTR_ARG_STR] = "string",
};

static void metadata_fields(struct ktr__emit *emit, const struct ktr_site_row *row,
			    char ident[KTR_ARGS_MAX][KTR_IDENT_MAX])
{
	for (unsigned i = 0; i < row->n_args; i++)
		if (row->type[i] == KTR_ARG_STACK)
			ktr__emit_format(emit, " u16 ktr_n%u; ptr %s[ktr_n%u];", i, ident[i], i);
		else
			ktr__emit_format(emit, " %s %s;", ktr__metadata_types[row->type[i]], ident[i]);
}

/* A path, or the end of one that is too long. */
static const char *metadata_path(const char *path)
{
	size_t n = strlen(path);

	if (n <= METADATA_PATH_MAX)
		return path;
	for (path += n - METADATA_PATH_MAX; (*path & 0xc0) == 0x80; path++)
		; /* a character is not cut in two */
	return path;
}

static void metadata_class(struct ktr__emit *emit, const struct ktr__metadata_site *site,
			   unsigned odd, char ident[KTR_ARGS_MAX][KTR_IDENT_MAX])
{
	const struct ktr_site_row *row = site->row;
	const char *file = metadata_path(site->file);
	int rare = (row->mask & (KTR_INIT | KTR_PROC)) != 0;

	ktr__emit_format(emit, "event { id = %" PRIu32 "; stream_id = 0; name = \"",
			 2 * site->id + odd);
	metadata_chars(emit, site->class_name);
	ktr__emit_text(emit, ":");
	metadata_chars(emit, ktr__ident_base(file));
	ktr__emit_format(emit, ":%" PRIu32 "\"; loglevel = %d; model.emf.uri = \"", row->line,
			 rare ? METADATA_INFO : METADATA_DEBUG);
	metadata_chars(emit, file);
	ktr__emit_format(emit, ":%" PRIu32 "\"; fields := struct {", row->line);
	metadata_fields(emit, row, ident);
	ktr__emit_text(emit, odd ? " u8 ktr_cut; u8 ktr_null; }; };\n" : " }; };\n");
}

void ktr__metadata_event(struct ktr__emit *emit, uint64_t at, const struct ktr__metadata_site *site)
{
	char ident[KTR_ARGS_MAX][KTR_IDENT_MAX];
	size_t from = emit->n;
	int payload = 0;

	for (unsigned i = 0; i < site->row->n_args; i++)
		payload |= site->row->type[i] == KTR_ARG_STR || site->row->type[i] == KTR_ARG_STACK;
	ktr__ident_args(site->names, site->format, site->row->n_args, ident);
	metadata_class(emit, site, 0, ident);
	metadata_keep(emit, at, from);
	from = emit->n;
	if (payload)
		metadata_class(emit, site, KTR_EVENT_ODD, ident);
	metadata_keep(emit, at, from);
}

void ktr__metadata_end(struct ktr__emit *emit, uint64_t at, size_t from)
{
	static const char blank[KTR_METADATA_TAIL];
	size_t end = emit->n;

	ktr__emit_bytes(emit, blank, sizeof(blank));
	metadata_keep(emit, at, end);
	if (!emit->failed)
		ktr__metadata_seal(emit->text + from, emit->n - from - KTR_METADATA_TAIL);
}
