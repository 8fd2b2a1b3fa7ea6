/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects mapped into the process, with their build-ids: dl_iterate_phdr(3) over the program headers.
 * A build-id (PT_NOTE, NT_GNU_BUILD_ID) names what was linked, wherever it is loaded; an object without
 * one is named by its path and the file's identity instead.
 */
#include "ktr/record/module.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct module_search {
	uintptr_t address; /* 0: all */
	void (*found)(void *context, const struct ktr__object *object);
	void *context;
	struct ktr__object *object;
	bool hit;
};

static void module_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) *phdr,
			    struct ktr__object *object)
{
	const char *at = (const char *)(info->dlpi_addr + phdr->p_vaddr);
	const char *end = at + phdr->p_memsz;

	while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const char *name = at + sizeof(*note);
		size_t name_bytes = (note->n_namesz + 3u) & ~3u;
		size_t desc_bytes = (note->n_descsz + 3u) & ~3u;

		if ((size_t)(end - name) < name_bytes + desc_bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
			size_t n = note->n_descsz < KTR_BUILD_ID_MAX ? note->n_descsz : KTR_BUILD_ID_MAX;

			memcpy(object->build_id, name + name_bytes, n);
			object->build_id_bytes = (uint8_t)n;
			object->has_build_id = n;
			return;
		}
		at = name + name_bytes + desc_bytes;
	}
}

/* No build-id: device, inode, size and time of the file are as good within one machine. */
static void module_file_id(struct ktr__object *object)
{
	struct stat st;
	uint64_t id[2];

	if (stat(object->path, &st) != 0)
		return;
	id[0] = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 48;
	id[1] = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_size;
	memcpy(object->build_id, id, sizeof(id));
	object->build_id_bytes = sizeof(id);
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_search *search = data;
	struct ktr__object *object = search->object;
	uintptr_t low = UINTPTR_MAX, high = 0;

	(void)size;
	memset(object, 0, sizeof(*object));
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type == PT_LOAD) {
			low = begin < low ? begin : low;
			high = begin + phdr->p_memsz > high ? begin + phdr->p_memsz : high;
		}
		if (phdr->p_type == PT_NOTE)
			module_build_id(info, phdr, object);
	}
	if (high <= low || (search->address && (search->address < low || search->address >= high)))
		return 0;
	object->base = info->dlpi_addr;
	object->end = high;
	object->executable = !info->dlpi_name || !info->dlpi_name[0];
	if (!object->executable)
		strncpy(object->path, info->dlpi_name, sizeof(object->path) - 1);
	else if (readlink("/proc/self/exe", object->path, sizeof(object->path) - 1) < 0)
		object->path[0] = 0;
	if (!object->build_id_bytes)
		module_file_id(object);
	search->hit = true;
	if (search->found)
		search->found(search->context, object);
	return search->address != 0;
}

bool ktr__object_find(const void *address, struct ktr__object *object)
{
	struct module_search search = { (uintptr_t)address, NULL, NULL, object, false };

	dl_iterate_phdr(module_visit, &search);
	return search.hit;
}

void ktr__object_walk(void (*found)(void *context, const struct ktr__object *object), void *context)
{
	struct ktr__object object;
	struct module_search search = { 0, found, context, &object, false };

	dl_iterate_phdr(module_visit, &search);
}
