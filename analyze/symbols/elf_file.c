/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files for those who read symbols and types. A file is read into memory, so one that somebody shortens
 * meanwhile is a short read instead of a SIGBUS, and what was checked does not change. Path and file are
 * untrusted: only regular files of bounded size are read, only plain ELF executables and shared objects are
 * accepted, since libdwfl would unpack compressed ones.
 */
#include "analyze/symbols/elf_file.h"

#include "conf/kit/crc.h"
#include "ktr/session/session_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

/* [bytes] Larger files are not read. Debugging information makes some 100 MiB of large programs. */
#define ELF_FILE_MAX ((uint64_t)1 << 30)

/* Does not wait for what lies at the other end of a FIFO. */
int ktr__elf_open(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		rc = -errno;
	else if (!S_ISREG(st->st_mode))
		rc = -EINVAL;
	else if (st->st_size < (off_t)sizeof(Elf64_Ehdr))
		rc = -ENOEXEC;
	else if ((uint64_t)st->st_size > ELF_FILE_MAX)
		rc = -EFBIG;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

/*
 * gcc's and clang's 64-bit objects of this machine's byte order, and no relocatable ones, whose
 * sections have no addresses yet.
 */
static int elf_file_is_elf(const char *bytes)
{
	Elf64_Ehdr head;

	memcpy(&head, bytes, sizeof(head));
	return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	       head.e_ident[EI_DATA] == ELFDATA2LSB &&
	       (head.e_type == ET_EXEC || head.e_type == ET_DYN);
}

/*
 * Hides the section that holds further symbols packed by xz, whose size unpacked has no bound:
 * libdwfl finds it by this name.
 */
static void elf_file_hide_packed(struct ktr__elf_file *file)
{
	static const char name[] = ".gnu_debugdata";
	char *at = file->bytes, *end = file->bytes + file->n_bytes;

	while ((at = memmem(at, (size_t)(end - at), name, sizeof(name))))
		*at = '-';
}

/* Copies the file; it may have become shorter since, or not be readable. 0 or -errno. */
static int elf_file_copy(struct ktr__elf_file *file, int fd)
{
	size_t n = (size_t)file->st.st_size;
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		return -errno;
	file->bytes = to;
	file->n_bytes = n;
	if (ktr__read_at(fd, 0, file->bytes, n) || !elf_file_is_elf(file->bytes))
		return -ENOEXEC;
	elf_file_hide_packed(file);
	return 0;
}

int ktr__elf_file_read(const char *path, struct ktr__elf_file *file)
{
	int fd, rc;

	memset(file, 0, sizeof(*file));
	fd = ktr__elf_open(path, &file->st);
	if (fd < 0)
		return fd;
	rc = elf_file_copy(file, fd);
	close(fd);
	if (rc)
		ktr__elf_file_close(file);
	return rc;
}

void ktr__elf_file_close(struct ktr__elf_file *file)
{
	if (file->bytes)
		munmap(file->bytes, file->n_bytes);
	file->bytes = NULL;
}

void ktr__elf_file_id(const struct stat *st, uint64_t id[2])
{
	id[0] = (uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 48;
	id[1] = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec + (uint64_t)st->st_size;
}

void ktr__elf_debug_path(const unsigned char *id, size_t n, const char *suffix, char path[KTR__ELF_DEBUG_PATH])
{
	char *to = path + sprintf(path, "/usr/lib/debug/.build-id/");

	for (size_t i = 0; i < n; i++)
		to += sprintf(to, i == 1 ? "/%02x" : "%02x", id[i]);
	strcpy(to, suffix);
}

#if KTR_HAVE_LIBDW

#include <elfutils/libdwfl.h>

static int elf_find_take(const char *path, char **found)
{
	struct stat st;
	int fd = ktr__elf_open(path, &st);

	if (fd < 0)
		return -1;
	*found = strdup(path);
	return fd;
}

/* The same checksum as zlib's crc32(), which .gnu_debuglink has of the file that it names. */
static uint32_t elf_find_crc(int fd)
{
	unsigned char bytes[16384];
	uint32_t crc = 0;
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		crc = ktr__crc(KTR__CRC32, crc, bytes, (size_t)n);
	return crc;
}

static int elf_find_link(const char *file_name, const char *link_file, uint32_t crc, char **found)
{
	static const char *const before[] = { "", "", "/usr/lib/debug" }, *const between[] = { "/", "/.debug/",
											      "/" };
	const char *slash = strrchr(file_name, '/');
	char path[PATH_MAX];

	/* It is a name, not a path. */
	if (!slash || strchr(link_file, '/'))
		return -1;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		struct stat own, other;
		int fd, n;

		n = snprintf(path, sizeof(path), "%s%.*s%s%s", before[i], (int)(slash - file_name), file_name,
			     between[i], link_file);
		fd = n > 0 && (size_t)n < sizeof(path) ? elf_find_take(path, found) : -1;
		if (fd < 0)
			continue;
		/* A file may name itself. */
		if (!(stat(file_name, &own) == 0 && fstat(fd, &other) == 0 && own.st_ino == other.st_ino &&
		      own.st_dev == other.st_dev) && elf_find_crc(fd) == crc)
			return fd;
		close(fd);
		free(*found);
		*found = NULL;
	}
	return -1;
}

int ktr__elf_find_debug(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file_name, const char *link_file, GElf_Word link_crc, char **found)
{
	char path[KTR__ELF_DEBUG_PATH];
	const unsigned char *bits;
	GElf_Addr where;
	int n = dwfl_module_build_id(module, &bits, &where), fd = -1;

	(void)user, (void)base;
	/* Asked for the file that dwz(1) moved common types to, which it has no checksum of. */
	if (link_file && !link_crc)
		return -1;
	if (n >= 2 && n <= KTR__ELF_ID_MAX) {
		ktr__elf_debug_path(bits, (size_t)n, ".debug", path);
		fd = elf_find_take(path, found);
	}
	if (fd < 0 && link_file)
		fd = elf_find_link(file_name ? file_name : name, link_file, link_crc, found);
	return fd;
}

#endif
