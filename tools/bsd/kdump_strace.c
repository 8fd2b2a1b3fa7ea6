/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of `strace -f -ttt -T`. A call is one line if nothing else comes between its beginning and its end;
 * else its beginning is printed as unfinished, and its end as resumed, with what is known by then.
 */
#include "tools/bsd/kdump_calls.h"

#include "tools/bsd/call_text.h"
#include "tools/bsd/kdump_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* At the beginning of a line. */
static void strace_who(struct kdump_calls *calls, int64_t tid, int64_t ns)
{
	fprintf(calls->out, "%" PRId64 " %" PRId64 ".%06" PRId64 " ", tid, ns / 1000000000, ns % 1000000000 / 1000);
}

static void strace_string(FILE *out, const char *bytes, size_t n, size_t max)
{
	fputc('"', out);
	for (size_t i = 0; i < n && i < max; i++) {
		unsigned char c = (unsigned char)bytes[i];
		int digit_follows = i + 1 < n && i + 1 < max && isdigit((unsigned char)bytes[i + 1]);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v')
			fprintf(out, "\\%c",
				c == '\n'   ? 'n'
				: c == '\t' ? 't'
				: c == '\r' ? 'r'
				: c == '\f' ? 'f'
					    : 'v');
		else if (isascii(c) && isprint(c))
			fputc(c, out);
		else
			fprintf(out, digit_follows ? "\\%03o" : "\\%o", c);
	}
	fputs(n > max ? "\"..." : "\"", out);
}

/* What a call takes is known when it begins; what it gives is, and data are, when it ends. */
static int strace_is_given(const struct kdump_call *call, unsigned i)
{
	int io = call->call ? call->call->io : KTR__IO_NONE, record = call->call ? call->call->record : 0;

	return (io != KTR__IO_NONE && i == 1) || (record == KTR__STRUCT_STAT1 && i == 1) ||
	       (record == KTR__STRUCT_STAT2 && i == 2) || (record == KTR__STRUCT_ADDR_OUT && i == 1) ||
	       (record == KTR__STRUCT_ADDR_RECVFROM && i == 4);
}

static void strace_stat(FILE *out, const struct ktr__ktrace_stat *stat)
{
	static const struct {
		unsigned type;
		const char *name;
	} types[] = { { S_IFREG, "S_IFREG" }, { S_IFDIR, "S_IFDIR" }, { S_IFCHR, "S_IFCHR" },
		      { S_IFLNK, "S_IFLNK" }, { S_IFIFO, "S_IFIFO" }, { S_IFSOCK, "S_IFSOCK" },
		      { S_IFBLK, "S_IFBLK" } };
	const char *type = "0";

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((stat->mode & S_IFMT) == types[i].type)
			type = types[i].name;
	fprintf(out, "{st_mode=%s|%s%s%s%#o, st_size=%" PRId64 ", ...}", type,
		stat->mode & S_ISUID ? "S_ISUID|" : "", stat->mode & S_ISGID ? "S_ISGID|" : "",
		stat->mode & S_ISVTX ? "S_ISVTX|" : "", stat->mode & 0777u, stat->size);
}

static void strace_arg(struct kdump_calls *calls, const struct kdump_call *call, unsigned i)
{
	const char *path = kdump_call_path(call, i);
	char text[256];

	if (path)
		strace_string(calls->out, path, strlen(path), KDUMP_CALLS_PATH);
	else if (kdump_call_address_arg(call) == (int)i)
		fprintf(calls->out, "{%s}", call->address);
	else if (kdump_call_stat_arg(call) == (int)i)
		strace_stat(calls->out, &call->stat);
	else if (kdump_call_data_arg(call) == (int)i)
		strace_string(calls->out, call->data, call->n_data, calls->max_data);
	else {
		call_text(call->call, call->args, i, text, sizeof(text));
		fputs(text, calls->out);
	}
}

/* The arguments of [from, to). */
static void strace_args(struct kdump_calls *calls, const struct kdump_call *call, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		if (call_text_is_unsaid(call->call, call->args, i))
			continue;
		fputs(i ? ", " : "", calls->out);
		strace_arg(calls, call, i);
	}
}

static void strace_name(struct kdump_calls *calls, const struct kdump_call *call)
{
	if (call->call)
		fputs(call->call->name, calls->out);
	else
		fprintf(calls->out, "syscall_%#x", (unsigned)call->number);
}

static unsigned strace_n_taken(const struct kdump_call *call)
{
	unsigned n = 0;

	while (n < call->n_args && !strace_is_given(call, n))
		n++;
	return n;
}

/* Another line comes: what is held has begun. */
static void strace_release(struct kdump_calls *calls, const struct kdump_call *but)
{
	struct kdump_call *call = calls->held;

	if (!call || call == but)
		return;
	calls->held = NULL;
	call->is_begun = 1;
	strace_who(calls, call->tid, call->from_ns);
	strace_name(calls, call);
	fputc('(', calls->out);
	strace_args(calls, call, 0, strace_n_taken(call));
	fputs(" <unfinished ...>\n", calls->out);
}

static void strace_begun(struct kdump_calls *calls, struct kdump_call *call)
{
	strace_release(calls, call);
	calls->held = call;
}

static void strace_result(struct kdump_calls *calls, const struct kdump_call *call)
{
	char name[32];

	if (!call->to_ns)
		fputs("?\n", calls->out);
	else if (call->restarts)
		fputs("? ERESTARTSYS (To be restarted if SA_RESTART is set)", calls->out);
	else if (call->error) {
		call_text_errno(call->error, name);
		fprintf(calls->out, "-1 %s (%s)", name, strerror(call->error));
	} else if (kdump_call_gives_address(call))
		fprintf(calls->out, "%#" PRIx64, (uint64_t)call->value);
	else
		fprintf(calls->out, "%" PRId64, call->just_returns ? 0 : call->value);
	if (call->to_ns)
		fprintf(calls->out, " <%" PRId64 ".%06" PRId64 ">\n", (call->to_ns - call->from_ns) / 1000000000,
			(call->to_ns - call->from_ns) % 1000000000 / 1000);
}

static void strace_ended(struct kdump_calls *calls, struct kdump_call *call)
{
	strace_release(calls, call);
	calls->held = NULL;
	if (call->is_begun) {
		strace_who(calls, call->tid, call->to_ns ? call->to_ns : call->from_ns);
		fputs("<... ", calls->out);
		strace_name(calls, call);
		fputs(" resumed>", calls->out);
		strace_args(calls, call, strace_n_taken(call), call->n_args);
	} else {
		strace_who(calls, call->tid, call->from_ns);
		strace_name(calls, call);
		fputc('(', calls->out);
		strace_args(calls, call, 0, call->n_args);
	}
	fputs(") = ", calls->out);
	strace_result(calls, call);
}

static void strace_signal(struct kdump_calls *calls, struct kdump_call *call, const struct kdump_signal *signal)
{
	char name[32];

	strace_release(calls, NULL);
	strace_who(calls, call->tid, calls->now_ns);
	if (!kdump_names_signal(signal->number, name))
		snprintf(name, sizeof(name), "%d", signal->number);
	fprintf(calls->out, "--- %s {si_signo=%s%s%s} ---\n", name, name, signal->code ? ", si_code=" : "",
		signal->code ? signal->code : "");
}

static void strace_lost(struct kdump_calls *calls, struct kdump_call *call)
{
	strace_release(calls, NULL);
	strace_who(calls, call->tid, calls->now_ns);
	fputs("+++ records dropped +++\n", calls->out);
}

static void strace_gone(struct kdump_calls *calls, struct kdump_call *call)
{
	char name[32];

	if (call->is_open) {
		call->to_ns = 0;
		strace_ended(calls, call);
	}
	strace_release(calls, NULL);
	strace_who(calls, call->tid, calls->now_ns);
	if (call->last > 256 && kdump_names_signal(call->last - 256, name))
		fprintf(calls->out, "+++ killed by %s +++\n", name);
	else
		fprintf(calls->out, "+++ exited with %d +++\n", call->last < 0 ? 0 : call->last);
}

const struct kdump_view kdump_strace = { strace_begun, strace_ended, strace_signal, strace_lost,
					 strace_gone };
