/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter compares the call's number with each that is followed. The kernel asks it once which it always lets
 * through, and of those not again (since Linux 5.11), so what is not followed costs next to nothing. Calls of
 * another machine, 32-bit ones, are all followed: that there are any is to be told.
 */
#include "ktr/provider/syscall/call_filter.h"

#include "ktr/provider/syscall/tracee_event.h"

#include <ktr/ktrace.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define CALL_FILTER_ARCH AUDIT_ARCH_X86_64
#else
#define CALL_FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#define CALL_FILTER_X32 0x40000000u /* in numbers of x86-64's calls with 32-bit addresses */
#define CALL_FILTER_MAX 1024	    /* instructions; there are fewer than 400 calls */

/* ---- what is followed ---- */

static int call_filter_takes_path(const struct ktr__call *call)
{
	return strchr(call->args, 'n') != NULL;
}

static int call_filter_gives(const struct ktr__call *call)
{
	return call->record == KTR__STRUCT_STAT1 || call->record == KTR__STRUCT_STAT2 ||
	       call->record == KTR__STRUCT_ADDR_OUT || call->record == KTR__STRUCT_ADDR_RECVFROM;
}

static enum ktr__call_follow call_filter_prctl(const uint64_t *args, uint32_t points)
{
	if (!args || (uint32_t)args[0] == PR_SET_NAME)
		return KTR__FOLLOW_END;
	return (uint32_t)args[0] == KTR_UTRACE_OPTION && (points & KTR__POINT_USER) ? KTR__FOLLOW_BEGIN
										    : KTR__FOLLOW_NOT;
}

enum ktr__call_follow ktr__call_follow(const struct ktr__call *call, const uint64_t *args, uint32_t points)
{
	int number = call->number[ktr__machine_own()];

	if (points & KTR__POINT_CALLS)
		return KTR__FOLLOW_END;
	if (number == SYS_prctl)
		return call_filter_prctl(args, points);
	if ((points & KTR__POINT_SIGNALS) && number == SYS_rt_sigaction)
		return KTR__FOLLOW_END;
	if ((points & KTR__POINT_IO) && call->io != KTR__IO_NONE)
		return KTR__FOLLOW_END;
	if ((points & KTR__POINT_STRUCTS) && call_filter_gives(call))
		return KTR__FOLLOW_END;
	if ((points & KTR__POINT_STRUCTS) && call->record != KTR__STRUCT_NONE)
		return KTR__FOLLOW_BEGIN;
	if ((points & KTR__POINT_PATHS) && call_filter_takes_path(call))
		return KTR__FOLLOW_BEGIN;
	return number == SYS_execve || number == SYS_execveat || number == SYS_openat ? KTR__FOLLOW_BEGIN
										      : KTR__FOLLOW_NOT;
}

int ktr__call_filter_saves(uint32_t points)
{
	return points && !(points & KTR__POINT_CALLS);
}

/* ---- the filter ---- */

struct call_filter {
	struct sock_filter code[CALL_FILTER_MAX];
	unsigned n;
};

static void call_filter_add(struct call_filter *filter, struct sock_filter instruction)
{
	if (filter->n < CALL_FILTER_MAX)
		filter->code[filter->n] = instruction;
	filter->n++;
}

static void call_filter_load(struct call_filter *filter, size_t offset)
{
	call_filter_add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Where the word that was loaded is this, `skip` instructions are left out; otherwise the next one comes. */
static void call_filter_unless(struct call_filter *filter, uint32_t value, uint8_t skip)
{
	call_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skip, 0));
}

static void call_filter_if(struct call_filter *filter, uint32_t value, uint8_t skip)
{
	call_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void call_filter_ends(struct call_filter *filter, uint32_t action)
{
	call_filter_add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* prctl(2): names and records of a program's own; the first argument's lower half says which. */
static void call_filter_add_prctl(struct call_filter *filter, uint32_t points)
{
	call_filter_if(filter, SYS_prctl, 6);
	call_filter_load(filter, offsetof(struct seccomp_data, args[0]));
	call_filter_if(filter, PR_SET_NAME, 1);
	call_filter_ends(filter, SECCOMP_RET_TRACE);
	call_filter_if(filter, points & KTR__POINT_USER ? KTR_UTRACE_OPTION : PR_SET_NAME, 1);
	call_filter_ends(filter, SECCOMP_RET_TRACE);
	call_filter_ends(filter, SECCOMP_RET_ALLOW);
}

static void call_filter_build(struct call_filter *filter, uint32_t points)
{
	const struct ktr__call *call;
	int number;

	filter->n = 0;
	call_filter_load(filter, offsetof(struct seccomp_data, arch));
	call_filter_unless(filter, CALL_FILTER_ARCH, 1);
	call_filter_ends(filter, SECCOMP_RET_TRACE);
	call_filter_load(filter, offsetof(struct seccomp_data, nr));
	call_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALL_FILTER_X32, 0, 1));
	call_filter_ends(filter, SECCOMP_RET_TRACE);
	for (unsigned i = 0; (call = ktr__call_row(i)) != NULL; i++) {
		number = call->number[ktr__machine_own()];
		if (number < 0 || number == SYS_prctl || ktr__call_follow(call, NULL, points) == KTR__FOLLOW_NOT)
			continue;
		call_filter_if(filter, (uint32_t)number, 1);
		call_filter_ends(filter, SECCOMP_RET_TRACE);
	}
	call_filter_add_prctl(filter, points);
	call_filter_ends(filter, SECCOMP_RET_ALLOW);
}

/* Without the flag kernels before 5.16 slow a program down that has a filter. */
static int call_filter_set(struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
}

int ktr__call_filter_install(uint32_t points)
{
	struct call_filter filter;
	struct sock_fprog program;

	call_filter_build(&filter, points);
	if (filter.n > CALL_FILTER_MAX)
		return -E2BIG;
	program.len = (unsigned short)filter.n;
	program.filter = filter.code;
	if (call_filter_set(&program) == 0)
		return 0;
	/* Who has no rights may filter who can get none. */
	if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return call_filter_set(&program) == 0 ? 0 : -errno;
}
