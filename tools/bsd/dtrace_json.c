/* SPDX-License-Identifier: BSD-2-Clause */
/* See dtrace_json.h. What is read may be anybody's. */
#include "tools/bsd/dtrace_json.h"

#include "conf/kit/utf8.h"
#include "ktr/session/mach_own.h"

#include <ktr/probe_type.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A number that is not negative; 0: it is missing or none. */
static uint64_t dtrace_json_number(const json_t *object, const char *name)
{
	json_int_t number = json_integer_value(json_object_get(object, name));

	return number > 0 ? (uint64_t)number : 0;
}

/* Which probe an event is of. Those without a name are told apart by their id alone. */
static int dtrace_json_probe(struct dtrace_events *events, const json_t *object, uint32_t *number)
{
	const char *type = json_string_value(json_object_get(object, "type"));
	const char *name = json_string_value(json_object_get(object, "name"));
	uint32_t id = (uint32_t)dtrace_json_number(object, "probe_id"), of = 0;
	char text[DTRACE_NAME];

	for (uint32_t i = 1; type && i < KTR_PROBE_TYPES_END; i++)
		if (strcmp(type, dtrace_type_name(i)) == 0)
			of = i;
	if (!type && id < KTR__MACH_OWN_END)
		of = ktr__mach_own[id].type;
	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else if (id && id < KTR__MACH_OWN_END)
		snprintf(text, sizeof(text), "%s", ktr__mach_own[id].name);
	else
		snprintf(text, sizeof(text), "probe_%" PRIu32, id);
	*number = dtrace_events_named(events, of, text);
	if (!*number)
		return -ENOMEM;
	events->probe[*number - 2].id = id;
	return 0;
}

static int dtrace_json_event(struct dtrace_events *events, const json_t *object)
{
	const json_t *args = json_object_get(object, "args");
	struct dtrace_seen *seen;
	uint32_t number;

	if (dtrace_json_probe(events, object, &number) || !(seen = dtrace_events_room(events)))
		return -ENOMEM;
	memset(seen, 0, sizeof(*seen));
	events->probe[number - 2].fires++;
	seen->ns = dtrace_json_number(object, "timestamp");
	seen->probe = number - 2;
	seen->cpu = (uint32_t)dtrace_json_number(object, "cpu_id");
	seen->tid = (uint32_t)dtrace_json_number(object, "thread_id");
	seen->pid = (uint32_t)dtrace_json_number(object, "task_id");
	seen->n_args = json_array_size(args) < KTR_ARGS_MAX ? (uint32_t)json_array_size(args) : KTR_ARGS_MAX;
	for (uint32_t i = 0; i < seen->n_args; i++)
		seen->arg[i] = (uint64_t)json_integer_value(json_array_get(args, i));
	return 0;
}

int dtrace_json_read(struct dtrace_events *events, const char *command, const char *name, const char *text,
		     size_t n_bytes)
{
	json_error_t error;
	json_t *root = json_loadb(text, n_bytes, 0, &error);
	const json_t *list = json_object_get(root, "events"), *object;
	int rc = 0;
	size_t i;

	if (!root)
		return fail(command, "%s:%d: %s", name, error.line, error.text);
	if (!json_is_array(list))
		rc = fail(command, "%s: no \"events\", which is a list", name);
	json_array_foreach(list, i, object) {
		if (rc)
			break;
		if (!json_is_object(object) || !json_is_integer(json_object_get(object, "timestamp")))
			rc = fail(command, "%s: event %zu has no \"timestamp\"", name, i + 1);
		else if (dtrace_json_event(events, object))
			rc = fail(command, "not enough memory");
	}
	json_decref(root);
	return rc;
}

/* A name as a JSON string: bytes of which no terminal makes anything, quoted. */
static void dtrace_json_text(FILE *to, const char *text)
{
	char visible[4 * DTRACE_NAME + 1];
	size_t n = ktr__utf8_visible(visible, text, strlen(text));

	putc('"', to);
	for (size_t i = 0; i < n; i++) {
		if (visible[i] == '"' || visible[i] == '\\')
			putc('\\', to);
		putc(visible[i], to);
	}
	putc('"', to);
}

void dtrace_json_print(const struct dtrace_events *events, FILE *to)
{
	fputs("{\"events\": [", to);
	for (size_t i = 0; i < events->n; i++) {
		const struct dtrace_seen *seen = &events->event[i];
		const struct dtrace_probe_seen *probe = &events->probe[seen->probe];

		fprintf(to, "%s\n{\"probe_id\": %" PRIu32 ", \"timestamp\": %" PRIu64 ", \"cpu_id\": %" PRIu32
			    ", \"thread_id\": %" PRIu32 ", \"task_id\": %" PRIu32 ", \"args\": [",
			i ? "," : "", probe->id, seen->ns, seen->cpu, seen->tid, seen->pid);
		/* JSON's integers are read as signed ones of 64 bits. */
		for (uint32_t k = 0; k < seen->n_args; k++)
			fprintf(to, "%s%" PRId64, k ? ", " : "", (int64_t)seen->arg[k]);
		fprintf(to, "], \"type\": \"%s\", \"name\": ", dtrace_type_name(probe->type));
		dtrace_json_text(to, probe->name);
		putc('}', to);
	}
	fputs("\n]}\n", to);
}
