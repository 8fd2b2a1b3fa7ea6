/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs call by the names of the C library's functions, in its versions. Each goes on to what its row of
 * ktr__lock_way says, a load and a jump: the real function, or while some probe needs it the one that tells of it.
 * Both see the program's return address and registers as they are.
 *
 * A constructor of another object may come before ours. So the table begins with functions that ask the loader,
 * which is done once in a process.
 */
#include "ktr/provider/lock/calls.h"

#include "ktr/provider/lock/futex.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>

struct ktr__lock_calls ktr__lock_real;

#define CALLS_FIRST(name, parameters, arguments, version, old)                                   \
	static int calls_first_##name parameters                                                 \
	{                                                                                        \
		ktr__lock_resolve();                                                             \
		return ktr__lock_real.name arguments;                                            \
	}
KTR__LOCK_CALLS(CALLS_FIRST)

#define CALLS_BEGIN(name, parameters, arguments, version, old) .name = calls_first_##name,
struct ktr__lock_calls ktr__lock_way = { KTR__LOCK_CALLS(CALLS_BEGIN) };

/* Stands for one that this C library does not have, and that nobody who runs with it can call. */
static int calls_none(void)
{
	return ENOSYS;
}

/* Without a version: one of somebody else's, who stands before the C library, may have none. */
static void *calls_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	return found ? found : (void *)(uintptr_t)calls_none;
}

#define CALLS_RESOLVE(name, parameters, arguments, version, old)                                       \
	__atomic_store_n((void **)(void *)&ktr__lock_real.name, calls_find(#name), __ATOMIC_RELEASE);
#define CALLS_LEAD(name, parameters, arguments, version, old)                                          \
	do {                                                                                           \
		int(*first) parameters = calls_first_##name;                                           \
											       \
		__atomic_compare_exchange_n(&ktr__lock_way.name, &first, ktr__lock_real.name, 0,       \
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);                       \
	} while (0);

void ktr__lock_resolve(void)
{
	int saved = errno;

	KTR__LOCK_CALLS(CALLS_RESOLVE)
	KTR__LOCK_CALLS(CALLS_LEAD)
	ktr__futex_resolve();
	errno = saved;
}

/* ---- what is exported ---- */

/* A name for each version, for one name may have one only. */
#define CALLS_EXPORT(name, parameters, arguments, version, old)                                              \
	__attribute__((visibility("default"))) int ktr__lock_new_##name parameters;                          \
	__attribute__((visibility("default"))) int ktr__lock_new_##name parameters                           \
	{                                                                                                    \
		return __atomic_load_n(&ktr__lock_way.name, __ATOMIC_RELAXED) arguments;                     \
	}                                                                                                    \
	__attribute__((visibility("default"), alias("ktr__lock_new_" #name))) int ktr__lock_old_##name parameters; \
	__asm__(".symver ktr__lock_new_" #name ", " #name "@@" version);                                     \
	__asm__(".ifnb " old "\n\t.symver ktr__lock_old_" #name ", " #name "@" old "\n\t.endif");
KTR__LOCK_CALLS(CALLS_EXPORT)

#define CALLS_IMPORT(name, parameters, arguments, version, old)                                              \
	{ (const void *)ktr__lock_new_##name, (void *const *)(void *)&ktr__lock_real.name, NULL },
static struct ktr__import calls_import[] = { KTR__LOCK_CALLS(CALLS_IMPORT){
	(const void *)ktr__futex_syscall, &ktr__futex_real, NULL } };
/* A program that has just begun may have bound none of them yet: they are led once a first call has. */
struct ktr__imports ktr__lock_imports = { .import = calls_import,
					  .n = sizeof(calls_import) / sizeof(calls_import[0]),
					  .may_be_none = true };

/* A program that takes the function's address, and lies where it was linked for, has an entry of its own for it. */
int ktr__lock_is_first(void)
{
	void *found = dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (found == (void *)(uintptr_t)ktr__lock_new_pthread_mutex_lock)
		return 1;
	return dladdr1(found, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}
