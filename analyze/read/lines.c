/* SPDX-License-Identifier: BSD-2-Clause */
/* Sidecar lines; see lines.h. One buffer holds one line, whatever the file's length. */
#include "analyze/read/lines.h"

#include "writer/format/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_MAX   ((size_t)1 << 20) /* [bytes] a command line may be long */
#define LINES_NOTES 4                 /* notes about the lines of one file; more is not told */

static const char *const lines_files[KTR_SIDECARS] = {
#define LINES_NAME(name, file) [KTR_SIDECAR_##name] = KTR_TRACE_DIR "/" file,
	KTR_SIDECAR_LIST(LINES_NAME)
#undef LINES_NAME
};

const char *ktr__lines_file(enum ktr_sidecar which)
{
	return lines_files[which];
}

int ktr__lines_open(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int ktr__lines_load(int dir_fd, const char *name, off_t max, char **bytes, size_t *n)
{
	int fd = ktr__lines_open(dir_fd, name), rc = 0;
	ssize_t got = 1;
	struct stat st;

	*bytes = NULL;
	*n = 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		rc = -errno;
	else if (st.st_size > max)
		rc = -EFBIG;
	else
		*bytes = malloc((size_t)st.st_size + 1);
	if (!rc && !*bytes)
		rc = -ENOMEM;
	while (!rc && got && *n < (size_t)st.st_size) {
		got = read(fd, *bytes + *n, (size_t)st.st_size - *n);
		if (got > 0)
			*n += (size_t)got;
		else if (got < 0 && errno != EINTR)
			rc = -errno;
	}
	close(fd);
	if (!rc) {
		(*bytes)[*n] = 0;
		return 0;
	}
	free(*bytes);
	*bytes = NULL;
	*n = 0;
	return rc;
}

/* Notes that something of the line being read is left out. */
static void lines_left_out(struct ktr__lines *lines, const char *why)
{
	lines->n_bad++;
	if (++lines->n_notes <= LINES_NOTES)
		ktr__source_note(lines->source, 1, "%s/%s:%u: %s; the line is left out%s",
				 lines->path, lines->file, lines->line, why,
				 lines->n_notes == LINES_NOTES ? ", and further ones are not listed"
							       : "");
}

static int lines_take(struct ktr__lines *lines, const char *line, size_t n, ktr__line_fn *fn,
		      void *context)
{
	int rc = fn(context, line, n);

	if (rc == -EINVAL)
		lines_left_out(lines, "makes no sense");
	return rc == -EINVAL ? 0 : rc;
}

size_t ktr__lines_part(const char *bytes, size_t n_bytes)
{
	static const char tail[] = ",\"crc\":\"";
	const char *end = bytes + n_bytes, *at = bytes;

	while ((at = memmem(at, (size_t)(end - at), tail, sizeof(tail) - 1))) {
		size_t length = (size_t)(at - bytes) + KTR_LINE_TAIL;

		if (length > n_bytes)
			break;
		if (!ktr__line_check(bytes, length))
			return length;
		at++;
	}
	return 0;
}

/*
 * What is wrong with these bytes may be no more than a newline: every part of them that ends in its
 * right checksum is a line.
 */
static int lines_split(struct ktr__lines *lines, const char *bytes, size_t n, ktr__line_fn *fn,
		       void *context)
{
	size_t from = 0, length;
	int rc = 0;

	while (!rc && (length = ktr__lines_part(bytes + from, n - from))) {
		rc = lines_take(lines, bytes + from, length, fn, context);
		from += length;
		from += from < n; /* what was the newline */
	}
	if (!rc && (from < n || !n))
		lines_left_out(lines, "damaged");
	else if (!rc)
		ktr__source_note(lines->source, 1, "%s/%s:%u: the end of a line is damaged",
				 lines->path, lines->file, lines->line);
	return rc;
}

/*
 * Reads a line into buffer: its length without newline; LINES_END after the last, LINES_LONG, or
 * LINES_TORN when *n bytes without newline follow the last.
 */
#define LINES_END  (-1)
#define LINES_TORN (-2)
#define LINES_LONG (-3)

static ssize_t lines_get(FILE *file, char **buffer, size_t *room, size_t *torn)
{
	size_t n = 0;

	for (int c; (c = getc_unlocked(file)) != EOF; n++) {
		if (n == *room) {
			char *grown = n < LINES_MAX ? realloc(*buffer, n * 2 + 4096) : NULL;

			if (!grown)
				return LINES_LONG;
			*buffer = grown;
			*room = n * 2 + 4096;
		}
		if (c == '\n')
			return (ssize_t)n;
		(*buffer)[n] = (char)c;
	}
	*torn = n;
	return n ? LINES_TORN : LINES_END;
}

/*
 * The last line has no newline: it is being written, or was never finished; or it is whole all the
 * same, with another byte in the newline's place.
 */
static int lines_torn(struct ktr__lines *lines, const char *bytes, size_t n, ktr__line_fn *fn,
		      void *context)
{
	int is_whole = n > 1 && !ktr__line_check(bytes, n - 1);

	if (is_whole || (lines->finished && !ktr__line_check(bytes, n)))
		return lines_split(lines, bytes, n, fn, context);
	if (lines->finished)
		lines_left_out(lines, "torn");
	return 0;
}

static int lines_all(struct ktr__lines *lines, FILE *file, enum ktr_sidecar which, ktr__line_fn *fn,
		     void *context)
{
	uint64_t offset = lines->at ? lines->at->offset[which] : 0;
	size_t room = 0, torn = 0;
	char *buffer = NULL;
	ssize_t n = 0;
	int rc = 0;

	lines->line = 1 + (lines->at ? lines->at->line[which] : 0);
	if (offset && fseeko(file, (off_t)offset, SEEK_SET))
		return -errno;
	for (; !rc && (n = lines_get(file, &buffer, &room, &torn)) >= 0; lines->line++) {
		offset += (uint64_t)n + 1;
		rc = ktr__line_check(buffer, (size_t)n)
			     ? lines_split(lines, buffer, (size_t)n, fn, context)
			     : lines_take(lines, buffer, (size_t)n, fn, context);
	}
	if (!rc && n == LINES_TORN)
		rc = lines_torn(lines, buffer, torn, fn, context);
	if (!rc && n == LINES_LONG)
		rc = ktr_error_at(lines->err, lines->path, 0, 0, EPROTO,
				  "%s:%u: the line is too long", lines->file, lines->line);
	if (lines->at) {
		lines->at->offset[which] = offset;
		lines->at->line[which] = lines->line - 1;
	}
	free(buffer);
	return rc;
}

int ktr__lines_removed(int dir_fd)
{
	return faccessat(dir_fd, lines_files[KTR_SIDECAR_INFO], F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

int ktr__lines_read(struct ktr__lines *lines, enum ktr_sidecar which, ktr__line_fn *fn,
		    void *context)
{
	int fd, rc;
	FILE *file;

	lines->file = lines_files[which];
	lines->n_notes = 0;
	fd = ktr__lines_open(lines->dir_fd, lines->file);
	if (fd == -ENOENT) {
		if (!lines->is_whole || !ktr__lines_removed(lines->dir_fd))
			ktr__source_note(lines->source, 1, "%s/%s is missing", lines->path, lines->file);
		lines->n_bad++;
		return 0;
	}
	file = fd < 0 ? NULL : fdopen(fd, "r");
	rc = fd < 0 ? fd : file ? 0 : -ENOMEM;
	if (file) {
		rc = lines_all(lines, file, which, fn, context);
		fclose(file);
	} else if (fd >= 0) {
		close(fd);
	}
	if (rc)
		ktr_error_at(lines->err, lines->path, 0, 0, -rc, "%s: %s", lines->file,
			     strerror(-rc));
	return rc;
}
