/* SPDX-License-Identifier: BSD-2-Clause */
/* What a long stream leaves in memory. */
#include "tests/unit/suite.h"

#include "writer/format/stream.h"
#include "writer/format/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#define MIB ((uint64_t)1 << 20)

static struct {
	uint64_t from, to;
	unsigned n;
} let_go;

static void note_forget(int fd, uint64_t from, uint64_t to)
{
	CU_ASSERT_EQUAL(fd, 0);
	let_go.from = from;
	let_go.to = to;
	let_go.n++;
}

static ssize_t write_nothing(int fd, const void *bytes, size_t n, off_t offset)
{
	(void)fd, (void)bytes, (void)offset;
	return (ssize_t)n;
}

/* The last 64 MiB stay; what is further back is let go by 8 MiB, and once more for 96 MiB. */
static void the_end_of_a_stream_stays(void)
{
	static const char bytes[MIB];
	struct ktr__sys table = ktr__sys;
	struct ktr__trace trace = { .sys = &table };
	struct ktr__file file = { .fd = 0 };

	table.pwrite = write_nothing;
	table.forget = note_forget;
	memset(&let_go, 0, sizeof(let_go));
	for (unsigned mib = 1; mib <= 320; mib++) {
		CU_ASSERT_EQUAL(ktr__trace_append(&trace, &file, bytes, sizeof(bytes)), 0);
		CU_ASSERT_EQUAL(let_go.n, mib < 72 ? 0 : mib / 8 - 8);
		if (mib % 8 || mib < 72)
			continue;
		CU_ASSERT_EQUAL(let_go.to, (mib - 64) * MIB);
		CU_ASSERT_EQUAL(let_go.from, mib < 160 ? 0 : (mib - 160) * MIB);
	}
	/* An append that leaps over more than one mark. */
	file.bytes = 95 * MIB;
	let_go.n = 0;
	CU_ASSERT_EQUAL(ktr__trace_append(&trace, &file, bytes, sizeof(bytes) - 1), 0);
	CU_ASSERT_EQUAL(let_go.n, 0);
	CU_ASSERT_EQUAL(ktr__trace_append(&trace, &file, bytes, 2), 0);
	CU_ASSERT_EQUAL(let_go.n, 1);
}

static size_t n_cached(int fd, size_t n_bytes)
{
	unsigned char in[2048] = { 0 };
	size_t n = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, n_bytes, PROT_READ, MAP_SHARED, fd, 0);

	CU_ASSERT_FATAL(map != MAP_FAILED && n_bytes / page <= sizeof(in));
	CU_ASSERT_EQUAL(mincore(map, n_bytes, in), 0);
	for (size_t i = 0; i < n_bytes / page; i++)
		n += in[i] & 1;
	munmap(map, n_bytes);
	return n;
}

/* A file system in memory has nowhere else to keep a file; of others who knows. */
static int has_a_disk(int fd)
{
	static const long disks[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC };
	struct statfs fs;
	int known = 0;

	for (unsigned i = 0; fstatfs(fd, &fs) == 0 && i < sizeof(disks) / sizeof(disks[0]); i++)
		known |= (long)fs.f_type == disks[i];
	return known;
}

/* Asked often enough, the kernel lets go of what it has written back; the file is as it was. */
static void what_is_let_go_leaves_memory(void)
{
	char path[] = "/tmp/ktr-test-XXXXXX", *bytes = malloc(4 * MIB), *again = malloc(4 * MIB);
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0 && bytes && again);
	unlink(path);
	memset(bytes, 'k', 4 * MIB);
	CU_ASSERT_EQUAL(write(fd, bytes, 4 * MIB), (ssize_t)(4 * MIB));
	CU_ASSERT(n_cached(fd, 4 * MIB) > 0);
	for (unsigned i = 0; has_a_disk(fd) && i < 12000 && n_cached(fd, 4 * MIB); i++) {
		fdatasync(fd);
		ktr__sys.forget(fd, 0, 4 * MIB);
		usleep(10000);
	}
	CU_ASSERT(!has_a_disk(fd) || n_cached(fd, 4 * MIB) == 0);
	CU_ASSERT_EQUAL(pread(fd, again, 4 * MIB, 0), (ssize_t)(4 * MIB));
	CU_ASSERT_EQUAL(memcmp(again, bytes, 4 * MIB), 0);
	close(fd);
	free(bytes);
	free(again);
}

SUITE(stream, TEST(the_end_of_a_stream_stays), TEST(what_is_let_go_leaves_memory));
