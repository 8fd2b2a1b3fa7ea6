/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of the process's own session, mapped for providers. */
#include "ktr/provider/view/view.h"

#define KTR_NO_AUTOSTART
#include "ktr/record/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool ktr__view_present(struct ktr__view *view, const void *from, size_t n_bytes)
{
	uint64_t first = (uint64_t)((const char *)from - view->map) / KTR__VIEW_CHUNK;
	uint64_t last = (uint64_t)((const char *)from - view->map + n_bytes - 1) / KTR__VIEW_CHUNK;

	for (uint64_t i = first; i <= last; i++) {
		int code, saved = errno;

		if (i / 64 >= sizeof(view->present) / sizeof(view->present[0]))
			return false;
		if (__atomic_load_n(&view->present[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1)
			continue;
		code = ktr__populate(view->map + i * KTR__VIEW_CHUNK, KTR__VIEW_CHUNK);
		errno = saved;
		if (code && code != -ENOSYS)
			return false;
		__atomic_fetch_or(&view->present[i / 64], 1ull << i % 64, __ATOMIC_RELEASE);
	}
	return true;
}

bool ktr__view_is_present(const struct ktr__view *view, const void *at)
{
	uint64_t i = (uint64_t)((const char *)at - view->map) / KTR__VIEW_CHUNK;

	return i / 64 < sizeof(view->present) / sizeof(view->present[0]) &&
	       __atomic_load_n(&view->present[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1;
}

uint32_t ktr__view_next(const struct ktr__view *view, uint32_t *cursor, enum ktr_region_id id, uint32_t n)
{
	uint32_t none = 0, n_rows = view->header.region[id].n_rows, row;

	/* A new table is of zeroes, and index 0 is never handed out. */
	__atomic_compare_exchange_n(cursor, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	row = __atomic_load_n(cursor, __ATOMIC_RELAXED);
	do { /* who asks for too much takes nothing from others */
		if (!row || row >= n_rows || n > n_rows - row)
			return 0;
	} while (!__atomic_compare_exchange_n(cursor, &row, row + n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return row;
}

/* Of the host's own making may be the number of a descriptor that it has closed. */
static void *view_map(const struct ktr__session_rw *own, uint64_t begin, uint64_t end)
{
	void *at = MAP_FAILED;
	struct stat st;
	int fd = own->fd;

	for (int i = 0; i < 2 && at == MAP_FAILED; i++) {
		if (i)
			fd = open(own->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev)
			at = mmap(NULL, end - begin, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)begin);
	}
	if (fd >= 0 && fd != own->fd)
		close(fd);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, end - begin, MADV_DONTDUMP);
	return at;
}

/* Are all regions there, each as we know it? A session of an older version has none of them. */
static bool view_span(const struct ktr__view *view, const struct ktr_header *header, uint64_t *begin, uint64_t *end)
{
	*begin = UINT64_MAX;
	*end = 0;
	for (unsigned i = 0; i < view->n; i++) {
		const struct ktr_region *region = &header->region[view->first + i];

		if (!region->n_rows || region->row_bytes != view->row_bytes[i])
			return false;
		if (region->offset < *begin)
			*begin = region->offset;
		if (region->offset + region->bytes > *end)
			*end = region->offset + region->bytes;
	}
	return true;
}

bool ktr__view_follow(struct ktr__view *view, bool *changed)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint64_t begin, end;
	char *map;

	*changed = false;
	if (own->map && view->ino == own->ino && view->dev == own->dev)
		return view->open;
	*changed = view->open;
	view->open = false;
	view->ino = 0;
	if (!own->map)
		return false;
	view->dev = own->dev;
	view->ino = own->ino;
	if (!view_span(view, &own->header, &begin, &end) || !(map = view_map(own, begin, end)))
		return false;
	view->header = own->header;
	view->begin = begin;
	view->map = map;
	memset(view->present, 0, sizeof(view->present));
	view->open = *changed = true;
	return true;
}
