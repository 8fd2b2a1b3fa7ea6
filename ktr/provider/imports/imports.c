/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object calls a function of another by a pointer that the loader has filled in, named by a relocation (System V
 * ABI, AMD64 supplement, 4.4.1): JUMP_SLOT for calls, GLOB_DAT where its address is taken, too, 64 in tables of
 * data. A pointer is one word: who calls while it changes gets the one or the other.
 *
 * Changed is what holds the function's address, and of JUMP_SLOTs also what leads back into the object, to have it
 * looked for by the first call (5.2): where the version is asked for that we stand for. Another object's function
 * of the same name is left alone.
 *
 * The loader takes an object in before it fills in its pointers, and then protects those that are for good
 * (PT_GNU_RELRO). An object where they are not protected yet may be in its hands, and is left for the next look;
 * otherwise their page is made writable, changed, and protected again. What is protected now the kernel says, while
 * the loader is kept from loading and unloading (dl_iterate_phdr(3)).
 */
#include "ktr/provider/imports/imports.h"

#include "ktr/provider/profile/image.h"

#include <dlfcn.h>
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
	bool waits; /* some object is to be looked at again */
	unsigned n_led, n_now; /* those that call ours; those that have just been changed */
	struct imports_range *map;
	size_t n_maps;
};

/* As the loader knows it. */
struct imports_object {
	uintptr_t base, low, high;
	uintptr_t relro_low, relro_high;
	const ElfW(Sym) *symbol;
	const char *text;
	const ElfW(Half) *version; /* of each symbol; NULL: it knows of none */
	const ElfW(Verneed) *needs;
	size_t n_needs;
	const ElfW(Rela) *slots, *rest;
	size_t n_slots, n_rest;
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
		case DT_VERSYM: object->version = pointer; break;
		case DT_VERNEED: object->needs = pointer; break;
		case DT_VERNEEDNUM: object->n_needs = at->d_un.d_val; break;
		case DT_JMPREL: object->slots = pointer; break;
		case DT_PLTRELSZ: object->n_slots = at->d_un.d_val / sizeof(*object->slots); break;
		case DT_PLTREL: is_rela = at->d_un.d_val == DT_RELA; break;
		case DT_RELA: object->rest = pointer; break;
		case DT_RELASZ: object->n_rest = at->d_un.d_val / sizeof(*object->rest); break;
		}
	}
	if (!is_rela || !object->slots)
		object->n_slots = 0;
	if (!object->rest)
		object->n_rest = 0;
}

/* False: nothing of it is to be led. */
static bool imports_open(const struct dl_phdr_info *info, struct imports_object *object)
{
	const ElfW(Dyn) *dynamic = NULL;
	const char *slash = strrchr(info->dlpi_name ? info->dlpi_name : "", '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;

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
	    (name && (strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "linux-vdso", 10) == 0)))
		return false;
	imports_dynamic(object, dynamic);
	return object->symbol && object->text;
}

static bool imports_is_owner(const struct ktr__imports *imports, const struct imports_object *object)
{
	uintptr_t real = (uintptr_t)*imports->import[0].real;

	return real >= object->low && real < object->high;
}

static bool imports_is_ready(const struct imports_walk *walk, const struct imports_object *object)
{
	const struct imports_range *range;

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

/* The version that the object asks for; NULL: it does not say. */
static const char *imports_version(const struct imports_object *object, size_t symbol)
{
	const ElfW(Verneed) *need = object->needs;
	unsigned number = object->version ? object->version[symbol] & 0x7fff : 0;

	if (number <= VER_NDX_GLOBAL || !need)
		return NULL;
	for (size_t i = 0; i < object->n_needs; i++) {
		const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);

		for (unsigned k = 0; k < need->vn_cnt; k++) {
			if ((aux->vna_other & 0x7fff) == number)
				return object->text + aux->vna_name;
			aux = (const void *)((const char *)aux + aux->vna_next);
		}
		need = (const void *)((const char *)need + need->vn_next);
	}
	return NULL;
}

/* Of a pointer that the loader has not filled in: would it be this one? */
static bool imports_would_be(const struct imports_object *object, const struct ktr__import *import, size_t symbol)
{
	const char *version;

	if (!import->is_direct || object->symbol[symbol].st_shndx != SHN_UNDEF ||
	    strcmp(import->name, object->text + object->symbol[symbol].st_name) != 0)
		return false;
	version = imports_version(object, symbol);
	return !version || !import->version || strcmp(version, import->version) == 0 ||
	       strcmp(version, import->old) == 0;
}

static void imports_slot(struct imports_walk *walk, const struct imports_object *object, const ElfW(Rela) *rela,
			 bool is_call)
{
	const struct ktr__imports *imports = walk->imports;
	uintptr_t *slot = (uintptr_t *)(object->base + rela->r_offset); // NOLINT
	size_t symbol = ELF64_R_SYM(rela->r_info);
	uintptr_t is = __atomic_load_n(slot, __ATOMIC_RELAXED);
	bool is_open = is_call && is >= object->low && is < object->high;

	for (unsigned i = 0; i < imports->n; i++) {
		const struct ktr__import *import = &imports->import[i];
		uintptr_t ours = (uintptr_t)import->ours, real = (uintptr_t)*import->real;

		if (walk->is_back) {
			walk->n_now += is == ours && imports_put(walk, object, slot, ours, real);
			continue;
		}
		walk->n_led += is == ours;
		if (is == real || (is_open && imports_would_be(object, import, symbol))) {
			bool done = imports_put(walk, object, slot, is, ours);

			walk->n_now += done;
			walk->n_led += done;
			return;
		}
	}
}

static int imports_visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct imports_walk *walk = context;
	struct imports_object object;

	(void)size;
	walk->imports->changes = info->dlpi_adds + info->dlpi_subs;
	if (!walk->has_maps)
		imports_read_maps(walk);
	if (walk->failed)
		return 1;
	if (!imports_open(info, &object) ||
	    (walk->imports->spares_owner && imports_is_owner(walk->imports, &object)))
		return 0;
	if (!imports_is_ready(walk, &object)) {
		walk->waits = true;
		return 0;
	}
	for (size_t i = 0; i < object.n_slots; i++)
		if (ELF64_R_TYPE(object.slots[i].r_info) == R_X86_64_JUMP_SLOT)
			imports_slot(walk, &object, &object.slots[i], true);
	for (size_t i = 0; i < object.n_rest; i++) {
		unsigned type = ELF64_R_TYPE(object.rest[i].r_info);

		if (type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && !object.rest[i].r_addend))
			imports_slot(walk, &object, &object.rest[i], false);
	}
	return 0;
}

/* ---- all of them ---- */

/*
 * Does who looks for the name find the real one? Or the entry of a program for it that lies where it was linked
 * for, and has taken its address: that leads there.
 */
static bool imports_is_direct(const struct ktr__import *import)
{
	void *found = dlsym(RTLD_DEFAULT, import->name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (found == *import->real)
		return true;
	return dladdr1(found, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

static void imports_walk(struct imports_walk *walk)
{
	dl_iterate_phdr(imports_visit, walk);
	free(walk->map);
	walk->map = NULL;
	walk->imports->is_settled = !walk->waits && !walk->n_now && !walk->failed;
}

int ktr__imports_lead(struct ktr__imports *imports, struct ktr_error *why)
{
	struct imports_walk walk = { .imports = imports };

	if (imports->is_on)
		return 0;
	for (unsigned i = 0; i < imports->n; i++)
		imports->import[i].is_direct = imports_is_direct(&imports->import[i]);
	imports_walk(&walk);
	if (walk.failed)
		return ktr_error_set(why, ENOTSUP, "/proc/self/maps cannot be read, which says what may be written to");
	if (!walk.n_led && !imports->may_be_none)
		return ktr_error_set(why, ENOTSUP, "nothing in the process calls any of it by the loader's pointers");
	imports->is_on = true;
	return 0;
}

static int imports_count(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *changes = context;

	(void)size;
	*changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

void ktr__imports_look(struct ktr__imports *imports)
{
	struct imports_walk walk = { .imports = imports };
	unsigned long long changes = 0;

	if (!imports->is_on)
		return;
	dl_iterate_phdr(imports_count, &changes);
	if (changes != imports->changes || !imports->is_settled)
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
