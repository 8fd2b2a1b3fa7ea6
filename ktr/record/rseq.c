/* SPDX-License-Identifier: BSD-2-Clause */
/* Which path a process records by: restartable sequences, or rings of threads. */
#include "ktr/record/rseq.h"

#include "ktr/arch/arch.h"
#include "ktr/session/cpu.h"
#include "ktr/session/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

/*
 * KTR_PATH=thread chooses the path without restartable sequences, to try it or to compare; KTR_PATH=rseq
 * the other, even where the kernel is known to break them. The offset is found out in any case: the thread
 * path takes the CPU from there.
 */
bool ktr__rseq_wanted(ptrdiff_t *offset)
{
	const char *forced = getauxval(AT_SECURE) ? NULL : getenv("KTR_PATH");
	bool there = ktr__rseq_look(offset);

	if (forced && strcmp(forced, "thread") == 0)
		return false;
#if defined(__aarch64__)
	struct utsname name;

	if (!(forced && strcmp(forced, "rseq") == 0) && uname(&name) == 0 && !ktr__release_restarts(name.release))
		return false;
#endif
	return KTR_ARCH_HAS_RSEQ && there;
}
