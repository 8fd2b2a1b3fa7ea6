/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list is what can be reached from ktr__fbt_entered() and ktr__fbt_left(), through libktr, and what compilers
 * call of themselves; tests/cli/provider/fbt_own.sh compares it with the calls in both libraries. What these
 * functions call in their turn, in the program, is not known: that is told while it is fired (fire.c).
 */
#include "ktr/provider/fbt/excluded.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* calloc(3): pthread_setspecific(3) does, for a thread's later keys. */
#define EXCLUDED_LIST(X)                                                                         \
	X(bcmp) X(calloc) X(clock_gettime) X(close) X(fcntl) X(flock) X(fstat) X(fstatvfs)        \
	X(getauxval) X(getpid) X(getppid) X(gettid) X(getuid) X(kill) X(madvise) X(memchr)        \
	X(memcmp) X(memcpy) X(memmem) X(memmove) X(memset) X(mmap) X(mprotect) X(munmap) X(open)  \
	X(posix_fallocate) X(prctl) X(pthread_mutex_lock) X(pthread_mutex_unlock)                 \
	X(pthread_setspecific) X(read) X(readlink) X(sched_getcpu) X(sigaltstack) X(snprintf)     \
	X(stat) X(strcspn) X(strlen) X(strncmp) X(strnlen) X(strrchr) X(strspn) X(strtoul)        \
	X(strtoull) X(syscall) X(sysconf)

/* Names that are no functions in headers. */
extern int *__errno_location(void) __attribute__((weak));

static const struct excluded {
	const char *name;
	void (*at)(void); /* as the recorder's own calls are bound */
} excluded_list[] = {
#define EXCLUDED_ROW(function) { #function, (void (*)(void))function },
	EXCLUDED_LIST(EXCLUDED_ROW)
	{ "__errno_location", (void (*)(void))__errno_location },
};

/*
 * Who is called through a trampoline sees that as its caller, and is not to return there after the first time:
 * setjmp(3) and its like, and what looks up by who has called: dlopen(3), dlsym(3).
 */
static const char *const excluded_returns[] = {
	"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "_sigsetjmp", "__sigsetjmp", "savectx",
	"getcontext", "__getcontext", "swapcontext", "__swapcontext", "unw_getcontext", "_Ux86_64_getcontext",
	"vfork", "__vfork", "clone", "__clone", "__clone3", "clone3",
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dlclose", "_start", "__libc_start_main",
};

#define EXCLUDED_N (sizeof(excluded_list) / sizeof(excluded_list[0]))

bool ktr__fbt_excluded_name(const char *symbol)
{
	for (size_t i = 0; i < EXCLUDED_N; i++)
		if (strcmp(symbol, excluded_list[i].name) == 0)
			return true;
	return false;
}

bool ktr__fbt_excluded_return(const char *symbol)
{
	for (size_t i = 0; i < sizeof(excluded_returns) / sizeof(excluded_returns[0]); i++)
		if (strcmp(symbol, excluded_returns[i]) == 0)
			return true;
	return false;
}

bool ktr__fbt_excluded_at(uintptr_t address)
{
	for (size_t i = 0; i < EXCLUDED_N; i++)
		if ((uintptr_t)excluded_list[i].at == address)
			return true;
	return false;
}

/* In memory: the shared C library, and the shared object that this is in, which is the agent's or libktr-fbt's. */
struct excluded_object {
	uintptr_t known, low, high;
};

enum { EXCLUDED_LIBC, EXCLUDED_OURS, EXCLUDED_OBJECTS };

static bool excluded_within(const struct excluded_object *object, uintptr_t at)
{
	return at >= object->low && at < object->high;
}

static int excluded_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct excluded_object *objects = context, found = { 0, UINTPTR_MAX, 0 };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		found.low = at < found.low ? at : found.low;
		found.high = at + part->p_memsz;
	}
	/* The program itself has no name: one that is linked statically, or has the library in it. */
	for (int i = 0; i < EXCLUDED_OBJECTS && *info->dlpi_name; i++)
		if (excluded_within(&found, objects[i].known))
			objects[i] = (struct excluded_object){ objects[i].known, found.low, found.high };
	return 0;
}

bool ktr__fbt_excluded_are_libc(void)
{
	struct excluded_object objects[EXCLUDED_OBJECTS] = {
		[EXCLUDED_LIBC] = { (uintptr_t)gnu_get_libc_version, 0, 0 },
		[EXCLUDED_OURS] = { (uintptr_t)excluded_list, 0, 0 },
	};

	dl_iterate_phdr(excluded_find, objects);
	for (size_t i = 0; i < EXCLUDED_N; i++) {
		uintptr_t at = (uintptr_t)excluded_list[i].at;

		/* An allocator's own is for a thread's first event, which never goes the quick way. */
		if (excluded_list[i].at == (void (*)(void))calloc)
			continue;
		/* Some are the agent's, which stands before the C library and hands on to it. */
		if (at && !excluded_within(&objects[EXCLUDED_LIBC], at) &&
		    !excluded_within(&objects[EXCLUDED_OURS], at))
			return false;
	}
	return true;
}
