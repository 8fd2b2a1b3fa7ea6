/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON form of a walk, through jansson.
 *
 * Building a tree for each event would cost several times what printing it does. So each call
 * site gets its trees when its first event comes, one of the message and one of the arguments,
 * and later events only set their values. Members that never change are printed once, and kept as
 * text; numbers that every event has, and messages that read the same in JSON, need no tree. Where
 * an argument has to change its type (a number above 2^63-1, an infinity, a NULL), its member is
 * replaced for this event, and put back by the next.
 */
#include "analyze/print/sink_json.h"

#include "analyze/print/json_print.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/tables.h"
#include "analyze/symbols/symbols.h"
#include "conf/kit/utf8.h"
#include "ktr/session/drop.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define JSON_TEXT                                                                                  \
	((size_t)24 * 1024) /* [bytes] the longest message; three times as much repaired */

/* A site's trees. Members are borrowed from them unless marked owned. */
struct ktr__json_site {
	json_t *event; /* owned: the message */
	json_t *msg;
	char *constant;            /* owned: "class":"net",... */
	json_t *args;              /* owned */
	json_t *arg[KTR_ARGS_MAX]; /* owned: of the usual type, whether it is in the tree or not */
	uint8_t replaced;          /* bit i: args has something else in place of arg[i] */
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

/* ---- a site's tree ---- */

static json_t *sink_json_arg(enum ktr_arg_type type)
{
	switch (type) {
	case KTR_ARG_F64:
		return json_real(0);
	case KTR_ARG_PTR:
	case KTR_ARG_STR:
		return json_string("");
	case KTR_ARG_STACK:
		return json_array();
	default:
		return json_integer(0);
	}
}

static void sink_json_site_free(struct ktr__json_site *s)
{
	if (!s)
		return;
	json_decref(s->event);
	json_decref(s->args);
	free(s->constant);
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		json_decref(s->arg[i]);
	free(s);
}

/* Adds a member and returns it, borrowed. */
static json_t *sink_json_member(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(object, key, value) ? NULL : value;
}

/* The names of arguments are expressions of the program's source: any bytes. */
static int sink_json_args(struct ktr__json_site *s, const struct ktr_reader_site *site)
{
	for (unsigned i = 0; i < site->n_args; i++) {
		json_t *name = sink_json_cstring(site->arg[i].name);

		s->arg[i] = sink_json_arg(site->arg[i].type);
		if (!name || !s->arg[i] ||
		    json_object_set_nocheck(s->args, json_string_value(name), s->arg[i])) {
			json_decref(name);
			return -ENOMEM;
		}
		json_decref(name);
	}
	return 0;
}

/* What never changes, as text without braces; owned, NULL without memory. */
static char *sink_json_constant(const struct ktr_reader_site *site)
{
	json_t *tree = json_object();
	char *text;
	int bad;

	bad = !sink_json_member(tree, "class", sink_json_cstring(site->class_name));
	bad |= !sink_json_member(tree, "site", json_integer(site->id));
	bad |= !sink_json_member(tree, "file", sink_json_cstring(site->file));
	bad |= !sink_json_member(tree, "line", json_integer(site->line));
	bad |= !sink_json_member(tree, "func", sink_json_cstring(site->func));
	bad |= !sink_json_member(tree, "kind", json_string(ktr__ktrgraph_text(site->kind)));
	if (site->group)
		bad |= !sink_json_member(tree, "group", sink_json_cstring(site->group));
	if (site->ident)
		bad |= !sink_json_member(tree, "id", sink_json_cstring(site->ident));
	text = bad ? NULL : ktr__json_string(tree, JSON_COMPACT | JSON_EMBED);
	json_decref(tree);
	return text;
}

static struct ktr__json_site *sink_json_site_new(const struct ktr_reader_site *site)
{
	struct ktr__json_site *s = calloc(1, sizeof(*s));
	int bad;

	if (!s)
		return NULL;
	s->event = json_object();
	s->args = json_object();
	s->constant = sink_json_constant(site);
	bad = !s->args || !s->constant;
	bad |= !(s->msg = sink_json_member(s->event, "msg", json_string("")));
	if (bad || sink_json_args(s, site)) {
		sink_json_site_free(s);
		return NULL;
	}
	return s;
}

/* A source that is followed learns of sites and threads later. Makes room for n pointers. 0 or -ENOMEM. */
static int sink_json_grow(void **array, unsigned *n_room, unsigned n)
{
	void **grown = realloc(*array, n * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memset(grown + *n_room, 0, (n - *n_room) * sizeof(*grown));
	*array = grown;
	*n_room = n;
	return 0;
}

static struct ktr__json_site *sink_json_site(struct ktr__sink_json *json,
					     const struct ktr_reader_site *site)
{
	void *sites = json->site;

	if (site->id >= json->n_sites &&
	    sink_json_grow(&sites, &json->n_sites, ktr_reader_n_sites(json->reader)))
		return NULL;
	json->site = sites;
	if (!json->site[site->id])
		json->site[site->id] = sink_json_site_new(site);
	return json->site[site->id];
}

/* ---- an event ---- */

/* Sets a string, repaired. 0 or -1. */
static int sink_json_set(struct ktr__sink_json *json, json_t *string, const char *bytes, size_t n)
{
	if (ktr__utf8_plain(bytes, n) == n)
		return json_string_setn_nocheck(string, bytes, n);
	if (n > JSON_TEXT)
		n = JSON_TEXT;
	n = ktr__utf8_repair(json->text + JSON_TEXT + 4, bytes, n);
	return json_string_setn_nocheck(string, json->text + JSON_TEXT + 4, n);
}

static json_t *sink_json_pointer(uint64_t word)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, word);
	return json_string(text);
}

/* Puts something else in place of an argument's usual member. Takes value. */
static int sink_json_replace(struct ktr__json_site *s, const struct ktr_event *event, unsigned i,
			     json_t *value)
{
	json_t *name = sink_json_cstring(event->site->arg[i].name);
	int rc = name ? json_object_set_new_nocheck(s->args, json_string_value(name), value) : -1;

	json_decref(name);
	s->replaced |= (uint8_t)(1u << i);
	return rc;
}

static int sink_json_real(struct ktr__json_site *s, const struct ktr_event *event, unsigned i)
{
	double number;

	memcpy(&number, &event->arg[i], sizeof(number));
	if (isfinite(number))
		return json_real_set(s->arg[i], number);
	return sink_json_replace(s, event, i,
				 json_string(isnan(number) ? "NaN"
					     : number > 0  ? "Infinity"
							   : "-Infinity"));
}

static int sink_json_string(struct ktr__sink_json *json, struct ktr__json_site *s,
			    const struct ktr_event *event, unsigned i)
{
	const struct ktr_event_bytes *str = &event->str[i];
	size_t n = str->n_bytes < JSON_TEXT ? str->n_bytes : JSON_TEXT;

	if (str->is_null)
		return sink_json_replace(s, event, i, json_null());
	if (!str->cut)
		return sink_json_set(json, s->arg[i], str->bytes, n);
	memcpy(json->text, str->bytes, n);
	memcpy(json->text + n, "...", 3);
	return sink_json_set(json, s->arg[i], json->text, n + 3);
}

static json_t *sink_json_frame(struct ktr__symbols *symbols, const struct ktr_event *event,
			       uint64_t pc)
{
	uint32_t proc = symbols ? ktr__tables_proc(event->thread) : 0;
	const char *name = symbols ? ktr__symbols_at(symbols, proc, pc, KTR__SYMBOLS_RETURN) : NULL;

	return json_pack("{s:o, s:o*}", "pc", sink_json_pointer(pc), "sym",
			 name ? sink_json_cstring(name) : NULL);
}

static int sink_json_stack(struct ktr__sink_json *json, struct ktr__json_site *s,
			   const struct ktr_event *event, unsigned i)
{
	const struct ktr_event_bytes *str = &event->str[i];
	int rc = json_array_clear(s->arg[i]);

	for (uint32_t at = 0; at + 8 <= str->n_bytes && !rc; at += 8) {
		uint64_t pc;

		memcpy(&pc, str->bytes + at, sizeof(pc));
		rc = json_array_append_new(s->arg[i], sink_json_frame(json->symbols, event, pc));
	}
	return rc;
}

static int sink_json_value(struct ktr__sink_json *json, struct ktr__json_site *s,
			   const struct ktr_event *event, unsigned i)
{
	char text[24];
	int n;

	if (s->replaced >> i & 1) {
		s->replaced &= (uint8_t) ~(1u << i);
		if (sink_json_replace(s, event, i, json_incref(s->arg[i])))
			return -1;
		s->replaced &= (uint8_t) ~(1u << i);
	}
	switch (event->site->arg[i].type) {
	case KTR_ARG_F64:
		return sink_json_real(s, event, i);
	case KTR_ARG_STR:
		return sink_json_string(json, s, event, i);
	case KTR_ARG_STACK:
		return sink_json_stack(json, s, event, i);
	case KTR_ARG_PTR:
		n = snprintf(text, sizeof(text), "0x%" PRIx64, event->arg[i]);
		return json_string_setn_nocheck(s->arg[i], text, (size_t)n);
	case KTR_ARG_U64:
		if (event->arg[i] > INT64_MAX)
			return sink_json_replace(s, event, i, ktr__jansson_u64(event->arg[i]));
		return json_integer_set(s->arg[i], (json_int_t)event->arg[i]);
	default:
		return json_integer_set(s->arg[i], (json_int_t)event->arg[i]);
	}
}

/* Members of a thread as text, printed once; NULL without memory. */
static const char *sink_json_thread(struct ktr__sink_json *json,
				    const struct ktr_reader_thread *thread)
{
	void *threads = json->thread;
	json_t *tree;
	char **text;

	if (thread->id >= json->n_threads &&
	    sink_json_grow(&threads, &json->n_threads, ktr_reader_n_threads(json->reader)))
		return NULL;
	json->thread = threads;
	text = &json->thread[thread->id];
	if (*text)
		return *text;
	tree = json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)thread->pid, "tid",
			 (json_int_t)thread->tid, "thread", sink_json_cstring(thread->name));
	*text = tree ? ktr__json_string(tree, JSON_COMPACT | JSON_EMBED) : NULL;
	json_decref(tree);
	return *text;
}

/* An unsigned number, as ktr__jansson_u64() makes it. */
static void sink_json_u64(struct ktr__out *out, uint64_t number)
{
	const char *quote = number > INT64_MAX ? "\"" : "";

	ktr__out_text(out, quote);
	ktr__out_number(out, number, 0, ' ');
	ktr__out_text(out, quote);
}

/* Would these bytes stand in a JSON string as they are? */
static int sink_json_is_plain(const char *bytes, size_t n)
{
	return ktr__utf8_plain(bytes, n) == n && !memchr(bytes, '"', n) && !memchr(bytes, '\\', n);
}

/* The message, n bytes in json->text: most say what they say without quotes, and need no tree. */
static int sink_json_message(struct ktr__sink_json *json, const struct ktr__json_site *s, size_t n)
{
	struct ktr__out *out = json->out;

	if (!sink_json_is_plain(json->text, n))
		return sink_json_set(json, s->msg, json->text, n) ? -ENOMEM
								  : sink_json_dump(out, s->event, JSON_EMBED);
	ktr__out_text(out, "\"msg\":\"");
	ktr__out_bytes(out, json->text, n);
	ktr__out_char(out, '"');
	return 0;
}

/* n: bytes of the message in json->text. */
static int sink_json_line(struct ktr__sink_json *json, const struct ktr__json_site *s,
			  const struct ktr_event *event, size_t n)
{
	const char *thread = sink_json_thread(json, event->thread);
	struct ktr__out *out = json->out;
	int rc = thread ? sink_json_begin(json) : -ENOMEM;

	if (rc)
		return rc;
	ktr__out_text(out, "{\"type\":\"event\",\"ts_ns\":");
	sink_json_u64(out, event->time_ns);
	ktr__out_text(out, ",\"cpu\":");
	sink_json_u64(out, event->cpu);
	ktr__out_char(out, ',');
	ktr__out_text(out, thread);
	ktr__out_text(out, ",\"index\":");
	sink_json_u64(out, event->index);
	ktr__out_text(out, event->approx ? ",\"approx\":true," : ",");
	ktr__out_text(out, event->keep ? "\"keep\":true," : "");
	ktr__out_text(out, s->constant);
	ktr__out_char(out, ',');
	rc = sink_json_message(json, s, n);
	ktr__out_text(out, event->site->n_args ? ",\"args\":" : ",\"args\":{}");
	if (!rc && event->site->n_args)
		rc = sink_json_dump(out, s->args, 0);
	ktr__out_char(out, '}');
	sink_json_end(json);
	return rc;
}

char *ktr__sink_json_args(struct ktr__sink_json *json, const struct ktr_event *event)
{
	struct ktr__json_site *s = sink_json_site(json, event->site);
	int bad = !s;

	for (unsigned i = 0; i < event->site->n_args && !bad; i++)
		bad = sink_json_value(json, s, event, i);
	return bad ? NULL : ktr__json_string(s->args, JSON_COMPACT);
}

static int sink_json_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__sink_json *json = (struct ktr__sink_json *)(void *)sink;
	struct ktr__json_site *s = sink_json_site(json, event->site);
	int bad = 0;
	size_t n;

	if (!s)
		return -ENOMEM;
	for (unsigned i = 0; i < event->site->n_args; i++)
		bad |= sink_json_value(json, s, event, i);
	n = ktr_event_text(event, json->text, JSON_TEXT);
	return bad ? -ENOMEM : sink_json_line(json, s, event, n < JSON_TEXT ? n : JSON_TEXT - 1);
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

int ktr__sink_json_init(struct ktr__sink_json *json)
{
	json->sink.event = sink_json_event;
	json->sink.loss = sink_json_loss;
	json->sink.note = sink_json_note;
	json->n_lines = 0;
	json->n_sites = ktr_reader_n_sites(json->reader);
	json->site = calloc(json->n_sites, sizeof(*json->site));
	json->n_threads = ktr_reader_n_threads(json->reader);
	json->thread = calloc(json->n_threads, sizeof(*json->thread));
	json->text = malloc(4 * JSON_TEXT + 16);
	if (!json->site || !json->thread || !json->text)
		return -ENOMEM;
	return json->only_events ? 0 : sink_json_head(json);
}

int ktr__sink_json_fini(struct ktr__sink_json *json)
{
	int rc = 0;

	if (json->array && json->text && !ktr__out_line(json->out))
		ktr__out_text(json->out, json->n_lines ? "\n]\n" : "[]\n");
	if (json->out)
		rc = ktr__out_flush(json->out);
	for (unsigned i = 0; json->site && i < json->n_sites; i++)
		sink_json_site_free(json->site[i]);
	for (unsigned i = 0; json->thread && i < json->n_threads; i++)
		free(json->thread[i]);
	free(json->site);
	free(json->thread);
	free(json->text);
	return rc;
}
