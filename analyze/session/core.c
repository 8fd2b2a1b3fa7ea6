/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the tables of a core: program headers for the memory, and of the notes NT_FILE (what was mapped)
 * and NT_PRPSINFO (whose core it is). Of 64 bits and little-endian, as sessions are.
 *
 * More than 65,534 segments are told in the first section header (PN_XNUM). Segments that overlap make
 * no sense and are cut to what is after the one before, so that nothing is read twice: copying all that
 * a core holds never takes longer than reading it.
 */
#include "analyze/session/core.h"

#include "ktr/session/session_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORE_PARTS_MAX (1u << 20)
#define CORE_NOTES_MAX (64u << 20) /* [bytes] */

static int core_fault(struct ktr_error *err, const char *path, uint64_t offset, const char *what)
{
	return ktr_error_at_offset(err, path, offset, EPROTO, "damaged core: %s", what);
}

/* The number of program headers. 0, or -errno with err filled. */
static int core_n_headers(const struct ktr__core *core, const Elf64_Ehdr *elf, uint64_t *n,
			  const char *path, struct ktr_error *err)
{
	Elf64_Shdr first;

	*n = elf->e_phnum;
	if (elf->e_phnum == PN_XNUM) {
		if (ktr__read_at(core->fd, elf->e_shoff, &first, sizeof(first)))
			return core_fault(err, path, offsetof(Elf64_Ehdr, e_shoff),
					  "no section header");
		*n = first.sh_info;
	}
	if (elf->e_phentsize != sizeof(Elf64_Phdr) || *n > CORE_PARTS_MAX ||
	    elf->e_phoff > core->n_bytes || *n * sizeof(Elf64_Phdr) > core->n_bytes - elf->e_phoff)
		return core_fault(err, path, offsetof(Elf64_Ehdr, e_phoff),
				  "impossible program headers");
	return 0;
}

static int core_by_address(const void *a, const void *b)
{
	const struct ktr__core_part *one = a, *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

/* Has the parts in order, and apart from each other. */
static void core_order(struct ktr__core *core)
{
	uint64_t end = 0;
	size_t n = 0;

	qsort(core->part, core->n_parts, sizeof(*core->part), core_by_address);
	for (size_t i = 0; i < core->n_parts; i++) {
		struct ktr__core_part part = core->part[i];
		uint64_t over = part.at < end ? end - part.at : 0;

		if (over >= part.n_bytes)
			continue;
		part.at += over;
		part.offset += over;
		part.n_bytes -= over;
		end = part.at + part.n_bytes;
		core->part[n++] = part;
	}
	core->n_parts = n;
}

static void core_add_part(struct ktr__core *core, const Elf64_Phdr *segment)
{
	uint64_t room = segment->p_offset < core->n_bytes ? core->n_bytes - segment->p_offset : 0;
	uint64_t n = segment->p_filesz;

	core->cut |= n > room;
	n = n < room ? n : room;
	if (!n || segment->p_vaddr > UINT64_MAX - n)
		return;
	core->part[core->n_parts++] = (struct ktr__core_part){ segment->p_vaddr, n,
							       segment->p_offset };
}

/* ---- notes ---- */

/* NT_FILE: two words, three for each mapping, and then the names. */
static int core_files(struct ktr__core *core, const char *at, size_t n)
{
	uint64_t count, page, row[3];
	const char *name;

	if (core->file || n < 2 * sizeof(uint64_t))
		return 0;
	memcpy(&count, at, sizeof(count));
	memcpy(&page, at + sizeof(count), sizeof(page));
	if (count > (n - 2 * sizeof(uint64_t)) / sizeof(row))
		return 0;
	core->file = calloc(count + 1, sizeof(*core->file));
	if (!core->file)
		return -ENOMEM;
	name = at + 2 * sizeof(uint64_t) + count * sizeof(row);
	for (uint64_t i = 0; i < count; i++) {
		const char *end = memchr(name, 0, (size_t)(at + n - name));

		if (!end)
			break;
		memcpy(row, at + 2 * sizeof(uint64_t) + i * sizeof(row), sizeof(row));
		core->file[core->n_files++] = (struct ktr__core_file){ row[0], row[1], name };
		name = end + 1;
	}
	return 0;
}

static void core_whose(struct ktr__core *core, const char *at, size_t n)
{
	struct elf_prpsinfo info;

	if (core->pid || n < sizeof(info))
		return;
	memcpy(&info, at, sizeof(info));
	core->pid = (uint32_t)info.pr_pid;
	memcpy(core->name, info.pr_fname, sizeof(info.pr_fname));
}

/* One segment of notes. Where one makes no sense, the rest is left. 0 or -errno. */
static int core_notes(struct ktr__core *core, const Elf64_Phdr *segment)
{
	uint64_t n = segment->p_filesz, used = 0;
	Elf64_Nhdr note;
	int rc = 0;

	if (core->notes || n > CORE_NOTES_MAX || segment->p_offset > core->n_bytes)
		return 0;
	if (n > core->n_bytes - segment->p_offset)
		n = core->n_bytes - segment->p_offset;
	core->notes = malloc(n + 1);
	if (!core->notes)
		return -ENOMEM;
	rc = ktr__read_at(core->fd, segment->p_offset, core->notes, n);
	while (!rc && n - used >= sizeof(note)) {
		uint64_t name, text;

		memcpy(&note, core->notes + used, sizeof(note));
		name = ((uint64_t)note.n_namesz + 3) & ~3ull;
		text = ((uint64_t)note.n_descsz + 3) & ~3ull;
		used += sizeof(note);
		if (name > n - used || note.n_descsz > n - used - name)
			break;
		if (note.n_type == NT_FILE)
			rc = core_files(core, core->notes + used + name, note.n_descsz);
		else if (note.n_type == NT_PRPSINFO)
			core_whose(core, core->notes + used + name, note.n_descsz);
		used += name + (text < n - used - name ? text : n - used - name);
	}
	return rc;
}

/* ---- the whole ---- */

static int core_segments(struct ktr__core *core, const Elf64_Ehdr *elf, const char *path,
			 struct ktr_error *err)
{
	uint64_t n = 0;
	int rc = core_n_headers(core, elf, &n, path, err);

	if (rc)
		return rc;
	core->part = calloc(n + 1, sizeof(*core->part));
	if (!core->part)
		return -ENOMEM;
	for (uint64_t i = 0; i < n && !rc; i++) {
		Elf64_Phdr segment;

		rc = ktr__read_at(core->fd, elf->e_phoff + i * sizeof(segment), &segment,
				  sizeof(segment));
		if (!rc && segment.p_type == PT_NOTE)
			rc = core_notes(core, &segment);
		else if (!rc && segment.p_type == PT_LOAD)
			core_add_part(core, &segment);
	}
	core_order(core);
	return rc;
}

static int core_load(struct ktr__core *core, const char *path, struct ktr_error *err)
{
	Elf64_Ehdr elf;
	struct stat st;

	if (fstat(core->fd, &st) || !S_ISREG(st.st_mode))
		return -ENOEXEC;
	core->n_bytes = (uint64_t)st.st_size;
	if (ktr__read_at(core->fd, 0, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_type != ET_CORE)
		return -ENOEXEC;
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB)
		return ktr_error_at(err, path, 0, 0, ENOTSUP,
				    "a core that is not of a 64-bit little-endian machine");
	return core_segments(core, &elf, path, err);
}

int ktr__core_open(struct ktr__core *core, const char *path, struct ktr_error *err)
{
	int rc;

	memset(core, 0, sizeof(*core));
	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (core->fd < 0)
		return ktr_error_at(err, path, 0, 0, errno, "%s", strerror(errno));
	rc = core_load(core, path, err);
	if (rc)
		ktr__core_close(core);
	return rc;
}

void ktr__core_close(struct ktr__core *core)
{
	if (core->fd >= 0)
		close(core->fd);
	free(core->part);
	free(core->file);
	free(core->notes);
	memset(core, 0, sizeof(*core));
	core->fd = -1;
}

static int core_by_place(const void *key, const void *element)
{
	const uint64_t *at = key;
	const struct ktr__core_part *part = element;

	return *at < part->at ? -1 : *at - part->at >= part->n_bytes;
}

/* The part that an address lies in, or NULL. */
static const struct ktr__core_part *core_part(const struct ktr__core *core, uint64_t at)
{
	return bsearch(&at, core->part, core->n_parts, sizeof(*core->part), core_by_place);
}

uint64_t ktr__core_holds(const struct ktr__core *core, uint64_t at, uint64_t n)
{
	const struct ktr__core_part *part;
	uint64_t held = 0;

	while (held < n && (part = core_part(core, at + held)) != NULL)
		held = part->at + part->n_bytes - at;
	return held < n ? held : n;
}

int ktr__core_read(const struct ktr__core *core, uint64_t at, void *bytes, size_t n)
{
	char *to = bytes;

	while (n) {
		const struct ktr__core_part *part = core_part(core, at);
		uint64_t skip, here;
		int rc;

		if (!part)
			return -EFAULT;
		skip = at - part->at;
		here = part->n_bytes - skip < n ? part->n_bytes - skip : n;
		rc = ktr__read_at(core->fd, part->offset + skip, to, here);
		if (rc)
			return rc;
		to += here;
		at += here;
		n -= here;
	}
	return 0;
}
