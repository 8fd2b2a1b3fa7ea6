/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktrace as calls, after FreeBSD's ktrace(2) and utrace(2): see ktr_ktrace(3). ktr_ktrace() is in libktr-provider;
 * ktr_utrace() needs no library.
 */
#ifndef KTR_KTRACE_H
#define KTR_KTRACE_H

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What ktr_ktrace() is to do: one of these, and KTRFLAG_DESCEND. */
#define KTROP_SET	0 /* traces the process to the file, or for more */
#define KTROP_CLEAR	1 /* no longer for these points */
#define KTROP_CLEARFILE 2 /* no process to this file */
#define KTROP(op)	((op) & 3)
#define KTRFLAG_DESCEND 4 /* its present descendants, too */

/* For what. */
#define KTRFAC_SYSCALL	    (1 << 1)
#define KTRFAC_SYSRET	    (1 << 2)
#define KTRFAC_NAMEI	    (1 << 3)
#define KTRFAC_GENIO	    (1 << 4)
#define KTRFAC_PSIG	    (1 << 5)
#define KTRFAC_CSW	    (1 << 6) /* Linux does not tell of these, */
#define KTRFAC_USER	    (1 << 7)
#define KTRFAC_STRUCT	    (1 << 8)
#define KTRFAC_SYSCTL	    (1 << 9) /* nor of these, */
#define KTRFAC_CAPFAIL	    (1 << 12)
#define KTRFAC_FAULT	    (1 << 13)
#define KTRFAC_FAULTEND	    (1 << 14)
#define KTRFAC_STRUCT_ARRAY (1 << 15)
#define KTRFAC_INHERIT	    0x40000000 /* children that come, too */

/*
 * Has `ktr ktrace` trace a process, or with pid below 0 a process group, which may be the caller's own. The file
 * has to exist, is appended to, and must be a regular one that is no link. 0, or -1 with errno: EINVAL, no
 * points, or an operation that there is not; ENOENT, EACCES, of the file; ESRCH; EPERM, ptrace(2) refuses or
 * another traces it; ENOSYS, there is no command ktr in PATH. Starts a process and waits for it: not for signal
 * handlers.
 */
int ktr_ktrace(const char *file, int ops, int trpoints, pid_t pid);

#define KTR_UTRACE_MAX 2048 /* [bytes] of a record, as FreeBSD's KTR_USER_MAXLEN */

/* What asks a tracer for a record: an option of prctl(2) that Linux does not have, "KTRU". */
#define KTR_UTRACE_OPTION 0x4b545255

/*
 * Records n bytes at addr where the process is traced for user records (-t u); else it does nothing, at the price
 * of one system call. 0; -1 with errno EINVAL: more than KTR_UTRACE_MAX. What cannot be read is not recorded. May
 * be called from a signal handler; does not block, but stops for a tracer as any call.
 */
static inline int ktr_utrace(const void *addr, size_t n)
{
	int error = errno;

	if (n > KTR_UTRACE_MAX) {
		errno = EINVAL;
		return -1;
	}
	prctl(KTR_UTRACE_OPTION, addr, n, 0ul, 0ul);
	errno = error; /* Linux refuses it, whoever looks on */
	return 0;
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
