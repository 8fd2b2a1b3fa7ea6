/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as JSON, one object per line or one array. Schema "ktr-json-1":
 *
 *	{"type":"head","schema":"ktr-json-1","source":"trace","path","session","host","cmdline",
 *	 "uuid","clock","utc_offset_ns","first_ns","last_ns","lost"}
 *	{"type":"event","ts_ns","cpu","pid","tid","thread","index","class","site","file","line",
 *	 "func","kind","msg","args":{NAME:VALUE,...}}
 *	{"type":"loss","cpu","keep","events","from_ns","to_ns"}
 *	{"type":"note","damaged","text"}
 *
 * The head comes first, once; UTC is ts_ns + utc_offset_ns. A loss has null for the beginning of
 * recording and for its end. ktr-json(5) says more.
 *
 * Events of approximate time have "approx":true, those of the keep ring "keep":true, those with a
 * group "group", those of a KTR_SCOPE its name as "id". kind is event, state, counter, point,
 * start or stop; index is the running number in the ring, losses counted.
 *
 * Integers are integers, but those above 2^63-1 are strings of digits. Doubles are numbers, or
 * the strings "NaN", "Infinity" and "-Infinity". Pointers are strings, "0x1f". Strings have what
 * is not UTF-8 replaced by U+FFFD; NULL is null; one that was cut ends in "...". Stacks are
 * arrays of {"pc":"0x4010f3","sym":"main+0x3a"}, without "sym" where nothing is known there.
 */
#ifndef ANALYZE_SINK_JSON_H
#define ANALYZE_SINK_JSON_H

#include "analyze/print/crew.h"
#include "analyze/print/out.h"

#include <ktr/reader.h>

#include <jansson.h>

struct ktr__sink_json {
	struct ktr_sink sink; /* hand this to a walk */
	struct ktr__out *out; /* borrowed; NULL where arguments alone are asked for */
	const struct ktr_reader *reader;
	struct ktr__symbols *symbols; /* names for addresses, or NULL; borrowed */
	int array;
	int only_events; /* no head, losses and notes */
	/* Its own. */
	uint64_t n_lines;
	struct ktr__out own;          /* in place of out */
	struct ktr__json_site **site; /* text of each call site, by id */
	uint32_t n_sites;
	struct ktr__json_piece *thread; /* members of a thread, by id */
	struct ktr__decimal_above seconds;
	uint32_t n_threads;
	char *text;            /* for messages and strings */
	json_t *string, *real; /* what jansson prints is set in these */
};

/* Sets the callbacks and allocates what is needed; prints the head. 0 or -errno. */
int ktr__sink_json_init(struct ktr__sink_json *json);

/* of: a struct ktr__sink_json that has been initialized, and whose own event() is not called meanwhile. */
extern const struct ktr__crew_trade ktr__sink_json_trade;

/* Prints the end, flushes, frees. 0 or -errno. */
int ktr__sink_json_fini(struct ktr__sink_json *json);

/* The arguments of an event alone, the object "args"; the caller frees it. NULL without memory. */
char *ktr__sink_json_args(struct ktr__sink_json *json, const struct ktr_event *event);

/* Any bytes as a JSON string, what is not UTF-8 replaced; owned, NULL without memory. */
json_t *ktr__jansson_text(const char *bytes, size_t n);

/* "0a1b..." of 16 bytes; owned, NULL without memory. */
json_t *ktr__jansson_uuid(const uint8_t uuid[16]);

/* An unsigned number: an integer, above 2^63-1 a string; owned, NULL without memory. */
json_t *ktr__jansson_u64(uint64_t number);

/* What went into no ring, by reason: {"vfork":3}; {} is nothing. Owned; NULL without memory. */
json_t *ktr__jansson_dropped(const uint64_t n_events[KTR_DROPS]);

#endif
