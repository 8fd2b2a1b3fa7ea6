/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through a trace: sidecars first, which describe it; then the metadata, which is made anew out
 * of them where more than its end is damaged; then the streams, whose packets are held against both;
 * last what does not belong there. While it works the trace is locked as a writer locks it.
 */
#include "analyze/rewrite/fsck.h"

#include "analyze/read/sidecar.h"
#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_set.h"
#include "analyze/rewrite/fsck_file.h"
#include "analyze/rewrite/fsck_stream.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/rewrite/tsdl.h"
#include "writer/format/metadata.h"
#include "writer/format/packet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void ktr__fsck_found(struct ktr__fsck *fsck, const char *name, const char *format, ...)
{
	char text[256], line[1024];
	va_list args;

	fsck->n_found++;
	if (!fsck->say)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%s/%s: %s", fsck->path, name, text);
	fsck->say(fsck->context, line);
}

/* ---- sidecars ---- */

/* The lines that the bytes of one line hold: more than one where a newline between them is damaged. */
static void fsck_put_lines(struct ktr__mend *mend, const char *bytes, size_t n)
{
	size_t length;

	for (size_t from = 0; from < n && (length = ktr__lines_part(bytes + from, n - from));
	     from += length + 1) {
		ktr__mend_put(mend, bytes + from, length);
		ktr__mend_put(mend, "\n", 1);
	}
}

/*
 * One pass over the lines: says what is wrong, or with mend writes what is not. Returns the end of
 * the good lines if what follows is torn and nothing else is wrong, else SIZE_MAX.
 */
static size_t fsck_lines(struct ktr__fsck *fsck, const char *name, const char *bytes, size_t n,
			 struct ktr__mend *mend)
{
	size_t good = 0;

	for (size_t at = 0, end, line = 1; at < n; at = end + 1, line++) {
		const char *newline = memchr(bytes + at, '\n', n - at);
		int is_good;

		end = newline ? (size_t)(newline - bytes) : n;
		is_good = !ktr__line_check(bytes + at, end - at);
		if (mend)
			fsck_put_lines(mend, bytes + at, end - at);
		if (is_good && newline) {
			good = good == at ? end + 1 : SIZE_MAX;
			continue;
		}
		if (!mend)
			ktr__fsck_found(fsck, name, "line %zu, byte %zu: %s", line, at,
					is_good   ? "has no end"
					: newline ? "is damaged"
						  : "is torn");
		if (ktr__lines_part(bytes + at, end - at))
			good = SIZE_MAX; /* there is a line in it */
	}
	return good;
}

static int fsck_sidecar(struct ktr__fsck *fsck, enum ktr_sidecar which)
{
	const char *name = ktr__lines_file(which), *base = strchr(name, '/') + 1;
	unsigned n_found = fsck->n_found;
	struct ktr__mend mend;
	size_t n, good;
	char *bytes;
	int rc = ktr__lines_load(fsck->dir_fd, name, INT64_MAX, &bytes, &n);

	if (rc == -ENOENT) {
		ktr__fsck_found(fsck, name, "is missing");
		ktr__mend_begin(&mend, fsck, 0);
		fsck->n_mended += !fsck->only_look;
		return ktr__mend_commit(&mend, fsck->side_fd, base);
	}
	if (rc)
		return rc;
	good = fsck_lines(fsck, name, bytes, n, NULL);
	if (fsck->n_found > n_found && !fsck->only_look) {
		if (good != SIZE_MAX) {
			rc = ktr__mend_cut(fsck, fsck->side_fd, base, good);
		} else {
			ktr__mend_begin(&mend, fsck, ktr__mend_keep_all(fsck, fsck->side_fd, base));
			fsck_lines(fsck, name, bytes, n, &mend);
			rc = ktr__mend_commit(&mend, fsck->side_fd, base);
		}
		if (!rc)
			fsck->n_mended += fsck->n_found - n_found;
	}
	free(bytes);
	return rc;
}

/* ---- metadata ---- */

/* The metadata anew, out of what the sidecars, and what is whole of it, tell. 0 or -errno. */
static int fsck_emit(struct ktr__emit *emit, const struct ktr__event_source *source,
		     const struct ktr__trace_head *head)
{
	const struct ktr__tables *tables = &source->tables;
	const struct ktr__thread *first = tables->n_threads > 1 ? tables->thread[1] : NULL;

	ktr__rewrite_metadata(emit, head, first ? first->thread.process : "", first ? first->thread.pid : 0);
	for (uint32_t id = 1; id < tables->n_sites; id++)
		if (tables->site[id])
			ktr__rewrite_event(emit, tables->site[id]);
	ktr__metadata_end(emit, 0, 0);
	return emit->failed ? -ENOMEM : 0;
}

/* Keeps the metadata as it is, and writes another. 0 or -errno. */
static int fsck_metadata_anew(struct ktr__fsck *fsck, const struct ktr__event_source *source,
			      const struct ktr__trace_head *head)
{
	int rc = ktr__mend_keep_all(fsck, fsck->dir_fd, KTR_TRACE_METADATA);
	struct ktr__emit emit = { 0 };
	struct ktr__mend mend;

	if (!rc || rc == -ENOENT)
		rc = fsck_emit(&emit, source, head);
	ktr__mend_begin(&mend, fsck, rc);
	ktr__mend_put(&mend, emit.text, emit.n);
	ktr__emit_free(&emit);
	return ktr__mend_commit(&mend, fsck->dir_fd, KTR_TRACE_METADATA);
}

/*
 * Says what is wrong with the pieces. Returns where the good ones end if all that follow are torn, else
 * SIZE_MAX.
 */
static size_t fsck_pieces(struct ktr__fsck *fsck, const struct ktr__tsdl *tsdl)
{
	size_t good = 0, from = 0, end = 0;
	int rc;

	for (; (rc = ktr__tsdl_piece(tsdl, &end)); from = end) {
		if (rc == 1) {
			good = good == from ? end : SIZE_MAX;
			continue;
		}
		ktr__fsck_found(fsck, KTR_TRACE_METADATA, "bytes %zu to %zu are %s", from, end,
				rc == -ENODATA ? "not a whole piece" : "damaged");
		if (rc != -ENODATA || good != from)
			good = SIZE_MAX;
	}
	return good ? good : SIZE_MAX;
}

/* The call sites that the first n_bytes of the metadata lack, of those that the tables know. */
static unsigned fsck_undescribed(const struct ktr__tsdl *tsdl, size_t n_bytes,
				 const struct ktr__event_source *source)
{
	size_t n_kept = n_bytes < tsdl->n ? n_bytes : tsdl->n;
	/* A copy, which ends where the metadata will: a site may seem to go on in what is cut off. */
	const struct ktr__tsdl kept = { calloc(n_kept + 1, 1), n_kept };
	struct ktr__tables told;
	unsigned n = 0;

	if (kept.text)
		memcpy(kept.text, tsdl->text, n_kept);
	if (ktr__tables_init(&told) || !kept.text || ktr__tsdl_sites(&kept, &told) < 0) {
		ktr__tables_free(&told);
		free(kept.text);
		return 0;
	}
	free(kept.text);
	for (uint32_t id = 1; id < source->tables.n_sites; id++)
		n += source->tables.site[id] && (id >= told.n_sites || !told.site[id]);
	ktr__tables_free(&told);
	return n;
}

static int fsck_metadata(struct ktr__fsck *fsck, const struct ktr__event_source *source,
			 const struct ktr__trace_head *head)
{
	unsigned n_found = fsck->n_found, n;
	struct ktr__tsdl tsdl;
	size_t good = SIZE_MAX;
	int rc = ktr__tsdl_load(&tsdl, fsck->dir_fd);

	if (rc && rc != -ENOENT)
		return rc;
	if (rc)
		ktr__fsck_found(fsck, KTR_TRACE_METADATA, "is missing");
	else if (!tsdl.n)
		ktr__fsck_found(fsck, KTR_TRACE_METADATA, "is empty");
	else
		good = fsck_pieces(fsck, &tsdl);
	n = !rc && tsdl.n ? fsck_undescribed(&tsdl, good, source) : 0;
	if (n && fsck->n_found == n_found)
		ktr__fsck_found(fsck, KTR_TRACE_METADATA, "lacks %u call site%s", n,
				n == 1 ? "" : "s");
	rc = 0;
	if (fsck->n_found > n_found && !fsck->only_look) {
		rc = good == SIZE_MAX || n
			     ? fsck_metadata_anew(fsck, source, head)
			     : ktr__mend_cut(fsck, fsck->dir_fd, KTR_TRACE_METADATA, good);
		if (!rc)
			fsck->n_mended += fsck->n_found - n_found;
	}
	ktr__tsdl_free(&tsdl);
	return rc;
}

/* ---- the trace ---- */

static int fsck_is_stream(const char *name)
{
	return strncmp(name, KTR_STREAM_CPU, strlen(KTR_STREAM_CPU)) == 0 ||
	       strncmp(name, KTR_STREAM_RING, strlen(KTR_STREAM_RING)) == 0;
}

static const char *fsck_what(mode_t mode)
{
	return S_ISLNK(mode)	? "a symbolic link"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

/* Streams, and what is none: foreign readers take every file but hidden ones for a stream. */
static int fsck_files(struct ktr__fsck *fsck, const struct ktr__event_source *source, int complete)
{
	struct dirent **names = NULL;
	int n = scandirat(fsck->dir_fd, ".", &names, NULL, alphasort), rc = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		struct stat st;

		if (rc || name[0] == '.' || strcmp(name, KTR_TRACE_METADATA) == 0 ||
		    fstatat(fsck->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode)) {
			free(names[i]);
			continue;
		}
		if (!S_ISREG(st.st_mode)) {
			ktr__fsck_found(fsck, name, "is %s, no file; readers would open it", fsck_what(st.st_mode));
			rc = ktr__mend_aside(fsck, fsck->dir_fd, name);
			fsck->n_mended += !rc && !fsck->only_look;
		} else if (fsck_is_stream(name)) {
			rc = ktr__fsck_stream(fsck, name, &source->tables, complete);
		} else {
			ktr__fsck_found(fsck, name, "does not belong to a trace");
			rc = ktr__mend_move(fsck, fsck->dir_fd, name);
			fsck->n_mended += !rc && !fsck->only_look;
		}
		if (rc)
			ktr_error_at(fsck->err, fsck->path, 0, 0, -rc, "%s: %s", name,
				     strerror(-rc));
		free(names[i]);
	}
	free(names);
	return rc;
}

/* Puts lines in front of a sidecar's, or after them. 0 or -errno. */
static int fsck_add_lines(struct ktr__fsck *fsck, enum ktr_sidecar which, struct ktr__emit *emit,
			  int in_front)
{
	const char *name = ktr__lines_file(which);
	struct ktr__mend mend;
	char *there;
	size_t n;
	int rc = ktr__lines_load(fsck->dir_fd, name, INT64_MAX, &there, &n);

	ktr__mend_begin(&mend, fsck, rc || !emit->failed ? rc : -ENOMEM);
	if (in_front)
		ktr__mend_put(&mend, emit->text, emit->n);
	ktr__mend_put(&mend, there, n);
	if (!in_front)
		ktr__mend_put(&mend, emit->text, emit->n);
	ktr__emit_free(emit);
	free(there);
	return ktr__mend_commit(&mend, fsck->side_fd, strchr(name, '/') + 1);
}

/* The line that info.jsonl must have, out of what the metadata tells. 0 or -errno. */
static int fsck_info_anew(struct ktr__fsck *fsck, const struct ktr__trace_head *head)
{
	struct ktr__trace_head anew = *head;
	struct ktr__emit emit = { 0 };

	anew.complete = 0;
	ktr__rewrite_head(&emit, &anew, "fsck");
	return fsck_add_lines(fsck, KTR_SIDECAR_INFO, &emit, 1);
}

/* What the trace says of itself; where only the metadata does, the sidecar is made to. 0 or -errno. */
static int fsck_head(struct ktr__fsck *fsck, struct ktr__lines *lines, struct ktr__trace_head *head)
{
	int rc = ktr__trace_head(lines, head);

	if (rc || !head->is_second_hand)
		return rc;
	ktr__fsck_found(fsck, ktr__lines_file(KTR_SIDECAR_INFO), "does not describe the trace");
	if (!fsck->only_look)
		rc = fsck_info_anew(fsck, head);
	fsck->n_mended += !rc && !fsck->only_look;
	return rc;
}

/* Call sites that the metadata knows and the sidecar does not. 0 or -errno. */
static int fsck_sites(struct ktr__fsck *fsck, struct ktr__event_source *source)
{
	const char *name = ktr__lines_file(KTR_SIDECAR_SITES);
	uint32_t n_known = source->tables.n_sites;
	uint8_t *known = calloc(n_known, 1);
	struct ktr__emit emit = { 0 };
	struct ktr__tsdl tsdl;
	int n = 0, rc = known ? 0 : -ENOMEM;

	for (uint32_t id = 1; id < n_known && known; id++)
		known[id] = source->tables.site[id] != NULL;
	if (!rc && ktr__tsdl_load(&tsdl, fsck->dir_fd) == 0) {
		n = ktr__tsdl_sites(&tsdl, &source->tables);
		ktr__tsdl_free(&tsdl);
	}
	if (!rc && n >= 0)
		rc = ktr__tables_finish(&source->tables);
	for (uint32_t id = 1; n > 0 && !rc && id < source->tables.n_sites; id++)
		if (source->tables.site[id] && (id >= n_known || !known[id]))
			ktr__rewrite_site(&emit, source->tables.site[id]);
	free(known);
	if (rc || n <= 0)
		return n < 0 ? n : rc;
	ktr__fsck_found(fsck, name, "%d call site%s, which the metadata tells of", n,
			n == 1 ? " is missing" : "s are missing");
	if (!fsck->only_look)
		rc = fsck_add_lines(fsck, KTR_SIDECAR_SITES, &emit, 0);
	ktr__emit_free(&emit);
	fsck->n_mended += !rc && !fsck->only_look;
	return rc;
}

/* Everything, with the trace open and locked. 0 or -errno. */
static int fsck_all(struct ktr__fsck *fsck, struct ktr__event_source *source)
{
	struct ktr__lines lines = { .source = source,
				    .path = fsck->path,
				    .dir_fd = fsck->dir_fd,
				    .finished = 1,
				    .err = fsck->err };
	struct ktr__trace_head head;
	int rc = 0;

	for (int i = 0; i < KTR_SIDECARS && !rc; i++) {
		rc = fsck_sidecar(fsck, (enum ktr_sidecar)i);
		if (rc)
			ktr_error_at(fsck->err, fsck->path, 0, 0, -rc, "%s: %s",
				     ktr__lines_file((enum ktr_sidecar)i), strerror(-rc));
	}
	if (!rc)
		rc = fsck_head(fsck, &lines, &head);
	lines.finished = 1;
	if (!rc)
		rc = ktr__sidecar_tables(&lines);
	if (!rc)
		rc = fsck_sites(fsck, source);
	if (!rc) {
		rc = fsck_metadata(fsck, source, &head);
		if (rc)
			ktr_error_at(fsck->err, fsck->path, 0, 0, -rc, "%s: %s", KTR_TRACE_METADATA,
				     strerror(-rc));
	}
	return rc ? rc : fsck_files(fsck, source, head.complete);
}

static int fsck_no_trace(struct ktr__fsck *fsck)
{
	if (faccessat(fsck->dir_fd, KTR_TRACE_METADATA, F_OK, 0) == 0)
		return ktr_error_at(fsck->err, fsck->path, 0, 0, EINVAL,
				    "a CTF trace, but not one of ktr: it has no %s", KTR_TRACE_DIR);
	return ktr_error_at(fsck->err, fsck->path, 0, 0, EINVAL, "not a trace: it has no %s",
			    KTR_TRACE_DIR);
}

/* Opens and locks. Returns the lock's descriptor, -1 where there is nothing to lock, or -errno < -1. */
static int fsck_lock(struct ktr__fsck *fsck)
{
	int fd = ktr__lines_open(fsck->dir_fd, ktr__lines_file(KTR_SIDECAR_INFO));

	if (fd < 0)
		return -1;
	if (flock(fd, (fsck->only_look ? LOCK_SH : LOCK_EX) | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return ktr_error_at(fsck->err, fsck->path, 0, 0, EBUSY,
				    "the trace is being written, and whole as far as it is");
	}
	return fd;
}

int ktr__fsck(struct ktr__fsck *fsck, struct ktr_error *err)
{
	struct ktr__event_source source;
	int lock, rc;

	memset(&source, 0, sizeof(source));
	source.quiet = 1;
	fsck->err = err;
	fsck->side_fd = fsck->lost_fd = -1;
	fsck->dir_fd = open(fsck->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fsck->dir_fd < 0)
		return ktr_error_at(err, fsck->path, 0, 0, errno, "%s", strerror(errno));
	fsck->side_fd = openat(fsck->dir_fd, KTR_TRACE_DIR,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = fsck->side_fd < 0 ? fsck_no_trace(fsck) : ktr__tables_init(&source.tables);
	if (!rc) {
		lock = fsck_lock(fsck);
		rc = lock < -1 ? lock : fsck_all(fsck, &source);
		if (lock >= 0)
			close(lock);
	}
	if (rc)
		ktr_error_at(err, fsck->path, 0, 0, -rc, "%s", strerror(-rc));
	ktr__source_close(&source);
	if (fsck->lost_fd >= 0)
		close(fsck->lost_fd);
	if (fsck->side_fd >= 0)
		close(fsck->side_fd);
	close(fsck->dir_fd);
	return rc;
}
