/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of one ELF file, through libdwfl of elfutils.
 *
 * The library looks at a copy of the file, and what is wanted is taken out of it: a sorted array and the names.
 * Then the copy goes, so the build-id that was compared is that of the symbols, and nothing stays open. No sizes
 * are believed. A file without .symtab may have its symbols in a separate one (elf_file.h); else those of the
 * dynamic linker have to do: functions that have no symbol are told apart by where they begin (elf_frames.h).
 */
#include "analyze/symbols/symtab.h"

#include "analyze/symbols/elf_file.h"
#include "analyze/symbols/elf_frames.h"
#include "conf/kit/array.h"

#include <ktr/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

struct symtab_row {
	uint64_t address;
	uint64_t end;  /* as the symbol has it; without a size, where the next one begins */
	uint32_t name; /* in names */
	uint8_t rank;  /* among those of one address; see symtab_rank() */
};

#define SYMTAB_NAMELESS UINT8_MAX /* rank of a function without a symbol; its name is "" */

struct ktr__symtab {
	struct symtab_row *row; /* owned, sorted */
	size_t n_rows;
	char *names; /* owned, each ends in NUL */
	size_t n_names;
	uint64_t low, high; /* what is mapped */
};

/* Symbols may lie within each other: so many are looked at for one that holds the address. */
#define SYMTAB_NESTED 16

const char *ktr__symtab_find(const struct ktr__symtab *symtab, uint64_t address, uint64_t *offset)
{
	size_t from = 0, to = symtab->n_rows;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (symtab->row[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	for (unsigned i = 0; i < SYMTAB_NESTED && i < from; i++) {
		const struct symtab_row *row = &symtab->row[from - 1 - i];

		if (address < row->end) {
			*offset = address - row->address;
			return symtab->names + row->name;
		}
	}
	return NULL;
}

int ktr__symtab_holds(const struct ktr__symtab *symtab, uint64_t address)
{
	return address >= symtab->low && address < symtab->high;
}

size_t ktr__symtab_bytes(const struct ktr__symtab *symtab)
{
	return sizeof(*symtab) + symtab->n_rows * sizeof(*symtab->row) + symtab->n_names;
}

void ktr__symtab_close(struct ktr__symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->row);
	free(symtab->names);
	free(symtab);
}

#if KTR_HAVE_LIBDW

#include <elfutils/libdwfl.h>

struct symtab_open {
	struct ktr__symtab *to;
	const uint8_t *build_id;
	size_t n_build_id;
	size_t limit; /* [bytes] */
	struct ktr__elf_file file;
	Dwfl_Module *module;
	GElf_Addr bias; /* between libdwfl's addresses and the object's own */
	uint32_t row_room, name_room;
};

/* ---- is it the one? ---- */

static int symtab_same_file(const struct symtab_open *o)
{
	uint64_t id[2];

	ktr__elf_file_id(&o->file.st, id);
	return o->n_build_id == sizeof(id) && memcmp(o->build_id, id, sizeof(id)) == 0;
}

/* Build-ids longer than KTR_BUILD_ID_MAX were cut when they were recorded. */
static int symtab_same(const struct symtab_open *o)
{
	const unsigned char *bits;
	GElf_Addr where;
	int n = dwfl_module_build_id(o->module, &bits, &where);

	if (n <= 0)
		return symtab_same_file(o);
	if (n > KTR_BUILD_ID_MAX)
		n = KTR_BUILD_ID_MAX;
	return (size_t)n == o->n_build_id && memcmp(bits, o->build_id, (size_t)n) == 0;
}

/* ---- symbols ---- */

/*
 * Several names for one address: the better one is that which is visible outside, and has fewer
 * underscores in front ("write" rather than "__write"). Smaller is better.
 */
static uint8_t symtab_rank(const GElf_Sym *sym, const char *name)
{
	size_t underscores = strspn(name, "_");

	return (uint8_t)((GELF_ST_BIND(sym->st_info) == STB_LOCAL) << 6 |
			 (underscores > 63 ? 63 : underscores));
}

static int symtab_is_wanted(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC);
}

/* Room for one more in two growing arrays, within the limit. 0 or -errno. */
static int symtab_room(struct symtab_open *o, size_t n_name)
{
	struct ktr__symtab *to = o->to;

	if (ktr__symtab_bytes(to) + sizeof(*to->row) + n_name > o->limit ||
	    to->n_names + n_name > UINT32_MAX)
		return -EFBIG;
	if (ktr__array_grow(&to->row, &o->row_room, (uint32_t)to->n_rows, sizeof(*to->row)))
		return -ENOMEM;
	return ktr__array_grow(&to->names, &o->name_room, (uint32_t)(to->n_names + n_name), 1);
}

/* Without a version, as in write@GLIBC_2.2.5 and write@@GLIBC_2.34: that says which of them a linker is to take. */
static size_t symtab_name_length(const char *name)
{
	return *name == '@' ? strlen(name) : strcspn(name, "@");
}

static int symtab_add(struct symtab_open *o, const GElf_Sym *sym, uint64_t address,
		      const char *name)
{
	size_t n_name = symtab_name_length(name) + 1;
	struct ktr__symtab *to = o->to;
	int rc = symtab_room(o, n_name);

	if (rc)
		return rc;
	to->row[to->n_rows++] = (struct symtab_row){
		.address = address,
		.end = sym->st_size > UINT64_MAX - address ? UINT64_MAX : address + sym->st_size,
		.name = (uint32_t)to->n_names,
		.rank = symtab_rank(sym, name),
	};
	memcpy(to->names + to->n_names, name, n_name - 1);
	to->names[to->n_names + n_name - 1] = '\0';
	to->n_names += n_name;
	return 0;
}

static int symtab_add_nameless(void *context, uint64_t address)
{
	static const GElf_Sym none;
	struct symtab_open *o = context;
	int rc;

	if (address < o->to->low || address >= o->to->high)
		return 0;
	rc = symtab_add(o, &none, address, "");
	if (!rc)
		o->to->row[o->to->n_rows - 1].rank = SYMTAB_NAMELESS;
	return rc;
}

static int symtab_take(struct symtab_open *o)
{
	int n = dwfl_module_getsymtab(o->module), rc = 0;

	for (int i = 1; i < n && !rc; i++) {
		GElf_Addr address;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(o->module, i, &sym, &address, NULL, NULL,
							   NULL);

		if (name && name[0] && symtab_is_wanted(&sym))
			rc = symtab_add(o, &sym, address - o->bias, name);
	}
	if (!rc)
		rc = ktr__elf_frames(&o->file, symtab_add_nameless, o);
	return rc || o->to->n_rows ? rc : -ENOEXEC;
}

/* By address; of those with one address the best first, and always in the same order. */
static int symtab_order(const void *a, const void *b)
{
	const struct symtab_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* One symbol per address, each with an end. What begins within one that has a name is a part of that. */
static void symtab_sort(struct ktr__symtab *to)
{
	uint64_t named_to = 0;
	size_t n = 0;

	qsort(to->row, to->n_rows, sizeof(*to->row), symtab_order);
	for (size_t i = 0; i < to->n_rows; i++) {
		if (to->row[i].rank == SYMTAB_NAMELESS) {
			if (to->row[i].address < named_to)
				continue;
		} else if (to->row[i].end > named_to) {
			named_to = to->row[i].end;
		}
		if (!n || to->row[n - 1].address != to->row[i].address)
			to->row[n++] = to->row[i];
		else if (to->row[n - 1].end < to->row[i].end)
			to->row[n - 1].end = to->row[i].end;
	}
	for (size_t i = 0; i < n; i++)
		if (to->row[i].end == to->row[i].address)
			to->row[i].end = i + 1 < n ? to->row[i + 1].address : to->high;
	to->n_rows = n;
}

/* With the copy in memory. 0 or -errno. */
static int symtab_load(struct symtab_open *o, const char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = ktr__elf_find_debug,
		.section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	GElf_Addr low, high;
	int rc = -ENOEXEC;

	if (!dwfl)
		return -ENOMEM;
	dwfl_report_begin(dwfl);
	o->module = dwfl_report_offline_memory(dwfl, path, path, o->file.bytes, o->file.n_bytes);
	if (dwfl_report_end(dwfl, NULL, NULL) == 0 && o->module &&
	    dwfl_module_getelf(o->module, &o->bias) &&
	    dwfl_module_info(o->module, NULL, &low, &high, NULL, NULL, NULL, NULL)) {
		o->to->low = low - o->bias;
		o->to->high = high - o->bias;
		rc = symtab_same(o) ? symtab_take(o) : -ESTALE;
	}
	dwfl_end(dwfl);
	return rc;
}

int ktr__symtab_open(const char *path, const uint8_t *build_id, size_t n_build_id, size_t limit,
		     struct ktr__symtab **out)
{
	struct symtab_open o = { .build_id = build_id, .n_build_id = n_build_id, .limit = limit };
	int rc = path[0] == '/' ? ktr__elf_file_read(path, &o.file) : -EINVAL;

	*out = NULL;
	o.to = rc ? NULL : calloc(1, sizeof(*o.to));
	if (!rc)
		rc = o.to ? symtab_load(&o, path) : -ENOMEM;
	ktr__elf_file_close(&o.file);
	if (rc) {
		ktr__symtab_close(o.to);
		return rc;
	}
	symtab_sort(o.to);
	*out = o.to;
	return 0;
}

#else

int ktr__symtab_open(const char *path, const uint8_t *build_id, size_t n_build_id, size_t limit,
		     struct ktr__symtab **out)
{
	(void)path, (void)build_id, (void)n_build_id, (void)limit;
	*out = NULL;
	return -ENOTSUP;
}

#endif
