/* SPDX-License-Identifier: BSD-2-Clause */
/* A file may be any file by now: everything in it is checked against its length. Layout: elf(5). */
#include "ktr/provider/fbt/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbols_file {
	const uint8_t *at;
	uint64_t n_bytes;
};

/* Memory of the file, aligned as what lies there; NULL: it does not reach so far. */
static const void *symbols_at(const struct symbols_file *file, uint64_t offset, uint64_t n_bytes, uint64_t align)
{
	bool there = offset % align == 0 && offset <= file->n_bytes && n_bytes <= file->n_bytes - offset;

	return there ? file->at + offset : NULL;
}

static const Elf64_Shdr *symbols_sections(const struct symbols_file *file, unsigned *n)
{
	const Elf64_Ehdr *head = symbols_at(file, 0, sizeof(*head), 1);

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*n = head->e_shnum;
	return symbols_at(file, head->e_shoff, (uint64_t)*n * sizeof(Elf64_Shdr), _Alignof(Elf64_Shdr));
}

static bool symbols_of(const struct symbols_file *file, uint32_t type, ktr__fbt_symbol_fn *call, void *context)
{
	unsigned n = 0, at = 0;
	const Elf64_Shdr *section = symbols_sections(file, &n), *table, *text;
	const Elf64_Sym *symbol;
	const char *strings;

	while (section && at < n && section[at].sh_type != type)
		at++;
	if (!section || at == n || section[at].sh_link >= n)
		return false;
	table = &section[at];
	text = &section[table->sh_link];
	symbol = symbols_at(file, table->sh_offset, table->sh_size, _Alignof(Elf64_Sym));
	strings = symbols_at(file, text->sh_offset, text->sh_size, 1);
	if (!symbol || !strings || !text->sh_size || strings[text->sh_size - 1])
		return false;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*symbol); i++)
		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC && symbol[i].st_shndx != SHN_UNDEF &&
		    symbol[i].st_name < text->sh_size)
			call(context, strings + symbol[i].st_name, symbol[i].st_value,
			     ELF64_ST_BIND(symbol[i].st_info));
	return true;
}

int ktr__fbt_symbols(const char *path, ktr__fbt_symbol_fn *call, void *context)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
	struct symbols_file file = { NULL, 0 };
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		code = -ENOEXEC;
	file.n_bytes = code ? 0 : (uint64_t)stat.st_size;
	file.at = code || !file.n_bytes ? MAP_FAILED : mmap(NULL, file.n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file.at == MAP_FAILED)
		return code ? code : -ENOEXEC;
	if (!symbols_of(&file, SHT_SYMTAB, call, context) && !symbols_of(&file, SHT_DYNSYM, call, context))
		code = -ENOEXEC;
	munmap((void *)(uintptr_t)file.at, file.n_bytes);
	return code;
}
