/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON form of a walk, through jansson.
 *
 * Building a tree for each event would cost several times what printing it does. So what never changes of a call
 * site or a thread is printed once, and kept as text; numbers, and texts that read the same in JSON, are written as
 * they are. Strings that are more than printable ASCII, and doubles, are left to jansson one by one.
 */
#include "analyze/print/sink_json.h"

#include "analyze/print/json_print.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/tables.h"
#include "analyze/symbols/symbols.h"
#include "conf/kit/array.h"
#include "conf/kit/utf8.h"
#include "ktr/session/drop.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define JSON_TEXT                                                                                  \
	((size_t)24 * 1024) /* [bytes] the longest message; three times as much repaired */

struct ktr__json_piece {
	char *text; /* owned */
	size_t n;
};

/* A site's text. */
struct ktr__json_site {
	struct ktr__json_piece constant;	   /* "class":"net",... */
	struct ktr__json_piece name[KTR_ARGS_MAX]; /* "n"; NULL where a later one reads the same once it is repaired */
};

json_t *ktr__jansson_text(const char *bytes, size_t n)
{
	char *copy;
	json_t *text;

	if (ktr__utf8_plain(bytes, n) == n)
		return json_stringn_nocheck(bytes, n);
	copy = malloc(3 * n);
	if (!copy)
		return NULL;
	n = ktr__utf8_repair(copy, bytes, n);
	text = json_stringn_nocheck(copy, n);
	free(copy);
	return text;
}

json_t *ktr__jansson_uuid(const uint8_t uuid[16])
{
	char text[33];

	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	return json_stringn(text, 32);
}

json_t *ktr__jansson_u64(uint64_t number)
{
	char text[24];

	if (number <= INT64_MAX)
		return json_integer((json_int_t)number);
	snprintf(text, sizeof(text), "%" PRIu64, number);
	return json_string(text);
}

json_t *ktr__jansson_dropped(const uint64_t n_events[KTR_DROPS])
{
	json_t *object = json_object();

	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (n_events[i] && json_object_set_new(object, ktr__drop_name(i), ktr__jansson_u64(n_events[i]))) {
			json_decref(object);
			return NULL;
		}
	return object;
}

static json_t *sink_json_cstring(const char *text)
{
	return ktr__jansson_text(text, strlen(text));
}

/* ---- lines ---- */

static int sink_json_put(const char *bytes, size_t n, void *data)
{
	struct ktr__out *out = data;

	while (n) {
		size_t part = n < KTR__OUT_LINE ? n : KTR__OUT_LINE;

		if (ktr__out_line(out))
			return -1;
		ktr__out_bytes(out, bytes, part);
		bytes += part;
		n -= part;
	}
	return 0;
}

/* Prints a tree. 0 or -errno. */
static int sink_json_dump(struct ktr__out *out, const json_t *tree, size_t flags)
{
	size_t n = json_dumpb(tree, out->buffer + out->n, out->room - out->n, JSON_COMPACT | flags);

	if (n && n <= out->room - out->n && ktr__json_harmless(out->buffer + out->n, n) == n)
		out->n += n;
	else if (ktr__json_print_to(tree, sink_json_put, out, JSON_COMPACT | flags))
		return out->error ? -out->error : -ENOMEM;
	return 0;
}

/* What stands before and after each line or element. */
static int sink_json_begin(struct ktr__sink_json *json)
{
	int rc = ktr__out_line(json->out);

	if (!rc && json->array)
		ktr__out_text(json->out, json->n_lines ? ",\n" : "[\n");
	json->n_lines++;
	return rc;
}

static void sink_json_end(struct ktr__sink_json *json)
{
	if (!json->array)
		ktr__out_char(json->out, '\n');
}

/* Takes the object. */
static int sink_json_print_once(struct ktr__sink_json *json, json_t *object)
{
	int rc = object ? sink_json_begin(json) : -ENOMEM;

	if (!rc)
		rc = sink_json_dump(json->out, object, 0);
	sink_json_end(json);
	json_decref(object);
	return rc;
}

static int sink_json_head(struct ktr__sink_json *json)
{
	static const char *const kinds[] = { "trace", "live", "dead" };
	const struct ktr_reader_info *info = ktr_reader_info(json->reader);

	return sink_json_print_once(
		json,
		json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
			  "type", "head", "schema", "ktr-json-1", "source", kinds[info->kind],
			  "path", sink_json_cstring(info->path), "session",
			  sink_json_cstring(info->name), "host", sink_json_cstring(info->host),
			  "cmdline", sink_json_cstring(info->cmdline), "uuid",
			  ktr__jansson_uuid(info->uuid), "clock", sink_json_cstring(info->clock),
			  "utc_offset_ns", (json_int_t)info->utc_offset_ns, "first_ns",
			  ktr__jansson_u64(info->first_ns), "last_ns",
			  ktr__jansson_u64(info->last_ns), "lost", ktr__jansson_u64(info->n_lost),
			  "dropped", ktr__jansson_dropped(info->n_dropped)));
}

/* ---- what never changes ---- */

/* Takes the tree, which may be NULL. Its text; NULL without memory. */
static struct ktr__json_piece sink_json_keep(json_t *tree, size_t flags)
{
	char *text = tree ? ktr__json_string(tree, JSON_COMPACT | flags) : NULL;

	json_decref(tree);
	return (struct ktr__json_piece){ text, text ? strlen(text) : 0 };
}

static void sink_json_site_free(struct ktr__json_site *s)
{
	if (!s)
		return;
	free(s->constant.text);
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		free(s->name[i].text);
	free(s);
}

/* Without braces; NULL without memory. */
static struct ktr__json_piece sink_json_constant(const struct ktr_reader_site *site)
{
	json_t *tree = json_pack("{s:o, s:I, s:o, s:I, s:o, s:s}", "class", sink_json_cstring(site->class_name),
				 "site", (json_int_t)site->id, "file", sink_json_cstring(site->file), "line",
				 (json_int_t)site->line, "func", sink_json_cstring(site->func), "kind",
				 ktr__ktrgraph_text(site->kind));
	int bad = !tree;

	if (site->group)
		bad |= json_object_set_new(tree, "group", sink_json_cstring(site->group));
	if (site->ident)
		bad |= json_object_set_new(tree, "id", sink_json_cstring(site->ident));
	if (!bad)
		return sink_json_keep(tree, JSON_EMBED);
	json_decref(tree);
	return (struct ktr__json_piece){ NULL, 0 };
}

/* The names of arguments are expressions of the program's source: any bytes. */
static int sink_json_names(struct ktr__json_site *s, const struct ktr_reader_site *site)
{
	for (unsigned i = 0; i < site->n_args; i++) {
		s->name[i] = sink_json_keep(sink_json_cstring(site->arg[i].name), JSON_ENCODE_ANY);
		if (!s->name[i].text)
			return -ENOMEM;
		for (unsigned k = 0; k < i; k++)
			if (s->name[k].text && strcmp(s->name[k].text, s->name[i].text) == 0) {
				free(s->name[k].text);
				s->name[k].text = NULL;
			}
	}
	return 0;
}

/* A source that is followed learns of sites and threads later. NULL without memory. */
static const struct ktr__json_site *sink_json_site(struct ktr__sink_json *json, const struct ktr_reader_site *site)
{
	struct ktr__json_site *s;

	if (ktr__array_grow(&json->site, &json->n_sites, site->id, sizeof(s)))
		return NULL;
	if (json->site[site->id])
		return json->site[site->id];
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->constant = sink_json_constant(site);
	if (!s->constant.text || sink_json_names(s, site)) {
		sink_json_site_free(s);
		return NULL;
	}
	json->site[site->id] = s;
	return s;
}

/* ---- an event ---- */

/* 0: eight bytes would stand in a JSON string as they are. */
static inline uint64_t sink_json_odd(uint64_t word)
{
	return ktr__utf8_unplain(word) | ktr__utf8_equal(word, '"') | ktr__utf8_equal(word, '\\');
}

/* Would all of these? */
static inline int sink_json_is_plain(const char *bytes, size_t n)
{
	return !ktr__utf8_any(bytes, n, sink_json_odd);
}

/* Printable ASCII with quotes or backslashes in it, as a string. */
static void sink_json_quoted(struct ktr__out *out, const char *bytes, size_t n)
{
	const char *end = bytes + n;

	ktr__out_char(out, '"');
	for (const char *at = bytes; at < end; at++) {
		if (*at != '"' && *at != '\\')
			continue;
		ktr__out_bytes(out, bytes, (size_t)(at - bytes));
		ktr__out_char(out, '\\');
		bytes = at;
	}
	ktr__out_bytes(out, bytes, (size_t)(end - bytes));
	ktr__out_char(out, '"');
}

/* Bytes as a string, repaired: most say what they say as they are. 0 or -errno. */
static int sink_json_text(struct ktr__sink_json *json, const char *bytes, size_t n)
{
	char *repaired = json->text + JSON_TEXT + 4;

	if (sink_json_is_plain(bytes, n)) {
		ktr__out_char(json->out, '"');
		ktr__out_bytes(json->out, bytes, n);
		ktr__out_char(json->out, '"');
		return 0;
	}
	if (ktr__utf8_is_plain(bytes, n)) {
		sink_json_quoted(json->out, bytes, n);
		return 0;
	}
	n = ktr__utf8_repair(repaired, bytes, n < JSON_TEXT ? n : JSON_TEXT);
	return json_string_setn_nocheck(json->string, repaired, n)
		       ? -ENOMEM
		       : sink_json_dump(json->out, json->string, JSON_ENCODE_ANY);
}

static void sink_json_pointer(struct ktr__out *out, uint64_t word)
{
	char text[24];

	ktr__out_bytes(out, text, (size_t)snprintf(text, sizeof(text), "\"0x%" PRIx64 "\"", word));
}

/* An unsigned number, as ktr__jansson_u64() makes it. */
static void sink_json_u64(struct ktr__out *out, uint64_t number)
{
	if (number > INT64_MAX)
		ktr__out_char(out, '"');
	ktr__out_decimal(out, number);
	if (number > INT64_MAX)
		ktr__out_char(out, '"');
}

static int sink_json_real(struct ktr__sink_json *json, uint64_t word)
{
	double number;

	memcpy(&number, &word, sizeof(number));
	if (json_real_set(json->real, number) == 0)
		return sink_json_dump(json->out, json->real, JSON_ENCODE_ANY);
	ktr__out_text(json->out, isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	return 0;
}

static int sink_json_string(struct ktr__sink_json *json, const struct ktr_event_bytes *str)
{
	size_t n = str->n_bytes < JSON_TEXT ? str->n_bytes : JSON_TEXT;

	if (str->is_null) {
		ktr__out_text(json->out, "null");
		return 0;
	}
	if (!str->cut)
		return sink_json_text(json, str->bytes, n);
	memcpy(json->text, str->bytes, n);
	memcpy(json->text + n, "...", 3);
	return sink_json_text(json, json->text, n + 3);
}

static int sink_json_stack(struct ktr__sink_json *json, const struct ktr_event *event,
			   const struct ktr_event_bytes *str)
{
	uint32_t proc = json->symbols ? ktr__tables_proc(event->thread) : 0;
	int rc = 0;

	ktr__out_char(json->out, '[');
	for (uint32_t at = 0; at + 8 <= str->n_bytes && !rc; at += 8) {
		const char *name = NULL;
		uint64_t pc;

		memcpy(&pc, str->bytes + at, sizeof(pc));
		if (json->symbols)
			name = ktr__symbols_at(json->symbols, proc, pc, KTR__SYMBOLS_RETURN);
		rc = ktr__out_line(json->out);
		ktr__out_text(json->out, at ? ",{\"pc\":" : "{\"pc\":");
		sink_json_pointer(json->out, pc);
		if (!rc && name) {
			ktr__out_text(json->out, ",\"sym\":");
			rc = sink_json_text(json, name, strlen(name));
		}
		ktr__out_char(json->out, '}');
	}
	ktr__out_char(json->out, ']');
	return rc;
}

static int sink_json_value(struct ktr__sink_json *json, const struct ktr_event *event, unsigned i)
{
	uint64_t word = event->arg[i];
	int is_negative = (int64_t)word < 0;

	switch (event->site->arg[i].type) {
	case KTR_ARG_F64:
		return sink_json_real(json, word);
	case KTR_ARG_STR:
		return sink_json_string(json, &event->str[i]);
	case KTR_ARG_STACK:
		return sink_json_stack(json, event, &event->str[i]);
	case KTR_ARG_PTR:
		sink_json_pointer(json->out, word);
		return 0;
	case KTR_ARG_U64:
		sink_json_u64(json->out, word);
		return 0;
	default:
		if (is_negative)
			ktr__out_char(json->out, '-');
		ktr__out_decimal(json->out, is_negative ? -word : word);
		return 0;
	}
}

/* The object "args". 0 or -errno. */
static int sink_json_args(struct ktr__sink_json *json, const struct ktr__json_site *s,
			  const struct ktr_event *event)
{
	struct ktr__out *out = json->out;
	char between = '{';
	int rc = 0;

	for (unsigned i = 0; i < event->site->n_args && !rc; i++) {
		if (!s->name[i].text)
			continue;
		ktr__out_char(out, between);
		between = ',';
		rc = sink_json_put(s->name[i].text, s->name[i].n, out) ? -out->error : ktr__out_line(out);
		ktr__out_char(out, ':');
		if (!rc)
			rc = sink_json_value(json, event, i);
		if (!rc)
			rc = ktr__out_line(out);
	}
	ktr__out_text(out, between == '{' ? "{}" : "}");
	return rc;
}

/* Members of a thread, printed once; NULL without memory. */
static const struct ktr__json_piece *sink_json_thread(struct ktr__sink_json *json,
						      const struct ktr_reader_thread *thread)
{
	struct ktr__json_piece *piece;

	if (ktr__array_grow(&json->thread, &json->n_threads, thread->id, sizeof(*piece)))
		return NULL;
	piece = &json->thread[thread->id];
	if (!piece->text)
		*piece = sink_json_keep(json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)thread->pid, "tid",
						 (json_int_t)thread->tid, "thread",
						 sink_json_cstring(thread->name)),
					JSON_EMBED);
	return piece->text ? piece : NULL;
}

/* There is room for a line. */
static void sink_json_time(struct ktr__sink_json *json, uint64_t ns)
{
	struct ktr__out *out = json->out;

	if (ns > INT64_MAX)
		sink_json_u64(out, ns);
	else
		out->n = (size_t)(ktr__decimal_near(&json->seconds, out->buffer + out->n, ns) - out->buffer);
}

/* n: bytes of the message in json->text. */
static int sink_json_line(struct ktr__sink_json *json, const struct ktr__json_site *s,
			  const struct ktr_event *event, size_t n)
{
	const struct ktr__json_piece *thread = sink_json_thread(json, event->thread);
	struct ktr__out *out = json->out;
	int rc = thread ? sink_json_begin(json) : -ENOMEM;

	if (rc)
		return rc;
	ktr__out_text(out, "{\"type\":\"event\",\"ts_ns\":");
	sink_json_time(json, event->time_ns);
	ktr__out_text(out, ",\"cpu\":");
	sink_json_u64(out, event->cpu);
	ktr__out_char(out, ',');
	ktr__out_bytes(out, thread->text, thread->n);
	ktr__out_text(out, ",\"index\":");
	sink_json_u64(out, event->index);
	ktr__out_text(out, event->approx ? ",\"approx\":true," : ",");
	ktr__out_text(out, event->keep ? "\"keep\":true," : "");
	ktr__out_bytes(out, s->constant.text, s->constant.n);
	ktr__out_text(out, ",\"msg\":");
	rc = sink_json_text(json, json->text, n);
	ktr__out_text(out, ",\"args\":");
	if (!rc)
		rc = sink_json_args(json, s, event);
	ktr__out_char(out, '}');
	sink_json_end(json);
	return rc;
}

char *ktr__sink_json_args(struct ktr__sink_json *json, const struct ktr_event *event)
{
	const struct ktr__json_site *s = sink_json_site(json, event->site);
	int bad = !s || sink_json_args(json, s, event);
	char *text = bad ? NULL : strndup(json->out->buffer, json->out->n);

	json->out->n = 0;
	json->out->error = 0;
	return text;
}

static int sink_json_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;
	const struct ktr__json_site *s = sink_json_site(json, event->site);
	size_t n = ktr_event_text(event, json->text, JSON_TEXT);

	return s ? sink_json_line(json, s, event, n < JSON_TEXT ? n : JSON_TEXT - 1) : -ENOMEM;
}

static int sink_json_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;

	if (json->only_events)
		return 0;
	return sink_json_print_once(
		json,
		json_pack("{s:s, s:i, s:b, s:o, s:o, s:o}", "type", "loss", "cpu", (int)loss->cpu,
			  "keep", (int)loss->keep, "events", ktr__jansson_u64(loss->n_events),
			  "from_ns", loss->from_ns ? ktr__jansson_u64(loss->from_ns) : json_null(),
			  "to_ns", loss->to_ns ? ktr__jansson_u64(loss->to_ns) : json_null()));
}

static int sink_json_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;

	if (json->only_events)
		return 0;
	return sink_json_print_once(json, json_pack("{s:s, s:b, s:o}", "type", "note", "damaged",
						    note->damaged != 0, "text",
						    sink_json_cstring(note->text)));
}

/* What init and hire have in common. 0 or -ENOMEM. */
static int sink_json_prepare(struct ktr__sink_json *json)
{
	json->sink.event = sink_json_event;
	json->sink.loss = sink_json_loss;
	json->sink.note = sink_json_note;
	json->text = malloc(4 * JSON_TEXT + 16);
	json->string = json_string("");
	json->real = json_real(0);
	return json->text && json->string && json->real ? 0 : -ENOMEM;
}

int ktr__sink_json_init(struct ktr__sink_json *json)
{
	json->n_lines = 0;
	if (sink_json_prepare(json))
		return -ENOMEM;
	if (!json->out && ktr__out_open(&json->own, -1))
		return -ENOMEM;
	json->out = json->out ? json->out : &json->own;
	return json->only_events ? 0 : sink_json_head(json);
}

static void sink_json_free(struct ktr__sink_json *json)
{
	for (uint32_t i = 0; i < json->n_sites; i++)
		sink_json_site_free(json->site[i]);
	for (uint32_t i = 0; i < json->n_threads; i++)
		free(json->thread[i].text);
	ktr__out_close(&json->own);
	json_decref(json->string);
	json_decref(json->real);
	free(json->site);
	free(json->thread);
	free(json->text);
}

int ktr__sink_json_fini(struct ktr__sink_json *json)
{
	int rc = 0;

	if (json->array && json->text && !ktr__out_line(json->out))
		ktr__out_text(json->out, json->n_lines ? "\n]\n" : "[]\n");
	if (json->out)
		rc = ktr__out_flush(json->out);
	sink_json_free(json);
	return rc;
}

/* ---- by several threads ---- */

static void sink_json_leave(struct ktr_sink *sink)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;

	ktr__symbols_free(json->symbols);
	sink_json_free(json);
	free(json);
}

static struct ktr_sink *sink_json_hire(void *of, struct ktr__out *out)
{
	const struct ktr__sink_json *like = of;
	struct ktr__sink_json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json->out = out;
	json->reader = like->reader;
	json->array = like->array;
	json->only_events = like->only_events;
	if (like->symbols)
		json->symbols = ktr__symbols_like(like->symbols);
	if (!like->symbols == !json->symbols && !sink_json_prepare(json))
		return &json->sink;
	sink_json_leave(&json->sink);
	return NULL;
}

/* All that matters of the lines before is whether there is one. */
static void sink_json_follow(struct ktr_sink *sink, uint64_t n_events, uint64_t last_ns)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;

	(void)last_ns;
	json->n_lines = json->only_events ? n_events : 1;
}

static int sink_json_write(void *of, const char *bytes, size_t n)
{
	struct ktr__sink_json *json = of;

	json->n_lines++;
	return ktr__out_write(json->out, bytes, n);
}

const struct ktr__crew_trade ktr__sink_json_trade = {
	.hire = sink_json_hire,
	.begin = sink_json_follow,
	.leave = sink_json_leave,
	.write = sink_json_write,
};
