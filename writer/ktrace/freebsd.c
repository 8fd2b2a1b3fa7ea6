/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of FreeBSD's <sys/errno.h>, <sys/signal.h>, <sys/socket.h> and <sys/stat.h>, for which Linux has names
 * alone. What FreeBSD lacks: of errors see freebsd.h, real-time signals are its own in the same order, and after
 * those come SIGPWR and SIGSTKFLT.
 */
#include "writer/ktrace/freebsd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* [Linux's number] */
static const uint8_t freebsd_errno[] = {
	[EPERM] = 1, [ENOENT] = 2, [ESRCH] = 3, [EINTR] = 4, [EIO] = 5, [ENXIO] = 6, [E2BIG] = 7,
	[ENOEXEC] = 8, [EBADF] = 9, [ECHILD] = 10, [EDEADLK] = 11, [ENOMEM] = 12, [EACCES] = 13,
	[EFAULT] = 14, [ENOTBLK] = 15, [EBUSY] = 16, [EEXIST] = 17, [EXDEV] = 18, [ENODEV] = 19,
	[ENOTDIR] = 20, [EISDIR] = 21, [EINVAL] = 22, [ENFILE] = 23, [EMFILE] = 24, [ENOTTY] = 25,
	[ETXTBSY] = 26, [EFBIG] = 27, [ENOSPC] = 28, [ESPIPE] = 29, [EROFS] = 30, [EMLINK] = 31,
	[EPIPE] = 32, [EDOM] = 33, [ERANGE] = 34, [EAGAIN] = 35, [EINPROGRESS] = 36,
	[EALREADY] = 37, [ENOTSOCK] = 38, [EDESTADDRREQ] = 39, [EMSGSIZE] = 40, [EPROTOTYPE] = 41,
	[ENOPROTOOPT] = 42, [EPROTONOSUPPORT] = 43, [ESOCKTNOSUPPORT] = 44, [EOPNOTSUPP] = 45,
	[EPFNOSUPPORT] = 46, [EAFNOSUPPORT] = 47, [EADDRINUSE] = 48, [EADDRNOTAVAIL] = 49,
	[ENETDOWN] = 50, [ENETUNREACH] = 51, [ENETRESET] = 52, [ECONNABORTED] = 53,
	[ECONNRESET] = 54, [ENOBUFS] = 55, [EISCONN] = 56, [ENOTCONN] = 57, [ESHUTDOWN] = 58,
	[ETOOMANYREFS] = 59, [ETIMEDOUT] = 60, [ECONNREFUSED] = 61, [ELOOP] = 62,
	[ENAMETOOLONG] = 63, [EHOSTDOWN] = 64, [EHOSTUNREACH] = 65, [ENOTEMPTY] = 66,
	[EUSERS] = 68, [EDQUOT] = 69, [ESTALE] = 70, [EREMOTE] = 71, [ENOLCK] = 77, [ENOSYS] = 78,
	[EIDRM] = 82, [ENOMSG] = 83, [EOVERFLOW] = 84, [ECANCELED] = 85, [EILSEQ] = 86,
	[ENODATA] = 87, [EBADMSG] = 89, [EMULTIHOP] = 90, [ENOLINK] = 91, [EPROTO] = 92,
	[ENOTRECOVERABLE] = 95, [EOWNERDEAD] = 96,
};

#define FREEBSD_N_ERRNO ((int)sizeof(freebsd_errno))

int ktr__freebsd_errno(int linux_errno)
{
	int n = linux_errno >= 0 && linux_errno < FREEBSD_N_ERRNO ? freebsd_errno[linux_errno] : 0;

	return n || !linux_errno ? n : KTR__FREEBSD_ERRNO_OTHER + linux_errno;
}

int ktr__freebsd_errno_back(int number)
{
	if (number <= 0)
		return 0;
	if (number >= KTR__FREEBSD_ERRNO_OTHER)
		return number - KTR__FREEBSD_ERRNO_OTHER;
	for (int i = 1; i < FREEBSD_N_ERRNO; i++)
		if (freebsd_errno[i] == number)
			return i;
	return 0;
}

/* ---- signals ---- */

/* [Linux's number], the real-time ones left out */
static const uint8_t freebsd_signal[] = {
	[SIGHUP] = 1, [SIGINT] = 2, [SIGQUIT] = 3, [SIGILL] = 4, [SIGTRAP] = 5, [SIGABRT] = 6, [SIGFPE] = 8,
	[SIGKILL] = 9, [SIGBUS] = 10, [SIGSEGV] = 11, [SIGSYS] = 12, [SIGPIPE] = 13, [SIGALRM] = 14, [SIGTERM] = 15,
	[SIGURG] = 16, [SIGSTOP] = 17, [SIGTSTP] = 18, [SIGCONT] = 19, [SIGCHLD] = 20, [SIGTTIN] = 21,
	[SIGTTOU] = 22, [SIGIO] = 23, [SIGXCPU] = 24, [SIGXFSZ] = 25, [SIGVTALRM] = 26, [SIGPROF] = 27,
	[SIGWINCH] = 28, [SIGUSR1] = 30, [SIGUSR2] = 31,
	[SIGPWR] = KTR__FREEBSD_RTMIN + 33, [SIGSTKFLT] = KTR__FREEBSD_RTMIN + 34,
};

#define FREEBSD_LINUX_RTMIN 32 /* the kernel's; the C library's SIGRTMIN leaves out what it needs itself */
#define FREEBSD_LINUX_RTMAX 64

int ktr__freebsd_signal(int number)
{
	if (number >= FREEBSD_LINUX_RTMIN && number <= FREEBSD_LINUX_RTMAX)
		return KTR__FREEBSD_RTMIN + number - FREEBSD_LINUX_RTMIN;
	return number > 0 && number < FREEBSD_LINUX_RTMIN ? freebsd_signal[number] : 0;
}

int ktr__freebsd_signal_back(int number)
{
	for (int i = 1; i <= FREEBSD_LINUX_RTMAX; i++)
		if (number > 0 && ktr__freebsd_signal(i) == number)
			return i;
	return 0;
}

void ktr__freebsd_mask(uint64_t linux_mask, uint32_t mask[4])
{
	memset(mask, 0, 4 * sizeof(mask[0]));
	for (int i = 1; i <= FREEBSD_LINUX_RTMAX; i++)
		if (linux_mask >> (i - 1) & 1) {
			int at = ktr__freebsd_signal(i) - 1;

			mask[at / 32] |= 1u << at % 32;
		}
}

int ktr__freebsd_code(int signal, int code)
{
	switch (code) {
	case INT32_MIN: return 0;
	case SI_USER: return 0x10001;
	case SI_QUEUE: return 0x10002;
	case SI_TIMER: return 0x10003;
	case SI_ASYNCIO: return 0x10004;
	case SI_MESGQ: return 0x10005;
	case SI_KERNEL: return 0x10006;
	case SI_TKILL: return 0x10007; /* SI_LWP */
	default: break;
	}
	if (signal == SIGFPE && (code == FPE_INTDIV || code == FPE_INTOVF))
		return FPE_INTDIV + FPE_INTOVF - code; /* they have each other's number */
	if (signal == SIGSEGV && code == SEGV_PKUERR)
		return 100;
	return code;
}

/* ---- structures ---- */

static struct ktr__ktrace_timespec freebsd_time(const struct timespec *time)
{
	return (struct ktr__ktrace_timespec){ time->tv_sec, time->tv_nsec };
}

int ktr__freebsd_stat(const void *bytes, size_t n, struct ktr__ktrace_stat *to)
{
	struct stat from;

	if (n != sizeof(from))
		return 0;
	memcpy(&from, bytes, n);
	memset(to, 0, sizeof(*to));
	to->dev = from.st_dev;
	to->ino = from.st_ino;
	to->nlink = from.st_nlink;
	to->mode = (uint16_t)from.st_mode;
	to->uid = from.st_uid;
	to->gid = from.st_gid;
	to->rdev = from.st_rdev;
	to->atime = freebsd_time(&from.st_atim);
	to->mtime = freebsd_time(&from.st_mtim);
	to->ctime = freebsd_time(&from.st_ctim);
	to->birthtime = (struct ktr__ktrace_timespec){ -1, 0 }; /* not known, as FreeBSD says it */
	to->size = from.st_size;
	to->blocks = from.st_blocks;
	to->blksize = (int32_t)from.st_blksize;
	return sizeof(*to);
}

int ktr__freebsd_sockaddr(const void *bytes, size_t n, struct ktr__ktrace_sockaddr *to)
{
	sa_family_t family;

	if (n < sizeof(family) || n > sizeof(*to))
		return 0;
	memcpy(&family, bytes, sizeof(family));
	memcpy(to->data, (const char *)bytes + sizeof(family), n - sizeof(family));
	to->len = (uint8_t)n;
	switch (family) {
	case AF_UNIX: to->family = KTR__KTRACE_AF_UNIX; return (int)n;
	case AF_INET: to->family = KTR__KTRACE_AF_INET; return (int)n;
	case AF_INET6: to->family = KTR__KTRACE_AF_INET6; return (int)n;
	case AF_NETLINK: to->family = KTR__KTRACE_AF_NETLINK; return (int)n;
	default: return 0;
	}
}
