/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of rows, in memory and in a temporary file. */
#include "analyze/sql/sql_spill.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SPILL_LEAST ((size_t)4 << 10) /* [bytes] of a block */
#define SPILL_MOST  ((size_t)64 << 10)

void ktr__spill_init(struct ktr__spill *spill, size_t memory)
{
	*spill = (struct ktr__spill){ .fd = -1, .memory = memory, .block = SPILL_MOST };
}

void ktr__spill_lists(struct ktr__spill *spill, size_t n)
{
	size_t block = spill->memory / n;

	spill->block = block < SPILL_LEAST ? SPILL_LEAST : block > SPILL_MOST ? SPILL_MOST : block;
}

void ktr__spill_free(struct ktr__spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill->in_file);
	free(spill->bytes);
}

/* Where SQLite has its temporary files, too (https://www.sqlite.org/tempfiles.html, 5). A descriptor or -errno. */
static int spill_open(void)
{
	const char *dirs[] = { getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "." };
	char path[4096];
	int fd = -1;

	errno = ENOENT;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && fd < 0; i++) {
		if (!dirs[i] || (size_t)snprintf(path, sizeof(path), "%s/ktr-sql.XXXXXX", dirs[i]) >= sizeof(path))
			continue;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	return fd < 0 ? -errno : fd;
}

/* Puts the list's bytes into the file. 0 or -errno. */
static int spill_write(struct ktr__spill *spill, struct ktr__spill_list *list)
{
	size_t at = 0;

	if (spill->fd < 0)
		spill->fd = spill_open();
	if (spill->fd < 0)
		return spill->fd;
	if (ktr__array_grow(&spill->in_file, &spill->block_room, spill->n_blocks, sizeof(*spill->in_file)))
		return -ENOMEM;
	while (at < list->n) {
		ssize_t n = pwrite(spill->fd, list->bytes + at, list->n - at, (off_t)(spill->end + at));

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	spill->in_file[spill->n_blocks] = (struct ktr__spill_block){ .at = spill->end, .n = list->n };
	spill->n_blocks++;
	if (list->last)
		spill->in_file[list->last - 1].next = spill->n_blocks;
	else
		list->first = spill->n_blocks;
	list->last = spill->n_blocks;
	spill->end += list->n;
	list->n = 0;
	return 0;
}

int ktr__spill_more(struct ktr__spill *spill, struct ktr__spill_list *list, size_t n)
{
	size_t room = n > spill->block ? n : spill->block;
	int rc = list->n ? spill_write(spill, list) : 0;
	uint8_t *bytes;

	if (rc || n <= list->room)
		return rc;
	bytes = realloc(list->bytes, room);
	if (!bytes)
		return -ENOMEM;
	list->bytes = bytes;
	list->room = room;
	return 0;
}

int64_t ktr__spill_take(struct ktr__spill *spill, struct ktr__spill_list *list, const uint8_t **bytes)
{
	const struct ktr__spill_block *block;
	size_t n = list->n, at = 0;

	*bytes = list->bytes;
	if (!list->first) {
		list->n = 0;
		return (int64_t)n;
	}
	block = &spill->in_file[list->first - 1];
	if (block->n > spill->room) {
		free(spill->bytes);
		spill->bytes = malloc(block->n);
		spill->room = spill->bytes ? block->n : 0;
	}
	if (!spill->bytes)
		return -ENOMEM;
	while (at < block->n) {
		ssize_t got = pread(spill->fd, spill->bytes + at, block->n - at, (off_t)(block->at + at));

		if (got == 0)
			return -EIO;
		if (got < 0 && errno != EINTR)
			return -errno;
		at += got > 0 ? (size_t)got : 0;
	}
	list->first = block->next;
	*bytes = spill->bytes;
	return (int64_t)block->n;
}
