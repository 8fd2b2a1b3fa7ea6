/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ours do what the C library's do, and tell of them. They are called while somebody wants to know, by the pointers
 * that the loader has filled in (ktr/provider/imports); else nothing stands before the C library. Both are points
 * of cancellation: a thread that is cancelled there does not come back, and tells nothing.
 */
#include "ktr/provider/offcpu/calls.h"

#include "ktr/provider/imports/image.h"
#include "ktr/provider/profile/off.h"
#include "ktr/provider/timer/wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>

#define CALLS_LIBC "libc.so.6"

/* The C library's; written once, before any of ours is called. */
static struct {
#define CALLS_MEMBER(type, name, parameters, arguments) type(*name) parameters;
	KTR__OFFCPU_CALLS(CALLS_MEMBER)
	void *sigwait, *sigwaitinfo, *sigtimedwait;
} calls_real;

/* ktr__stacks_here() finds the program's frame by who called. */
#define CALLS_TRACED(type, name, parameters, arguments)                                          \
	static type calls_traced_##name parameters                                               \
	{                                                                                        \
		const void *caller = __builtin_extract_return_addr(__builtin_return_address(0)); \
		struct ktr__off off;                                                             \
		type came;                                                                       \
												 \
		ktr__off_begin(&off);                                                            \
		came = calls_real.name arguments;                                                \
		ktr__off_end(&off, #name, caller);                                               \
		return came;                                                                     \
	}
KTR__OFFCPU_CALLS(CALLS_TRACED)

#define CALLS_ONE(...) +1
static struct ktr__import calls_import[0 KTR__OFFCPU_CALLS(CALLS_ONE) + 3];

struct ktr__imports ktr__offcpu_imports = { .import = calls_import, .spares_owner = true, .may_be_none = true };

void ktr__offcpu_at_start(void)
{
	ktr__offcpu_imports.n_first = ktr__imports_n_loaded();
}

/*
 * Is it the one that objects get which the program began with? A program that takes a function's address, and lies
 * where it was linked for, has an entry of its own for it, which leads there.
 */
static bool calls_is_first(const char *name, const void *real)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return found == real ||
	       (found && dladdr1(found, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) && symbol &&
		symbol->st_shndx == SHN_UNDEF);
}

/* One that this C library does not have nobody calls. */
static void calls_take(void *libc, const char *name, void **real, const void *ours)
{
	*real = dlsym(libc, name);
	if (*real)
		calls_import[ktr__offcpu_imports.n++] =
			(struct ktr__import){ ours, real, calls_is_first(name, *real) ? name : "" };
}

bool ktr__offcpu_resolve(void)
{
	void *libc = dlopen(CALLS_LIBC, RTLD_LAZY | RTLD_NOLOAD);

	if (!libc)
		return false;
	if (!ktr__offcpu_imports.n_first)
		ktr__offcpu_imports.n_first = ktr__imports_n_began();
#define CALLS_TAKE(type, name, parameters, arguments)                                            \
	calls_take(libc, #name, (void **)(void *)&calls_real.name, (const void *)calls_traced_##name);
	KTR__OFFCPU_CALLS(CALLS_TAKE)
	/* Of a program that was started with the agent they are called anyway. */
	calls_take(libc, "sigwait", &calls_real.sigwait, (const void *)ktr__wait_sigwait);
	calls_take(libc, "sigwaitinfo", &calls_real.sigwaitinfo, (const void *)ktr__wait_sigwaitinfo);
	calls_take(libc, "sigtimedwait", &calls_real.sigtimedwait, (const void *)ktr__wait_sigtimedwait);
	dlclose(libc);
	return ktr__offcpu_imports.n != 0;
}
