/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of exporters, and what they share. */
#include "visualize/export/export.h"

#include "analyze/read/reader.h"
#include "analyze/symbols/symbols.h"
#include "visualize/export/exports.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct ktr__export_format *const ktr__export_formats[] = {
	&ktr__export_perfetto,   &ktr__export_chrome, &ktr__export_tracedat, &ktr__export_folded,
	&ktr__export_schedgraph, &ktr__export_csv,    &ktr__export_parquet,  &ktr__export_pprof,
	&ktr__export_speedscope, &ktr__export_firefox, &ktr__export_perf,    &ktr__export_gmon,
	&ktr__export_gmon_bsd,	 &ktr__export_otlp,    NULL,
};

const struct ktr__export_format *ktr__export_find(const char *name)
{
	for (unsigned i = 0; ktr__export_formats[i] != NULL; i++)
		if (strcmp(ktr__export_formats[i]->name, name) == 0)
			return ktr__export_formats[i];
	return NULL;
}

static int export_is_shared(const struct ktr__export_format *format)
{
	return format->sharing == KTR__EXPORT_IN_ORDER || format->sharing == KTR__EXPORT_LINES;
}

static int export_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__export *e = (struct ktr__export *)sink;
	int direct = e->format->sharing == KTR__EXPORT_ALONE;

	if (direct)
		errno = 0;
	if (e->format->slices != NULL)
		e->error = ktr__slices_event(&e->slices, event);
	if (e->error == 0 && e->format->event != NULL)
		e->error = e->format->event(e, event);
	/* What goes through a buffer is told when that is written. */
	if (direct && e->error == 0 && ferror(e->to))
		e->error = errno != 0 ? -errno : -EIO;
	return e->error;
}

static int export_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__export *e = (struct ktr__export *)sink;

	if (e->format->slices != NULL)
		e->error = ktr__slices_loss(&e->slices, loss);
	if (e->error == 0 && e->format->loss != NULL && loss->n_events > 0)
		e->error = e->format->loss(e, loss);
	return e->error;
}

/* 0 or -errno. */
static int export_put(FILE *to, const char *bytes, size_t n)
{
	errno = 0;
	if (n == 0 || fwrite(bytes, 1, n, to) == n)
		return 0;
	return errno != 0 ? -errno : -EIO;
}

/* Hands over what has been written. 0 or -errno. */
static int export_flush(struct ktr__export *e)
{
	int rc = export_put(e->to, e->own.buffer, e->own.n);

	e->own.n = 0;
	if (e->error == 0)
		e->error = rc;
	return e->error;
}

int ktr__export_line(struct ktr__export *e)
{
	if (e->out->room - e->out->n >= KTR__OUT_LINE)
		return 0;
	return e->out == &e->own ? export_flush(e) : ktr__out_flush(e->out);
}

static void export_free(struct ktr__export *e)
{
	free(e->own.buffer);
	if (e->format->free != NULL)
		e->format->free(e);
	if (e->format->slices != NULL)
		ktr__slices_free(&e->slices);
	free(e);
}

/* The file to be written: the one that is named, or the format's own in a folder. */
static const char *export_path(struct ktr__export *e, const char *path)
{
	struct stat is;

	if (e->format->file_name == NULL || stat(path, &is) != 0 || !S_ISDIR(is.st_mode))
		return path;
	if (snprintf(e->path, sizeof(e->path), "%s/%s", path, e->format->file_name) >= (int)sizeof(e->path))
		return path;
	return e->path;
}

int ktr__export_begin(struct ktr__export **out, const struct ktr__export_format *format,
		      struct ktr_reader *reader, const char *path, struct ktr_error *err)
{
	struct ktr__export *e = calloc(1, sizeof(*e) + format->n_data);
	int rc;

	*out = NULL;
	if (e == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	e->data = e->memory;
	e->sink = (struct ktr_sink){ export_event, export_loss, NULL };
	e->format = format;
	e->reader = reader;
	e->info = ktr_reader_info(reader);
	rc = ktr__newfile_begin(&e->file, export_path(e, path), err);
	if (rc != 0) {
		free(e);
		return rc;
	}
	e->to = e->file.to;
	e->symbols = ktr__reader_symbols(reader);
	e->out = &e->own;
	if (export_is_shared(format))
		rc = ktr__out_open(&e->own, -1);
	if (rc == 0 && format->slices != NULL)
		rc = ktr__slices_init(&e->slices, e->info, format->slices, e);
	if (rc == 0 && format->begin != NULL)
		rc = format->begin(e);
	if (rc != 0) {
		rc = ktr_error_set(err, -rc, "%s: %s", format->name, strerror(-rc));
		ktr__newfile_end(&e->file, rc, NULL);
		export_free(e);
		return rc;
	}
	*out = e;
	return 0;
}

int ktr__export_end(struct ktr__export *e, int rc, char *note, struct ktr_error *err)
{
	if (rc != 0 && e->format->stop != NULL)
		e->format->stop(e);
	if (rc == 0 && e->format->slices != NULL)
		rc = ktr__slices_end(&e->slices);
	if (rc == 0 && e->format->end != NULL)
		rc = e->format->end(e);
	if (rc == 0 && export_is_shared(e->format))
		rc = export_flush(e);
	if (rc < 0 && e->why.code != 0 && err != NULL && err->code == 0)
		*err = e->why;
	else if (rc < 0 && e->error != 0)
		ktr_error_at(err, e->file.path, 0, 0, -rc, "cannot be written: %s", strerror(-rc));
	else if (rc != 0)
		ktr_error_set(err, rc < 0 ? -rc : EINVAL, "%s: %s", e->format->name,
			      strerror(rc < 0 ? -rc : EINVAL));
	if (e->note[0] == '\0' && e->format->slices != NULL &&
	    e->slices.timeline.rows.n_crowded > 0)
		snprintf(e->note, sizeof(e->note),
			 "%llu events had no room in a row and were left out",
			 (unsigned long long)e->slices.timeline.rows.n_crowded);
	memcpy(note, e->note, sizeof(e->note));
	rc = ktr__newfile_end(&e->file, rc, err);
	export_free(e);
	return rc;
}

/* ---- by several threads ---- */

static void export_leave(struct ktr_sink *sink)
{
	struct ktr__export *e = (struct ktr__export *)sink;

	ktr__symbols_free(e->symbols);
	export_free(e);
}

static struct ktr_sink *export_hire(void *of, struct ktr__out *out)
{
	const struct ktr__export *like = of;
	struct ktr__export *e = calloc(1, sizeof(*e) + like->format->n_data);

	if (e == NULL)
		return NULL;
	e->data = e->memory;
	e->sink = like->sink;
	e->format = like->format;
	e->reader = like->reader;
	e->info = like->info;
	e->out = out;
	if (like->symbols != NULL)
		e->symbols = ktr__symbols_like(like->symbols);
	if (e->symbols != NULL || like->symbols == NULL)
		return &e->sink;
	export_leave(&e->sink);
	return NULL;
}

static int export_write(void *of, const char *bytes, size_t n)
{
	struct ktr__export *e = of;
	int rc = export_put(e->to, e->own.buffer, e->own.n);

	e->own.n = 0;
	return rc != 0 ? rc : export_put(e->to, bytes, n);
}

/* The export itself, for as long. */
static struct ktr_sink *export_hire_own(void *of, struct ktr__out *out)
{
	struct ktr__export *e = of;

	e->out = out;
	return &e->sink;
}

static void export_leave_own(struct ktr_sink *sink)
{
	struct ktr__export *e = (struct ktr__export *)sink;

	e->out = &e->own;
}

const struct ktr__crew_trade *ktr__export_trade(const struct ktr__export_format *format)
{
	static const struct ktr__crew_trade lines = {
		.hire = export_hire,
		.leave = export_leave,
		.write = export_write,
	};
	static const struct ktr__crew_trade in_order = {
		.hire = export_hire_own,
		.leave = export_leave_own,
		.write = export_write,
		.in_order = 1,
	};

	switch (format->sharing) {
	case KTR__EXPORT_LINES:
		return &lines;
	case KTR__EXPORT_IN_ORDER:
		return &in_order;
	default:
		return NULL;
	}
}

void ktr__export_json(FILE *to, const char *bytes, size_t n)
{
	char some[4 * 1024 + 4];

	putc('"', to);
	while (n > 0) {
		size_t part = n < 1024 ? n : 1024, length;

		/* A character that would be cut goes into the next part. */
		while (part < n && part > 1 && ((uint8_t)bytes[part] & 0xc0) == 0x80 && part > 1020)
			part--;
		length = ktr__label_clean(some, sizeof(some), bytes, part);
		for (size_t i = 0; i < length; i++) {
			if (some[i] == '"' || some[i] == '\\')
				putc('\\', to);
			putc(some[i], to);
		}
		bytes += part;
		n -= part;
	}
	putc('"', to);
}
