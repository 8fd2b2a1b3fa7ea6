/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines that a trace has of itself are in the store as they were. Written to their files again they are a
 * trace without events, which the reader opens as any other: it trusts it as little.
 */
#include "tools/fleet/fetch_skeleton.h"

#include "analyze/read/lines.h"
#include "analyze/read/reader.h"
#include "tools/fleet/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fetch_lines {
	FILE *file[KTR_SIDECARS];
	size_t n_bytes;
};

static int fetch_skeleton_line(void *context, struct rows_at *row)
{
	struct fetch_lines *lines = context;
	size_t n_file, n;
	const char *file = rows_text(row, 64, &n_file), *line = rows_text(row, FETCH_LINE_MAX, &n);

	if (row->bad)
		return 0;
	lines->n_bytes += n;
	if (!n || line[n - 1] != '\n' || memchr(line, '\n', n - 1) || lines->n_bytes > FETCH_SIDECAR_MAX)
		return -EPROTO;
	for (unsigned i = 0; i < KTR_SIDECARS; i++) {
		const char *known = ktr__lines_file((enum ktr_sidecar)i);

		if (strlen(known) == n_file && memcmp(known, file, n_file) == 0 && lines->file[i])
			return fwrite(line, 1, n, lines->file[i]) == n ? 0 : -EIO;
	}
	return -EPROTO;
}

static void fetch_skeleton_query(const struct fetch *fetch, struct native_buffer *query)
{
	native_buffer_text(query, "SELECT toString(file), line FROM ");
	native_buffer_text(query, fetch->store->options.database);
	native_buffer_text(query, ".files FINAL WHERE host = ");
	store_quote(query, fetch->host, strlen(fetch->host));
	native_buffer_text(query, " AND trace = toUUID('");
	native_buffer_text(query, fetch->trace);
	native_buffer_text(query, "') ORDER BY file, id FORMAT RowBinary");
	native_buffer_add(query, "", 1);
}

static int fetch_skeleton_files(struct fetch *fetch, struct fetch_lines *lines, struct ktr_error *err)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s/" KTR_TRACE_DIR, fetch->skeleton);
	if (mkdir(name, 0700))
		return ktr_error_at(err, name, 0, 0, errno, "%s", strerror(errno));
	for (unsigned i = 0; i < KTR_SIDECARS; i++) {
		snprintf(name, sizeof(name), "%s/%s", fetch->skeleton, ktr__lines_file((enum ktr_sidecar)i));
		lines->file[i] = fopen(name, "wxe");
		if (!lines->file[i])
			return ktr_error_at(err, name, 0, 0, errno, "%s", strerror(errno));
	}
	return 0;
}

static int fetch_skeleton_fill(struct fetch *fetch, struct fetch_lines *lines, struct ktr_error *err)
{
	struct rows rows = { .take = fetch_skeleton_line, .context = lines };
	struct native_buffer query = { 0 };
	struct store_answer answer = { .outcome = STORE_DONE };
	int rc = 0, bad;

	fetch_skeleton_query(fetch, &query);
	if (query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	else if (store_ask(fetch->store, (char *)query.at, rows_sink, &rows, &answer) != STORE_DONE)
		rc = store_explain(fetch->store, &answer, err);
	bad = rows_end(&rows);
	if (!rc && bad)
		rc = ktr_error_set(err, -bad, "%s: what it has of the trace %s makes no sense", fetch->store->shown,
				   fetch->trace);
	if (!rc && !rows.n_rows)
		rc = ktr_error_set(err, ENOENT, "%s has nothing that describes the trace %s", fetch->store->shown,
				   fetch->trace);
	native_buffer_free(&query);
	store_answer_free(&answer);
	return rc;
}

int fetch_skeleton(struct fetch *fetch, struct ktr_error *err)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .alone = 1 };
	struct fetch_lines lines = { .n_bytes = 0 };
	const char *folder = getenv("TMPDIR");
	int rc;

	if (asprintf(&fetch->skeleton, "%s/ktr-fetch.XXXXXX", folder && *folder ? folder : "/tmp") < 0) {
		fetch->skeleton = NULL;
		return ktr_error_set(err, ENOMEM, "no memory");
	}
	if (!mkdtemp(fetch->skeleton)) {
		rc = ktr_error_at(err, fetch->skeleton, 0, 0, errno, "%s", strerror(errno));
		free(fetch->skeleton);
		fetch->skeleton = NULL;
		return rc;
	}
	rc = fetch_skeleton_files(fetch, &lines, err);
	if (!rc)
		rc = fetch_skeleton_fill(fetch, &lines, err);
	for (unsigned i = 0; i < KTR_SIDECARS; i++)
		if (lines.file[i] && fclose(lines.file[i]) && !rc)
			rc = ktr_error_at(err, fetch->skeleton, 0, 0, errno, "%s", strerror(errno));
	if (!rc)
		rc = ktr_reader_open(fetch->skeleton, &options, &fetch->reader, err);
	if (!rc && !ktr__reader_head(fetch->reader))
		rc = ktr_error_set(err, EPROTO, "%s: what it has of the trace %s makes no sense",
				   fetch->store->shown, fetch->trace);
	return rc;
}

void fetch_skeleton_remove(struct fetch *fetch)
{
	char name[4096];

	ktr_reader_close(fetch->reader);
	fetch->reader = NULL;
	if (!fetch->skeleton)
		return;
	for (unsigned i = 0; i < KTR_SIDECARS; i++) {
		snprintf(name, sizeof(name), "%s/%s", fetch->skeleton, ktr__lines_file((enum ktr_sidecar)i));
		unlink(name);
	}
	snprintf(name, sizeof(name), "%s/" KTR_TRACE_DIR, fetch->skeleton);
	rmdir(name);
	rmdir(fetch->skeleton);
	free(fetch->skeleton);
	fetch->skeleton = NULL;
}
