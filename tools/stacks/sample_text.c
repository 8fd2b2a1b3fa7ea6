/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of the call graph is a count, two columns further to the right than its caller's, the function, its
 * object, how far behind its beginning, and the address: where there are several of these, with commas between
 * them. The signs before a count only lead the eye from one callee of a function to the next.
 */
#include "tools/stacks/sample_text.h"

#include "conf/kit/utf8.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <ktr/version.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SAMPLE_LEAST 5 /* of the two tables at the end, as their titles say */

static void text_put(FILE *to, const char *text)
{
	char clean[4 * 256];

	for (size_t n; *text; text += n) {
		n = strnlen(text, 256);
		fwrite(clean, 1, ktr__utf8_visible(clean, text, n), to);
	}
}

/* ---- head ---- */

/* When it was started: by field 22 of its stat, in ticks since the machine was. */
static time_t told_launched(pid_t pid)
{
	struct timespec up, now;
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int i = 2; at && i < 22; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - up.tv_sec + (time_t)(strtoull(at, NULL, 10) / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void told_parent(pid_t pid, char parent[64])
{
	char path[64], text[4096], name[32] = "";
	const char *at;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? ktr__tracee_field(text, "PPid") : NULL;
	ppid = at ? atoi(at) : 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", ppid);
	if (ppid && ktr__tracee_text(path, name, sizeof(name)) > 0)
		name[strcspn(name, "\n")] = '\0';
	snprintf(parent, 64, "%s [%d]", ppid ? name : "???", ppid);
}

void sample_told(pid_t pid, const char *name, struct sample_told *told)
{
	char path[64];
	ssize_t n;

	*told = (struct sample_told){ .name = name, .began = time(NULL), .launched = told_launched(pid) };
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)ktr__tracee_living(pid));
	n = readlink(path, told->path, sizeof(told->path) - 1);
	told->path[n > 0 ? n : 0] = '\0';
	told_parent(pid, told->parent);
}

static void text_time(FILE *to, const char *what, time_t at)
{
	char text[64] = "???";
	struct tm tm;

	if (at && localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
	fprintf(to, "%-17s%s\n", what, text);
}

static void text_field(FILE *to, const char *what, const char *text)
{
	fprintf(to, "%-17s", what);
	text_put(to, text[0] ? text : "???");
	fputc('\n', to);
}

static void text_head(FILE *to, const struct sample *sample, const struct sample_told *told)
{
	const struct ktr__live_maps *maps = ktr__live_maps(sample->rounds.live);
	struct utsname system;
	char text[512];

	fprintf(to, "Analysis of sampling ");
	text_put(to, told->name);
	fprintf(to, " (pid %d) every ", (int)sample->rounds.pid);
	if (sample->rounds.period_ns == 1000000)
		fprintf(to, "1 millisecond\n");
	else
		fprintf(to, "%g milliseconds\n", (double)sample->rounds.period_ns / 1e6);
	snprintf(text, sizeof(text), "%s [%d]", told->name, (int)sample->rounds.pid);
	text_field(to, "Process:", text);
	text_field(to, "Path:", told->path);
	fprintf(to, "%-17s0x%" PRIx64 "\n", "Load Address:", maps->n_objects ? maps->object[0].start : 0);
	text_field(to, "Identifier:", told->name);
	text_field(to, "Version:", "");
	uname(&system);
	text_field(to, "Code Type:", strcmp(system.machine, "x86_64") == 0 ? "X86-64" : "ARM64");
	text_field(to, "Parent Process:", told->parent);
	fputc('\n', to);
	text_time(to, "Date/Time:", told->began);
	text_time(to, "Launch Time:", told->launched);
	snprintf(text, sizeof(text), "%.100s %.200s", system.sysname, system.release);
	text_field(to, "OS Version:", text);
	text_field(to, "Report Version:", "7");
	text_field(to, "Analysis Tool:", "ktr sample " KTR_VERSION_TEXT);
	fprintf(to, "----\n\n");
}

/* ---- call graph ---- */

/* "main  (in app)" */
static void text_function(FILE *to, const struct sample_function *function)
{
	if (!function->base && !function->object) {
		fputs("???  (not to be looked at)", to);
		return;
	}
	text_put(to, function->symbol[0] ? function->symbol : "???");
	fputs("  (in ", to);
	text_put(to, function->object ? function->object : "<unknown>");
	fputc(')', to);
}

static void text_places(FILE *to, const struct sample_call *call)
{
	unsigned n = call->n_places < SAMPLE_PLACES ? call->n_places : SAMPLE_PLACES;

	fputs(call->function->symbol[0] ? " + " : " load address ", to);
	if (!call->function->symbol[0])
		fprintf(to, "0x%" PRIx64 " + 0x%" PRIx64, call->function->base,
			call->place[0] - call->function->base);
	for (unsigned i = 0; call->function->symbol[0] && i < n; i++)
		fprintf(to, "%s%" PRIu64, i ? "," : "", call->place[i] - call->function->base);
	fputs(call->n_places > SAMPLE_PLACES ? ",...  [" : "  [", to);
	for (unsigned i = 0; i < n; i++)
		fprintf(to, "%s0x%" PRIx64, i ? "," : "", call->place[i]);
	fputs(call->n_places > SAMPLE_PLACES ? ",...]" : "]", to);
	if (call->file) {
		const char *slash = strrchr(call->file, '/');

		fputs("  ", to);
		text_put(to, slash ? slash + 1 : call->file);
		fprintf(to, ":%d", call->line);
	}
}

/* before: what leads the eye, two columns for each caller; n_signs: how many of them are none but blanks. */
static void text_calls(FILE *to, const struct sample_call *callee, char *before, size_t n, unsigned n_signs)
{
	static const char signs[] = "+!:|";

	for (; callee; callee = callee->next) {
		unsigned is_led = !n || callee->next != NULL;

		before[n] = is_led ? signs[n_signs % 4] : ' ';
		before[n + 1] = ' ';
		fprintf(to, "    %.*s%" PRIu64 " ", (int)n + 2, before, callee->total);
		text_function(to, callee->function);
		if (callee->function->base || callee->function->object)
			text_places(to, callee);
		fputc('\n', to);
		text_calls(to, callee->child, before, n + 2, n_signs + is_led);
	}
}

static void text_thread(FILE *to, const struct sample *sample, const struct ktr__live_row *thread,
			const struct sample_call *calls)
{
	static char before[2 * KTR__LIVE_FRAMES + 4];

	fprintf(to, "    %" PRIu64 " Thread_%d: %s", thread->n, (int)thread->tid,
		thread->tid == sample->rounds.pid ? "Main Thread   " : "");
	text_put(to, thread->name);
	fputc('\n', to);
	text_calls(to, calls->child, before, 0, 0);
}

/* ---- tables ---- */

struct text_row {
	const struct sample_function *function;
	uint64_t n;
};

static int text_order(const void *a, const void *b)
{
	const struct text_row *x = a, *y = b;
	int order;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	order = strcmp(x->function->symbol, y->function->symbol);
	return order ? order : x->function->base < y->function->base ? -1 : x->function->base > y->function->base;
}

/* The functions of which there is something, the most first: how many. Owned; NULL without memory. */
static struct text_row *text_rows(const struct sample_names *names, int is_self, uint32_t *n)
{
	const struct sample_function *function;
	struct text_row *row;
	uint32_t room = 0;

	*n = 0;
	for (function = sample_names_functions(names); function; function = function->next)
		room++;
	row = calloc(room + 1u, sizeof(*row));
	for (function = sample_names_functions(names); row && function; function = function->next) {
		row[*n] = (struct text_row){ function, is_self ? function->self : function->places };
		*n += row[*n].n >= SAMPLE_LEAST;
	}
	if (row)
		qsort(row, *n, sizeof(*row), text_order);
	return row;
}

static void text_tables(FILE *to, const struct sample_names *names)
{
	uint32_t n;
	struct text_row *row = text_rows(names, 0, &n);

	fprintf(to, "\nTotal number in stack (recursive counted multiple, when >=5):\n");
	for (uint32_t i = 0; row && i < n; i++) {
		fprintf(to, "        %-8" PRIu64, row[i].n);
		text_function(to, row[i].function);
		fputc('\n', to);
	}
	free(row);
	row = text_rows(names, 1, &n);
	fprintf(to, "\nSort by top of stack, same collapsed (when >= 5):\n");
	for (uint32_t i = 0; row && i < n; i++) {
		fputs("        ", to);
		text_function(to, row[i].function);
		fprintf(to, "        %" PRIu64 "\n", row[i].n);
	}
	free(row);
}

static void text_images(FILE *to, const struct sample *sample)
{
	const struct ktr__live_maps *maps = ktr__live_maps(sample->rounds.live);

	fprintf(to, "\nBinary Images:\n");
	for (uint32_t i = 0; i < maps->n_objects; i++) {
		const struct ktr__live_object *object = &maps->object[i];
		const char *slash = strrchr(object->path, '/');

		if (!object->is_code)
			continue;
		fprintf(to, "  %#18" PRIx64 " - %#18" PRIx64 " ", object->start, object->end - 1);
		text_put(to, slash ? slash + 1 : object->path);
		fputs(" (-) ", to);
		text_put(to, object->path);
		fputc('\n', to);
	}
}

int sample_text(FILE *to, const struct sample *sample, const struct sample_told *told)
{
	struct sample_names *names = sample_names_new(sample->rounds.live);
	int rc = names ? 0 : -ENOMEM;

	text_head(to, sample, told);
	fprintf(to, "Call graph:\n");
	for (uint32_t i = 0; i < sample->rounds.n_rows && !rc; i++) {
		const struct ktr__live_row *thread = &sample->rounds.row[i];
		struct sample_call *calls = thread->n ? sample_calls(names, &sample->tree, thread->node[0]) : NULL;

		if (!thread->n)
			continue;
		if (calls)
			text_thread(to, sample, thread, calls);
		else
			rc = -ENOMEM;
		sample_calls_free(calls);
	}
	if (!rc) {
		text_tables(to, names);
		text_images(to, sample);
	}
	sample_names_free(names);
	return rc;
}
