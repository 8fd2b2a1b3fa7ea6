/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text is changed where no thread can stand in the change: a jump where the first instruction is one of five bytes
 * or more within one word, otherwise a trap for the first byte.
 */
#include "ktr/provider/usdt/lead.h"

#include "ktr/provider/usdt/text.h"
#include "ktr/record/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LEAD_JUMP 0xe9

/* Is it the C library's, and not somebody's who has put himself before it? */
static bool lead_is_libc(const void *function)
{
	struct ktr__object object;
	const char *slash;

	if (!ktr__object_find(function, &object))
		return false;
	slash = strrchr(object.path, '/');
	return strcmp(slash ? slash + 1 : object.path, "libc.so.6") == 0;
}

/* Other providers stand before the C library, too, and call it in the end. */
static bool lead_is_ours(const void *function)
{
	struct ktr__object object, ours;

	return ktr__object_find(function, &object) &&
	       ktr__object_find((const void *)(uintptr_t)lead_is_libc, &ours) && object.base == ours.base;
}

bool ktr__usdt_lead_find(struct ktr__usdt_lead *lead)
{
	void *at = lead->at ? NULL : dlsym(RTLD_DEFAULT, lead->name);

	if (at && lead_is_ours(at))
		at = dlsym(RTLD_NEXT, lead->name);
	if (at && lead_is_libc(at))
		lead->at = at;
	return lead->at || !at;
}

/* sub $N, %rsp; or cmp $N, ADDRESS(%rip): of seven bytes. */
static bool lead_is_long(const uint8_t *at)
{
	return ((at[0] == 0x48 && at[1] == 0x81 && at[2] == 0xec) || (at[0] == 0x80 && at[1] == 0x3d)) &&
	       ((uintptr_t)at & 7) <= 3;
}

static int lead_why(struct ktr_error *why, int code)
{
	if (code == -EACCES || code == -EPERM)
		return ktr_error_set(why, -code, "the C library's text may not be written to (PR_SET_MDWE, SELinux)");
	return ktr_error_set(why, -code, "the C library's text cannot be written: %s", strerror(-code));
}

static int lead_jump(struct ktr__usdt_lead *lead, int32_t near, struct ktr_error *why)
{
	unsigned offset = (uintptr_t)lead->at & 7;
	uint64_t word, before;
	int code;

	memcpy(&before, lead->at - offset, sizeof(before));
	word = before;
	memcpy((uint8_t *)&word + offset, &(uint8_t){ LEAD_JUMP }, 1);
	memcpy((uint8_t *)&word + offset + 1, &near, sizeof(near));
	code = ktr__usdt_text_word(lead->at - offset, word);
	if (code)
		return lead_why(why, code);
	lead->word = before;
	return 0;
}

static int lead_trap(struct ktr__usdt_lead *lead, struct ktr_error *why)
{
	struct ktr__usdt_point *point = &lead->point;
	int code;

	if (!point->at) {
		point->at = lead->at;
		point->first = *point->at;
		point->instead = lead->instead;
		ktr__usdt_point_add(point);
	}
	code = ktr__usdt_point_on(point);
	if (code == -EBUSY)
		return ktr_error_set(why, EBUSY, "something else is at the first byte of the C library's %s()",
				     lead->name);
	return code ? lead_why(why, code) : 0;
}

int ktr__usdt_lead_on(struct ktr__usdt_lead *lead, struct ktr_error *why)
{
	int64_t far = (int64_t)((uintptr_t)lead->instead - ((uintptr_t)lead->at + 5));
	int32_t near = (int32_t)far;

	if (lead->word || lead->point.is_on)
		return 0;
	if (lead_is_long(lead->at) && near == far)
		return lead_jump(lead, near, why);
	if (!lead->jumps)
		return lead_trap(lead, why);
	if (near != far)
		return ktr_error_set(why, ERANGE, "the C library is too far from libktr to be watched");
	return ktr_error_set(why, ENOTSUP, "the C library's %s() does not begin as one that can be watched", lead->name);
}

void ktr__usdt_lead_off(struct ktr__usdt_lead *lead)
{
	if (lead->point.is_on)
		ktr__usdt_point_off(&lead->point);
	if (lead->word && *lead->at == LEAD_JUMP)
		ktr__usdt_text_word(lead->at - ((uintptr_t)lead->at & 7), lead->word);
	lead->word = 0;
}
