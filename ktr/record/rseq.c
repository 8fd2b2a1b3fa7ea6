/* SPDX-License-Identifier: BSD-2-Clause */
/* Which path a process records by: restartable sequences, or rings of threads. */
#include "ktr/record/rseq.h"

#include "ktr/arch/arch.h"
#include "ktr/session/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

/* glibc registers every thread for restartable sequences and says where; weak, for C libraries that do
 * not have them. A size of 0 means that the kernel, or a tunable, said no. */
#if KTR_ARCH_HAS_RSEQ
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

bool ktr__rseq_look(ptrdiff_t *offset)
{
	if (!&__rseq_size || !&__rseq_offset || !__rseq_size)
		return false;
	*offset = __rseq_offset;
	return true;
}
#else
bool ktr__rseq_look(ptrdiff_t *offset)
{
	*offset = 0;
	return false;
}
#endif

/*
 * KTR_PATH=thread chooses the path without restartable sequences, to try it or to compare; KTR_PATH=rseq
 * the other, even where the kernel is known to break them.
 */
bool ktr__rseq_wanted(ptrdiff_t *offset)
{
	const char *forced = getauxval(AT_SECURE) ? NULL : getenv("KTR_PATH");

	if (forced && strcmp(forced, "thread") == 0)
		return false;
#if defined(__aarch64__)
	struct utsname name;

	if (!(forced && strcmp(forced, "rseq") == 0) && uname(&name) == 0 && !ktr__release_restarts(name.release))
		return false;
#endif
	return ktr__rseq_look(offset);
}
