/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A core made by hand: pieces of memory, and what was mapped. Pieces may lie anywhere, also where no
 * kernel would have put them.
 */
#ifndef TESTS_CORE_IMAGE_H
#define TESTS_CORE_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#define CORE_BASE 0x7f0000000000ull /* where the session is mapped */

struct core_piece {
	uint64_t at; /* address */
	const void *bytes;
	uint64_t n_bytes;
};

static inline size_t core_note(unsigned char *to, uint32_t type, const void *bytes, size_t n)
{
	Elf64_Nhdr note = { 5, (Elf64_Word)n, type };

	memcpy(to, &note, sizeof(note));
	memcpy(to + sizeof(note), "CORE\0\0\0", 8);
	memcpy(to + sizeof(note) + 8, bytes, n);
	return sizeof(note) + 8 + (n + 3) / 4 * 4;
}

/* The notes of a process that had one file mapped; mapped NULL: none. How many bytes. */
static inline size_t core_notes(unsigned char *to, const char *mapped, uint32_t pid)
{
	struct elf_prpsinfo info = { .pr_pid = (int)pid, .pr_fname = "made" };
	uint64_t words[5] = { 1, 1, CORE_BASE, CORE_BASE + 4096, 0 };
	unsigned char files[256] = "";
	size_t n = core_note(to, NT_PRPSINFO, &info, sizeof(info));

	if (!mapped)
		return n;
	memcpy(files, words, sizeof(words));
	memcpy(files + sizeof(words), mapped, strlen(mapped) + 1);
	return n + core_note(to + n, NT_FILE, files, sizeof(words) + strlen(mapped) + 1);
}

/* Owned bytes. mapped: a path of at most 200 bytes, or NULL. */
static inline unsigned char *core_make(const struct core_piece *piece, unsigned n,
				       const char *mapped, uint32_t pid, size_t *size)
{
	Elf64_Ehdr elf = { .e_type = ET_CORE,
			   .e_machine = EM_X86_64,
			   .e_phoff = sizeof(elf),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = (Elf64_Half)(n + 1) };
	size_t at = sizeof(elf) + (n + 1) * sizeof(Elf64_Phdr), total = at + 1024;
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_offset = at };
	unsigned char *bytes;

	for (unsigned i = 0; i < n; i++)
		total += piece[i].n_bytes;
	bytes = calloc(1, total);
	memcpy(elf.e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	memcpy(bytes, &elf, sizeof(elf));
	notes.p_filesz = core_notes(bytes + at, mapped, pid);
	memcpy(bytes + sizeof(elf), &notes, sizeof(notes));
	at += notes.p_filesz;
	for (unsigned i = 0; i < n; i++) {
		Elf64_Phdr segment = { .p_type = PT_LOAD,
				       .p_offset = at,
				       .p_vaddr = piece[i].at,
				       .p_filesz = piece[i].n_bytes,
				       .p_memsz = piece[i].n_bytes };

		memcpy(bytes + sizeof(elf) + (i + 1) * sizeof(segment), &segment, sizeof(segment));
		memcpy(bytes + at, piece[i].bytes, piece[i].n_bytes);
		at += piece[i].n_bytes;
	}
	*size = at;
	return bytes;
}

#endif
