/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each 64 KiB of any stack have an area of records, which stays; of its pages those are there that stacks have come
 * to. Areas are found by a hash table with open addressing, which only grows; a thread remembers the last one.
 */
#include "ktr/provider/fbt/record.h"

#include "ktr/provider/fbt/ask.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/usual.h"
#include "ktr/record/own.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define RECORD__AT(type, field, offset) KTR__LAYOUT(offsetof(struct type, field) == (offset), "fbt/usual.h")
RECORD__AT(ktr__fbt_function, body, FUNCTION_BODY);
RECORD__AT(ktr__fbt_function, probe[KTR__FBT_ENTRY], FUNCTION_ENTRY);
RECORD__AT(ktr__fbt_function, probe[KTR__FBT_RETURN], FUNCTION_RETURN);
RECORD__AT(ktr__fbt_function, scope, FUNCTION_SCOPE);
RECORD__AT(ktr_provider_probe, on, PROBE_ON);
RECORD__AT(ktr_provider_probe, site, PROBE_SITE);
RECORD__AT(ktr__fbt_scope, begin, 0);
RECORD__AT(ktr__fbt_scope, end, SCOPE_END);
RECORD__AT(ktr__fbt_area, stack, AREA_STACK);
RECORD__AT(ktr__fbt_area, record, AREA_RECORD);
RECORD__AT(ktr__fbt_record, ret, RECORD_RET);
RECORD__AT(ktr__fbt_record, rbx, RECORD_RBX);
RECORD__AT(ktr__fbt_record, function, RECORD_FUNCTION);
RECORD__AT(ktr__fbt_record, began, RECORD_BEGAN);
RECORD__AT(ktr__fbt_self, depth, 0);
KTR__LAYOUT(sizeof(struct ktr__fbt_function) == 1 << FUNCTION_SHIFT, "fbt/usual.h");
KTR__LAYOUT(KTR__FBT_BLOCK == 1 << BLOCK_SHIFT && KTR__FBT_STACK == STACK_SHIFT, "fbt/usual.h");
KTR__LAYOUT(sizeof(struct ktr__fbt_record) == RECORD_SCALE << KTR__FBT_PLACE, "fbt/usual.h");
KTR__LAYOUT((KTR__FBT_PLACES - 1) << KTR__FBT_PLACE == PLACE_BITS, "fbt/usual.h");

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
