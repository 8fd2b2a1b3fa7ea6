/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files in the order of their time, and of each the lines in which samples were, with some around them. A file is
 * read from where debug information says that it was compiled from; what it holds may be anybody's, and is shown
 * clean. One that was written after the trace began is said to be so: lines may have moved.
 */
#include "tools/report/report_source.h"

#include "analyze/print/sink_json.h"
#include "analyze/stats/samples.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_CELLS  28	  /* columns of a line's time, share and stacks */
#define SOURCE_AROUND 2u	  /* lines before and after one with samples */
#define SOURCE_LINE   4096	  /* [bytes] of a line; longer ones are cut */
#define SOURCE_BYTES  (64u << 20) /* a longer file is none */

/* A line with samples, of whichever functions: one may have been inlined in several. */
struct source_line {
	const char *file;
	unsigned line;
	uint64_t self_ns, n;
};

struct source_file {
	struct source_line *line; /* in `line` of struct source, in their order */
	unsigned n;
	uint64_t self_ns;
};

struct source {
	struct source_line *line; /* owned */
	struct source_file *file; /* owned; the most time first */
	unsigned n_lines, n_files;
};

/* ---- lines by file ---- */

static int source_line_order(const void *a, const void *b)
{
	const struct source_line *one = a, *other = b;
	int order = strcmp(one->file, other->file);

	return order ? order : one->line < other->line ? -1 : one->line > other->line;
}

static int source_file_order(const void *a, const void *b)
{
	const struct source_file *one = a, *other = b;

	if (one->self_ns != other->self_ns)
		return one->self_ns > other->self_ns ? -1 : 1;
	return strcmp(one->line->file, other->line->file);
}

static void source_group(struct source *source)
{
	unsigned n = 0;

	for (unsigned i = 0; i < source->n_lines; i++) {
		struct source_line *line = &source->line[i], *last = n ? &source->line[n - 1] : NULL;

		if (last && last->line == line->line && strcmp(last->file, line->file) == 0) {
			last->self_ns += line->self_ns;
			last->n += line->n;
		} else {
			source->line[n++] = *line;
		}
	}
	source->n_lines = n;
	for (unsigned i = 0; i < n; i++) {
		struct source_file *file = source->n_files ? &source->file[source->n_files - 1] : NULL;

		if (!file || strcmp(file->line->file, source->line[i].file) != 0) {
			file = &source->file[source->n_files++];
			*file = (struct source_file){ .line = &source->line[i] };
		}
		file->n++;
		file->self_ns += source->line[i].self_ns;
	}
	qsort(source->file, source->n_files, sizeof(*source->file), source_file_order);
}

static void source_free(struct source *source)
{
	free(source->line);
	free(source->file);
}

/* 0 or -ENOMEM; free() is due in any case. */
static int source_make(const struct report *report, struct source *source)
{
	const struct ktr__sampled_rows *rows = &report->samples->line;

	*source = (struct source){ .line = calloc(rows->n + 1, sizeof(*source->line)),
				   .file = calloc(rows->n + 1, sizeof(*source->file)) };
	if (!source->line || !source->file)
		return -ENOMEM;
	for (unsigned i = 0; i < rows->n; i++)
		if (rows->row[i]->file)
			source->line[source->n_lines++] =
				(struct source_line){ rows->row[i]->file, rows->row[i]->line,
						      rows->row[i]->self_ns, rows->row[i]->n };
	qsort(source->line, source->n_lines, sizeof(*source->line), source_line_order);
	source_group(source);
	return 0;
}

/* ---- the text ---- */

/* It may have any name that debug information gives it: no device is read, nothing that waits. NULL: none. */
static FILE *source_open(const struct report *report, const char *path, int *is_newer)
{
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	struct stat st;
	FILE *from = NULL;

	*is_newer = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SOURCE_BYTES)
		from = fdopen(fd, "r");
	if (!from) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*is_newer = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec >
		    report->info->first_ns + (uint64_t)report->info->utc_offset_ns;
	return from;
}

/* The next line without its end, tabs as blanks. 0 at the end of the file. */
static int source_next(FILE *from, char *text)
{
	unsigned n = 0;
	int c = getc(from);

	if (c == EOF)
		return 0;
	for (; c != EOF && c != '\n'; c = getc(from))
		for (unsigned to = c == '\t' ? n / 8 * 8 + 8 : n + 1; n < to && n < SOURCE_LINE - 1;)
			text[n++] = (char)(c == '\t' ? ' ' : c ? c : '?');
	text[n] = '\0';
	return 1;
}

static void source_cells(const struct report *report, FILE *to, const struct source_line *line)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < KTR__SAMPLE_HOWS; i++)
		all += report->samples->ns[i];
	if (!line) {
		fprintf(to, "%*s", SOURCE_CELLS, "");
		return;
	}
	report_text_duration(to, (double)line->self_ns);
	fprintf(to, " %5.1f %%", all ? 100 * (double)line->self_ns / (double)all : 0);
	report_text_count(to, line->n, 9);
}

static void source_lines(const struct report *report, FILE *to, FILE *from, const struct source_file *file)
{
	char text[SOURCE_LINE], clean[4 * SOURCE_LINE];
	unsigned i = 0, shown = 0;

	for (unsigned number = 1; i < file->n && source_next(from, text); number++) {
		const struct source_line *line = file->line[i].line == number ? &file->line[i] : NULL;
		int is_near = number + SOURCE_AROUND >= file->line[i].line ||
			      (i > 0 && number <= file->line[i - 1].line + SOURCE_AROUND);

		i += line != NULL;
		if (!is_near)
			continue;
		if (shown && shown + 1 != number)
			fprintf(to, "%*s    ...\n", SOURCE_CELLS, "");
		shown = number;
		source_cells(report, to, line);
		ktr__label_clean(clean, sizeof(clean), text, strlen(text));
		fprintf(to, " %6u | %s\n", number, clean);
	}
	if (i < file->n)
		fprintf(to, "%*s   the file ends before lines that had samples\n", SOURCE_CELLS, "");
}

static void source_file(const struct report *report, FILE *to, const struct source_file *file)
{
	char name[1024];
	int is_newer;
	FILE *from = source_open(report, file->line->file, &is_newer);

	ktr__label_clean(name, sizeof(name), file->line->file, strlen(file->line->file));
	fprintf(to, "\n      self   share    stacks    line   %s, %s%s\n", name, ktr__label_duration(file->self_ns).text,
		!from	   ? ": the file is not there"
		: is_newer ? ": written since, lines may have moved"
			   : "");
	if (!from) {
		for (unsigned i = 0; i < file->n; i++) {
			source_cells(report, to, &file->line[i]);
			fprintf(to, " %6u\n", file->line[i].line);
		}
		return;
	}
	source_lines(report, to, from, file);
	fclose(from);
}

int report_source_text(const struct report *report, FILE *to)
{
	struct source source;
	int rc = source_make(report, &source);

	for (unsigned i = 0; rc == 0 && i < source.n_files && (!report->top || i < report->top); i++)
		source_file(report, to, &source.file[i]);
	if (rc == 0 && report->top && source.n_files > report->top)
		fprintf(to, "\nand %u more files\n", source.n_files - report->top);
	if (rc == 0 && !source.n_files)
		fputs("\nno line of a source is known: is there debug information (-g)?\n", to);
	source_free(&source);
	return rc;
}

/* ---- JSON ---- */

static json_t *source_json_lines(const struct report *report, const struct source_file *file)
{
	char text[SOURCE_LINE] = "";
	json_t *lines = json_array();
	unsigned number = 0;
	int is_newer;
	FILE *from = source_open(report, file->line->file, &is_newer);

	for (unsigned i = 0; lines && i < file->n; i++) {
		const struct source_line *line = &file->line[i];

		while (from && number < line->line && source_next(from, text))
			number++;
		json_array_append_new(lines, json_pack("{s:I, s:o, s:o, s:o}", "line", (json_int_t)line->line,
						       "self_ns", ktr__jansson_u64(line->self_ns), "stacks",
						       ktr__jansson_u64(line->n), "text",
						       from && number == line->line ? report_json_text(text)
										    : json_null()));
	}
	if (from)
		fclose(from);
	return lines;
}

json_t *report_source_json(const struct report *report)
{
	json_t *files = json_array();
	struct source source;
	int rc = source_make(report, &source);

	for (unsigned i = 0; rc == 0 && files && i < source.n_files; i++)
		json_array_append_new(files, json_pack("{s:o, s:o, s:o}", "file",
						       report_json_text(source.file[i].line->file), "self_ns",
						       ktr__jansson_u64(source.file[i].self_ns), "lines",
						       source_json_lines(report, &source.file[i])));
	source_free(&source);
	return rc == 0 ? files : NULL;
}
