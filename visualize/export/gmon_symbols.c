/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file may be any file: all that lies in it is compared with its length. Layout: elf(5).
 *
 * fbt shows names of C++ with their arguments and without the result that a demangler puts in front of a
 * template's. So a name is looked up whole, and by what is behind each blank of it: hashes, sorted, and the name
 * itself is compared in the end.
 */
#include "visualize/export/gmon_symbols.h"

#include "analyze/symbols/demangle.h"
#include "analyze/symbols/elf_file.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <ktr/session.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct symbols_name {
	uint64_t hash;
	uint64_t address;
	uint32_t symbol; /* of the file's table */
	uint32_t skip;   /* [bytes] of the demangled name that stand before this one */
};

struct ktr__gmon_symbols {
	struct ktr__elf_file file;
	const Elf64_Sym *symbol; /* in the file */
	const char *strings;
	struct symbols_name *name; /* owned; by hash */
	uint32_t n_names, name_room;
	uint64_t *begin; /* owned; sorted */
	uint32_t n_begins, begin_room;
};

/* ---- the file ---- */

static const void *symbols_at(const struct ktr__elf_file *file, uint64_t offset, uint64_t n_bytes, uint64_t align)
{
	if (offset % align || offset > file->n_bytes || n_bytes > file->n_bytes - offset)
		return NULL;
	return file->bytes + offset;
}

static const Elf64_Phdr *symbols_segments(const struct ktr__elf_file *file, const Elf64_Ehdr *head)
{
	if (head->e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return symbols_at(file, head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr), _Alignof(Elf64_Phdr));
}

/* One whose addresses are fixed, or whose dynamic section says that it is an executable all the same. */
static int symbols_is_program(const struct ktr__elf_file *file, const Elf64_Ehdr *head)
{
	const Elf64_Phdr *segment = symbols_segments(file, head);

	for (unsigned i = 0; i < head->e_phnum; i++) {
		const Elf64_Dyn *dynamic;

		if (segment[i].p_type != PT_DYNAMIC)
			continue;
		dynamic = symbols_at(file, segment[i].p_offset, segment[i].p_filesz, _Alignof(Elf64_Dyn));
		for (uint64_t k = 0; dynamic && k < segment[i].p_filesz / sizeof(*dynamic); k++)
			if (dynamic[k].d_tag == DT_FLAGS_1 && dynamic[k].d_un.d_val & DF_1_PIE)
				return 1;
	}
	return head->e_type == ET_EXEC;
}

static int symbols_text(const struct ktr__elf_file *file, struct ktr__gmon_text *text)
{
	const Elf64_Ehdr *head = symbols_at(file, 0, sizeof(*head), _Alignof(Elf64_Ehdr));
	const Elf64_Phdr *segment = head ? symbols_segments(file, head) : NULL;

	if (!segment)
		return -ENOEXEC;
	*text = (struct ktr__gmon_text){ UINT64_MAX, 0, head->e_entry, file->n_bytes, 0 };
	text->is_program = symbols_is_program(file, head);
	for (unsigned i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *at = &segment[i];

		if (at->p_type != PT_LOAD || !(at->p_flags & PF_X) || at->p_filesz > UINT64_MAX - at->p_vaddr)
			continue;
		text->low = at->p_vaddr < text->low ? at->p_vaddr : text->low;
		text->high = at->p_vaddr + at->p_filesz > text->high ? at->p_vaddr + at->p_filesz : text->high;
	}
	return text->low < text->high ? 0 : -ENOEXEC;
}

/* The build-id within a segment of notes; 0: there is none. */
static size_t symbols_note(const struct ktr__elf_file *file, const Elf64_Phdr *segment, const uint8_t **id)
{
	uint64_t offset = segment->p_offset, end = offset + segment->p_filesz;
	const Elf64_Nhdr *note;

	while (end >= offset && (note = symbols_at(file, offset, sizeof(*note), _Alignof(Elf64_Nhdr))) != NULL &&
	       offset + sizeof(*note) <= end) {
		uint64_t name = offset + sizeof(*note), what = name + ((note->n_namesz + 3ull) & ~3ull);

		*id = symbols_at(file, what, note->n_descsz, 1);
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) && *id &&
		    memcmp(file->bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
			return note->n_descsz;
		offset = what + ((note->n_descsz + 3ull) & ~3ull);
	}
	return 0;
}

/* Build-ids longer than KTR_BUILD_ID_MAX were cut when they were recorded. */
static int symbols_same(const struct ktr__elf_file *file, const uint8_t *build_id, size_t n_build_id)
{
	const Elf64_Ehdr *head = symbols_at(file, 0, sizeof(*head), _Alignof(Elf64_Ehdr));
	const Elf64_Phdr *segment = head ? symbols_segments(file, head) : NULL;
	const uint8_t *id = NULL;
	uint64_t made[2];
	size_t n = 0;

	for (unsigned i = 0; segment && i < head->e_phnum && !n; i++)
		n = segment[i].p_type == PT_NOTE ? symbols_note(file, &segment[i], &id) : 0;
	if (!n) {
		ktr__elf_file_id(&file->st, made);
		id = (const uint8_t *)made;
		n = sizeof(made);
	}
	n = n > KTR_BUILD_ID_MAX ? KTR_BUILD_ID_MAX : n;
	return n == n_build_id && memcmp(id, build_id, n) == 0;
}

/* ---- names ---- */

static int symbols_name_add(struct ktr__gmon_symbols *symbols, uint32_t symbol, const char *shown, size_t skip)
{
	if (ktr__array_grow(&symbols->name, &symbols->name_room, symbols->n_names, sizeof(*symbols->name)))
		return -ENOMEM;
	symbols->name[symbols->n_names++] = (struct symbols_name){
		.hash = ktr__hash_bytes(0, shown + skip, strlen(shown + skip)),
		.address = symbols->symbol[symbol].st_value,
		.symbol = symbol,
		.skip = (uint32_t)skip,
	};
	return 0;
}

static const char *symbols_shown(const struct ktr__gmon_symbols *symbols, uint32_t symbol,
				 char text[KTR__DEMANGLE_MAX])
{
	return ktr__demangle(symbols->strings + symbols->symbol[symbol].st_name, KTR__DEMANGLE_WHOLE, text);
}

static int symbols_take(struct ktr__gmon_symbols *symbols, uint32_t i)
{
	char text[KTR__DEMANGLE_MAX];
	const char *shown = symbols_shown(symbols, i, text);
	int rc = symbols_name_add(symbols, i, shown, 0);

	for (const char *at = shown; shown == text && !rc && (at = strchr(at, ' ')) != NULL;)
		rc = symbols_name_add(symbols, i, shown, (size_t)(++at - shown));
	if (!rc)
		rc = ktr__array_grow(&symbols->begin, &symbols->begin_room, symbols->n_begins, sizeof(uint64_t));
	if (!rc)
		symbols->begin[symbols->n_begins++] = symbols->symbol[i].st_value;
	return rc;
}

/* 1 if the file has a table of this type. */
static int symbols_table(struct ktr__gmon_symbols *symbols, uint32_t type, int *rc)
{
	const struct ktr__elf_file *file = &symbols->file;
	const Elf64_Ehdr *head = symbols_at(file, 0, sizeof(*head), _Alignof(Elf64_Ehdr));
	const Elf64_Shdr *section = NULL, *table, *text;
	unsigned at = 0;

	if (head && head->e_shentsize == sizeof(Elf64_Shdr))
		section = symbols_at(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr),
				     _Alignof(Elf64_Shdr));
	while (section && at < head->e_shnum && section[at].sh_type != type)
		at++;
	if (!section || at == head->e_shnum || section[at].sh_link >= head->e_shnum)
		return 0;
	table = &section[at];
	text = &section[table->sh_link];
	symbols->symbol = symbols_at(file, table->sh_offset, table->sh_size, _Alignof(Elf64_Sym));
	symbols->strings = symbols_at(file, text->sh_offset, text->sh_size, 1);
	if (!symbols->symbol || !symbols->strings || !text->sh_size || symbols->strings[text->sh_size - 1] ||
	    table->sh_size / sizeof(Elf64_Sym) > UINT32_MAX)
		return 0;
	for (uint32_t i = 0; i < table->sh_size / sizeof(Elf64_Sym) && !*rc; i++) {
		const Elf64_Sym *symbol = &symbols->symbol[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
		    symbol->st_name < text->sh_size)
			*rc = symbols_take(symbols, i);
	}
	return 1;
}

static int symbols_by_hash(const void *a, const void *b)
{
	const struct symbols_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->skip > y->skip) - (x->skip < y->skip);
}

static int symbols_by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int ktr__gmon_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id, uint64_t max_bytes,
			   struct ktr__gmon_symbols **out, struct ktr__gmon_text *text)
{
	struct ktr__gmon_symbols *symbols = calloc(1, sizeof(*symbols));
	struct stat is;
	int too_large = stat(path, &is) == 0 && (uint64_t)is.st_size > max_bytes;
	int rc = -ENOMEM;

	if (symbols)
		rc = too_large ? -EFBIG : ktr__elf_file_read(path, &symbols->file);

	*out = NULL;
	if (!symbols)
		return rc;
	if (!rc && !symbols_same(&symbols->file, build_id, n_build_id))
		rc = -ESTALE;
	if (!rc)
		rc = symbols_text(&symbols->file, text);
	if (!rc && !symbols_table(symbols, SHT_SYMTAB, &rc) && !rc)
		symbols_table(symbols, SHT_DYNSYM, &rc);
	if (rc) {
		ktr__gmon_symbols_free(symbols);
		return rc;
	}
	if (symbols->n_names)
		qsort(symbols->name, symbols->n_names, sizeof(*symbols->name), symbols_by_hash);
	if (symbols->n_begins)
		qsort(symbols->begin, symbols->n_begins, sizeof(*symbols->begin), symbols_by_address);
	*out = symbols;
	return 0;
}

void ktr__gmon_symbols_free(struct ktr__gmon_symbols *symbols)
{
	if (!symbols)
		return;
	ktr__elf_file_close(&symbols->file);
	free(symbols->name);
	free(symbols->begin);
	free(symbols);
}

int ktr__gmon_symbols_find(const struct ktr__gmon_symbols *symbols, const char *name, uint64_t *address)
{
	uint64_t hash = ktr__hash_bytes(0, name, strlen(name));
	uint32_t from = 0, to = symbols->n_names, skip = 0;
	char text[KTR__DEMANGLE_MAX];
	int found = 0;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (symbols->name[middle].hash < hash)
			from = middle + 1;
		else
			to = middle;
	}
	/* A whole name goes before a part of one; several of one function are one. */
	for (; from < symbols->n_names && symbols->name[from].hash == hash; from++) {
		const struct symbols_name *at = &symbols->name[from];

		if (strcmp(symbols_shown(symbols, at->symbol, text) + at->skip, name) != 0)
			continue;
		if (found && at->skip > skip && !skip)
			break;
		if (found && at->address != *address)
			return 0;
		*address = at->address;
		skip = at->skip;
		found = 1;
	}
	return found;
}

uint64_t ktr__gmon_symbols_begin(const struct ktr__gmon_symbols *symbols, uint64_t address)
{
	uint32_t from = 0, to = symbols->n_begins;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (symbols->begin[middle] <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? symbols->begin[from - 1] : 0;
}

uint64_t ktr__gmon_symbols_lowest(const struct ktr__gmon_symbols *symbols)
{
	return symbols->n_begins ? symbols->begin[0] : 0;
}
