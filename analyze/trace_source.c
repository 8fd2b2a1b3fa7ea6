/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace directory as a source: one cursor per stream file.
 *
 * Files are opened, and their lengths fixed, before the sidecars are read: a call site is described
 * before its first packet is written, so that all sites of what will be read are known.
 */
#include "analyze/sidecar.h"
#include "analyze/trace_cursor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void trace_source_close(struct ktr__cursor *cursor)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);

	ktr__packets_close(&t->file);
	if (t->back)
		free(t->back->mark);
	free(t->back);
	free(t);
}

/* Is this the name of a stream? Its number goes into *number. */
static int trace_source_is_stream(const char *name, uint32_t *number, int *keep)
{
	const char *digits;
	unsigned long n;
	char *end;

	if (strncmp(name, KTR_STREAM_CPU, strlen(KTR_STREAM_CPU)) == 0)
		digits = name + strlen(KTR_STREAM_CPU);
	else if (strncmp(name, KTR_STREAM_RING, strlen(KTR_STREAM_RING)) == 0)
		digits = name + strlen(KTR_STREAM_RING);
	else
		return 0;
	if (*digits < '0' || *digits > '9' || strlen(digits) > 16)
		return 0;
	n = strtoul(digits, &end, 10);
	*keep = strcmp(end, KTR_STREAM_KEEP) == 0;
	*number = (uint32_t)n;
	return n < UINT32_MAX && (*keep || !*end);
}

/*
 * What the stream's ends tell: the span, what was lost, which processors there are. On the thread
 * path a packet may be of any processor: there all headers are looked at. 0 or -errno.
 */
static int trace_source_survey(struct ktr__trace_cursor *t)
{
	struct ktr__source *source = t->c.source;
	struct ktr_packet_header *head = &t->head;
	int64_t at = 0, n = ktr__packets_load(&t->file, 0, &t->bytes, head);
	uint64_t first_ns;

	if (n == 0 || n == -EBADMSG || n == -ENOTSUP) {
		at = ktr__packets_find(&t->file, 0);
		if (at < 0 || (uint64_t)at >= t->file.n_bytes)
			return at < 0 ? (int)at : 0;
		n = ktr__packets_load(&t->file, (uint64_t)at, &t->bytes, head);
	}
	if (n <= 0)
		return (int)n;
	first_ns = head->time_begin;
	while ((head->flags & KTR_PACKET_THREAD) && n > 0) {
		if (head->cpu < KTR_CPU_MAX)
			ktr__source_cpu(source, head->cpu);
		at += n;
		n = ktr__packets_load(&t->file, (uint64_t)at, &t->bytes, head);
	}
	at = ktr__packets_before(&t->file, t->file.n_bytes);
	n = at < 0 ? at : ktr__packets_load(&t->file, (uint64_t)at, &t->bytes, head);
	if (n <= 0)
		return n == -ENOENT ? 0 : (int)n;
	if (head->cpu < KTR_CPU_MAX)
		ktr__source_cpu(source, head->cpu);
	if (first_ns <= head->time_end)
		ktr__source_span(source, first_ns, head->time_end);
	source->info.n_lost += head->discarded;
	return 0;
}

/* Adds the cursor of one stream file. 0 or -errno. */
static int trace_source_add(struct ktr__source *source, int dir_fd, const char *name, int keep)
{
	struct ktr__trace_cursor *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	t->c.source = source;
	t->c.close = trace_source_close;
	t->keep = keep;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)sizeof(t->name) - 1, name);
	rc = ktr__packets_open(&t->file, dir_fd, name);
	if (!rc)
		rc = trace_source_survey(t);
	ktr__packets_trim(&t->file);
	if (!rc && source->reverse)
		rc = ktr__trace_reverse(t);
	else if (!rc)
		ktr__trace_forward(t);
	if (!rc)
		return ktr__source_add(source, &t->c);
	trace_source_close(&t->c);
	return rc;
}

/* By number, the main ring before the keep ring. */
static int trace_source_compare(const struct dirent **a, const struct dirent **b)
{
	uint32_t m = 0, n = 0;
	int keep;

	trace_source_is_stream((*a)->d_name, &m, &keep);
	trace_source_is_stream((*b)->d_name, &n, &keep);
	return m != n ? (m > n) - (m < n) : strcmp((*a)->d_name, (*b)->d_name);
}

static int trace_source_select(const struct dirent *entry)
{
	uint32_t number;
	int keep;

	return trace_source_is_stream(entry->d_name, &number, &keep);
}

static int trace_source_streams(struct ktr__source *source, int dir_fd, struct ktr_error *err)
{
	struct dirent **names = NULL;
	int n = scandirat(dir_fd, ".", &names, trace_source_select, trace_source_compare), rc = 0;

	if (n < 0)
		return ktr_error_at(err, source->info.path, 0, 0, errno, "%s", strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		uint32_t number;
		int keep;

		if (!rc && trace_source_is_stream(name, &number, &keep)) {
			rc = trace_source_add(source, dir_fd, name, keep);
			if (rc)
				ktr_error_at(err, source->info.path, 0, 0, -rc, "%s: %s", name,
					     strerror(-rc));
		}
		free(names[i]);
	}
	free(names);
	return rc;
}

int ktr__trace_source(struct ktr__source *source, const char *path, struct ktr_error *err)
{
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (dir_fd < 0)
		return ktr_error_at(err, path, 0, 0, errno, "%s", strerror(errno));
	source->info.kind = KTR_SOURCE_TRACE;
	source->info.path = path;
	rc = ktr__sidecar_info(source, dir_fd, err);
	if (!rc)
		rc = trace_source_streams(source, dir_fd, err);
	if (!rc)
		rc = ktr__sidecar_tables(source, dir_fd, err);
	close(dir_fd);
	return rc;
}
