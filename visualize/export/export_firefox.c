/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples for the Firefox Profiler, in its processed format: tables by column, which all threads share, and for
 * each thread its samples, in the order of time. What loads it brings older versions up to its own, so that the
 * version here need not follow.
 *
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md has the versions.
 */
#include "visualize/export/exports.h"
#include "visualize/export/stack_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIREFOX_VERSION 60
#define FIREFOX_LIBRARY 1 /* of a resource's types */

enum firefox_category {
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_OTHER
};

struct firefox {
	struct ktr__stack_set set;
	uint32_t *stack; /* owned; by node: the innermost of its rows, those of inlined functions among them */
};

static void firefox_text(FILE *to, const char *text)
{
	ktr__export_json(to, text, strlen(text));
}

/* "name":[a,b,...], n times what of() prints. */
typedef void firefox_cell_fn(FILE *to, const struct firefox *f, uint32_t i);

static void firefox_column(FILE *to, const struct firefox *f, const char *name, uint32_t n, firefox_cell_fn *cell)
{
	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			putc(',', to);
		cell(to, f, i);
	}
	fputs("],", to);
}

static void firefox_null(FILE *to, const struct firefox *f, uint32_t i)
{
	(void)f, (void)i;
	fputs("null", to);
}

static void firefox_zero(FILE *to, const struct firefox *f, uint32_t i)
{
	(void)f, (void)i;
	putc('0', to);
}

static void firefox_false(FILE *to, const struct firefox *f, uint32_t i)
{
	(void)f, (void)i;
	fputs("false", to);
}

/* ---- libraries ---- */

/* As Breakpad writes a build-id: its first 16 bytes, as a GUID is printed, and an age. */
static void firefox_breakpad(FILE *to, const struct ktr__module_entry *lib)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (unsigned i = 0; i < sizeof(order); i++)
		fprintf(to, "%02X", order[i] < lib->n_build_id ? lib->build_id[order[i]] : 0);
	putc('0', to);
}

static void firefox_lib(FILE *to, const struct firefox *f, uint32_t i)
{
	const struct ktr__module_entry *lib = f->set.lib[i];
	const char *slash = strrchr(lib->path, '/'), *base = slash ? slash + 1 : lib->path;

	fputs("\n{\"arch\":null,\"name\":", to);
	firefox_text(to, base);
	fputs(",\"path\":", to);
	firefox_text(to, lib->path);
	fputs(",\"debugName\":", to);
	firefox_text(to, base);
	fputs(",\"debugPath\":", to);
	firefox_text(to, lib->path);
	fputs(",\"breakpadId\":\"", to);
	firefox_breakpad(to, lib);
	fputs("\",\"codeId\":\"", to);
	for (unsigned k = 0; k < lib->n_build_id; k++)
		fprintf(to, "%02x", lib->build_id[k]);
	fputs("\"}", to);
}

/* ---- tables ---- */

/* Strings: functions' names, then libraries' names, then sources' files. */
static void firefox_string(FILE *to, const struct firefox *f, uint32_t i)
{
	const struct ktr__stack_set *set = &f->set;
	const char *slash, *path;

	if (i < set->n_functions) {
		firefox_text(to, set->function[i].name);
	} else if (i < set->n_functions + set->n_libs) {
		path = set->lib[i - set->n_functions]->path;
		slash = strrchr(path, '/');
		firefox_text(to, slash ? slash + 1 : path);
	} else {
		path = set->function[i - set->n_functions - set->n_libs].file;
		firefox_text(to, path ? path : "");
	}
}

static void firefox_index(FILE *to, const struct firefox *f, uint32_t i)
{
	(void)f;
	fprintf(to, "%" PRIu32, i);
}

static void firefox_lib_name(FILE *to, const struct firefox *f, uint32_t i)
{
	fprintf(to, "%" PRIu32, f->set.n_functions + i);
}

static void firefox_source_name(FILE *to, const struct firefox *f, uint32_t i)
{
	fprintf(to, "%" PRIu32, f->set.n_functions + f->set.n_libs + i);
}

static void firefox_library_type(FILE *to, const struct firefox *f, uint32_t i)
{
	(void)f, (void)i;
	fprintf(to, "%d", FIREFOX_LIBRARY);
}

static void firefox_resource(FILE *to, const struct firefox *f, uint32_t i)
{
	fprintf(to, "%" PRId64, (int64_t)f->set.function[i].lib - 1);
}

static void firefox_source(FILE *to, const struct firefox *f, uint32_t i)
{
	if (f->set.function[i].file)
		fprintf(to, "%" PRIu32, i);
	else
		fputs("null", to);
}

/* Rows of the table of frames are the set's lines. */
static void firefox_func(FILE *to, const struct firefox *f, uint32_t i)
{
	fprintf(to, "%" PRIu32, f->set.line[i].function);
}

static void firefox_line(FILE *to, const struct firefox *f, uint32_t i)
{
	if (f->set.line[i].line)
		fprintf(to, "%" PRIu32, f->set.line[i].line);
	else
		fputs("null", to);
}

static enum firefox_category firefox_category(const struct firefox *f, uint32_t line)
{
	const struct ktr__stack_function *function = &f->set.function[f->set.line[line].function];

	if (strcmp(function->name, ktr__sample_word(KTR__SAMPLE_KERNEL)) == 0)
		return FIREFOX_KERNEL;
	return function->lib ? FIREFOX_USER : FIREFOX_OTHER;
}

static void firefox_category_of(FILE *to, const struct firefox *f, uint32_t i)
{
	fprintf(to, "%d", firefox_category(f, i));
}

/* The same of all lines of a frame, which follow each other. */
static void firefox_by_frame(FILE *to, const struct firefox *f, const char *name, int is_depth)
{
	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < f->set.n_frames; i++) {
		const struct ktr__stack_frame *frame = &f->set.frame[i];
		int64_t address = frame->module ? (int64_t)(frame->address -
							    f->set.module[frame->module - 1].entry->base)
						: -1;

		for (uint32_t k = 0; k < frame->n_lines; k++)
			fprintf(to, "%s%" PRId64, frame->line + k ? "," : "",
				is_depth ? (int64_t)(frame->n_lines - 1 - k) : address);
	}
	fputs("],", to);
}

/* Rows of nodes: outer functions come before those that were inlined into them. */
static uint32_t firefox_stacks(FILE *to, const struct firefox *f, int is_prefix)
{
	uint32_t n = 0;

	fputs(is_prefix ? "\"prefix\":[" : "\"frame\":[", to);
	for (uint32_t node = 1; node < f->set.n_nodes; node++) {
		const struct ktr__stack_frame *frame = &f->set.frame[f->set.node[node].frame];
		uint32_t parent = f->set.node[node].parent;

		for (uint32_t k = frame->n_lines; k > 0; k--, n++) {
			fputs(n ? "," : "", to);
			if (!is_prefix)
				fprintf(to, "%" PRIu32, frame->line + k - 1);
			else if (k == frame->n_lines && !parent)
				fputs("null", to);
			else
				fprintf(to, "%" PRIu32, k == frame->n_lines ? f->stack[parent] : n - 1);
		}
		f->stack[node] = n - 1;
	}
	fputs("],", to);
	return n;
}

static void firefox_tables(FILE *to, const struct firefox *f)
{
	const struct ktr__stack_set *set = &f->set;
	uint32_t n_strings = 2 * set->n_functions + set->n_libs;

	fputs("\"shared\":{\n\"stackTable\":{", to);
	firefox_stacks(to, f, 0);
	fprintf(to, "\"length\":%" PRIu32 "},\n\"frameTable\":{", firefox_stacks(to, f, 1));
	firefox_by_frame(to, f, "address", 0);
	firefox_by_frame(to, f, "inlineDepth", 1);
	firefox_column(to, f, "category", set->n_lines, firefox_category_of);
	firefox_column(to, f, "subcategory", set->n_lines, firefox_zero);
	firefox_column(to, f, "func", set->n_lines, firefox_func);
	firefox_column(to, f, "nativeSymbol", set->n_lines, firefox_null);
	firefox_column(to, f, "innerWindowID", set->n_lines, firefox_null);
	firefox_column(to, f, "line", set->n_lines, firefox_line);
	firefox_column(to, f, "column", set->n_lines, firefox_null);
	fprintf(to, "\"length\":%" PRIu32 "},\n\"funcTable\":{", set->n_lines);
	firefox_column(to, f, "name", set->n_functions, firefox_index);
	firefox_column(to, f, "isJS", set->n_functions, firefox_false);
	firefox_column(to, f, "relevantForJS", set->n_functions, firefox_false);
	firefox_column(to, f, "resource", set->n_functions, firefox_resource);
	firefox_column(to, f, "source", set->n_functions, firefox_source);
	firefox_column(to, f, "lineNumber", set->n_functions, firefox_null);
	firefox_column(to, f, "columnNumber", set->n_functions, firefox_null);
	fprintf(to, "\"length\":%" PRIu32 "},\n\"resourceTable\":{", set->n_functions);
	firefox_column(to, f, "lib", set->n_libs, firefox_index);
	firefox_column(to, f, "name", set->n_libs, firefox_lib_name);
	firefox_column(to, f, "host", set->n_libs, firefox_null);
	firefox_column(to, f, "type", set->n_libs, firefox_library_type);
	fprintf(to, "\"length\":%" PRIu32 "},\n", set->n_libs);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
	      "\"sources\":{", to);
	firefox_column(to, f, "uuid", set->n_functions, firefox_null);
	firefox_column(to, f, "filename", set->n_functions, firefox_source_name);
	fprintf(to, "\"length\":%" PRIu32 "},\n", set->n_functions);
	fputs("\"stringArray\":[", to);
	for (uint32_t i = 0; i < n_strings; i++) {
		fputs(i ? "," : "", to);
		firefox_string(to, f, i);
	}
	fputs("]},\n", to);
}

/* ---- threads ---- */

/* [ns] as milliseconds, exactly. */
static void firefox_ms(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

static void firefox_samples(FILE *to, const struct firefox *f, const struct ktr__stack_thread *thread,
			    uint64_t first_ns)
{
	fputs("\"samples\":{\"stack\":[", to);
	for (uint32_t i = 0; i < thread->n; i++)
		if (thread->sample[i].node)
			fprintf(to, i ? ",%" PRIu32 : "%" PRIu32, f->stack[thread->sample[i].node]);
		else
			fputs(i ? ",null" : "null", to);
	fputs("],\"time\":[", to);
	for (uint32_t i = 0; i < thread->n; i++) {
		fputs(i ? "," : "", to);
		firefox_ms(to, thread->sample[i].time_ns - first_ns);
	}
	fputs("],\"weight\":[", to);
	for (uint32_t i = 0; i < thread->n; i++) {
		fputs(i ? "," : "", to);
		firefox_ms(to, thread->sample[i].ns);
	}
	fputs("],\"threadCPUDelta\":[", to);
	for (uint32_t i = 0; i < thread->n; i++)
		fprintf(to, i ? ",%" PRIu64 : "%" PRIu64,
			thread->sample[i].how >= KTR__SAMPLE_WAITING ? 0 : thread->sample[i].ns);
	fprintf(to, "],\"weightType\":\"tracing-ms\",\"length\":%" PRIu32 "},\n", thread->n);
}

static void firefox_thread(struct ktr__export *e, const struct firefox *f, const struct ktr__stack_thread *thread)
{
	const struct ktr_reader_thread *of = thread->thread;

	fputs("\n{\"name\":", e->to);
	firefox_text(e->to, of->name);
	fputs(",\"processName\":", e->to);
	firefox_text(e->to, of->process);
	fprintf(e->to, ",\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32 ",",
		of->tid == of->pid ? "true" : "false", of->pid, of->tid);
	fputs("\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,", e->to);
	fputs("\"registerTime\":", e->to);
	firefox_ms(e->to, of->start_ns > e->info->first_ns ? of->start_ns - e->info->first_ns : 0);
	fputs(",\"unregisterTime\":", e->to);
	if (of->exit_ns > e->info->first_ns)
		firefox_ms(e->to, of->exit_ns - e->info->first_ns);
	else
		fputs("null", e->to);
	fputs(",\"pausedRanges\":[],\n", e->to);
	firefox_samples(e->to, f, thread, e->info->first_ns);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],", e->to);
	fputs("\"category\":[],\"length\":0}}", e->to);
}

static void firefox_meta(struct ktr__export *e, const struct firefox *f)
{
	fputs("{\"meta\":{\"interval\":", e->to);
	firefox_ms(e->to, ktr__stack_set_period(&f->set));
	fputs(",\"startTime\":", e->to);
	firefox_ms(e->to, e->info->first_ns + (uint64_t)e->info->utc_offset_ns);
	fputs(",\"processType\":0,\"product\":", e->to);
	firefox_text(e->to, e->info->cmdline[0] != '\0' ? e->info->cmdline : "ktr");
	fprintf(e->to, ",\"stackwalk\":1,\"debug\":false,\"version\":24,\"preprocessedProfileVersion\":%d,",
		FIREFOX_VERSION);
	fputs("\"importedFrom\":\"ktr\",\"symbolicated\":true,\"markerSchema\":[],\n"
	      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
	      "\"categories\":[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]},\n",
	      e->to);
}

/* ---- the exporter ---- */

static int firefox_begin(struct ktr__export *e)
{
	return ktr__stack_set_begin(&((struct firefox *)e->data)->set, e->symbols, e->reader);
}

static int firefox_event(struct ktr__export *e, const struct ktr_event *event)
{
	return ktr__stack_set_event(&((struct firefox *)e->data)->set, event);
}

static int firefox_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	(void)loss;
	ktr__stack_set_loss(&((struct firefox *)e->data)->set);
	return 0;
}

static int firefox_end(struct ktr__export *e)
{
	struct firefox *f = e->data;

	if (ktr__stack_set_finish(&f->set))
		return -ENOMEM;
	f->stack = calloc(f->set.n_nodes, sizeof(*f->stack));
	if (f->stack == NULL)
		return -ENOMEM;
	firefox_meta(e, f);
	firefox_column(e->to, f, "libs", f->set.n_libs, firefox_lib);
	firefox_tables(e->to, f);
	fputs("\"threads\":[", e->to);
	for (uint32_t i = 0; i < f->set.n_threads; i++) {
		fputs(i ? "," : "", e->to);
		firefox_thread(e, f, &f->set.thread[i]);
	}
	fputs("]}\n", e->to);
	ktr__stack_set_note(&f->set, e->note, sizeof(e->note));
	return 0;
}

static void firefox_free(struct ktr__export *e)
{
	struct firefox *f = e->data;

	ktr__stack_set_free(&f->set);
	free(f->stack);
}

const struct ktr__export_format ktr__export_firefox = {
	.name = "firefox",
	.help = "samples, each thread's in the order of time: profiler.firefox.com",
	.n_data = sizeof(struct firefox),
	.begin = firefox_begin,
	.event = firefox_event,
	.loss = firefox_loss,
	.end = firefox_end,
	.free = firefox_free,
};
