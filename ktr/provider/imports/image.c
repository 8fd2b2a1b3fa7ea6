/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/imports/image.h"

#include <link.h>
#include <string.h>

struct ktr__image_range ktr__image_other[KTR__IMAGE_OTHERS];
unsigned ktr__image_n_others;

bool ktr__image_has_other(uintptr_t address)
{
	unsigned n = __atomic_load_n(&ktr__image_n_others, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++) {
		const struct ktr__image_range *range = &ktr__image_other[i];

		if (address >= __atomic_load_n(&range->low, __ATOMIC_RELAXED) &&
		    address < __atomic_load_n(&range->high, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* As the Makefile calls them: libktr.so.0, libktr-writer.so. A host's own plugin may be libktr-it.so. */
static bool image_is_ktr(const char *path)
{
	static const char *const names[] = { "libktr",	     "libktrread",     "libktr-writer", "libktr-agent",
					     "libktr-probe", "libktr-fbt",     "libktr-profil", "libktr-provider",
					     "libktr-task",  "libktr-dtrace" };
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	const char *dot = name ? strstr(name, ".so") : NULL;

	for (unsigned i = 0; dot && i < sizeof(names) / sizeof(names[0]); i++)
		if ((size_t)(dot - name) == strlen(names[i]) && memcmp(name, names[i], strlen(names[i])) == 0)
			return dot[3] == '\0' || dot[3] == '.';
	return false;
}

static int image_visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct ktr__image_range range = { UINTPTR_MAX, 0 };
	unsigned *n = context;

	(void)size;
	if (!image_is_ktr(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + phdr->p_vaddr, end = begin + phdr->p_memsz;

		if (phdr->p_type != PT_LOAD)
			continue;
		range.low = begin < range.low ? begin : range.low;
		range.high = end > range.high ? end : range.high;
	}
	if (range.low >= range.high || ktr__image_has(range.low))
		return 0;
	/* Who looks meanwhile finds it in one of its states: nothing, what was there, or this. */
	__atomic_store_n(&ktr__image_other[*n].high, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__image_other[*n].low, range.low, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__image_other[*n].high, range.high, __ATOMIC_RELEASE);
	return ++*n == KTR__IMAGE_OTHERS;
}

void ktr__image_look(void)
{
	unsigned n = 0;

	dl_iterate_phdr(image_visit, &n);
	__atomic_store_n(&ktr__image_n_others, n, __ATOMIC_RELEASE);
}
