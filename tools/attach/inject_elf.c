/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols by DT_GNU_HASH (an extension of GNU's to ELF, which every object of glibc has): a Bloom filter, which we
 * need not ask, buckets, and chains whose last value is odd. Every number is believed as far as it leads to memory
 * that can be read; a chain is followed for a bounded number of steps.
 */
#include "tools/attach/inject_elf.h"

#include "tools/attach/inject_memory.h"

#include <elf.h>
#include <string.h>

#define INJECT_ELF_PARTS   64   /* program headers that are looked at */
#define INJECT_ELF_DYNAMIC 128  /* entries likewise */
#define INJECT_ELF_CHAIN   4096 /* steps */
#define INJECT_ELF_NAME    64

/* glibc's loader puts addresses where the file has offsets, but not where it may not write. */
static uint64_t inject_elf_address(const struct inject_elf *elf, uint64_t value)
{
	return value && value < elf->base ? elf->base + value : value;
}

static void inject_elf_dynamic(struct inject_elf *elf, uint64_t at, uint64_t bytes)
{
	Elf64_Dyn entry;

	for (unsigned i = 0; i < INJECT_ELF_DYNAMIC && (i + 1) * sizeof(entry) <= bytes; i++) {
		if (!inject_memory_read(elf->fd, at + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		switch (entry.d_tag) {
		case DT_SYMTAB:
			elf->symbols = inject_elf_address(elf, entry.d_un.d_ptr);
			break;
		case DT_STRTAB:
			elf->strings = inject_elf_address(elf, entry.d_un.d_ptr);
			break;
		case DT_VERSYM:
			elf->versions = inject_elf_address(elf, entry.d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			elf->hash = inject_elf_address(elf, entry.d_un.d_ptr);
			break;
		default:
			break;
		}
	}
}

int inject_elf_open(int fd, uint64_t base, struct inject_elf *elf)
{
	Elf64_Phdr part;
	Elf64_Ehdr head;
	uint64_t slide = base;

	*elf = (struct inject_elf){ .fd = fd, .base = base };
	if (!inject_memory_read(fd, base, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != EM_X86_64 || head.e_phentsize != sizeof(part))
		return 0;
	if (head.e_type == ET_EXEC)
		slide = 0;
	for (unsigned i = 0; i < head.e_phnum && i < INJECT_ELF_PARTS; i++) {
		if (!inject_memory_read(fd, base + head.e_phoff + i * sizeof(part), &part,
					sizeof(part)))
			return 0;
		if (part.p_type == PT_INTERP)
			elf->has_loader = 1;
		else if (part.p_type == PT_TLS)
			elf->tls = part.p_memsz + part.p_align;
		else if (part.p_type == PT_DYNAMIC)
			inject_elf_dynamic(elf, slide + part.p_vaddr, part.p_memsz);
	}
	return 1;
}

static uint32_t inject_elf_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* Is symbol i the default one of this name, and defined? Its address, or 0. */
static uint64_t inject_elf_is(const struct inject_elf *elf, uint32_t i, const char *name)
{
	char text[INJECT_ELF_NAME];
	size_t n = strlen(name) + 1;
	uint16_t version = 0;
	Elf64_Sym symbol;

	if (!inject_memory_read(elf->fd, elf->symbols + i * sizeof(symbol), &symbol,
				sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || n > sizeof(text) ||
	    !inject_memory_read(elf->fd, elf->strings + symbol.st_name, text, n) ||
	    memcmp(text, name, n) != 0)
		return 0;
	if (elf->versions &&
	    inject_memory_read(elf->fd, elf->versions + i * sizeof(version), &version,
			       sizeof(version)) &&
	    version & 0x8000) /* hidden: one of before */
		return 0;
	return elf->base + symbol.st_value;
}

uint64_t inject_elf_symbol(const struct inject_elf *elf, const char *name)
{
	uint32_t head[4], hash = inject_elf_hash(name), i,
			  chain; /* buckets, first symbol, words of the filter, shift */
	uint64_t buckets, chains, found;

	if (!elf->hash || !elf->symbols || !elf->strings ||
	    !inject_memory_read(elf->fd, elf->hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = elf->hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	if (!inject_memory_read(elf->fd, buckets + (uint64_t)(hash % head[0]) * 4, &i, sizeof(i)) ||
	    i < head[1])
		return 0;
	for (unsigned n = 0; n < INJECT_ELF_CHAIN; n++, i++) {
		if (!inject_memory_read(elf->fd, chains + (uint64_t)(i - head[1]) * 4, &chain,
					sizeof(chain)))
			return 0;
		if ((chain | 1) == (hash | 1) && (found = inject_elf_is(elf, i, name)))
			return found;
		if (chain & 1)
			return 0;
	}
	return 0;
}
