/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told of calls that the kernel tells of, in words made up here: those of 32-bit programs, which not every
 * kernel starts, and which calls are followed where not all are asked for.
 */
#include "tests/unit/suite.h"

#include "ktr/provider/syscall/call_filter.h"
#include "ktr/provider/syscall/tracer_tell.h"

#include <ktr/ktrace.h>

#include <linux/audit.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOLD_MAX 16

struct told {
	struct ktr__tracee_event event[TOLD_MAX];
	unsigned n;
};

static int told_event(void *context, const struct ktr__tracee_event *event)
{
	struct told *told = context;

	if (told->n < TOLD_MAX)
		told->event[told->n++] = *event;
	return 0;
}

static int told_flush(void *context)
{
	(void)context;
	return 0;
}

/* This process, as if it were traced. */
static struct ktr__task *told_begin(struct ktr__tracer *tracer, struct told *told, uint32_t points)
{
	struct ktr__tracee_sink sink = { told_event, told_flush, told };
	struct ktr__process *process;

	memset(told, 0, sizeof(*told));
	ktr__tracer_init(tracer, &sink);
	process = ktr__tracees_add_process(&tracer->tracees, getpid());
	process->points = points;
	process->started = 1;
	return ktr__tracees_add_task(&tracer->tracees, process, getpid());
}

static void told_call(struct ktr__tracer *tracer, struct ktr__task *task, uint32_t arch, uint64_t number,
		      uint64_t first, uint64_t second)
{
	struct __ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_ENTRY, .arch = arch };

	info.entry.nr = number;
	info.entry.args[0] = first;
	info.entry.args[1] = second;
	ktr__tell_entry(tracer, task, &info);
	ktr__tell_exit(tracer, task, 3, 0);
}

#if defined(__x86_64__)
#define TOLD_ARCH    AUDIT_ARCH_X86_64
#define TOLD_ARCH_32 AUDIT_ARCH_I386
#else
#define TOLD_ARCH    AUDIT_ARCH_AARCH64
#define TOLD_ARCH_32 AUDIT_ARCH_ARM
#endif

/* 5 is open(2) there, whose path is the first argument, and fstat(2) here, whose structure is the second. */
static void calls_of_32_bit_programs_have_numbers_alone(void)
{
	static struct ktr__tracer tracer;
	struct ktr__task *task;
	struct told told;
	char memory[512] = "/a/path";

	task = told_begin(&tracer, &told, UINT32_MAX);
	told_call(&tracer, task, TOLD_ARCH_32, 5, (uintptr_t)memory, (uintptr_t)memory);
	CU_ASSERT_EQUAL(told.n, 3);
	CU_ASSERT(told.event[0].type == KTR__TRACEE_START && told.event[0].is_32bit);
	CU_ASSERT(told.event[1].type == KTR__TRACEE_CALL && told.event[1].is_32bit);
	CU_ASSERT(told.event[1].call.number == 5 && told.event[1].call.n_args == KTR__CALL_ARGS);
	CU_ASSERT(told.event[2].type == KTR__TRACEE_RETURN && told.event[2].result.value == 3);
	/* Again: that it is one was told. A call of its 64-bit machine: it is none any more. */
	told_call(&tracer, task, TOLD_ARCH_32, 20, 0, 0);
	CU_ASSERT_EQUAL(told.n, 5);
	told_call(&tracer, task, TOLD_ARCH, SYS_getpid, 0, 0);
	CU_ASSERT_EQUAL(told.n, 8);
	CU_ASSERT(told.event[5].type == KTR__TRACEE_START && !told.event[5].is_32bit);
	CU_ASSERT_EQUAL(told.event[6].call.n_args, 0);
	ktr__tracer_free(&tracer);
}

/* x32's have a bit that no call of the table has. */
static void calls_that_the_table_lacks_have_numbers_alone(void)
{
	static struct ktr__tracer tracer;
	struct ktr__task *task;
	struct told told;

	task = told_begin(&tracer, &told, UINT32_MAX);
	told_call(&tracer, task, TOLD_ARCH, 0x40000000u | SYS_write, 1, 0);
	CU_ASSERT_EQUAL(told.n, 2);
	CU_ASSERT(told.event[0].call.number == (0x40000000u | SYS_write) && !told.event[0].is_32bit);
	CU_ASSERT_EQUAL(told.event[0].call.n_args, KTR__CALL_ARGS);
	ktr__tracer_free(&tracer);
}

/* A call of which something is told when it begins, or when it ends, is followed up to there. */
static void what_is_told_is_followed(void)
{
	static const uint32_t points[] = { KTR__POINT_PATHS, KTR__POINT_IO, KTR__POINT_STRUCTS, KTR__POINT_USER,
					   KTR__POINT_SIGNALS };
	static struct ktr__tracer tracer;
	static char memory[8192];
	const struct ktr__call *call;
	struct ktr__task *task;
	struct told told;
	unsigned n_told = 0, begun;

	for (unsigned p = 0; p < sizeof(points) / sizeof(points[0]); p++)
		for (unsigned i = 0; (call = ktr__call_row(i)) != NULL; i++) {
			struct __ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_ENTRY, .arch = TOLD_ARCH };
			enum ktr__call_follow follow;

			if (call->number[ktr__machine_own()] < 0)
				continue;
			memset(memory, 0, sizeof(memory));
			info.entry.nr = (uint64_t)call->number[ktr__machine_own()];
			for (unsigned a = 0; a < KTR__CALL_ARGS; a++)
				info.entry.args[a] = (uintptr_t)memory;
			if (call->record == KTR__STRUCT_ADDR_IN || call->io != KTR__IO_NONE)
				info.entry.args[2] = 16;
			if (call->record == KTR__STRUCT_ADDR_SENDTO)
				info.entry.args[5] = 16;
			if (info.entry.nr == SYS_prctl)
				info.entry.args[0] = KTR_UTRACE_OPTION;
			memory[0] = 16; /* the length of an address */
			task = told_begin(&tracer, &told, points[p]);
			follow = ktr__call_follow(call, info.entry.args, points[p]);
			ktr__tell_entry(&tracer, task, &info);
			begun = told.n;
			if (begun)
				CU_ASSERT_NOT_EQUAL(follow, KTR__FOLLOW_NOT);
			ktr__tell_exit(&tracer, task, 0, 0);
			if (told.n > begun)
				CU_ASSERT_EQUAL(follow, KTR__FOLLOW_END);
			n_told += told.n;
			ktr__tracer_free(&tracer);
		}
	CU_ASSERT(n_told > 80);
	CU_ASSERT(!ktr__call_filter_saves(UINT32_MAX) && ktr__call_filter_saves(KTR__POINT_PATHS));
}

static void names_and_handlers_are_followed(void)
{
	const struct ktr__call *prctl_call = ktr__call_find(ktr__machine_own(), SYS_prctl);
	const struct ktr__call *sigaction = ktr__call_find(ktr__machine_own(), SYS_rt_sigaction);
	const struct ktr__call *exec = ktr__call_find(ktr__machine_own(), SYS_execve);
	const uint64_t name[] = { PR_SET_NAME }, other[] = { PR_SET_PDEATHSIG };

	CU_ASSERT_EQUAL(ktr__call_follow(prctl_call, name, KTR__POINT_IO), KTR__FOLLOW_END);
	CU_ASSERT_EQUAL(ktr__call_follow(prctl_call, other, KTR__POINT_IO), KTR__FOLLOW_NOT);
	CU_ASSERT_EQUAL(ktr__call_follow(sigaction, name, KTR__POINT_SIGNALS), KTR__FOLLOW_END);
	CU_ASSERT_EQUAL(ktr__call_follow(sigaction, name, KTR__POINT_IO), KTR__FOLLOW_NOT);
	CU_ASSERT_EQUAL(ktr__call_follow(exec, name, KTR__POINT_IO), KTR__FOLLOW_BEGIN);
	CU_ASSERT_EQUAL(ktr__call_follow(sigaction, name, KTR__POINT_CALLS), KTR__FOLLOW_END);
}

SUITE(tracer_tell, TEST(calls_of_32_bit_programs_have_numbers_alone),
      TEST(calls_that_the_table_lacks_have_numbers_alone), TEST(what_is_told_is_followed),
      TEST(names_and_handlers_are_followed));
