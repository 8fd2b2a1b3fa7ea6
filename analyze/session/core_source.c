/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the session of a program in its core.
 *
 * A session is shared memory over a file. The kernel leaves such memory out of a core unless bit 3 of
 * /proc/PID/coredump_filter is set, or the file has been removed (core(5); bit 1, which is set by
 * default, then decides). So the rings are in the core, or the file is most likely still there: a session
 * outlives its program. What is in the core is taken first, because it is of the moment of the crash.
 *
 * Either way the process's memory tells which session it was: the library keeps a copy of the session's
 * header, with its uuid. So memory is searched for such headers; one that lies where rings lie after it
 * is the session itself. The file is found by what the process had mapped, and must have that uuid.
 *
 * A session from a core is written to a file without a name, as sparse as the core, and read like any
 * other. What the core says of it is as untrusted as any session.
 */
#include "analyze/session/core_source.h"

#include "analyze/read/source.h"
#include "analyze/session/core.h"
#include "analyze/session/session_source.h"
#include "ktr/session/session_find.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define CORE_SESSIONS 8          /* of one process; more are not looked at */
#define CORE_CHUNK    (1u << 20) /* [bytes] searched and copied at a time */
#define CORE_PAGE     4096u
#define CORE_DELETED  " (deleted)"

struct core_session {
	struct ktr_header header;
	uint64_t at;  /* address of the mapping; 0: the core does not hold it */
	int n_absent; /* rings that the core does not hold */
};

struct core_search {
	struct ktr__core core;
	const char *path;
	struct core_session session[CORE_SESSIONS];
	unsigned n_sessions;
	char *chunk;    /* owned, CORE_CHUNK bytes */
	char gone[256]; /* the path of a session that is not there any more, "" for none */
};

/* ---- the search ---- */

static struct core_session *core_known(struct core_search *o, const uint8_t uuid[16])
{
	for (unsigned i = 0; i < o->n_sessions; i++)
		if (memcmp(o->session[i].header.uuid, uuid, 16) == 0)
			return &o->session[i];
	return NULL;
}

/* Something that may be a header lies at an address. */
static void core_candidate(struct core_search *o, uint64_t at)
{
	struct core_session *session;
	struct ktr_header header;
	const struct ktr_region *ring = &header.region[KTR_REGION_ring];

	if (ktr__core_read(&o->core, at, &header, sizeof(header)) || !header.ready ||
	    ktr__header_check(&header, header.file_bytes, o->path, NULL))
		return;
	session = core_known(o, header.uuid);
	if (!session) {
		if (o->n_sessions == CORE_SESSIONS)
			return;
		session = &o->session[o->n_sessions++];
		*session = (struct core_session){ .header = header };
	}
	if (!session->at && at % CORE_PAGE == 0 && header.file_bytes < UINT64_MAX - at &&
	    ktr__core_holds(&o->core, at + ring->offset, ring->bytes) == ring->bytes) {
		session->header = header;
		session->at = at;
	}
}

/* Looks at all words of the memory that the core holds. */
static int core_search(struct core_search *o)
{
	for (size_t i = 0; i < o->core.n_parts; i++) {
		const struct ktr__core_part *part = &o->core.part[i];
		uint64_t word, skip = -part->at & 7, n;

		for (; skip < part->n_bytes; skip += n) {
			n = part->n_bytes - skip < CORE_CHUNK ? part->n_bytes - skip : CORE_CHUNK;
			int rc = ktr__read_at(o->core.fd, part->offset + skip, o->chunk, n);

			if (rc)
				return rc;
			for (uint64_t at = 0; at + sizeof(word) <= n; at += sizeof(word)) {
				memcpy(&word, o->chunk + at, sizeof(word));
				if (word == KTR_SESSION_MAGIC)
					core_candidate(o, part->at + skip + at);
			}
		}
	}
	return 0;
}

/* ---- from the core ---- */

/* Copies the pages of a piece of memory that are not empty to their place in a file. 0 or -errno. */
static int core_copy(struct core_search *o, uint64_t from, uint64_t n, int fd, uint64_t to)
{
	static const char empty[CORE_PAGE];
	int rc = ktr__core_read(&o->core, from, o->chunk, n);

	for (uint64_t at = 0, page; at < n && !rc; at += page) {
		page = n - at < CORE_PAGE ? n - at : CORE_PAGE;
		if (memcmp(o->chunk + at, empty, page) != 0 &&
		    pwrite(fd, o->chunk + at, page, (off_t)(to + at)) != (ssize_t)page)
			rc = -ENOSPC;
	}
	return rc;
}

static int core_copy_all(struct core_search *o, const struct core_session *session, int fd)
{
	uint64_t end = session->at + session->header.file_bytes;
	int rc = 0;

	for (size_t i = 0; i < o->core.n_parts && !rc; i++) {
		const struct ktr__core_part *part = &o->core.part[i];
		uint64_t at = part->at > session->at ? part->at : session->at, n;
		uint64_t stop = part->at + part->n_bytes < end ? part->at + part->n_bytes : end;

		for (; at < stop && !rc; at += n) {
			n = stop - at < CORE_CHUNK ? stop - at : CORE_CHUNK;
			rc = core_copy(o, at, n, fd, at - session->at);
		}
	}
	return rc;
}

/* Rings whose entries the core does not hold would be read as if they were empty: they are closed. */
static int core_close_rings(struct core_search *o, struct core_session *session,
			    struct ktr__session_map *map)
{
	const struct ktr_region *rings = &map->header.region[KTR_REGION_ring];
	struct ktr_ring row, none;

	memset(&none, 0, sizeof(none));
	for (uint32_t i = 0; i < rings->n_rows; i++) {
		uint64_t offset, bytes;
		unsigned log2;
		int rc = ktr__map_ring(map, i, &row);

		if (rc)
			return rc;
		if (ktr__geom_check(&map->header, row.geom, &offset, &log2))
			continue;
		bytes = (uint64_t)KTR_ENTRY_BYTES << log2;
		if (ktr__core_holds(&o->core, session->at + offset, bytes) == bytes)
			continue;
		session->n_absent += row.head != 0;
		none.dropped = row.dropped;
		if (pwrite(map->fd, &none, sizeof(none),
			   (off_t)(rings->offset + (uint64_t)i * rings->row_bytes)) != sizeof(none))
			return -ENOSPC;
	}
	return 0;
}

/* Makes a file of the session that the core holds. 0 or -errno, with nothing open. */
static int core_image(struct core_search *o, struct core_session *session,
		      struct ktr__session_map *map)
{
	uint64_t n_bytes = session->header.file_bytes;
	struct rlimit limit;
	int rc;

	/* More than the limit would be answered with a signal. */
	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < n_bytes)
		return -EFBIG;
	map->header = session->header;
	map->fd = memfd_create("ktr-core", MFD_CLOEXEC);
	if (map->fd < 0)
		return -errno;
	rc = ftruncate(map->fd, (off_t)n_bytes) ? -errno : core_copy_all(o, session, map->fd);
	if (!rc)
		rc = core_close_rings(o, session, map);
	if (rc)
		ktr__map_close(map);
	return rc;
}

/* ---- from the file ---- */

/* Is this the session of the process? Without a header in memory its number has to do. */
static int core_is_session(struct core_search *o, const struct ktr__session_map *map)
{
	struct ktr_control control;
	struct ktr_proc_row proc;
	uint32_t n;

	if (o->n_sessions)
		return core_known(o, map->header.uuid) != NULL;
	if (!o->core.pid || ktr__map_control(map, &control))
		return 0;
	n = ktr__map_n_rows(map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n; i++)
		if (ktr__map_proc(map, i, &proc) == 0 && proc.pid == o->core.pid)
			return 1;
	return 0;
}

static int core_try(struct core_search *o, const char *path, struct ktr__session_map *map)
{
	if (ktr__map_open(path, 0, map, NULL) == 0) {
		if (core_is_session(o, map))
			return 1;
		ktr__map_close(map);
	}
	if (!o->gone[0])
		snprintf(o->gone, sizeof(o->gone), "%s", path);
	return 0;
}

/* Looks for the session's file: where it was mapped from, or by its name. 1 with the map open, or 0. */
static int core_find_file(struct core_search *o, char path[PATH_MAX], struct ktr__session_map *map)
{
	const char *last = "";

	for (size_t i = 0; i < o->core.n_files; i++) {
		const char *name = o->core.file[i].path;
		size_t n = strlen(name), suffix = strlen(KTR_SESSION_SUFFIX),
		       deleted = strlen(CORE_DELETED);

		if (strcmp(name, last) == 0)
			continue;
		last = name;
		if (n > deleted && strcmp(name + n - deleted, CORE_DELETED) == 0)
			n -= deleted;
		if (n < suffix || n >= PATH_MAX ||
		    memcmp(name + n - suffix, KTR_SESSION_SUFFIX, suffix) != 0)
			continue;
		memcpy(path, name, n);
		path[n] = 0;
		if (core_try(o, path, map))
			return 1;
	}
	for (unsigned i = 0; i < o->n_sessions; i++)
		if (ktr__session_path_of(o->session[i].header.name, path, PATH_MAX, NULL) == 0 &&
		    core_try(o, path, map))
			return 1;
	return 0;
}

/* ---- which of the two ---- */

static int core_use(struct core_search *o, struct ktr__event_source *source, struct ktr__session_map *map,
		    const char *path, struct ktr_error *err)
{
	int rc = ktr__session_feed(source, map, path, NULL, NULL, err);

	if (!rc && o->n_sessions > 1)
		ktr__source_note(source, 0, "%s: one of %u sessions that the process had", path,
				 o->n_sessions);
	return rc;
}

static int core_use_image(struct core_search *o, const struct core_session *session,
			  struct ktr__event_source *source, struct ktr__session_map *map,
			  struct ktr_error *err)
{
	int rc = core_use(o, source, map, o->path, err);

	source->info.kind = KTR_SOURCE_DEAD;
	if (!rc)
		ktr__source_note(source, 0, "%s: session %s as the core holds it", o->path,
				 session->header.name);
	if (!rc && session->n_absent)
		ktr__source_note(source, 1, "%s: the core does not hold %d of its rings%s", o->path,
				 session->n_absent, o->core.cut ? ": it has been cut" : "");
	return rc;
}

static int core_use_file(struct core_search *o, const char *path, struct ktr__event_source *source,
			 struct ktr__session_map *map, struct ktr_error *err)
{
	int rc = core_use(o, source, map, path, err);

	if (!rc)
		ktr__source_note(source, 0,
				 "%s: the core does not hold the rings; read from the session %s, "
				 "which is still there",
				 o->path, path);
	return rc;
}

/* Neither: why. */
static int core_none(struct core_search *o, struct ktr_error *err)
{
	if (o->n_sessions || o->gone[0])
		return ktr_error_at(
			err, o->path, 0, 0, ENOENT,
			"the core does not hold the rings of session %s%s, and its file is "
			"gone; a trace that it wrote, if any, is all there is",
			o->n_sessions ? o->session[0].header.name : o->gone,
			o->core.cut ? ": it has been cut" : "");
	return ktr_error_at(err, o->path, 0, 0, ENOENT, "the core of a process without a session%s",
			    o->core.cut ? "; it has been cut" : "");
}

static int core_open(struct core_search *o, struct ktr__event_source *source, struct ktr_error *err)
{
	struct core_session *part = NULL;
	struct ktr__session_map map;
	char path[PATH_MAX];
	int rc = core_search(o);

	if (rc)
		return rc;
	for (unsigned i = 0; i < o->n_sessions; i++) {
		if (!o->session[i].at)
			continue;
		rc = core_image(o, &o->session[i], &map);
		if (rc)
			return rc;
		if (!o->session[i].n_absent)
			return core_use_image(o, &o->session[i], source, &map, err);
		ktr__map_close(&map);
		o->session[i].n_absent = 0;
		part = part ? part : &o->session[i];
	}
	if (core_find_file(o, path, &map))
		return core_use_file(o, path, source, &map, err);
	if (!part)
		return core_none(o, err);
	rc = core_image(o, part, &map);
	return rc ? rc : core_use_image(o, part, source, &map, err);
}

int ktr__core_source(struct ktr__event_source *source, const char *path, struct ktr_error *err)
{
	struct core_search *o = calloc(1, sizeof(*o));
	int rc = -ENOMEM;

	if (o) {
		o->path = path;
		o->core.fd = -1;
		o->chunk = malloc(CORE_CHUNK);
		rc = o->chunk ? ktr__core_open(&o->core, path, err) : -ENOMEM;
		if (!rc) {
			rc = core_open(o, source, err);
			ktr__core_close(&o->core);
		}
		free(o->chunk);
	}
	free(o);
	return rc && rc != -ENOEXEC ? ktr_error_at(err, path, 0, 0, -rc, "%s", strerror(-rc)) : rc;
}
