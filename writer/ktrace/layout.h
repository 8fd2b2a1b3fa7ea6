/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FreeBSD's ktrace.out: records one after the other, each a header and ktr_len bytes, without a file header, in
 * the byte order of the machine. Names and numbers are those of FreeBSD's <sys/ktrace.h>, ktrace(2) and
 * <sys/sysent.h>, the layout is that of its 64-bit machines. The header of versions before 14 (0) lacks the CPU,
 * and has microseconds.
 */
#ifndef KTRACE_LAYOUT_H
#define KTRACE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define KTR__KTRACE_VERSIONED 0x4000u /* in type: there is a version, and a CPU */
#define KTR__KTRACE_DROP      0x8000u /* in type: events of the process were lost before this one */
#define KTR__KTRACE_VERSION   1
#define KTR__KTRACE_HEADER_0  56 /* [bytes] a header without VERSIONED */
#define KTR__KTRACE_COMM      20
#define KTR__KTRACE_USER_MAX  2048 /* [bytes] of a USER record */

enum ktr__ktrace_type {
	KTR__KTRACE_SYSCALL = 1,
	KTR__KTRACE_SYSRET = 2,
	KTR__KTRACE_NAMEI = 3,
	KTR__KTRACE_GENIO = 4,
	KTR__KTRACE_PSIG = 5,
	KTR__KTRACE_CSW = 6,
	KTR__KTRACE_USER = 7,
	KTR__KTRACE_STRUCT = 8,
	KTR__KTRACE_SYSCTL = 9,
	KTR__KTRACE_PROCCTOR = 10,
	KTR__KTRACE_PROCDTOR = 11,
	KTR__KTRACE_CAPFAIL = 12,
	KTR__KTRACE_FAULT = 13,
	KTR__KTRACE_FAULTEND = 14,
	KTR__KTRACE_STRUCT_ARRAY = 15
};

/* What a process's calls are numbered as, in PROCCTOR. */
#define KTR__KTRACE_ABI_MASK	0xffu
#define KTR__KTRACE_ABI_LINUX	3u
#define KTR__KTRACE_ABI_FREEBSD 9u
#define KTR__KTRACE_ILP32	0x100u
#define KTR__KTRACE_LP64	0x200u

struct ktr__ktrace_header {
	int32_t len; /* [bytes] of what follows */
	uint16_t type;
	int16_t version;
	int32_t pid;
	char comm[KTR__KTRACE_COMM]; /* ends with NUL */
	int64_t sec;
	int64_t fraction; /* [ns], in version 0 [us] */
	int64_t tid;
	int32_t cpu; /* -1: not known */
	int32_t pad;
};

struct ktr__ktrace_syscall {
	int16_t code, n_args;
	int32_t pad;
	uint64_t args[]; /* [n_args] registers */
};

#define KTR__KTRACE_ERESTART	 (-1)
#define KTR__KTRACE_EJUSTRETURN (-2)

struct ktr__ktrace_sysret {
	int16_t code, eosys;
	int32_t error; /* FreeBSD's number, ERESTART or EJUSTRETURN; 0: none */
	int64_t value; /* 0 where there is an error */
};

struct ktr__ktrace_genio {
	int32_t fd;
	int32_t rw; /* 0: read, 1: written */
	char data[];
};

struct ktr__ktrace_psig {
	int32_t signo; /* FreeBSD's number */
	int32_t pad;
	uint64_t action; /* 0: the default */
	int32_t code;	 /* FreeBSD's number */
	uint32_t mask[4]; /* of blocked signals: bit 0 of the first word is signal 1 */
	int32_t pad_end;
};

struct ktr__ktrace_csw {
	int32_t out;  /* 1: it stops, 0: it goes on */
	int32_t user; /* 1: because it had to */
	char wmesg[8];
};

struct ktr__ktrace_fault {
	uint64_t address;
	int32_t type; /* of access: 1 read, 2 write, 4 execute */
	int32_t pad;
};

struct ktr__ktrace_timeval {
	int64_t sec, usec;
};

struct ktr__ktrace_itimerval {
	struct ktr__ktrace_timeval interval, value;
};

struct ktr__ktrace_timespec {
	int64_t sec, nsec;
};

/* FreeBSD's struct stat since 12. */
struct ktr__ktrace_stat {
	uint64_t dev, ino, nlink;
	uint16_t mode;
	int16_t pad0;
	uint32_t uid, gid;
	int32_t pad1;
	uint64_t rdev;
	struct ktr__ktrace_timespec atime, mtime, ctime, birthtime;
	int64_t size, blocks;
	int32_t blksize;
	uint32_t flags;
	uint64_t gen;
	uint64_t spare[10];
};

#define KTR__KTRACE_AF_UNIX    1
#define KTR__KTRACE_AF_INET    2
#define KTR__KTRACE_AF_INET6   28
#define KTR__KTRACE_AF_NETLINK 38

struct ktr__ktrace_sockaddr {
	uint8_t len, family;
	char data[126];
};

_Static_assert(sizeof(struct ktr__ktrace_header) == 64, "a header has 64 bytes");
_Static_assert(offsetof(struct ktr__ktrace_header, tid) == 48 && offsetof(struct ktr__ktrace_header, sec) == 32,
	       "in both versions they lie there");
_Static_assert(sizeof(struct ktr__ktrace_syscall) == 8 && sizeof(struct ktr__ktrace_sysret) == 16 &&
		       sizeof(struct ktr__ktrace_genio) == 8 && sizeof(struct ktr__ktrace_psig) == 40 &&
		       sizeof(struct ktr__ktrace_csw) == 16 && sizeof(struct ktr__ktrace_fault) == 16 &&
		       sizeof(struct ktr__ktrace_itimerval) == 32 && sizeof(struct ktr__ktrace_stat) == 224,
	       "as FreeBSD has them");

#endif
