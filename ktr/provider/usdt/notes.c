/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file may be any file by now: everything in it is checked against its length, and how much is looked at is
 * bounded. It is read, not mapped, for it may be cut short meanwhile, and not waited for, for it may be a FIFO.
 * Layout: elf(5), and for the notes https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation. They are
 * not part of what is loaded.
 *
 * Who moves an object in its file (prelink) leaves the notes as they are: how far is the difference between where
 * the section .stapsdt.base is and where the note says that it is.
 */
#include "ktr/provider/usdt/notes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_STAPSDT 3 /* the type */

/* While a file is read nothing else can be loaded: who has more of anything has some that are not seen. */
#define NOTES_MAX     16384u	   /* notes; qemu has some 4,000 */
#define NOTES_BYTES   (256u << 20) /* [bytes] of one section */
#define NOTES_SYMBOLS (1u << 26)   /* that are compared with names */
#define NOTES_NAME    1024u	   /* [bytes] of a symbol that is looked for */

struct notes_piece {
	struct notes_piece *next;
	uint64_t offset, n_bytes;
	_Alignas(16) uint8_t at[];
};

struct notes_file {
	int fd;
	uint64_t n_bytes;
	Elf64_Ehdr head;
	const Elf64_Shdr *section;
	const Elf64_Shdr *notes; /* NULL: there are none */
	struct notes_piece *pieces; /* what was read; owned */
	uint64_t n_symbols; /* that may still be looked at */
};

/* Memory with what the file has there; NULL: it does not reach so far. */
static const void *notes_at(struct notes_file *file, uint64_t offset, uint64_t n_bytes)
{
	struct notes_piece *piece = file->pieces;

	if (!n_bytes || offset > file->n_bytes || n_bytes > file->n_bytes - offset || n_bytes > NOTES_BYTES)
		return NULL;
	while (piece && (piece->offset != offset || piece->n_bytes != n_bytes))
		piece = piece->next;
	if (piece)
		return piece->at;
	piece = malloc(sizeof(*piece) + n_bytes);
	if (!piece)
		return NULL;
	if (pread(file->fd, piece->at, n_bytes, (off_t)offset) != (ssize_t)n_bytes) {
		free(piece);
		return NULL;
	}
	piece->offset = offset;
	piece->n_bytes = n_bytes;
	piece->next = file->pieces;
	file->pieces = piece;
	return piece->at;
}

static const void *notes_of(struct notes_file *file, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_NOBITS ? NULL : notes_at(file, section->sh_offset, section->sh_size);
}

/* Strings, the last of which ends in the section, too. */
static const char *notes_strings(struct notes_file *file, const Elf64_Shdr *section)
{
	const char *text = notes_of(file, section);

	return text && !text[section->sh_size - 1] ? text : NULL;
}

static bool notes_sections(struct notes_file *file)
{
	Elf64_Ehdr *head = &file->head;

	if (pread(file->fd, head, sizeof(*head), 0) != sizeof(*head) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_machine != EM_X86_64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
	    head->e_shstrndx >= head->e_shnum)
		return false;
	file->section = notes_at(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
	return file->section != NULL;
}

static const Elf64_Shdr *notes_section(struct notes_file *file, const char *name)
{
	const Elf64_Shdr *names = &file->section[file->head.e_shstrndx];
	const char *text = notes_strings(file, names);

	for (unsigned i = 0; text && i < file->head.e_shnum; i++)
		if (file->section[i].sh_name < names->sh_size && strcmp(text + file->section[i].sh_name, name) == 0)
			return &file->section[i];
	return NULL;
}

/* Of files without one, what lies at the probes' places has to tell. */
static bool notes_same_build(struct notes_file *file, const struct ktr__object *loaded)
{
	const Elf64_Shdr *section = notes_section(file, ".note.gnu.build-id");
	const uint8_t *note = section ? notes_of(file, section) : NULL;
	size_t n = loaded->build_id_bytes;
	Elf64_Nhdr head;

	if (!note || section->sh_size < sizeof(head) + 4)
		return !loaded->has_build_id;
	memcpy(&head, note, sizeof(head));
	return loaded->has_build_id && (head.n_descsz == n || (n == KTR_BUILD_ID_MAX && head.n_descsz > n)) &&
	       section->sh_size >= sizeof(head) + 4 + n &&
	       memcmp(note + sizeof(head) + 4, loaded->build_id, n) == 0;
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

static void notes_one(struct ktr__usdt_note *note, const char *desc, size_t n, uint64_t base,
		      ktr__usdt_note_fn *call, void *context)
{
	uint64_t word[3];

	if (n < sizeof(word))
		return;
	memcpy(word, desc, sizeof(word));
	desc += sizeof(word);
	n -= sizeof(word);
	if (!(note->provider = notes_text(&desc, &n)) || !(note->name = notes_text(&desc, &n)) ||
	    !(note->args = notes_text(&desc, &n)))
		return;
	if (!base)
		base = word[1];
	note->at = word[0] + base - word[1];
	note->semaphore = word[2] ? word[2] + base - word[1] : 0;
	call(context, note);
}

static void notes_all(struct notes_file *file, ktr__usdt_note_fn *call, void *context)
{
	const Elf64_Shdr *base = notes_section(file, ".stapsdt.base");
	struct ktr__usdt_note note = { .file = file, .may_be_ktr = notes_section(file, "ktr_sites") != NULL };
	const char *at = notes_of(file, file->notes);
	uint64_t left = at ? file->notes->sh_size : 0;
	Elf64_Nhdr head;

	for (unsigned i = 0; i < NOTES_MAX && left >= sizeof(head); i++) {
		uint64_t name, desc;

		memcpy(&head, at, sizeof(head));
		name = ((uint64_t)head.n_namesz + 3) & ~3ull;
		desc = ((uint64_t)head.n_descsz + 3) & ~3ull;
		left -= sizeof(head);
		at += sizeof(head);
		if (name > left || head.n_descsz > left - name)
			return;
		if (head.n_type == NOTES_STAPSDT && head.n_namesz == sizeof("stapsdt") &&
		    !memcmp(at, "stapsdt", sizeof("stapsdt")))
			notes_one(&note, at + name, head.n_descsz, base ? base->sh_addr : 0, call, context);
		desc = desc > left - name ? left - name : desc;
		at += name + desc;
		left -= name + desc;
	}
}

static int notes_read(struct notes_file *file, const struct ktr__object *loaded, ktr__usdt_note_fn *call,
		      void *context)
{
	if (!notes_sections(file))
		return -ENOEXEC;
	file->notes = notes_section(file, ".note.stapsdt");
	if (!file->notes)
		return 0;
	if (!notes_same_build(file, loaded))
		return -ESTALE;
	notes_all(file, call, context);
	return 0;
}

int ktr__usdt_notes(const char *path, const struct ktr__object *loaded, ktr__usdt_note_fn *call, void *context)
{
	struct notes_file file = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
				   .n_symbols = NOTES_SYMBOLS };
	struct stat stat;
	int code = -ENOEXEC;

	if (file.fd < 0)
		return -errno;
	if (!fstat(file.fd, &stat) && S_ISREG(stat.st_mode)) {
		file.n_bytes = (uint64_t)stat.st_size;
		code = notes_read(&file, loaded, call, context);
	}
	close(file.fd);
	for (struct notes_piece *at = file.pieces, *next; at; at = next) {
		next = at->next;
		free(at);
	}
	return code;
}

static uint64_t notes_symbol(struct notes_file *file, uint32_t type, const char *name, size_t n)
{
	for (unsigned i = 0; i < file->head.e_shnum; i++) {
		const Elf64_Shdr *table = &file->section[i], *text;
		const Elf64_Sym *symbol;
		const char *strings;

		if (table->sh_type != type || table->sh_link >= file->head.e_shnum)
			continue;
		text = &file->section[table->sh_link];
		symbol = notes_of(file, table);
		strings = notes_strings(file, text);
		if (!symbol || !strings)
			continue;
		for (uint64_t k = 0; k < table->sh_size / sizeof(*symbol) && file->n_symbols;
		     k++, file->n_symbols--)
			if (symbol[k].st_shndx != SHN_UNDEF && symbol[k].st_name < text->sh_size &&
			    !strncmp(strings + symbol[k].st_name, name, n) && !strings[symbol[k].st_name + n])
				return symbol[k].st_value;
	}
	return 0;
}

uint64_t ktr__usdt_notes_symbol(const struct ktr__usdt_note *note, const char *name, size_t n)
{
	uint64_t address = 0;

	if (n && n < NOTES_NAME && !memchr(name, 0, n)) {
		address = notes_symbol(note->file, SHT_SYMTAB, name, n);
		address = address ? address : notes_symbol(note->file, SHT_DYNSYM, name, n);
	}
	return address;
}

bool ktr__usdt_notes_bytes(const struct ktr__usdt_note *note, uint64_t at, uint8_t *to, size_t n)
{
	const struct notes_file *file = note->file;

	for (unsigned i = 0; i < file->head.e_shnum; i++) {
		const Elf64_Shdr *text = &file->section[i];

		if ((text->sh_flags & SHF_EXECINSTR) && at >= text->sh_addr && at - text->sh_addr < text->sh_size &&
		    n <= text->sh_size - (at - text->sh_addr))
			return pread(file->fd, to, n, (off_t)(text->sh_offset + (at - text->sh_addr))) ==
			       (ssize_t)n;
	}
	return false;
}
