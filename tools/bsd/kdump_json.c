/* SPDX-License-Identifier: BSD-2-Clause */
/* An object a line: a call when it has ended, a signal, the end of a process. */
#include "tools/bsd/kdump_calls.h"

#include "analyze/print/sink_json.h"
#include "tools/bsd/call_text.h"
#include "tools/bsd/kdump_names.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static json_t *json_text(const char *text)
{
	return ktr__jansson_text(text, strlen(text));
}

/* What each line begins with. NULL: no memory. */
static json_t *json_line(const struct kdump_call *call, int64_t ns)
{
	return json_pack("{s:I, s:i, s:I, s:o}", "time_ns", (json_int_t)ns, "pid", (int)call->pid, "tid",
			 (json_int_t)call->tid, "comm", json_text(call->comm));
}

static void json_write(struct kdump_calls *calls, json_t *line)
{
	if (line && json_dumpf(line, calls->out, JSON_COMPACT) == 0)
		fputc('\n', calls->out);
	json_decref(line);
}

/* An address is text: numbers of JSON may end at 2^53. */
static json_t *json_number(const struct kdump_call *call, unsigned i)
{
	struct ktr__call_arg arg = { .kind = '*' };
	char text[32];

	if (call->call)
		ktr__call_arg(call->call, i, &arg);
	switch (arg.kind) {
	case '*':
		snprintf(text, sizeof(text), "%#" PRIx64, call->args[i]);
		return json_text(text);
	case '^':
		return json_integer((uint32_t)call->args[i]);
	case '\0':
		return json_integer((int32_t)call->args[i]);
	default:
		return json_integer((json_int_t)call->args[i]);
	}
}

static json_t *json_arg(const struct kdump_call *call, unsigned i)
{
	const char *path = kdump_call_path(call, i);
	char text[256];

	if (path)
		return json_text(path);
	if (kdump_call_address_arg(call) == (int)i)
		return json_text(call->address);
	if (!call->call || !call_text_has_names(call->call, i))
		return json_number(call, i);
	call_text(call->call, call->args, i, text, sizeof(text));
	return json_text(text);
}

static json_t *json_args(const struct kdump_call *call)
{
	json_t *args = json_object();
	struct ktr__call_arg arg;

	for (unsigned i = 0; i < call->n_args; i++) {
		if (call_text_is_unsaid(call->call, call->args, i))
			continue;
		if (call->call)
			ktr__call_arg(call->call, i, &arg);
		else
			snprintf(arg.name, sizeof(arg.name), "arg%u", i);
		json_object_set_new(args, arg.name, json_arg(call, i));
	}
	return args;
}

static void json_result(json_t *line, const struct kdump_call *call)
{
	char text[32];

	if (!call->to_ns)
		return;
	json_object_set_new(line, "duration_ns", json_integer(call->to_ns - call->from_ns));
	if (call->restarts) {
		json_object_set_new(line, "restarts", json_true());
		return;
	}
	snprintf(text, sizeof(text), "%#" PRIx64, (uint64_t)call->value);
	json_object_set_new(line, "result",
			    kdump_call_gives_address(call) && !call->error ? json_text(text)
									   : json_integer(call->value));
	if (!call->error)
		return;
	call_text_errno(call->error, text);
	json_object_set_new(line, "error", json_text(text));
}

static void json_ended(struct kdump_calls *calls, struct kdump_call *call)
{
	json_t *line = json_line(call, call->from_ns);
	char number[16];

	snprintf(number, sizeof(number), "[%d]", call->number);
	json_object_set_new(line, "call", json_text(call->call ? call->call->name : number));
	json_object_set_new(line, "args", json_args(call));
	json_result(line, call);
	if (call->data) {
		json_object_set_new(line, "bytes", json_integer((json_int_t)call->n_data));
		json_object_set_new(line, "data",
				    ktr__jansson_text(call->data, call->n_data < calls->max_data
									  ? call->n_data
									  : calls->max_data));
	}
	if (call->has_stat)
		json_object_set_new(line, "stat",
				    json_pack("{s:i, s:I, s:I}", "mode", (int)call->stat.mode, "size",
					      (json_int_t)call->stat.size, "ino", (json_int_t)call->stat.ino));
	json_write(calls, line);
}

static void json_signal(struct kdump_calls *calls, struct kdump_call *call, const struct kdump_signal *signal)
{
	json_t *line = json_line(call, calls->now_ns);
	char name[32];

	if (!kdump_names_signal(signal->number, name))
		snprintf(name, sizeof(name), "%d", signal->number);
	json_object_set_new(line, "signal", json_text(name));
	if (signal->code)
		json_object_set_new(line, "code", json_text(signal->code));
	json_object_set_new(line, "caught", json_boolean(signal->handler != 0));
	json_write(calls, line);
}

static void json_lost(struct kdump_calls *calls, struct kdump_call *call)
{
	json_t *line = json_line(call, calls->now_ns);

	json_object_set_new(line, "dropped", json_true());
	json_write(calls, line);
}

static void json_gone(struct kdump_calls *calls, struct kdump_call *call)
{
	json_t *line;
	char name[32];

	if (call->is_open) {
		call->to_ns = 0;
		json_ended(calls, call);
	}
	line = json_line(call, calls->now_ns);
	if (call->last > 256 && kdump_names_signal(call->last - 256, name))
		json_object_set_new(line, "killed", json_text(name));
	else
		json_object_set_new(line, "exit", json_integer(call->last < 0 ? 0 : call->last));
	json_write(calls, line);
}

const struct kdump_view kdump_json = { NULL, json_ended, json_signal, json_lost, json_gone };
