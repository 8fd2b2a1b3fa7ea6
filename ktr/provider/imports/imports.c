/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object calls a function of another by a pointer that the loader has filled in, named by a relocation (System V
 * ABI, AMD64 supplement, 4.4.1): JUMP_SLOT for calls, GLOB_DAT where its address is taken, too. A pointer is one
 * word: who calls while it changes gets the one or the other.
 *
 * Changed is what holds the function's address. One that leads back into its object still, to have the function
 * looked for by the first call (5.2), is left alone until then: which function that will be the loader alone can
 * say, but for objects that the program began with. Tables of data are left alone, too: programs compare what they
 * find there.
 *
 * The loader takes an object in before it fills in its pointers, and protects those then that are for good
 * (PT_GNU_RELRO). An object where they are not protected may be in its hands, and is left for the next look;
 * otherwise their page is made writable, changed, and protected again. What is protected now the kernel says, while
 * the loader is kept from loading and unloading (dl_iterate_phdr(3)); asked when something changes.
 */
#include "ktr/provider/imports/imports.h"

#include "ktr/provider/imports/image.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IMPORTS_PAGE 4096ul

struct imports_range {
	uintptr_t low, high;
	bool may_write;
};

struct imports_walk {
	struct ktr__imports *imports;
	bool is_back;  /* from ours to what they were */
	bool has_maps; /* `map` is read, within the walk */
	bool failed;
	unsigned n_led; /* those that call ours */
	unsigned n_objects;
	uintptr_t low, high; /* where all lie that are looked for, `high` too */
	struct imports_range *map;
	size_t n_maps;
};

/* As the loader knows it. */
struct imports_object {
	uintptr_t base, low, high;
	uintptr_t relro_low, relro_high;
	const ElfW(Sym) *symbol;
	const char *text;
	const ElfW(Rela) *slots, *rest;
	size_t n_slots, n_rest, n_relative; /* of the rest, the first, which name nothing */
};

/* ---- what may be written to ---- */

static void imports_read_maps(struct imports_walk *walk)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t room = 0;
	char line[4352];

	walk->has_maps = true;
	while (maps && fgets(line, sizeof(line), maps)) {
		struct imports_range *more;
		char access[5];
		uint64_t low, high;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, access) != 3)
			continue;
		if (walk->n_maps == room) {
			room = room ? 2 * room : 256;
			more = realloc(walk->map, room * sizeof(*more));
			if (!more)
				break;
			walk->map = more;
		}
		walk->map[walk->n_maps++] = (struct imports_range){ low, high, access[1] == 'w' };
	}
	walk->failed = !maps || !feof(maps) || !walk->n_maps;
	if (maps)
		fclose(maps);
}

/* NULL: nothing is there. */
static const struct imports_range *imports_range(const struct imports_walk *walk, uintptr_t at)
{
	size_t low = 0, high = walk->n_maps;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (at >= walk->map[middle].high)
			low = middle + 1;
		else if (at < walk->map[middle].low)
			high = middle;
		else
			return &walk->map[middle];
	}
	return NULL;
}

/* ---- objects ---- */

/* The loader has put addresses there, but for some objects that it could not write to. */
static const void *imports_pointer(const struct imports_object *object, ElfW(Addr) at)
{
	return (const void *)(at < object->base ? at + object->base : at); // NOLINT
}

static void imports_dynamic(struct imports_object *object, const ElfW(Dyn) *at)
{
	bool is_rela = true;

	for (; at->d_tag != DT_NULL; at++) {
		const void *pointer = imports_pointer(object, at->d_un.d_ptr);

		switch (at->d_tag) {
		case DT_SYMTAB: object->symbol = pointer; break;
		case DT_STRTAB: object->text = pointer; break;
		case DT_JMPREL: object->slots = pointer; break;
		case DT_PLTRELSZ: object->n_slots = at->d_un.d_val / sizeof(*object->slots); break;
		case DT_PLTREL: is_rela = at->d_un.d_val == DT_RELA; break;
		case DT_RELA: object->rest = pointer; break;
		case DT_RELASZ: object->n_rest = at->d_un.d_val / sizeof(*object->rest); break;
		case DT_RELACOUNT: object->n_relative = at->d_un.d_val; break;
		}
	}
	if (!is_rela || !object->slots)
		object->n_slots = 0;
	if (!object->rest)
		object->n_rest = 0;
	if (object->n_relative > object->n_rest)
		object->n_relative = 0;
}

static const char *imports_file(const struct dl_phdr_info *info)
{
	const char *slash = strrchr(info->dlpi_name ? info->dlpi_name : "", '/');

	return slash ? slash + 1 : info->dlpi_name ? info->dlpi_name : "";
}

static bool imports_is_loader(const struct dl_phdr_info *info)
{
	return strncmp(imports_file(info), "ld-linux", 8) == 0;
}

/* False: nothing of it is to be led. */
static bool imports_open(const struct dl_phdr_info *info, struct imports_object *object)
{
	const ElfW(Dyn) *dynamic = NULL;

	*object = (struct imports_object){ .base = info->dlpi_addr, .low = UINTPTR_MAX };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + phdr->p_vaddr, end = begin + phdr->p_memsz;

		if (phdr->p_type == PT_LOAD) {
			object->low = begin < object->low ? begin : object->low;
			object->high = end > object->high ? end : object->high;
		} else if (phdr->p_type == PT_GNU_RELRO) {
			object->relro_low = begin & -IMPORTS_PAGE;
			object->relro_high = end & -IMPORTS_PAGE;
		} else if (phdr->p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)begin; // NOLINT
		}
	}
	if (!dynamic || object->low >= object->high || ktr__image_has(object->low) ||
	    imports_is_loader(info) || strncmp(imports_file(info), "linux-vdso", 10) == 0)
		return false;
	imports_dynamic(object, dynamic);
	return true;
}

static bool imports_is_owner(const struct ktr__imports *imports, const struct imports_object *object)
{
	uintptr_t real = (uintptr_t)*imports->import[0].real;

	return real >= object->low && real < object->high;
}

/* May its pointers be changed? */
static bool imports_is_ready(struct imports_walk *walk, const struct imports_object *object)
{
	const struct imports_range *range;

	if (!walk->has_maps)
		imports_read_maps(walk);
	if (walk->failed)
		return false;
	if (object->relro_low >= object->relro_high)
		return true;
	range = imports_range(walk, object->relro_low);
	return range && !range->may_write;
}

/* ---- pointers ---- */

static bool imports_put(const struct imports_walk *walk, const struct imports_object *object, uintptr_t *slot,
			uintptr_t from, uintptr_t to)
{
	uintptr_t at = (uintptr_t)slot;
	const struct imports_range *range = imports_range(walk, at);
	void *page = (void *)(at & -IMPORTS_PAGE); // NOLINT
	bool done;

	if (!range || at & (sizeof(*slot) - 1))
		return false;
	if (range->may_write)
		return __atomic_compare_exchange_n(slot, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	if (at < object->relro_low || at >= object->relro_high ||
	    mprotect(page, IMPORTS_PAGE, PROT_READ | PROT_WRITE))
		return false;
	done = __atomic_compare_exchange_n(slot, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	mprotect(page, IMPORTS_PAGE, PROT_READ);
	return done;
}

/* One that no call has bound yet: whose will it be? NULL: none of ours. */
static const struct ktr__import *imports_open_slot(const struct imports_walk *walk,
						   const struct imports_object *object, const ElfW(Rela) *rela,
						   uintptr_t is)
{
	const struct ktr__imports *imports = walk->imports;
	const ElfW(Sym) *symbol;

	if (walk->is_back || walk->n_objects > imports->n_first || is < object->low || is >= object->high ||
	    !object->symbol || !object->text)
		return NULL;
	symbol = &object->symbol[ELF64_R_SYM(rela->r_info)];
	if (symbol->st_shndx != SHN_UNDEF)
		return NULL;
	for (unsigned i = 0; i < imports->n; i++)
		if (strcmp(imports->import[i].name, object->text + symbol->st_name) == 0)
			return &imports->import[i];
	return NULL;
}

/* False: nothing of this object can be changed now. */
static bool imports_slot(struct imports_walk *walk, const struct imports_object *object, const ElfW(Rela) *rela)
{
	const struct ktr__imports *imports = walk->imports;
	uintptr_t *slot = (uintptr_t *)(object->base + rela->r_offset); // NOLINT
	uintptr_t is = __atomic_load_n(slot, __ATOMIC_RELAXED);
	const struct ktr__import *open = imports_open_slot(walk, object, rela, is);

	if (open) {
		if (!imports_is_ready(walk, object))
			return false;
		walk->n_led += imports_put(walk, object, slot, is, (uintptr_t)open->ours);
		return true;
	}
	if (is < walk->low || is > walk->high)
		return true;
	for (unsigned i = 0; i < imports->n; i++) {
		uintptr_t ours = (uintptr_t)imports->import[i].ours, real = (uintptr_t)*imports->import[i].real;

		walk->n_led += is == ours;
		if (is != (walk->is_back ? ours : real))
			continue;
		if (!imports_is_ready(walk, object))
			return false;
		walk->n_led += imports_put(walk, object, slot, is, walk->is_back ? real : ours);
		break;
	}
	return true;
}

static int imports_visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct imports_walk *walk = context;
	struct imports_object object;

	(void)size;
	walk->n_objects++;
	if (!imports_open(info, &object) ||
	    (walk->imports->spares_owner && imports_is_owner(walk->imports, &object)))
		return walk->failed;
	for (size_t i = 0; i < object.n_slots; i++)
		if (ELF64_R_TYPE(object.slots[i].r_info) == R_X86_64_JUMP_SLOT &&
		    !imports_slot(walk, &object, &object.slots[i]))
			return walk->failed;
	for (size_t i = object.n_relative; i < object.n_rest; i++)
		if (ELF64_R_TYPE(object.rest[i].r_info) == R_X86_64_GLOB_DAT &&
		    !imports_slot(walk, &object, &object.rest[i]))
			return walk->failed;
	return walk->failed;
}

/* ---- all of them ---- */

static void imports_bound(struct imports_walk *walk, uintptr_t at)
{
	walk->low = at < walk->low ? at : walk->low;
	walk->high = at > walk->high ? at : walk->high;
}

static void imports_walk(struct imports_walk *walk)
{
	walk->low = UINTPTR_MAX;
	for (unsigned i = 0; i < walk->imports->n; i++) {
		imports_bound(walk, (uintptr_t)walk->imports->import[i].ours);
		imports_bound(walk, (uintptr_t)*walk->imports->import[i].real);
	}
	dl_iterate_phdr(imports_visit, walk);
	free(walk->map);
	walk->map = NULL;
}

static int imports_count(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	++*(unsigned *)context;
	return 0;
}

unsigned ktr__imports_n_loaded(void)
{
	unsigned n = 0;

	dl_iterate_phdr(imports_count, &n);
	return n;
}

static int imports_find_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	++*(unsigned *)context;
	return imports_is_loader(info);
}

/* What is loaded later comes behind it. */
unsigned ktr__imports_n_began(void)
{
	unsigned n = 0;

	return dl_iterate_phdr(imports_find_loader, &n) ? n : 0;
}

int ktr__imports_lead(struct ktr__imports *imports, struct ktr_error *why)
{
	struct imports_walk walk = { .imports = imports };

	if (imports->is_on)
		return 0;
	imports_walk(&walk);
	if (walk.failed)
		return ktr_error_set(why, ENOTSUP, "/proc/self/maps cannot be read, which says what may be written to");
	if (!walk.n_led && !imports->may_be_none)
		return ktr_error_set(why, ENOTSUP, "nothing in the process calls any of it by the loader's pointers");
	imports->is_on = true;
	return 0;
}

void ktr__imports_look(struct ktr__imports *imports)
{
	struct imports_walk walk = { .imports = imports };

	if (imports->is_on)
		imports_walk(&walk);
}

void ktr__imports_restore(struct ktr__imports *imports)
{
	struct imports_walk walk = { .imports = imports, .is_back = true };

	if (!imports->is_on)
		return;
	imports_walk(&walk);
	imports->is_on = false;
}
