/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each 64 KiB of any stack have an area of records, which stays; of its pages those are there that stacks have come
 * to. Areas are found by a hash table with open addressing, which only grows; a thread remembers the last one.
 */
#include "ktr/provider/fbt/record.h"

#include "ktr/provider/fbt/ask.h"
#include "ktr/record/own.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define RECORD_BUCKETS 65536u /* 4 GiB of stacks that have been used */
#define RECORD_TRIES   64

#define RECORD_ERRNO_MAX 4095 /* -errno of a system call; addresses of programs have another sign */

__thread struct ktr__fbt_area *ktr__fbt_area;
static struct ktr__fbt_area *record_bucket[RECORD_BUCKETS]; /* atomic */

static void *record_map(size_t n_bytes)
{
	long at = ktr__fbt_ask(SYS_mmap, 0, (long)n_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at < 0 && at >= -RECORD_ERRNO_MAX ? NULL : (void *)at;
}

static struct ktr__fbt_area *record_area_new(uint64_t stack)
{
	struct ktr__fbt_area *area = record_map(sizeof(*area));

	if (area)
		area->stack = stack;
	return area;
}

/* Two threads may have parts of one area. */
struct ktr__fbt_calls *ktr__fbt_calls_make(struct ktr__fbt_area *area)
{
	struct ktr__fbt_calls *made = ktr__own_session()->sealed ? NULL : record_map(sizeof(*made)), *there = NULL;

	if (!made || __atomic_compare_exchange_n(&area->calls, &there, made, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		return made;
	ktr__fbt_ask(SYS_munmap, (long)made, sizeof(*made), 0, 0, 0, 0);
	return there;
}

/* In a sandbox, ktr_sandbox(3), nobody asks the kernel for anything. */
struct ktr__fbt_area *ktr__fbt_area_find(uint64_t stack)
{
	bool may_ask = !ktr__own_session()->sealed;
	struct ktr__fbt_area *made = NULL, *at = NULL;
	uint32_t bucket = (uint32_t)(stack * 0x9e3779b97f4a7c15ull >> 48);

	for (int i = 0; i < RECORD_TRIES; i++, bucket++) {
		struct ktr__fbt_area **link = &record_bucket[bucket % RECORD_BUCKETS];

		at = __atomic_load_n(link, __ATOMIC_ACQUIRE);
		if (!at && !made && (!may_ask || !(made = record_area_new(stack))))
			return NULL;
		if (!at && __atomic_compare_exchange_n(link, &at, made, false, __ATOMIC_ACQ_REL,
						       __ATOMIC_ACQUIRE)) {
			at = made;
			made = NULL;
		}
		if (at->stack == stack)
			break;
		at = NULL;
	}
	if (made)
		ktr__fbt_ask(SYS_munmap, (long)made, sizeof(*made), 0, 0, 0, 0);
	if (at)
		ktr__fbt_area = at;
	return at;
}
