/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text is written through /proc/self/mem, which needs no page to be writable and executable at once
 * (PR_SET_MDWE, SELinux's execmod); where there is no /proc, by mprotect(2). The file is opened each time,
 * since a program may close what it does not know. Many functions at once are made writable together.
 */
#include "ktr/provider/fbt/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATCH_OFF  0xa8 /* test imm8, %al */
#define PATCH_ON   0xeb /* jmp rel8 */
#define PATCH_ENDBR 4   /* [bytes] endbr64, which comes first where it is asked for */

static const uint8_t patch_endbr[PATCH_ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfa };

uint8_t *ktr__fbt_patch_find(const uint8_t *room, uint8_t *away)
{
	const uint8_t *at = room + KTR__FBT_ROOM;

	for (int i = 0; i < KTR__FBT_ROOM; i++)
		if (room[i] != 0x90)
			return NULL;
	if (memcmp(at, patch_endbr, PATCH_ENDBR) == 0)
		at += PATCH_ENDBR;
	*away = (uint8_t)(room - (at + 2));
	if (at[1] == 0x90 && (at[0] == 0x90 || at[0] == 0x66))
		return (uint8_t *)(uintptr_t)at;
	return at[0] == PATCH_OFF && at[1] == *away ? (uint8_t *)(uintptr_t)at : NULL;
}

static uintptr_t patch_page(const void *at)
{
	return (uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static int patch_protect(const void *from, const void *to, int more)
{
	uintptr_t page = patch_page(from);

	return mprotect((void *)page, (uintptr_t)to - page, PROT_READ | PROT_EXEC | more) ? -errno : 0;
}

static int patch_write(uint8_t *at, const uint8_t *bytes, size_t n)
{
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC), code = -EIO;

	if (fd >= 0) {
		if (pwrite(fd, bytes, n, (off_t)(uintptr_t)at) == (ssize_t)n)
			code = 0;
		close(fd);
	}
	if (!code)
		return 0;
	code = patch_protect(at, at + n, PROT_WRITE);
	if (code)
		return code;
	for (size_t i = 0; i < n; i++)
		__atomic_store_n(&at[i], bytes[i], __ATOMIC_RELAXED);
	patch_protect(at, at + n, 0);
	return 0;
}

int ktr__fbt_patch_prepare(uint8_t *const *patch, const uint8_t *away, size_t n)
{
	const uint8_t *from = NULL, *to = NULL;
	int code;

	for (size_t i = 0; i < n; i++) {
		if (patch[i][0] == PATCH_OFF)
			continue;
		if (!from || patch[i] < from)
			from = patch[i];
		if (patch[i] + 2 > to)
			to = patch[i] + 2;
	}
	if (!from)
		return 0;
	code = patch_protect(from, to, PROT_WRITE);
	for (size_t i = 0; i < n; i++) {
		const uint8_t two[2] = { PATCH_OFF, away[i] };

		if (patch[i][0] == PATCH_OFF)
			continue;
		if (!code)
			memcpy(patch[i], two, sizeof(two));
		else if (patch_write(patch[i], two, sizeof(two)))
			return code;
	}
	if (!code)
		patch_protect(from, to, 0);
	return 0;
}

int ktr__fbt_patch_room(struct ktr__fbt_function *function, uint32_t number, const uintptr_t *to)
{
	uint8_t *room = function->body + (int8_t)function->away, text[12];
	int64_t far = (int64_t)((uintptr_t)to - (uintptr_t)(room + sizeof(text)));
	int32_t near = (int32_t)far;
	int code;

	if (function->has_room)
		return 0;
	if (far != near)
		return -ERANGE;
	text[0] = 0x41; /* mov imm32, %r11d */
	text[1] = 0xbb;
	memcpy(&text[2], &number, sizeof(number));
	text[6] = 0xff; /* jmp *rel32(%rip) */
	text[7] = 0x25;
	memcpy(&text[8], &near, sizeof(near));
	code = patch_write(room, text, sizeof(text));
	function->has_room = !code;
	return code;
}

int ktr__fbt_patch_switch(struct ktr__fbt_function *function, bool on)
{
	const uint8_t byte = on ? PATCH_ON : PATCH_OFF;

	return patch_write(function->body - 2, &byte, 1);
}
