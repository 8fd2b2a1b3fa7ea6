/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/usdt/parts.h"

#include <link.h>
#include <unistd.h>

struct parts_search {
	uint64_t base, end;
	struct ktr__usdt_parts *parts;
};

static int parts_visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct parts_search *search = context;
	struct ktr__usdt_parts *parts = search->parts;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = 0;

	(void)size;
	if (info->dlpi_addr != search->base)
		return 0;
	parts->n = 0;
	parts->relro = (struct ktr__usdt_part){ 0, 0, 0 };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *at = &info->dlpi_phdr[i];
		struct ktr__usdt_part part = { info->dlpi_addr + at->p_vaddr,
					       info->dlpi_addr + at->p_vaddr + at->p_memsz, at->p_flags };

		/* The page that it ends in is written to. */
		if (at->p_type == PT_GNU_RELRO)
			parts->relro = (struct ktr__usdt_part){ part.from, part.to & ~(page - 1), 0 };
		if (at->p_type != PT_LOAD)
			continue;
		end = part.to > end ? part.to : end;
		if (parts->n < KTR__USDT_PARTS)
			parts->part[parts->n++] = part;
	}
	return end == search->end;
}

void ktr__usdt_parts(uint64_t base, uint64_t end, struct ktr__usdt_parts *parts)
{
	struct parts_search search = { base, end, parts };

	*parts = (struct ktr__usdt_parts){ .n = 0 };
	if (!dl_iterate_phdr(parts_visit, &search))
		parts->n = 0;
}

bool ktr__usdt_parts_have(const struct ktr__usdt_parts *parts, uint64_t at, uint64_t n, uint32_t flags)
{
	if ((flags & PF_W) && at < parts->relro.to && at + n > parts->relro.from)
		return false;
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct ktr__usdt_part *part = &parts->part[i];

		if (at >= part->from && at < part->to && n <= part->to - at)
			return (part->flags & flags) == flags;
	}
	return false;
}
