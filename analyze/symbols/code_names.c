/* SPDX-License-Identifier: BSD-2-Clause */
/* See code_names.h. A file is read whole; what it says is checked against its length. */
#include "analyze/symbols/code_names.h"

#include "conf/kit/array.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_FILE_MAX ((size_t)1 << 30)   /* [bytes] a jitdump has the code itself */
#define NAMES_TEXT_MAX ((uint32_t)64 << 20) /* [bytes] all names */
#define NAMES_ROWS_MAX 4000000u

struct ktr__code_name {
	uint64_t address, end;
	uint64_t reach; /* highest end of all rows up to here */
	uint32_t text, n_text;
	uint32_t order; /* of being added */
};

int ktr__code_names_add(struct ktr__code_names *names, uint64_t address, uint64_t size, const char *name, size_t n)
{
	if (n > UINT16_MAX)
		n = UINT16_MAX;
	if (names->n == NAMES_ROWS_MAX || names->n_text + n > NAMES_TEXT_MAX)
		return -EFBIG;
	if (ktr__array_grow(&names->row, &names->room, names->n, sizeof(*names->row)) ||
	    ktr__array_grow(&names->text, &names->text_room, names->n_text + (uint32_t)n, 1))
		return -ENOMEM;
	memcpy(names->text + names->n_text, name, n);
	names->row[names->n] = (struct ktr__code_name){ address,
							size > UINT64_MAX - address ? UINT64_MAX : address + size,
							0, names->n_text, (uint32_t)n, names->n };
	names->n++;
	names->n_text += (uint32_t)n;
	names->sorted = 0;
	return 0;
}

/* ---- looking up ---- */

static int names_order(const void *a, const void *b)
{
	const struct ktr__code_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void names_sort(struct ktr__code_names *names)
{
	uint64_t reach = 0;

	qsort(names->row, names->n, sizeof(*names->row), names_order);
	for (uint32_t i = 0; i < names->n; i++) {
		reach = names->row[i].end > reach ? names->row[i].end : reach;
		names->row[i].reach = reach;
	}
	names->sorted = 1;
}

const char *ktr__code_names_find(struct ktr__code_names *names, uint64_t address, size_t *n, uint64_t *offset)
{
	const struct ktr__code_name *best = NULL;
	uint32_t from = 0, to = names->n;

	if (!names->n)
		return NULL;
	if (!names->sorted)
		names_sort(names);
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (names->row[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from && names->row[from - 1].reach > address; from--) {
		const struct ktr__code_name *row = &names->row[from - 1];

		if (address < row->end && (!best || row->order > best->order))
			best = row;
	}
	if (!best)
		return NULL;
	*n = best->n_text;
	*offset = address - best->address;
	return names->text + best->text;
}

const char *ktr__code_names_row(const struct ktr__code_names *names, uint32_t i, uint64_t *address, uint64_t *size,
				size_t *n)
{
	const struct ktr__code_name *row = &names->row[i];

	*address = row->address;
	*size = row->end - row->address;
	*n = row->n_text;
	return names->text + row->text;
}

void ktr__code_names_free(struct ktr__code_names *names)
{
	free(names->row);
	free(names->text);
	*names = (struct ktr__code_names){ 0 };
}

/* ---- perf's map ---- */

/* A hexadecimal number, with or without 0x, and the blank after it; nothing at end is looked at. */
static int names_hex(const char **at, const char *end, uint64_t *number)
{
	const char *begin, *digit;
	static const char digits[] = "0123456789abcdef";

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	*number = 0;
	for (begin = *at; *at < end && **at && (digit = strchr(digits, tolower((unsigned char)**at))); ++*at)
		*number = *number << 4 | (uint64_t)(digit - digits);
	return *at > begin && *at < end && *(*at)++ == ' ';
}

static int names_map(struct ktr__code_names *names, const char *bytes, size_t n)
{
	const char *all = bytes + n, *end, *at;
	uint64_t address, size;
	int rc = 0;

	for (; rc == 0 && (end = memchr(bytes, '\n', (size_t)(all - bytes))) != NULL; bytes = end + 1) {
		at = bytes;
		if (names_hex(&at, end, &address) && names_hex(&at, end, &size) && at < end)
			rc = ktr__code_names_add(names, address, size, at, (size_t)(end - at));
	}
	return rc;
}

/* ---- jitdump, of Linux's tools/perf/Documentation/jitdump-specification.txt ---- */

#define NAMES_JITDUMP 0x4a695444u /* "JiTD", as this machine would write it */

struct names_jit_header {
	uint32_t magic, version, total_size, machine, pad, pid;
	uint64_t timestamp, flags;
};

struct names_jit_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

enum {
	JIT_CODE_LOAD,
	JIT_CODE_MOVE
};

struct names_jit_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct names_jit_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

/* Code by its index, which loads and moves of it have: its row + 1. Rows are not sorted before the file is read. */
struct names_jit_index {
	uint32_t *row; /* owned */
	uint32_t n;
};

/* A larger one, which no machine would give out in its life, is that of no other code. 0 or -ENOMEM. */
static int names_jit_loaded(struct names_jit_index *index, uint64_t of, uint32_t row)
{
	if (of >= NAMES_ROWS_MAX)
		return 0;
	if (ktr__array_grow(&index->row, &index->n, (uint32_t)of, sizeof(*index->row)))
		return -ENOMEM;
	index->row[of] = row + 1;
	return 0;
}

static int names_jit_moved(struct ktr__code_names *names, const struct names_jit_index *index,
			   const struct names_jit_move *move)
{
	const struct ktr__code_name *row;
	char copy[512];
	size_t n;

	if (move->index >= index->n || !index->row[move->index])
		return 0;
	row = &names->row[index->row[move->index] - 1];
	/* The names may move as they grow. */
	n = row->n_text < sizeof(copy) ? row->n_text : sizeof(copy);
	memcpy(copy, names->text + row->text, n);
	return ktr__code_names_add(names, move->to, move->size, copy, n);
}

static int names_jitdump(struct ktr__code_names *names, const char *bytes, size_t n)
{
	struct names_jit_header header;
	struct names_jit_record record;
	struct names_jit_load load;
	struct names_jit_move move;
	struct names_jit_index index = { NULL, 0 };
	uint32_t first;
	size_t at;
	int rc = 0;

	memcpy(&header, bytes, sizeof(header));
	at = header.total_size;
	while (rc == 0 && at <= n && n - at >= sizeof(record)) {
		const char *body = bytes + at + sizeof(record);

		memcpy(&record, bytes + at, sizeof(record));
		if (record.total_size < sizeof(record) || record.total_size > n - at)
			break;
		at += record.total_size;
		record.total_size -= (uint32_t)sizeof(record);
		if (record.id == JIT_CODE_LOAD && record.total_size > sizeof(load)) {
			size_t room = record.total_size - sizeof(load);

			memcpy(&load, body, sizeof(load));
			first = names->n;
			rc = ktr__code_names_add(names, load.address, load.size, body + sizeof(load),
						 strnlen(body + sizeof(load), room));
			rc = rc ? rc : names_jit_loaded(&index, load.index, first);
		} else if (record.id == JIT_CODE_MOVE && record.total_size >= sizeof(move)) {
			memcpy(&move, body, sizeof(move));
			rc = names_jit_moved(names, &index, &move);
		}
	}
	free(index.row);
	return rc;
}

/* ---- files ---- */

/* A descriptor of the file, if it may be believed, or -errno. */
static int names_open(const char *path, int64_t since_s, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW), rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		rc = -errno;
	else if (!S_ISREG(st->st_mode))
		rc = -EINVAL;
	else if (geteuid() != 0 && st->st_uid != 0 && st->st_uid != geteuid())
		rc = -EPERM;
	else if (st->st_mtime < since_s)
		rc = -ESTALE;
	else if ((uint64_t)st->st_size > NAMES_FILE_MAX)
		rc = -EFBIG;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int ktr__code_names_read(struct ktr__code_names *names, const char *path, int64_t since_s)
{
	struct stat st;
	int fd = names_open(path, since_s, &st), rc = 0;
	uint32_t magic;
	size_t n = 0;
	ssize_t got = 1;
	char *bytes;

	if (fd < 0)
		return fd;
	bytes = malloc((size_t)st.st_size + 1);
	while (bytes && n < (size_t)st.st_size && got > 0) {
		got = read(fd, bytes + n, (size_t)st.st_size - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (!bytes)
		return -ENOMEM;
	bytes[n] = '\0';
	memcpy(&magic, n >= sizeof(magic) ? bytes : "\0\0\0", sizeof(magic));
	if (magic != NAMES_JITDUMP)
		rc = names_map(names, bytes, n);
	else if (n >= sizeof(struct names_jit_header))
		rc = names_jitdump(names, bytes, n);
	free(bytes);
	return rc;
}
