/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session file as a reader sees it: opened read only, its header checked once and copied, the
 * rest fetched by pread, never mapped. A session is input that somebody else writes: a file cut
 * short under our hands is then a short read and not a SIGBUS, and what was checked cannot change
 * afterwards.
 *
 *	struct ktr__session_map map;
 *	struct ktr_control control;
 *	struct ktr_site_row site;
 *
 *	if (ktr__map_open(path, 0, &map, &err))
 *		...
 *	ktr__map_control(&map, &control);
 *	for (uint32_t i = 1; i < ktr__map_n_rows(&map, &control, KTR_REGION_site); i++)
 *		if (ktr__map_site(&map, i, &site) == 0)
 *			...
 *	ktr__map_close(&map);
 *
 * Nothing here allocates or keeps state of its own; one map may be read from several threads at
 * once. ktr__map_alive() takes and gives back the file's lock and must not race itself on one map.
 * None may be called from a signal handler.
 */
#ifndef KTR_SESSION_MAP_H
#define KTR_SESSION_MAP_H

#include "ktr/session/kernel.h"

#include <ktr/error.h>
#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ktr__session_map {
	int fd;			  /* close-on-exec; read only, but for KTR__MAP_WRITE; -1 when closed */
	struct ktr_header header; /* a private copy that passed ktr__header_check() */
};

/* flags of ktr__map_open() */
#define KTR__MAP_OWN 1u /* refuse a file whose owner is neither our effective user nor root, unless we are root */
#define KTR__MAP_WRITE 2u /* open to write; regions are not looked at: ktr__session_join() does */

/* O_NOFOLLOW, but for the kernel's own links to what a process has open or mapped. */
int ktr__map_nofollow(const char *path);

/*
 * Opens a session file. The last component of path must not be a link, the file must be regular.
 * Returns 0, or -errno with map->fd -1 and err (may be NULL) filled: -ENOENT, -EACCES, -ELOOP (a
 * link), -EPERM (KTR__MAP_OWN), -EINVAL (not a session), -ENOTSUP (another major version or byte
 * order), -EAGAIN (its creator has not finished it), -EPROTO (damaged: a size or an offset is
 * wrong).
 */
int ktr__map_open(const char *path, unsigned flags, struct ktr__session_map *map,
		  struct ktr_error *err);
void ktr__map_close(struct ktr__session_map *map);

/*
 * Checks a private copy of a header against the size of its file: magic, version, limits, and that
 * every region lies aligned within the file, is large enough for its rows and touches no other.
 * Errors as above; path names the file in err. A header that passed may be used without a further
 * look at its offsets. Does not look at header->ready.
 */
int ktr__header_check(const struct ktr_header *header, uint64_t file_bytes, const char *path,
		      struct ktr_error *err);

/*
 * May a session be called that? Letters, digits and . _ -, no dot in front, not too long. 1 or 0.
 */
int ktr__session_name_ok(const char *name);

/* Rows of the ring table: index cpu for main rings, n_rings + cpu for keep rings. */
static inline uint32_t ktr__header_n_ring_rows(const struct ktr_header *header)
{
	return header->region[KTR_REGION_ring].n_rows;
}

/*
 * Where the entries that a geom word speaks of lie: offset in bytes from the start of the file and
 * log2 of the number of entries. Returns 0, -ENOENT for a ring without memory (geom 0), or -EPROTO
 * for one that points anywhere but into the data region or has an impossible size.
 */
int ktr__geom_check(const struct ktr_header *header, uint64_t geom, uint64_t *offset,
		    unsigned *log2);

/*
 * Everything loaded before it is older than everything loaded after it. gcc's ThreadSanitizer does
 * not know fences and refuses them; there a locked operation stands in.
 */
static inline void ktr__fence_loads(void)
{
#ifdef __SANITIZE_THREAD__
	uint32_t none = 0;

	__atomic_fetch_add(&none, 0, __ATOMIC_ACQ_REL);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/*
 * Reads n_bytes at offset; the caller has checked them against the header. Returns 0, -EIO for a
 * file that has become shorter, or -errno of pread(2).
 */
int ktr__read_at(int fd, uint64_t offset, void *bytes, size_t n_bytes);

static inline int ktr__map_read(const struct ktr__session_map *map, uint64_t offset, void *bytes,
				size_t n_bytes)
{
	return ktr__read_at(map->fd, offset, bytes, n_bytes);
}

/* The control page as it is now. Words are whole, but not all of the same moment. 0 or -errno. */
int ktr__map_control(const struct ktr__session_map *map, struct ktr_control *control);

/* Rows handed out so far in one of the append-only tables; never more than the table holds. */
uint32_t ktr__map_n_rows(const struct ktr__session_map *map, const struct ktr_control *control,
			 enum ktr_region_id region);

/*
 * Copies row idx of a table. Returns 0 for a row that is KTR_ROW_READY or KTR_ROW_GONE, -ENOENT
 * for one that is not (yet), -ERANGE after the table's end, or -errno of reading. In a row of a
 * session of an older minor version the fields that it does not have are 0.
 */
int ktr__map_row(const struct ktr__session_map *map, enum ktr_region_id region, uint32_t idx,
		 void *row, size_t row_bytes);

#define KTR__MAP_ROW(name, region, type)                                                         \
	static inline int ktr__map_##name(const struct ktr__session_map *map, uint32_t idx,      \
					  struct type *row)                                      \
	{                                                                                        \
		return ktr__map_row(map, KTR_REGION_##region, idx, row, sizeof(*row));           \
	}
KTR__MAP_ROW(class, class_, ktr_class_row)
KTR__MAP_ROW(site, site, ktr_site_row)
KTR__MAP_ROW(thread, thread, ktr_thread_row)
KTR__MAP_ROW(proc, proc, ktr_proc_row)
KTR__MAP_ROW(module, module, ktr_module_row)
KTR__MAP_ROW(anchor, anchor, ktr_anchor)
#undef KTR__MAP_ROW

/* Copies a ring's header as it is now. 0, -ERANGE or -errno. */
int ktr__map_ring(const struct ktr__session_map *map, uint32_t idx, struct ktr_ring *ring);

/* A site's override byte (KTR_SITE_*). 0, -ERANGE or -errno. */
int ktr__map_site_ctl(const struct ktr__session_map *map, uint32_t idx, uint8_t *ctl);

/*
 * Copies the string at an offset of the string table, with a NUL; one that is longer than size - 1
 * is cut. Offset 0 is the empty string. Returns its length as copied, or a negative errno with text
 * empty: -ERANGE (no such offset), -EPROTO (the table ends before the string does). size >= 1.
 */
int ktr__map_string(const struct ktr__session_map *map, uint32_t offset, char *text, size_t size);

/*
 * The arguments of a site that are string literals: a bit for each, and their texts after each other, each with its
 * NUL. What is not there, or is more than KTR_LITERALS_MAX in all, is cut. ktr__literal() goes from one text to the
 * next: at is 0 for the first.
 */
uint8_t ktr__map_literals(const struct ktr__session_map *map, const struct ktr_site_row *row,
			  char text[KTR_LITERALS_MAX]);

static inline const char *ktr__literal(const char text[KTR_LITERALS_MAX], size_t *at)
{
	const char *found = *at < KTR_LITERALS_MAX ? text + *at : "";

	*at += strlen(found) + 1;
	return found;
}

/*
 * Does any process use the session still? 1 yes, 0 no, or -errno. Asks the lock on the file first;
 * where nobody holds it, the processes of the table, since a host that closes all of its
 * descriptors has dropped the lock.
 */
int ktr__map_inhabited(const struct ktr__session_map *map);

/* The same, or will one? Somebody looks after it between the programs that use it. */
int ktr__map_alive(const struct ktr__session_map *map);

/*
 * Takes the session's lock exclusively if nobody uses it: 1, and it is held until the map is closed, so
 * that the file may be removed or renamed; 0: it is in use; or -errno.
 */
int ktr__map_seize(const struct ktr__session_map *map);

/* Does the process of a row run still? 1 or 0. One of another pid namespace counts as gone. */
int ktr__proc_alive(const struct ktr_proc_row *proc);

#endif
