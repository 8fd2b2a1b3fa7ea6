/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory is looked for below the object, where a heap does not grow, and then above it. It is written before it
 * may be run, so it is never both, but needs what was written to be run afterwards: PR_SET_MDWE forbids that.
 */
#include "ktr/provider/plain/stubs.h"

#include "ktr/provider/plain/insn.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define STUBS_BYTES  64u
#define STUBS_BODY   32u
#define STUBS_PUSHES 56u
#define STUBS_JUMP   60u
#define STUBS_REACH  0x7ff00000ul /* of rel32, and some for what is in the object */
#define STUBS_STEP   0x100000ul
#define STUBS_LOWEST 0x10000ul /* mmap_min_addr */

_Static_assert(STUBS_BODY + KTR__INSN_MAX + 5 <= STUBS_PUSHES, "an instruction, and a jump");

static struct ktr__plain_stubs *stubs_map_at(uintptr_t at, size_t n_bytes)
{
	void *got = mmap((void *)at, n_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		return NULL;
	if ((uintptr_t)got == at)
		return got;
	munmap(got, n_bytes); /* of a kernel that does not know the flag */
	return NULL;
}

static struct ktr__plain_stubs *stubs_map(uintptr_t begin, uintptr_t end, size_t n_bytes)
{
	uintptr_t low = end > STUBS_REACH + STUBS_LOWEST ? end - STUBS_REACH : STUBS_LOWEST;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct ktr__plain_stubs *got;

	low = (low + page - 1) & ~(page - 1);
	for (uintptr_t at = (begin - n_bytes) & ~(page - 1); begin > n_bytes && at >= low && at < begin;
	     at -= STUBS_STEP)
		if ((got = stubs_map_at(at, n_bytes)))
			return got;
	for (uintptr_t at = (begin + STUBS_REACH - n_bytes) & ~(page - 1); at > end; at -= STUBS_STEP)
		if ((got = stubs_map_at(at, n_bytes)))
			return got;
	return NULL;
}

struct ktr__plain_stubs *ktr__plain_stubs_near(const struct ktr__object *object, uint32_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n_bytes = page + ((size_t)n * STUBS_BYTES + page - 1) / page * page;
	struct ktr__plain_stubs *stubs = stubs_map(object->base, object->end, n_bytes);

	if (!stubs)
		return NULL;
	stubs->code = (uint8_t *)stubs + page;
	stubs->n = n;
	stubs->base = object->base;
	stubs->end = object->end;
	return stubs;
}

/* Four bytes that lead from behind them to a place. */
static bool stubs_rel(uint8_t *at, uintptr_t to)
{
	int64_t far = (int64_t)(to - ((uintptr_t)at + 4));
	int32_t near = (int32_t)far;

	memcpy(at, &near, sizeof(near));
	return far == near;
}

/* The copy of an instruction, whose operand is where it was. */
static bool stubs_copy(uint8_t *to, const struct ktr__plain_function *function)
{
	int32_t displacement;
	int64_t far;

	memcpy(to, (const void *)function->at, function->n_first);
	if (!function->rip_at)
		return true;
	memcpy(&displacement, to + function->rip_at, sizeof(displacement));
	far = displacement + (int64_t)(function->at - (uintptr_t)to);
	displacement = (int32_t)far;
	memcpy(to + function->rip_at, &displacement, sizeof(displacement));
	return far == displacement;
}

static bool stubs_fill(struct ktr__plain_stubs *stubs, uint32_t i, uint32_t number,
		       const struct ktr__plain_function *function)
{
	static const uint8_t keep[] = { 0x4c, 0x89, 0x5c, 0x24, 0x80, 0x41, 0xbb };
	uint8_t *at = ktr__plain_stub_at(stubs, i), *jump = at + STUBS_BODY + function->n_first;

	memset(at, 0xcc, STUBS_BYTES);
	memcpy(at, keep, sizeof(keep));
	memcpy(at + 7, &number, sizeof(number));
	at[11] = 0xff;
	at[12] = 0x25;
	*jump = 0xe9;
	memcpy(at + STUBS_PUSHES, &function->pushes, sizeof(function->pushes));
	at[STUBS_JUMP] = (uint8_t)(jump - at);
	return stubs_rel(at + 13, (uintptr_t)&stubs->module.trampoline) && stubs_copy(at + STUBS_BODY, function) &&
	       stubs_rel(jump + 1, function->at + function->n_first);
}

uint8_t *ktr__plain_stub_body(const struct ktr__plain_stubs *stubs, uint32_t i,
			      const struct ktr__plain_function *function)
{
	if (function->is_endbr)
		return (uint8_t *)function->at + function->n_first;
	return ktr__plain_stub_at(stubs, i) + STUBS_BODY;
}

int ktr__plain_stubs_write(struct ktr__plain_stubs *stubs, uint32_t first, struct ktr__plain_function *functions)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n_bytes = ((size_t)stubs->n * STUBS_BYTES + page - 1) / page * page;

	for (uint32_t i = 0; i < stubs->n; i++)
		if (functions[i].form && !stubs->is_ready && !stubs_fill(stubs, i, first + i, &functions[i])) {
			functions[i].form = KTR__PLAIN_NOT;
			functions[i].why = KTR__PLAIN_WHY_FAR;
		}
	if (!stubs->is_ready && mprotect(stubs->code, n_bytes, PROT_READ | PROT_EXEC))
		return -errno;
	stubs->is_ready = true;
	return 0;
}
