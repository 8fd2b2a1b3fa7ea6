/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a session file that somebody else writes: the check of its header, rows and strings by
 * pread, and the question whether anybody uses it still.
 *
 * The header is copied first and checked in the copy; every later offset is computed from that
 * copy alone, so that no check can be undone behind our back. What is read later (cursors, rows,
 * strings) is bounded by the checked sizes whenever it is used.
 */
#include "ktr/session/session_again.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* log2 of the most entries that a ring is believed to have; 2^32 of them are 256 GiB. */
#define MAP_RING_LOG2_MAX 32

/* What a row of each region must have room for, and how it must be aligned. */
static const struct {
	uint32_t row_bytes;
	uint32_t align;
} map_expected[KTR_REGIONS] = {
#define MAP_EXPECTED(name, row) { sizeof(row), _Alignof(row) > 8 ? 8 : _Alignof(row) },
	KTR_REGION_LIST(MAP_EXPECTED)
#undef MAP_EXPECTED
};

static int map_error(struct ktr_error *err, const char *path, int code, const char *text)
{
	return ktr_error_at(err, path, 0, 0, code, "%s", text);
}

static int map_check_version(const struct ktr_header *h, const char *path, struct ktr_error *err)
{
	if (h->magic == __builtin_bswap64(KTR_SESSION_MAGIC))
		return map_error(err, path, ENOTSUP, "a session of the other byte order");
	if (h->magic != KTR_SESSION_MAGIC)
		return map_error(err, path, EINVAL, "not a ktr session");
	if (h->major != KTR_SESSION_MAJOR)
		return ktr_error_at(err, path, 0, 0, ENOTSUP,
				    "a session of format %u, this ktr reads format %u", h->major,
				    KTR_SESSION_MAJOR);
	return 0;
}

int ktr__session_name_ok(const char *name)
{
	size_t length;

	for (length = 0; length < KTR_SESSION_NAME_MAX && name[length]; length++) {
		char c = name[length];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-' || (c == '.' && length)))
			return 0;
	}
	return length && length < KTR_SESSION_NAME_MAX;
}

/* A host's name gets printed: it must be one, and end. */
static int map_host_ok(const char *host, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!host[i])
			return 1;
		if (host[i] < 0x21 || host[i] > 0x7e)
			return 0;
	}
	return 0;
}

/* Fields of 32 bits, and between which numbers they lie. */
static const struct map_limit {
	uint32_t at; /* [bytes] in the header */
	uint32_t least;
	uint32_t most;
	char what[32]; /* with its NUL */
} map_limits[] = {
#define MAP_LIMIT(field, least, most, what) { offsetof(struct ktr_header, field), least, most, what }
	MAP_LIMIT(header_bytes, sizeof(struct ktr_header), KTR_SESSION_ALIGN, "impossible header size"),
	MAP_LIMIT(arch, KTR_ARCH_X86_64, KTR_ARCH_OTHER, "unknown architecture"),
	MAP_LIMIT(path, KTR_PATH_RSEQ, KTR_PATH_THREAD, "unknown kind of rings"),
	MAP_LIMIT(clock, KTR_CLOCK_TSC, KTR_CLOCK_MONOTONIC, "unknown clock"),
	MAP_LIMIT(n_rings, 1, KTR_CPU_MAX, "impossible number of rings"),
	MAP_LIMIT(ring_log2_max, KTR_RING_LOG2_MIN, MAP_RING_LOG2_MAX, "impossible ring size"),
	MAP_LIMIT(keep_log2_max, KTR_RING_LOG2_MIN, MAP_RING_LOG2_MAX, "impossible ring size"),
	MAP_LIMIT(n_regions, KTR_REGIONS_FIRST, KTR_REGIONS_MAX, "impossible number of regions"),
#undef MAP_LIMIT
};

/* The header's own fields. *at: which is wrong. */
static const char *map_field_fault(const struct ktr_header *h, uint64_t file_bytes, size_t *at)
{
	for (size_t i = 0; i < sizeof(map_limits) / sizeof(map_limits[0]); i++) {
		const struct map_limit *limit = &map_limits[i];
		uint32_t number;

		*at = limit->at;
		memcpy(&number, (const char *)h + limit->at, sizeof(number));
		if (number < limit->least || number > limit->most)
			return limit->what;
	}
	*at = offsetof(struct ktr_header, file_bytes);
	if (h->file_bytes > file_bytes)
		return "the file is shorter than it says";
	*at = offsetof(struct ktr_header, name);
	if (!ktr__session_name_ok(h->name))
		return "impossible name";
	*at = offsetof(struct ktr_header, host);
	return map_host_ok(h->host, sizeof(h->host)) ? NULL : "impossible host name";
}

static int map_overlap(const struct ktr_region *a, const struct ktr_region *b)
{
	return a->bytes && b->bytes && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

/*
 * One region: aligned, within the file and after the header, large enough for its rows, and apart from
 * those before it. What is indexed by the same number must be of the same length; an entry is an entry.
 */
static const char *map_region_fault(const struct ktr_header *h, unsigned i)
{
	const struct ktr_region *r = &h->region[i];

	if (!r->bytes)
		return i < KTR_REGIONS || r->n_rows ? "a region without room" : NULL;
	if (r->offset % KTR_SESSION_ALIGN || r->offset < KTR_SESSION_ALIGN)
		return "a region begins at an impossible offset";
	if (r->offset > h->file_bytes || r->bytes > h->file_bytes - r->offset)
		return "a region reaches beyond the file's end";
	if ((uint64_t)r->row_bytes * r->n_rows > r->bytes)
		return "a region is smaller than its rows";
	for (unsigned j = 0; j < i; j++)
		if (map_overlap(r, &h->region[j]))
			return "two regions overlap";
	if (i >= KTR_REGIONS)
		return NULL;
	if (!r->n_rows)
		return "a region without rows";
	if (r->row_bytes < map_expected[i].row_bytes || r->row_bytes % map_expected[i].align)
		return "a region with impossible rows";
	if (i == KTR_REGION_ring && r->n_rows < h->n_rings)
		return "fewer ring headers than rings";
	if (i == KTR_REGION_site_ctl && (r->n_rows < h->region[KTR_REGION_site].n_rows || r->row_bytes != 1))
		return "not one byte for each site";
	if (i == KTR_REGION_string && r->row_bytes != 1)
		return "strings that are not bytes";
	if (i == KTR_REGION_data && r->row_bytes != KTR_ENTRY_BYTES)
		return "entries of an impossible size";
	return NULL;
}

/* The header, with its regions or without. */
static int map_check(const struct ktr_header *header, uint64_t file_bytes, bool regions, const char *path,
		     struct ktr_error *err)
{
	int rc = map_check_version(header, path, err);
	const char *fault;
	size_t at;

	if (rc)
		return rc;
	fault = map_field_fault(header, file_bytes, &at);
	for (unsigned i = 0; regions && !fault && i < header->n_regions; i++) {
		at = offsetof(struct ktr_header, region[i]);
		fault = map_region_fault(header, i);
	}
	return fault ? ktr_error_at_offset(err, path, at, EPROTO, "damaged session: %s", fault) : 0;
}

int ktr__header_check(const struct ktr_header *header, uint64_t file_bytes, const char *path,
		      struct ktr_error *err)
{
	return map_check(header, file_bytes, true, path, err);
}

int ktr__geom_check(const struct ktr_header *header, uint64_t geom, uint64_t *offset,
		    unsigned *log2)
{
	const struct ktr_region *data = &header->region[KTR_REGION_data];
	uint64_t at = KTR_GEOM_OFFSET(geom);
	unsigned n = KTR_GEOM_LOG2(geom);

	if (!(geom & ~KTR_GEOM_CLOSED))
		return -ENOENT;
	if (n < KTR_RING_LOG2_MIN || n > MAP_RING_LOG2_MAX)
		return -EPROTO;
	if (at < data->offset || at - data->offset > data->bytes ||
	    (uint64_t)KTR_ENTRY_BYTES << n > data->bytes - (at - data->offset))
		return -EPROTO;
	*offset = at;
	*log2 = n;
	return 0;
}

int ktr__read_at(int fd, uint64_t offset, void *bytes, size_t n_bytes)
{
	char *to = bytes;
	ssize_t n;

	while (n_bytes) {
		n = pread(fd, to, n_bytes, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		to += n;
		offset += (uint64_t)n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

static int map_open_error(struct ktr_error *err, const char *path, int code)
{
	if (code == ENOENT)
		return map_error(err, path, code, "no such session");
	if (code == ELOOP)
		return map_error(err, path, code, "is a link, a session is never one");
	if (code == EACCES)
		return map_error(err, path, code, "this session may not be opened by us");
	return ktr_error_at(err, path, 0, 0, code, "cannot be opened (errno %d)", code);
}

static int map_check_file(int fd, const char *path, unsigned flags, uint64_t *file_bytes,
			  struct ktr_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return map_open_error(err, path, errno);
	if (!S_ISREG(st.st_mode))
		return map_error(err, path, EINVAL, "not a ktr session: not a file");
	if (flags & KTR__MAP_OWN && st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0)
		return ktr_error_at(err, path, 0, 0, EPERM, "somebody else's session: it belongs to user %u",
				    (unsigned)st.st_uid);
	if ((uint64_t)st.st_size < sizeof(struct ktr_header))
		return map_error(err, path, EINVAL, "not a ktr session: too short");
	*file_bytes = (uint64_t)st.st_size;
	return 0;
}

static int map_load(struct ktr__session_map *map, const char *path, unsigned flags,
		    struct ktr_error *err)
{
	const size_t ready_at = offsetof(struct ktr_header, ready);
	uint64_t file_bytes = 0;
	uint32_t ready = 0;
	int rc;

	rc = map_check_file(map->fd, path, flags, &file_bytes, err);
	if (rc)
		return rc;
	/* `ready` is stored last, with release: what is read after it is complete. */
	rc = ktr__map_read(map, ready_at, &ready, sizeof(ready));
	ktr__fence_loads();
	if (rc == 0)
		rc = ktr__map_read(map, 0, &map->header, sizeof(map->header));
	if (rc)
		return ktr_error_at(err, path, 0, 0, -rc, "cannot be read (errno %d)", -rc);
	if (ready || map->header.magic)
		rc = map_check(&map->header, file_bytes, !(flags & KTR__MAP_WRITE), path, err);
	if (rc == 0 && !ready)
		rc = map_error(err, path, EAGAIN, "its creator has not finished it");
	/* Regions that an older version does not have were not looked at. */
	for (unsigned i = map->header.n_regions; rc == 0 && i < KTR_REGIONS; i++)
		memset(&map->header.region[i], 0, sizeof(map->header.region[i]));
	return rc;
}

int ktr__map_nofollow(const char *path)
{
	return strncmp(path, "/proc/", 6) ? O_NOFOLLOW : 0;
}

int ktr__map_open(const char *path, unsigned flags, struct ktr__session_map *map,
		  struct ktr_error *err)
{
	int rc;

	/* O_NONBLOCK: opening a fifo of that name must not wait for its other end. */
	map->fd = open(path, (flags & KTR__MAP_WRITE ? O_RDWR : O_RDONLY) | ktr__map_nofollow(path) | O_CLOEXEC |
				     O_NONBLOCK | O_NOCTTY);
	if (map->fd < 0)
		return map_open_error(err, path, errno);
	rc = map_load(map, path, flags, err);
	if (rc)
		ktr__map_close(map);
	return rc;
}

void ktr__map_close(struct ktr__session_map *map)
{
	if (map->fd >= 0)
		close(map->fd);
	map->fd = -1;
}

int ktr__map_control(const struct ktr__session_map *map, struct ktr_control *control)
{
	return ktr__map_read(map, map->header.region[KTR_REGION_control].offset, control,
			     sizeof(*control));
}

uint32_t ktr__map_n_rows(const struct ktr__session_map *map, const struct ktr_control *control,
			 enum ktr_region_id region)
{
	uint32_t room = map->header.region[region].n_rows;
	uint64_t n;

	switch (region) {
	case KTR_REGION_class_:
		n = control->n_classes;
		break;
	case KTR_REGION_site:
	case KTR_REGION_site_ctl:
		n = control->n_sites;
		break;
	case KTR_REGION_string:
		n = control->string_bytes;
		break;
	case KTR_REGION_thread:
		n = control->n_threads;
		break;
	case KTR_REGION_proc:
		n = control->n_procs;
		break;
	case KTR_REGION_module:
		n = control->n_modules;
		break;
	case KTR_REGION_anchor:
		n = control->n_anchors;
		break;
	default:
		n = room;
	}
	return n < room ? (uint32_t)n : room;
}

/* The offset of a row, or -ERANGE. */
static int map_row_at(const struct ktr__session_map *map, enum ktr_region_id region, uint32_t idx,
		      uint64_t *offset)
{
	const struct ktr_region *r = &map->header.region[region];

	if (idx >= r->n_rows)
		return -ERANGE;
	*offset = r->offset + (uint64_t)idx * r->row_bytes;
	return 0;
}

static int map_row_shown(uint32_t state)
{
	return state == KTR_ROW_READY || state == KTR_ROW_GONE;
}

/*
 * Call sites say of which type their arguments are; whoever reads events asks what was recorded of them: of a
 * string that is printed with %p the address, of any pointer that is printed with %s the bytes.
 */
static void map_site_types(struct ktr_site_row *row)
{
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		if (row->how[i] == KTR_HOW_STACK)
			row->type[i] = KTR_ARG_STACK;
		else if (row->how[i] != KTR_HOW_VALUE)
			row->type[i] = KTR_ARG_STR;
		else if (row->type[i] == KTR_ARG_STR || row->type[i] == KTR_ARG_STACK)
			row->type[i] = KTR_ARG_PTR;
	}
}

/*
 * A row's state is its first word. It is read before the rest, so that a row that shows itself as
 * ready has all of its fields; the order of loads within one pread is the kernel's affair.
 */
int ktr__map_row(const struct ktr__session_map *map, enum ktr_region_id region, uint32_t idx,
		 void *row, size_t row_bytes)
{
	uint32_t there = map->header.region[region].row_bytes, state = 0;
	uint64_t offset;
	int rc;

	rc = map_row_at(map, region, idx, &offset);
	if (rc == 0)
		rc = ktr__map_read(map, offset, &state, sizeof(state));
	if (rc == 0 && !map_row_shown(state))
		rc = -ENOENT;
	if (rc)
		return rc;
	ktr__fence_loads();
	if (row_bytes > there) {
		memset((char *)row + there, 0, row_bytes - there);
		row_bytes = there;
	}
	rc = ktr__map_read(map, offset, row, row_bytes);
	if (rc == 0 && region == KTR_REGION_site)
		map_site_types(row);
	return rc;
}

int ktr__map_ring(const struct ktr__session_map *map, uint32_t idx, struct ktr_ring *ring)
{
	uint64_t offset;
	int rc = map_row_at(map, KTR_REGION_ring, idx, &offset);

	return rc ? rc : ktr__map_read(map, offset, ring, sizeof(*ring));
}

int ktr__map_site_ctl(const struct ktr__session_map *map, uint32_t idx, uint8_t *ctl)
{
	uint64_t offset;
	int rc = map_row_at(map, KTR_REGION_site_ctl, idx, &offset);

	return rc ? rc : ktr__map_read(map, offset, ctl, 1);
}

int ktr__map_string(const struct ktr__session_map *map, uint32_t offset, char *text, size_t size)
{
	const struct ktr_region *r = &map->header.region[KTR_REGION_string];
	size_t n = size;
	int rc;

	text[0] = '\0';
	if (!offset)
		return 0;
	if (offset >= r->n_rows)
		return -ERANGE;
	if (n > r->n_rows - offset)
		n = r->n_rows - offset;
	rc = ktr__map_read(map, r->offset + offset, text, n);
	if (rc == 0 && !memchr(text, '\0', n)) {
		if (n < size)
			rc = -EPROTO;
		else
			text[size - 1] = '\0';
	}
	if (rc) {
		text[0] = '\0';
		return rc;
	}
	return (int)strlen(text);
}

uint8_t ktr__map_literals(const struct ktr__session_map *map, const struct ktr_site_row *row,
			  char text[KTR_LITERALS_MAX])
{
	size_t at = 0;
	uint8_t are = 0;

	memset(text, 0, KTR_LITERALS_MAX);
	for (unsigned i = 0; i < row->n_args && i < KTR_ARGS_MAX; i++) {
		if (row->how[i] != KTR_HOW_LITERAL)
			continue;
		are |= (uint8_t)(1u << i);
		if (at == KTR_LITERALS_MAX)
			continue;
		ktr__map_string(map, row->literal[i], text + at, KTR_LITERALS_MAX - at);
		at += strlen(text + at) + 1;
	}
	return are;
}

int ktr__proc_alive(const struct ktr_proc_row *proc)
{
	return proc->state == KTR_ROW_READY && ktr__proc_exists(proc->pid) && proc->pid_ns == ktr__proc_own_ns() &&
	       proc->start_time && ktr__proc_start_time(proc->pid) == proc->start_time;
}

/*
 * Nobody holding the lock is tested by taking it. A process that attaches at that moment finds it taken;
 * for it a missing lock is no harm, since the table is asked as well.
 */
int ktr__map_seize(const struct ktr__session_map *map)
{
	struct ktr_control control;
	struct ktr_proc_row proc;
	struct stat st;
	uint64_t ino;
	uint32_t n;
	int rc;

	if (flock(map->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return 0;
	ino = fstat(map->fd, &st) == 0 ? st.st_ino : 0;
	rc = ktr__map_control(map, &control);
	n = rc ? 0 : ktr__map_n_rows(map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n && !rc; i++)
		rc = ktr__map_proc(map, i, &proc) == 0 && ktr__proc_alive(&proc) && ktr__proc_stays(proc.pid, ino);
	if (!rc)
		return 1;
	flock(map->fd, LOCK_UN);
	return rc < 0 ? rc : 0;
}

int ktr__map_inhabited(const struct ktr__session_map *map)
{
	int rc = ktr__map_seize(map);

	if (rc > 0)
		flock(map->fd, LOCK_UN);
	return rc < 0 ? rc : !rc;
}

int ktr__map_alive(const struct ktr__session_map *map)
{
	int rc = ktr__map_inhabited(map);
	char link[32], path[512];
	ssize_t n;

	if (rc)
		return rc;
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", map->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return ktr__session_attended(path);
}
