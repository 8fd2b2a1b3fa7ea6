/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As ktr/provider/lock/calls.c does it: what programs call by the names of the C library's functions goes on to
 * what offcpu_way says, a load and a jump, be it the real function or the one that tells of it. Both are points of
 * cancellation where the real one is: a thread that is cancelled there does not come back, and tells nothing.
 */
#include "ktr/provider/offcpu/calls.h"

#include "ktr/provider/profile/image.h"
#include "ktr/provider/profile/off.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>

static struct ktr__offcpu_calls offcpu_real; /* the C library's; written once, before anything is traced */

#define CALLS_FIRST(type, name, parameters, arguments, version, old)                             \
	static type calls_first_##name parameters                                                \
	{                                                                                        \
		ktr__offcpu_resolve();                                                           \
		return offcpu_real.name arguments;                                               \
	}
KTR__OFFCPU_CALLS(CALLS_FIRST)

/* It keeps a frame pointer, and has who called for a return address: ktr__stacks_here() finds both. */
#define CALLS_TRACED(type, name, parameters, arguments, version, old)                            \
	static type calls_traced_##name parameters                                               \
	{                                                                                        \
		const void *caller = __builtin_extract_return_addr(__builtin_return_address(0)); \
		struct ktr__off off;                                                             \
		type came;                                                                       \
												 \
		ktr__off_begin(&off);                                                            \
		came = offcpu_real.name arguments;                                               \
		ktr__off_end(&off, #name, caller);                                               \
		return came;                                                                     \
	}
KTR__OFFCPU_CALLS(CALLS_TRACED)

/* Where calls go now; atomic, each. */
#define CALLS_BEGIN(type, name, parameters, arguments, version, old) .name = calls_first_##name,
static struct ktr__offcpu_calls offcpu_way = { KTR__OFFCPU_CALLS(CALLS_BEGIN) };

/* Stands for one that this C library does not have, and that nobody who runs with it can call. */
static long calls_none(void)
{
	errno = ENOSYS;
	return -1;
}

/*
 * Without a version: one of somebody else's, who stands before the C library, may have none. Of what that one takes
 * and returns nothing is known, so it is never told of.
 */
static void *calls_find(const char *name, const char *version, bool *is_libc)
{
	void *found = dlsym(RTLD_NEXT, name);

	*is_libc = found && found == dlvsym(RTLD_NEXT, name, version);
	return found ? found : (void *)(uintptr_t)calls_none;
}

static struct {
#define CALLS_IS_LIBC(type, name, parameters, arguments, version, old) bool name;
	KTR__OFFCPU_CALLS(CALLS_IS_LIBC)
} offcpu_is_libc;

#define CALLS_RESOLVE(type, name, parameters, arguments, version, old)                                 \
	__atomic_store_n((void **)(void *)&offcpu_real.name,                                           \
			 calls_find(#name, version, &offcpu_is_libc.name), __ATOMIC_RELEASE);
#define CALLS_REAL(type, name, parameters, arguments, version, old)                                    \
	do {                                                                                           \
		type(*first) parameters = calls_first_##name;                                          \
											       \
		__atomic_compare_exchange_n(&offcpu_way.name, &first, offcpu_real.name, 0,             \
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);                       \
	} while (0);

void ktr__offcpu_resolve(void)
{
	int saved = errno;

	KTR__OFFCPU_CALLS(CALLS_RESOLVE)
	KTR__OFFCPU_CALLS(CALLS_REAL)
	errno = saved;
}

#define CALLS_LEAD(type, name, parameters, arguments, version, old)                              \
	__atomic_store_n(&offcpu_way.name,                                                       \
			 on && offcpu_is_libc.name ? calls_traced_##name : offcpu_real.name,    \
			 __ATOMIC_RELEASE);

void ktr__offcpu_lead(bool on)
{
	KTR__OFFCPU_CALLS(CALLS_LEAD)
}

/* ---- what is exported ---- */

/* A name for each version, for one name may have one only. */
#define CALLS_EXPORT(type, name, parameters, arguments, version, old)                           \
	__attribute__((visibility("default"))) type ktr__offcpu_new_##name parameters;          \
	__attribute__((visibility("default"))) type ktr__offcpu_new_##name parameters           \
	{                                                                                       \
		return __atomic_load_n(&offcpu_way.name, __ATOMIC_RELAXED) arguments;           \
	}                                                                                       \
	__attribute__((visibility("default"), alias("ktr__offcpu_new_" #name)))                 \
	type ktr__offcpu_old_##name parameters;                                                 \
	__asm__(".symver ktr__offcpu_new_" #name ", " #name "@@" version);                      \
	__asm__(".ifnb " old "\n\t.symver ktr__offcpu_old_" #name ", " #name "@" old "\n\t.endif");
KTR__OFFCPU_CALLS(CALLS_EXPORT)

/* A program that takes the function's address, and lies where it was linked for, has an entry of its own for it. */
bool ktr__offcpu_is_first(void)
{
	void *found = dlsym(RTLD_DEFAULT, "nanosleep");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (found == (void *)(uintptr_t)ktr__offcpu_new_nanosleep)
		return true;
	return dladdr1(found, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}
