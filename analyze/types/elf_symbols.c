/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols beside DWARF. A compiler that makes a version of a function with fewer arguments leaves DWARF's name as
 * it is and calls the symbol f.isra.0 or f.constprop.0: only so it shows.
 */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/elf_symbols.h"

#include "conf/kit/hash.h"

#include <stdio.h>
#include <string.h>

#define ELF_SYMBOL_MAX 32768 /* [bytes] of a name; longer ones are cut */

static const char *const elf_clones[] = { ".isra.", ".constprop.", ".part.", ".argprom", ".specialized." };

static int elf_is_clone(const char *name)
{
	for (size_t i = 0; i < sizeof(elf_clones) / sizeof(elf_clones[0]); i++)
		if (strstr(name, elf_clones[i]))
			return 1;
	return 0;
}

/* Is a symbol the linker's name of a function, perhaps with something behind it? 2, 1, or 0. */
static int elf_is_own(const char *symbol, const char *linkage)
{
	size_t n = strlen(linkage);

	return strncmp(symbol, linkage, n) != 0 ? 0 : !symbol[n] ? 2 : symbol[n] == '.';
}

static const char *elf_linkage(const struct ktr__types_build *build, const struct ktr__types_function *f)
{
	return build->strings + (f->linkage ? f->linkage : f->name);
}

static void elf_symbol_names(struct ktr__types_build *build, uint32_t i, const char *name)
{
	uint32_t text = ktr__types_build_text(build, name);

	build->function[i].symbol = text;
	if (elf_is_clone(name))
		build->function[i].flags |= KTR__TYPES_CLONE;
}

static void elf_symbol_new(struct ktr__types_build *build, const GElf_Sym *sym, uint64_t address, const char *name,
			   const struct ktr__types_function *same)
{
	struct ktr__types_function f = { .language = KTR__TYPES_OTHER };

	if (same)
		f = *same;
	f.address = address;
	f.size = sym->st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)sym->st_size;
	f.flags |= same ? KTR__TYPES_ALIAS : KTR__TYPES_UNTYPED;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		f.flags |= KTR__TYPES_LOCAL;
	f.name = f.linkage = ktr__types_build_text(build, name);
	f.symbol = 0;
	ktr__types_build_function(build, &f);
}

/* One symbol, at an address where the first function of DWARF's is known (+ 1) or none (0). */
static void elf_symbol(struct ktr__types_build *build, const GElf_Sym *sym, uint64_t address, const char *name,
		       uint32_t known, uint32_t n_dwarf)
{
	for (uint32_t i = known; i && i <= n_dwarf && build->function[i - 1].address == address; i++) {
		int own = elf_is_own(name, elf_linkage(build, &build->function[i - 1]));

		if (own == 2 || strcmp(name, build->strings + build->function[i - 1].name) == 0)
			return;
		if (own && !build->function[i - 1].symbol) {
			elf_symbol_names(build, i - 1, name);
			return;
		}
	}
	if (known) {
		struct ktr__types_function same = build->function[known - 1];

		elf_symbol_new(build, sym, address, name, &same);
	} else {
		elf_symbol_new(build, sym, address, name, NULL);
	}
}

void ktr__elf_symbols(struct ktr__types_build *build, Dwfl_Module *module, uint64_t bias)
{
	int n = dwfl_module_getsymtab(module);
	uint32_t n_dwarf = build->head.n_functions;
	struct ktr__word_map known = { 0 }, seen = { 0 };
	uint32_t *at;

	for (uint32_t i = 0; i < n_dwarf; i++)
		if ((at = ktr__word_map_at(&known, build->function[i].address)) != NULL && !*at)
			*at = i + 1;
	for (int i = 1; i < n && !build->error; i++) {
		char plain[ELF_SYMBOL_MAX];
		GElf_Addr address;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		unsigned type = GELF_ST_TYPE(sym.st_info);

		if (!name || !name[0] || sym.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		/* A version, name@GLIBC_2.2.5, is none of the name. */
		snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
		/* The linker's symbols are the program's once more. */
		at = ktr__word_map_at(&seen, ktr__hash_word(address, ktr__types_build_text(build, plain)));
		if (!at || *at)
			continue;
		*at = 1;
		elf_symbol(build, &sym, address - bias, plain, ktr__word_map_get(&known, address - bias), n_dwarf);
	}
	ktr__word_map_free(&known);
	ktr__word_map_free(&seen);
}

#endif
