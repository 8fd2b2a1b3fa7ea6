/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names are those of the Itanium C++ ABI, which C++ compilers on Linux have. An operator new throws through our
 * frame where there is no memory: nothing of it has to be undone.
 */
#include "ktr/provider/heap/operators.h"

#include "ktr/provider/heap/calls.h"
#include "ktr/provider/heap/tell.h"
#include "ktr/record/module.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row: name, is it of aligned blocks, parameters, arguments. The first is the size, or the block. */
#define OPERATORS_NEW(X)                                                                         \
	X(_Znwm, 0, (size_t n), (n))                                                                \
	X(_Znam, 0, (size_t n), (n))                                                                \
	X(_ZnwmRKSt9nothrow_t, 0, (size_t n, const void *t), (n, t))                                \
	X(_ZnamRKSt9nothrow_t, 0, (size_t n, const void *t), (n, t))                                \
	X(_ZnwmSt11align_val_t, 1, (size_t n, size_t a), (n, a))                                    \
	X(_ZnamSt11align_val_t, 1, (size_t n, size_t a), (n, a))                                    \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, 1, (size_t n, size_t a, const void *t), (n, a, t))    \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, 1, (size_t n, size_t a, const void *t), (n, a, t))

#define OPERATORS_DELETE(X)                                                                      \
	X(_ZdlPv, 0, (void *p), (p))                                                                \
	X(_ZdaPv, 0, (void *p), (p))                                                                \
	X(_ZdlPvm, 0, (void *p, size_t n), (p, n))                                                  \
	X(_ZdaPvm, 0, (void *p, size_t n), (p, n))                                                  \
	X(_ZdlPvRKSt9nothrow_t, 0, (void *p, const void *t), (p, t))                                \
	X(_ZdaPvRKSt9nothrow_t, 0, (void *p, const void *t), (p, t))                                \
	X(_ZdlPvSt11align_val_t, 1, (void *p, size_t a), (p, a))                                    \
	X(_ZdaPvSt11align_val_t, 1, (void *p, size_t a), (p, a))                                    \
	X(_ZdlPvmSt11align_val_t, 1, (void *p, size_t n, size_t a), (p, n, a))                      \
	X(_ZdaPvmSt11align_val_t, 1, (void *p, size_t n, size_t a), (p, n, a))                      \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, 1, (void *p, size_t a, const void *t), (p, a, t))    \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, 1, (void *p, size_t a, const void *t), (p, a, t))

static struct {
#define OPERATORS_REAL_NEW(name, aligned, parameters, arguments) void *(*name) parameters;
#define OPERATORS_REAL_DELETE(name, aligned, parameters, arguments) void(*name) parameters;
	OPERATORS_NEW(OPERATORS_REAL_NEW)
	OPERATORS_DELETE(OPERATORS_REAL_DELETE)
} operators_real;

/* ---- what is called instead ---- */

#define OPERATORS_OURS_NEW(name, aligned, parameters, arguments)                                          \
	static __attribute__((noinline)) void *operators_told##name parameters                   \
	{                                                                                        \
		const struct ktr__here here = KTR__HERE();                                       \
		void *block = operators_real.name arguments;                                     \
												 \
		ktr__heap_got(block, n, &here);                                                  \
		return block;                                                                    \
	}                                                                                        \
	static KTR__HEAP_OPTIMIZED void *operators##name parameters                              \
	{                                                                                        \
		if (!ktr__heap_passes(n))                                                        \
			KTR__HEAP_TAIL operators_told##name arguments;                           \
		KTR__HEAP_TAIL operators_real.name arguments;                                    \
	}
OPERATORS_NEW(OPERATORS_OURS_NEW)

#define OPERATORS_OURS_DELETE(name, aligned, parameters, arguments)                                       \
	static __attribute__((noinline)) void operators_told##name parameters                    \
	{                                                                                        \
		const struct ktr__here here = KTR__HERE();                                       \
												 \
		if (p)                                                                           \
			ktr__heap_gives(p, &here);                                               \
		operators_real.name arguments;                                                   \
	}                                                                                        \
	static KTR__HEAP_OPTIMIZED void operators##name parameters                               \
	{                                                                                        \
		if (ktr__heap_tells_free(p))                                                     \
			KTR__HEAP_TAIL operators_told##name arguments;                           \
		KTR__HEAP_TAIL operators_real.name arguments;                                    \
	}
OPERATORS_DELETE(OPERATORS_OURS_DELETE)

/* ---- where there are some ---- */

#define OPERATORS_ONE(name, ...) +1
#define OPERATORS_SIZE	24 /* [bytes] of those that are called to see what they do */
#define OPERATORS_ALIGN 64
static struct ktr__import operators_import[0 OPERATORS_NEW(OPERATORS_ONE) OPERATORS_DELETE(OPERATORS_ONE)];
/* An allocator's own calls are no program's, and its free(3) may be its operator delete. */
static struct ktr__imports operators_imports = { .import = operators_import,
						  .spares_owner = true,
						  .may_be_none = true };

/* The allocator's, or NULL. What dlerror(3) would say is memory that must not be given back when somebody looks. */
static void *operators_find(const char *name, uint64_t base)
{
	struct ktr__object object;
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		dlerror();
		dlerror();
	}
	return found && ktr__object_find(found, &object) && object.base == base ? found : NULL;
}

/*
 * Those that call malloc(3) or the like by its name are told of there: jemalloc's for aligned blocks. So each is
 * called once.
 */
static void operators_add(const char *name, const void *ours, void *const *real)
{
	operators_import[operators_imports.n++] = (struct ktr__import){ ours, real, name };
}

#define OPERATORS_ADD(name)                                                                      \
	operators_add(#name, (const void *)operators##name, (void *const *)(void *)&operators_real.name)

/* What the others of its kind get and give back: of aligned blocks, and of arrays, whose name is new[]. */
#define OPERATORS_ARRAY(name) (#name[3] == 'a') /* _Zna, _Zda */

/* Is it there, and can blocks of its kind be got and given back? */
static bool operators_has(bool aligned, bool array, const void *operator)
{
	if (!operator)
		return false;
	if (aligned)
		return array ? operators_real._ZnamSt11align_val_t && operators_real._ZdaPvSt11align_val_t :
			       operators_real._ZnwmSt11align_val_t && operators_real._ZdlPvSt11align_val_t;
	return array ? operators_real._Znam && operators_real._ZdaPv :
		       operators_real._Znwm && operators_real._ZdlPv;
}

static void *operators_get(bool aligned, bool array)
{
	if (aligned)
		return array ? operators_real._ZnamSt11align_val_t(OPERATORS_SIZE, OPERATORS_ALIGN) :
			       operators_real._ZnwmSt11align_val_t(OPERATORS_SIZE, OPERATORS_ALIGN);
	return array ? operators_real._Znam(OPERATORS_SIZE) : operators_real._Znwm(OPERATORS_SIZE);
}

/* As it was got: an allocator that checks ends the program otherwise. */
static void operators_give(bool aligned, bool array, void *block)
{
	if (aligned && array)
		operators_real._ZdaPvSt11align_val_t(block, OPERATORS_ALIGN);
	else if (aligned)
		operators_real._ZdlPvSt11align_val_t(block, OPERATORS_ALIGN);
	else if (array)
		operators_real._ZdaPv(block);
	else
		operators_real._ZdlPv(block);
}

static void operators_try(void)
{
	const size_t n = OPERATORS_SIZE, a = OPERATORS_ALIGN;
	const void *const t = &operators_real; /* std::nothrow: its address says nothing */
	void *p;

#define OPERATORS_TRY_NEW(name, aligned, parameters, arguments)                                  \
	if (operators_has(aligned, OPERATORS_ARRAY(name), (const void *)(uintptr_t)operators_real.name)) { \
		ktr__heap_notice();                                                              \
		p = operators_real.name arguments;                                               \
		if (!ktr__heap_noticed())                                                        \
			OPERATORS_ADD(name);                                                     \
		operators_give(aligned, OPERATORS_ARRAY(name), p);                               \
	}
#define OPERATORS_TRY_DELETE(name, aligned, parameters, arguments)                               \
	if (operators_has(aligned, OPERATORS_ARRAY(name), (const void *)(uintptr_t)operators_real.name)) { \
		p = operators_get(aligned, OPERATORS_ARRAY(name));                               \
		ktr__heap_notice();                                                              \
		operators_real.name arguments;                                                   \
		if (!ktr__heap_noticed())                                                        \
			OPERATORS_ADD(name);                                                     \
	}
	OPERATORS_NEW(OPERATORS_TRY_NEW)
	OPERATORS_DELETE(OPERATORS_TRY_DELETE)
}

/* Those that an allocator lacks are libstdc++'s, which call others. */
void ktr__operators_look(bool at_start)
{
	const void *allocator = (const void *)(uintptr_t)ktr__heap_near.real.malloc;
	struct ktr__object object, libc;

	if (!ktr__object_find(allocator, &object) || !ktr__object_find((const void *)(uintptr_t)dlsym, &libc) ||
	    object.base == libc.base)
		return;
#define OPERATORS_FIND(name, aligned, parameters, arguments)                                     \
	*(void **)(void *)&operators_real.name = operators_find(#name, object.base);
	OPERATORS_NEW(OPERATORS_FIND)
	OPERATORS_DELETE(OPERATORS_FIND)
	operators_try();
	operators_imports.n_first = at_start ? ktr__imports_n_loaded() : 0;
}

void ktr__operators_lead(void)
{
	if (operators_imports.n)
		ktr__imports_lead(&operators_imports, NULL);
}

void ktr__operators_again(void)
{
	ktr__imports_look(&operators_imports);
}

void ktr__operators_restore(void)
{
	ktr__imports_restore(&operators_imports);
}
