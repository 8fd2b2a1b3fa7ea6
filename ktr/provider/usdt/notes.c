/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file may be any file by now: everything in it is checked against its length. Layout: elf(5), and for the notes
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation. They are not part of what is loaded.
 *
 * Who moves an object in its file (prelink) leaves the notes as they are: how far is the difference between where
 * the section .stapsdt.base is and where the note says that it is.
 */
#include "ktr/provider/usdt/notes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_STAPSDT 3 /* the type */

struct notes_file {
	const uint8_t *at;
	uint64_t n_bytes;
	const Elf64_Shdr *section;
	unsigned n_sections;
};

/* Memory of the file; NULL: it does not reach so far, or is not aligned. */
static const void *notes_at(const struct notes_file *file, uint64_t offset, uint64_t n_bytes, uint64_t align)
{
	bool there = offset % align == 0 && offset <= file->n_bytes && n_bytes <= file->n_bytes - offset;

	return there ? file->at + offset : NULL;
}

static bool notes_sections(struct notes_file *file)
{
	const Elf64_Ehdr *head = notes_at(file, 0, sizeof(*head), 1);

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_machine != EM_X86_64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
	    head->e_shstrndx >= head->e_shnum)
		return false;
	file->n_sections = head->e_shnum;
	file->section = notes_at(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr),
				 _Alignof(Elf64_Shdr));
	return file->section != NULL;
}

static const Elf64_Shdr *notes_section(const struct notes_file *file, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file->at;
	const Elf64_Shdr *names = &file->section[head->e_shstrndx];
	const char *text = notes_at(file, names->sh_offset, names->sh_size, 1);

	if (!text || !names->sh_size || text[names->sh_size - 1])
		return NULL;
	for (unsigned i = 0; i < file->n_sections; i++)
		if (file->section[i].sh_name < names->sh_size && strcmp(text + file->section[i].sh_name, name) == 0)
			return &file->section[i];
	return NULL;
}

static bool notes_same_build(const struct notes_file *file, const struct ktr__object *loaded)
{
	const Elf64_Shdr *section = notes_section(file, ".note.gnu.build-id");
	const uint8_t *note = section ? notes_at(file, section->sh_offset, section->sh_size, 4) : NULL;
	size_t n = loaded->build_id_bytes;

	if (!note)
		return true; /* then what lies at the probes' places has to tell */
	return section->sh_size >= sizeof(Elf64_Nhdr) + 4 + n &&
	       memcmp(note + sizeof(Elf64_Nhdr) + 4, loaded->build_id, n) == 0;
}

/* Of n bytes the next string, with its NUL; NULL: it has none. */
static const char *notes_text(const char **at, size_t *n)
{
	const char *text = *at, *end = memchr(text, 0, *n);

	if (!end)
		return NULL;
	*n -= (size_t)(end + 1 - text);
	*at = end + 1;
	return text;
}

static void notes_one(const struct notes_file *file, const char *desc, size_t n, uint64_t base,
		      ktr__usdt_note_fn *call, void *context)
{
	struct ktr__usdt_note note = { .file = file, .may_be_ktr = notes_section(file, "ktr_sites") != NULL };
	uint64_t word[3];

	if (n < sizeof(word))
		return;
	memcpy(word, desc, sizeof(word));
	desc += sizeof(word);
	n -= sizeof(word);
	if (!(note.provider = notes_text(&desc, &n)) || !(note.name = notes_text(&desc, &n)) ||
	    !(note.args = notes_text(&desc, &n)))
		return;
	if (!base)
		base = word[1];
	note.at = word[0] + base - word[1];
	note.semaphore = word[2] ? word[2] + base - word[1] : 0;
	call(context, &note);
}

static void notes_all(const struct notes_file *file, ktr__usdt_note_fn *call, void *context)
{
	const Elf64_Shdr *section = notes_section(file, ".note.stapsdt");
	const Elf64_Shdr *base = notes_section(file, ".stapsdt.base");
	const char *at = section ? notes_at(file, section->sh_offset, section->sh_size, 4) : NULL;
	uint64_t left = at ? section->sh_size : 0;

	while (left >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *head = (const Elf64_Nhdr *)(const void *)at;
		uint64_t name = ((uint64_t)head->n_namesz + 3) & ~3ull;
		uint64_t desc = ((uint64_t)head->n_descsz + 3) & ~3ull;

		left -= sizeof(*head);
		at += sizeof(*head);
		if (name > left || head->n_descsz > left - name)
			return;
		if (head->n_type == NOTES_STAPSDT && head->n_namesz == sizeof("stapsdt") &&
		    !memcmp(at, "stapsdt", sizeof("stapsdt")))
			notes_one(file, at + name, head->n_descsz, base ? base->sh_addr : 0, call, context);
		desc = desc > left - name ? left - name : desc;
		at += name + desc;
		left -= name + desc;
	}
}

int ktr__usdt_notes(const char *path, const struct ktr__object *loaded, ktr__usdt_note_fn *call, void *context)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
	struct notes_file file = { .at = NULL };
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || !stat.st_size)
		code = -ENOEXEC;
	file.n_bytes = (uint64_t)stat.st_size;
	file.at = code ? MAP_FAILED : mmap(NULL, file.n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file.at == MAP_FAILED)
		return -ENOEXEC;
	if (!notes_sections(&file))
		code = -ENOEXEC;
	else if (notes_section(&file, ".note.stapsdt") && !notes_same_build(&file, loaded))
		code = -ESTALE;
	else
		notes_all(&file, call, context);
	munmap((void *)(uintptr_t)file.at, file.n_bytes);
	return code;
}

static uint64_t notes_symbol(const struct notes_file *file, uint32_t type, const char *name, size_t n)
{
	for (unsigned i = 0; i < file->n_sections; i++) {
		const Elf64_Shdr *table = &file->section[i], *text;
		const Elf64_Sym *symbol;
		const char *strings;

		if (table->sh_type != type || table->sh_link >= file->n_sections)
			continue;
		text = &file->section[table->sh_link];
		symbol = notes_at(file, table->sh_offset, table->sh_size, _Alignof(Elf64_Sym));
		strings = notes_at(file, text->sh_offset, text->sh_size, 1);
		if (!symbol || !strings || !text->sh_size || strings[text->sh_size - 1])
			continue;
		for (uint64_t k = 0; k < table->sh_size / sizeof(*symbol); k++)
			if (symbol[k].st_shndx != SHN_UNDEF && symbol[k].st_name < text->sh_size &&
			    strlen(strings + symbol[k].st_name) == n &&
			    !memcmp(strings + symbol[k].st_name, name, n))
				return symbol[k].st_value;
	}
	return 0;
}

uint64_t ktr__usdt_notes_symbol(const struct ktr__usdt_note *note, const char *name, size_t n)
{
	uint64_t address = notes_symbol(note->file, SHT_SYMTAB, name, n);

	return address ? address : notes_symbol(note->file, SHT_DYNSYM, name, n);
}
