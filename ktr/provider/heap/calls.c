/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs call by the names of the C library's functions. Each goes on to what its row of the ways says, a
 * load and a jump: the real function, or while some probe needs it the one that tells of it. Both see the
 * program's return address and registers as they are.
 *
 * Of calls that may be samples most are none: what gets a block goes on to the real function by itself while the
 * thread has bytes left, and what gives one back where no sample has such an address.
 *
 * Memory is asked for before any constructor runs, so the table begins with functions that ask the loader. That may
 * ask for memory itself: such calls get a piece of a room that nobody gives back.
 */
#include "ktr/provider/heap/calls.h"

#include "ktr/provider/heap/tell.h"
#include "ktr/provider/heap/traced.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the room ---- */

#define CALLS_ROOM  16384 /* the loader asks for some hundred bytes, to say what it has not found */
#define CALLS_ALIGN 16

static _Alignas(CALLS_ALIGN) unsigned char calls_room[CALLS_ROOM];
static size_t calls_used; /* atomic */
static __thread int calls_asks __attribute__((tls_model("initial-exec"))); /* the loader is asked by this thread */

static int calls_is_room(const void *p)
{
	return (uintptr_t)p - (uintptr_t)calls_room < CALLS_ROOM;
}

/* Zeroed, as nothing comes back: who gives it back is held up. NULL: it is used up. */
static void *calls_piece(size_t n)
{
	size_t at;

	if (n > CALLS_ROOM)
		return NULL;
	n = (n + CALLS_ALIGN - 1) & ~(size_t)(CALLS_ALIGN - 1);
	at = __atomic_fetch_add(&calls_used, n, __ATOMIC_RELAXED);
	if (at + n > CALLS_ROOM)
		return NULL;
	ktr__sampled_always((uintptr_t)(calls_room + at));
	return calls_room + at;
}

/* ---- while nothing has been found ---- */

static void *calls_first_malloc(size_t n)
{
	if (calls_asks)
		return calls_piece(n);
	ktr__heap_resolve();
	return ktr__heap_near.real.malloc(n);
}

static void *calls_first_calloc(size_t k, size_t n)
{
	if (calls_asks)
		return n && k > CALLS_ROOM / n ? NULL : calls_piece(k * n);
	ktr__heap_resolve();
	return ktr__heap_near.real.calloc(k, n);
}

/* Of what is in the room the exported one has a copy made. */
static void *calls_first_realloc(void *p, size_t n)
{
	if (calls_asks)
		return p ? NULL : calls_piece(n);
	ktr__heap_resolve();
	return ktr__heap_near.real.realloc(p, n);
}

static void calls_first_free(void *p)
{
	if (calls_asks || !p)
		return;
	ktr__heap_resolve();
	ktr__heap_near.real.free(p);
}

#define CALLS_FIRST(name, parameters, arguments)                                                 \
	static void *calls_first_##name parameters                                               \
	{                                                                                        \
		ktr__heap_resolve();                                                             \
		return ktr__heap_near.real.name arguments;                                            \
	}
CALLS_FIRST(aligned_alloc, (size_t align, size_t n), (align, n))
CALLS_FIRST(memalign, (size_t align, size_t n), (align, n))
CALLS_FIRST(valloc, (size_t n), (n))
CALLS_FIRST(pvalloc, (size_t n), (n))

CALLS_FIRST(mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at))
CALLS_FIRST(mmap64, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at))
CALLS_FIRST(mremap, (void *p, size_t n, size_t new_n, int flags, void *to), (p, n, new_n, flags, to))

static int calls_first_munmap(void *p, size_t n)
{
	ktr__heap_resolve();
	return ktr__heap_near.real.munmap(p, n);
}

static int calls_first_posix_memalign(void **to, size_t align, size_t n)
{
	ktr__heap_resolve();
	return ktr__heap_near.real.posix_memalign(to, align, n);
}

#define CALLS_BEGIN(type, name, parameters, arguments, version) .name = calls_first_##name,
_Alignas(4096) struct ktr__heap_near ktr__heap_near = { .on = KTR__HEAP_NONE_YET,
						   .real = { KTR__HEAP_CALLS(CALLS_BEGIN) },
						   .way = { KTR__HEAP_CALLS(CALLS_BEGIN) } };

/* ---- what is found ---- */

/* Some allocators lack a name, and nobody who runs with them can call it. */
static void *calls_none(void)
{
	errno = ENOMEM;
	return NULL;
}

static int calls_none_code(void)
{
	return ENOMEM;
}

static void *calls_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found)
		return found;
	return strcmp(name, "posix_memalign") == 0 ? (void *)(uintptr_t)calls_none_code : (void *)(uintptr_t)calls_none;
}

#define CALLS_RESOLVE(type, name, parameters, arguments, version)                                         \
	__atomic_store_n((void **)(void *)&ktr__heap_near.real.name, calls_find(#name), __ATOMIC_RELEASE);
#define CALLS_LEAD(type, name, parameters, arguments, version)                                            \
	do {                                                                                     \
		type(*first) parameters = calls_first_##name;                                    \
												 \
		__atomic_compare_exchange_n(&ktr__heap_near.way.name, &first, ktr__heap_near.real.name, 0, \
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);                 \
	} while (0);

void ktr__heap_resolve(void)
{
	uint32_t on = KTR__HEAP_NONE_YET;
	int saved = errno;

	if (__atomic_load_n(&ktr__heap_near.self, __ATOMIC_ACQUIRE))
		return;
	calls_asks = 1;
	KTR__HEAP_CALLS(CALLS_RESOLVE)
	calls_asks = 0;
	__atomic_store_n(&ktr__heap_near.self, (uintptr_t)&ktr__heap_self - (uintptr_t)__builtin_thread_pointer(),
			 __ATOMIC_RELEASE);
	__atomic_compare_exchange_n(&ktr__heap_near.on, &on, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	KTR__HEAP_CALLS(CALLS_LEAD)
	errno = saved;
}

/* ---- what is exported ---- */

#define CALLS_WAY(name) __atomic_load_n(&ktr__heap_near.way.name, __ATOMIC_RELAXED)
#define CALLS_EXPORT(type, name, parameters, arguments)                                          \
	__attribute__((visibility("default"))) type ktr__heap_new_##name parameters;             \
	__attribute__((visibility("default"))) KTR__HEAP_OPTIMIZED type ktr__heap_new_##name parameters \
	{                                                                                        \
		KTR__HEAP_TAIL CALLS_WAY(name) arguments;                                        \
	}
CALLS_EXPORT(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at))
CALLS_EXPORT(void *, mmap64, (void *p, size_t n, int prot, int flags, int fd, off_t at),
	     (p, n, prot, flags, fd, at))
CALLS_EXPORT(int, munmap, (void *p, size_t n), (p, n))
CALLS_EXPORT(void *, mremap, (void *p, size_t n, size_t new_n, int flags, void *to), (p, n, new_n, flags, to))

#define CALLS_EXPORT_GET(type, name, parameters, arguments)                                      \
	__attribute__((visibility("default"))) type ktr__heap_new_##name parameters;             \
	__attribute__((visibility("default"))) KTR__HEAP_OPTIMIZED type ktr__heap_new_##name parameters \
	{                                                                                        \
		if (__builtin_expect(!ktr__heap_passes(n), 0))                                   \
			KTR__HEAP_TAIL CALLS_WAY(name) arguments;                                \
		KTR__HEAP_TAIL ktr__heap_near.real.name arguments;                                    \
	}
CALLS_EXPORT_GET(void *, malloc, (size_t n), (n))
CALLS_EXPORT_GET(int, posix_memalign, (void **to, size_t align, size_t n), (to, align, n))
CALLS_EXPORT_GET(void *, aligned_alloc, (size_t align, size_t n), (align, n))
CALLS_EXPORT_GET(void *, memalign, (size_t align, size_t n), (align, n))
CALLS_EXPORT_GET(void *, valloc, (size_t n), (n))
CALLS_EXPORT_GET(void *, pvalloc, (size_t n), (n))

__attribute__((visibility("default"))) void *ktr__heap_new_calloc(size_t k, size_t n);
__attribute__((visibility("default"))) void ktr__heap_new_free(void *p);
__attribute__((visibility("default"))) void *ktr__heap_new_realloc(void *p, size_t n);

KTR__HEAP_OPTIMIZED void *ktr__heap_new_calloc(size_t k, size_t n)
{
	size_t bytes;

	/* Where that is too much there will be no block. */
	if (__builtin_expect(__builtin_mul_overflow(k, n, &bytes) || !ktr__heap_passes(bytes), 0))
		KTR__HEAP_TAIL CALLS_WAY(calloc)(k, n);
	KTR__HEAP_TAIL ktr__heap_near.real.calloc(k, n);
}

#define CALLS_SAMPLES (KTR__HEAP_BIT(SAMPLE) | KTR__HEAP_BIT(SAMPLED_FREE))

/* A sample's, it may be, or the room's. */
static __attribute__((noinline)) KTR__HEAP_OPTIMIZED void calls_free_known(void *p)
{
	if (calls_is_room(p))
		return;
	if (__atomic_load_n(&ktr__heap_near.on, __ATOMIC_RELAXED) & CALLS_SAMPLES)
		KTR__HEAP_TAIL ktr__traced_free(p);
	KTR__HEAP_TAIL CALLS_WAY(free)(p);
}

KTR__HEAP_OPTIMIZED void ktr__heap_new_free(void *p)
{
	if (__builtin_expect(ktr__sampled_may((uintptr_t)p), 0))
		KTR__HEAP_TAIL calls_free_known(p);
	KTR__HEAP_TAIL CALLS_WAY(free)(p);
}

static __attribute__((noinline)) KTR__HEAP_OPTIMIZED void *calls_realloc_known(void *p, size_t n)
{
	void *moved;
	size_t most;

	if (!calls_is_room(p))
		KTR__HEAP_TAIL CALLS_WAY(realloc)(p, n);
	moved = ktr__heap_new_malloc(n);
	most = (size_t)(calls_room + CALLS_ROOM - (unsigned char *)p);
	if (moved)
		memcpy(moved, p, n < most ? n : most);
	return moved;
}

KTR__HEAP_OPTIMIZED void *ktr__heap_new_realloc(void *p, size_t n)
{
	if (__builtin_expect(ktr__sampled_may((uintptr_t)p), 0))
		KTR__HEAP_TAIL calls_realloc_known(p, n);
	if (__builtin_expect(ktr__heap_is_on(KTR__HEAP_REALLOC) || !ktr__heap_passes(n), 0))
		KTR__HEAP_TAIL CALLS_WAY(realloc)(p, n);
	KTR__HEAP_TAIL ktr__heap_near.real.realloc(p, n);
}

#define CALLS_VERSION(type, name, parameters, arguments, version)                                \
	__asm__(".symver ktr__heap_new_" #name ", " #name "@@" version);
KTR__HEAP_CALLS(CALLS_VERSION)

/* ---- in a process that runs already ---- */

#define CALLS_IMPORT(type, name, parameters, arguments, version)                                 \
	{ (const void *)ktr__heap_new_##name, (void *const *)(void *)&ktr__heap_near.real.name, NULL },
static struct ktr__import calls_import[] = { KTR__HEAP_CALLS(CALLS_IMPORT) };
struct ktr__imports ktr__heap_imports = { .import = calls_import,
					  .n = sizeof(calls_import) / sizeof(calls_import[0]) };

/* ---- who is called ---- */

int ktr__heap_is_first;
static __thread int calls_noticed __attribute__((tls_model("initial-exec")));

#define CALLS_NOTICE(type, name, parameters, arguments, version)                                 \
	static type calls_notice_##name parameters                                               \
	{                                                                                        \
		calls_noticed = 1;                                                               \
		return ktr__heap_near.real.name arguments;                                            \
	}
KTR__HEAP_CALLS(CALLS_NOTICE)

void ktr__heap_notice(void)
{
#define CALLS_TO_NOTICE(type, name, parameters, arguments, version)                              \
	__atomic_store_n(&ktr__heap_near.way.name, calls_notice_##name, __ATOMIC_RELEASE);
	KTR__HEAP_CALLS(CALLS_TO_NOTICE)
	calls_noticed = 0;
}

int ktr__heap_noticed(void)
{
#define CALLS_TO_REAL(type, name, parameters, arguments, version)                                \
	__atomic_store_n(&ktr__heap_near.way.name, ktr__heap_near.real.name, __ATOMIC_RELEASE);
	KTR__HEAP_CALLS(CALLS_TO_REAL)
	return calls_noticed;
}

/* The C library calls what the program does: an address would not tell, for programs have such of their own. */
void ktr__heap_look_first(void)
{
	char *volatile text;

	ktr__heap_notice();
	text = strdup("a text that is not known before");
	ktr__heap_is_first = ktr__heap_noticed();
	free(text);
}
