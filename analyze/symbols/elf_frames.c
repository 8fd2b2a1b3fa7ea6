/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table is that of .eh_frame_hdr (Linux Standard Base, Core, 10.6.2) in the form that linkers write: offsets
 * of 4 bytes from the table's own beginning. No number in the file is believed.
 */
#include "analyze/symbols/elf_frames.h"

#include <elf.h>
#include <string.h>

#define FRAMES_COUNT 0x03 /* DW_EH_PE_udata4 */
#define FRAMES_TABLE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct frames_head {
	uint8_t version, at_encoding, count_encoding, table_encoding;
	int32_t at;
	uint32_t count;
};

struct frames_row {
	int32_t begin, at;
};

/* A program header by its number; 0: there is none. */
static int frames_phdr(const struct ktr__elf_file *file, unsigned number, Elf64_Phdr *phdr)
{
	Elf64_Ehdr ehdr;

	if (file->n_bytes < sizeof(ehdr))
		return 0;
	memcpy(&ehdr, file->bytes, sizeof(ehdr));
	if (number >= ehdr.e_phnum || ehdr.e_phentsize != sizeof(*phdr) || ehdr.e_phoff > file->n_bytes ||
	    file->n_bytes - ehdr.e_phoff < (number + 1ull) * sizeof(*phdr))
		return 0;
	memcpy(phdr, file->bytes + ehdr.e_phoff + number * sizeof(*phdr), sizeof(*phdr));
	return 1;
}

static int frames_table(const struct ktr__elf_file *file, const Elf64_Phdr *phdr,
			int (*call)(void *context, uint64_t address), void *context)
{
	const char *table = file->bytes + phdr->p_offset + sizeof(struct frames_head);
	struct frames_head head;
	struct frames_row row;
	int rc = 0;

	if (phdr->p_offset > file->n_bytes || phdr->p_filesz > file->n_bytes - phdr->p_offset ||
	    phdr->p_filesz < sizeof(head))
		return 0;
	memcpy(&head, file->bytes + phdr->p_offset, sizeof(head));
	if (head.version != 1 || head.count_encoding != FRAMES_COUNT || head.table_encoding != FRAMES_TABLE ||
	    head.count > (phdr->p_filesz - sizeof(head)) / sizeof(row))
		return 0;
	for (uint32_t i = 0; i < head.count && !rc; i++) {
		memcpy(&row, table + i * sizeof(row), sizeof(row));
		rc = call(context, phdr->p_vaddr + (uint64_t)(int64_t)row.begin);
	}
	return rc;
}

int ktr__elf_frames(const struct ktr__elf_file *file, int (*call)(void *context, uint64_t address), void *context)
{
	Elf64_Phdr phdr;

	for (unsigned i = 0; frames_phdr(file, i, &phdr); i++)
		if (phdr.p_type == PT_GNU_EH_FRAME)
			return frames_table(file, &phdr, call, context);
	return 0;
}
