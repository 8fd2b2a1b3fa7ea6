/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap(2) and its like, as the program calls them: what the C library maps of its own, for large blocks, stacks and
 * what the loader loads, is none of these calls.
 *
 * What takes pages away is told before it does, so that who gets them next is told later; if it fails, that is what
 * the thread tells next. So of mremap(2) as of realloc(3): the next event of its thread is the answer.
 */
#include "ktr/provider/heap/calls.h"
#include "ktr/provider/heap/tell.h"
#include "ktr/provider/heap/traced.h"
#include "ktr/provider/registry/fire.h"

#include <errno.h>
#include <sys/mman.h>

static __attribute__((noinline)) void maps_known(const void *block, uint64_t n, uint64_t flags,
						 const struct ktr__here *here)
{
	struct ktr__frames frames;

	ktr__stacks_from(&frames, here);
	KTR__FIRE4(ktr__heap_probe[KTR__HEAP_MAP], block, n, flags, (uint64_t)(uintptr_t)&frames);
}

static __attribute__((noinline)) void maps_strange(const void *block, uint64_t n, uint64_t flags,
						   const struct ktr__here *here)
{
	struct ktr__frame frame;

	ktr__stacks_one(&frame, here->pc);
	KTR__FIRE4(ktr__heap_probe[KTR__HEAP_MAP], block, n, flags, (uint64_t)(uintptr_t)&frame);
}

static void maps_failed(uint64_t n, const struct ktr__here *here)
{
	if (ktr__heap_is_on(KTR__HEAP_MAP_FAIL))
		KTR__FIRE2(ktr__heap_probe[KTR__HEAP_MAP_FAIL], n, here->pc);
}

/* What came of it. */
static void *maps_got(void *block, size_t n, int flags, const struct ktr__here *here)
{
	int saved = errno;

	if (ktr__heap_is_ours(here))
		return block;
	if (block == MAP_FAILED)
		maps_failed(n, here);
	else if (!ktr__heap_is_on(KTR__HEAP_MAP))
		return block;
	else if (ktr__stacks_known(here->sp))
		maps_known(block, n, (uint32_t)flags, here);
	else
		maps_strange(block, n, (uint32_t)flags, here);
	errno = saved;
	return block;
}

__attribute__((noinline)) void *ktr__traced_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	const struct ktr__here here = KTR__HERE();

	return maps_got(ktr__heap_near.real.mmap(p, n, prot, flags, fd, at), n, flags, &here);
}

__attribute__((noinline)) void *ktr__traced_mmap64(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	const struct ktr__here here = KTR__HERE();

	return maps_got(ktr__heap_near.real.mmap64(p, n, prot, flags, fd, at), n, flags, &here);
}

__attribute__((noinline)) int ktr__traced_munmap(void *p, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	bool is_ours = ktr__heap_is_ours(&here);
	int rc, saved = errno;

	if (!is_ours && ktr__heap_is_on(KTR__HEAP_UNMAP))
		KTR__FIRE3(ktr__heap_probe[KTR__HEAP_UNMAP], p, n, here.pc);
	errno = saved;
	rc = ktr__heap_near.real.munmap(p, n);
	if (rc && !is_ours)
		maps_got(MAP_FAILED, n, 0, &here);
	return rc;
}

__attribute__((noinline)) void *ktr__traced_mremap(void *p, size_t n, size_t new_n, int flags, void *to)
{
	const struct ktr__here here = KTR__HERE();
	int saved = errno;

	if (!ktr__heap_is_ours(&here) && ktr__heap_is_on(KTR__HEAP_REMAP))
		KTR__FIRE4(ktr__heap_probe[KTR__HEAP_REMAP], p, flags & MREMAP_DONTUNMAP ? 0 : n, new_n, here.pc);
	errno = saved;
	return maps_got(ktr__heap_near.real.mremap(p, n, new_n, flags, to), new_n, 0, &here);
}
