/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the C library that the provider stands in front of, and what each of them leads to now. Where
 * the program brings another allocator, jemalloc say, they are that one's. The last parameter of mremap(2) is of
 * use with some flags alone, and handed on as it is.
 *
 * A row: what it returns, name, parameters, arguments, version on x86-64.
 */
#ifndef KTR_HEAP_CALLS_H
#define KTR_HEAP_CALLS_H

#include "ktr/provider/imports/imports.h"

#include <stddef.h>
#include <sys/types.h>

#define KTR__HEAP_CALLS(X)                                                                       \
	X(void *, malloc, (size_t n), (n), "GLIBC_2.2.5")                                        \
	X(void *, calloc, (size_t k, size_t n), (k, n), "GLIBC_2.2.5")                           \
	X(void *, realloc, (void *p, size_t n), (p, n), "GLIBC_2.2.5")                           \
	X(int, posix_memalign, (void **to, size_t align, size_t n), (to, align, n), "GLIBC_2.2.5")\
	X(void *, aligned_alloc, (size_t align, size_t n), (align, n), "GLIBC_2.16")             \
	X(void *, memalign, (size_t align, size_t n), (align, n), "GLIBC_2.2.5")                 \
	X(void *, valloc, (size_t n), (n), "GLIBC_2.2.5")                                        \
	X(void *, pvalloc, (size_t n), (n), "GLIBC_2.2.5")                                       \
	X(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at), \
	  "GLIBC_2.2.5")                                                                         \
	X(void *, mmap64, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at), \
	  "GLIBC_2.2.5")                                                                         \
	X(int, munmap, (void *p, size_t n), (p, n), "GLIBC_2.2.5")                               \
	X(void *, mremap, (void *p, size_t n, size_t new_n, int flags, void *to), (p, n, new_n, flags, to),     \
	  "GLIBC_2.2.5")                                                                         \
	X(void, free, (void *p), (p), "GLIBC_2.2.5")

struct ktr__heap_calls {
#define HEAP_MEMBER(type, name, parameters, arguments, version) type(*name) parameters;
	KTR__HEAP_CALLS(HEAP_MEMBER)
#undef HEAP_MEMBER
};

/*
 * A call at a function's end that leaves the program's return address where it is, at any level of optimization:
 * who is called counts on it.
 */
#ifdef __clang__
#define KTR__HEAP_TAIL __attribute__((musttail)) return
#define KTR__HEAP_OPTIMIZED
#else
#define KTR__HEAP_TAIL return
#define KTR__HEAP_OPTIMIZED __attribute__((optimize("O2")))
#endif

/*
 * Read by each call: not by way of the table that another object's names are found by.
 */
#define KTR__HEAP_NEAR __attribute__((visibility("hidden")))

extern KTR__HEAP_NEAR struct ktr__heap_calls ktr__heap_real; /* written once, before anything is traced */
extern KTR__HEAP_NEAR struct ktr__heap_calls ktr__heap_way;  /* where calls go now; atomic, each */

/* Finds the real ones, once: asks the loader. Also done by the first call that comes before. */
void ktr__heap_resolve(void);

/*
 * Does the process call ours? Not where another object stands before this one in the loader's order, the program
 * itself say. Known after the other, which is called once.
 */
extern int ktr__heap_is_first;
void ktr__heap_look_first(void);

/* Does this thread call any of ours between the two? While nothing is traced. */
void ktr__heap_notice(void);
int ktr__heap_noticed(void);

/* Has them call ours by the pointers of what is loaded, where the agent came later. */
extern struct ktr__imports ktr__heap_imports;

#endif
