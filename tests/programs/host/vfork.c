/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of vfork(2) and what they do, for tests/cli/host/vfork.sh. Says at its end how many events it has tried
 * to record where they count ("parent"), where they must be dropped ("child"), and in handlers, where either is right.
 *
 *	vfork MODE
 *
 *	exit, exec	a child calls vfork(2), its child leaves, and the first goes on
 *	deep		three levels of that
 *	fail		the inner call fails, with its errno
 *	fork		a child calls fork(2), and the child of that records too
 *	handler		a handler that calls vfork(2) comes at each instruction of another call
 *	unwind		at each instruction, on both sides, the stack can be followed up to main()
 */
#include <ktr.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* Shared with all children, and the tracer. */
static struct {
	unsigned parent, child, handler;
	unsigned marks, end, wrong, steps;
} *volatile said;

static void in_parent(void)
{
	CTR1(KTR_GEN, "parent %d", (int)said->parent);
	said->parent++;
}

static void in_child(void)
{
	CTR1(KTR_GEN, "child %d", (int)said->child);
	CTR1(KTR_GEN, "child says %s", "so");
	said->child += 2;
}

static void reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			_exit(3);
	if (status)
		_exit(4);
}

/* From now on vfork(2), however it is made, fails in this process. */
static void forbid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_vfork
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 1, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static __attribute__((noinline)) void inner(const char *mode, int depth)
{
	char *argv[] = { (char *)(uintptr_t)"true", NULL };
	pid_t pid = vfork();

	if (!pid) {
		in_child();
		if (depth) {
			inner(mode, depth - 1);
			in_child();
		}
		if (strcmp(mode, "exec") == 0)
			execv("/bin/true", argv);
		_exit(0);
	}
	reap(pid);
}

static __attribute__((noinline)) void refused(void)
{
	errno = 0;
	if (vfork() != -1 || errno != EMFILE)
		_exit(5);
}

static __attribute__((noinline)) void forks(void)
{
	pid_t pid = fork();

	if (!pid) {
		in_child();
		inner("exit", 0);
		in_child();
		_exit(0);
	}
	reap(pid);
}

static __attribute__((noinline)) void outer(const char *mode)
{
	pid_t pid;

	in_parent();
	pid = vfork();
	if (!pid) {
		in_child();
		if (strcmp(mode, "fail") == 0) {
			forbid();
			refused();
		} else if (strcmp(mode, "fork") == 0) {
			forks();
		} else {
			inner(mode, strcmp(mode, "deep") == 0);
		}
		for (int i = 0; i < 100; i++)
			in_child();
		_exit(0);
	}
	reap(pid);
	in_parent();
}

#if defined(__x86_64__)
/* ---- a handler at each instruction ---- */

static void handler(int number)
{
	pid_t pid;

	(void)number;
	CTR0(KTR_GEN, "handler");
	said->handler++;
	pid = vfork();
	if (!pid) {
		in_child();
		_exit(0);
	}
	reap(pid);
	CTR0(KTR_GEN, "handler");
	said->handler++;
}

static __attribute__((noinline)) void once(void)
{
	pid_t pid = vfork();

	if (!pid) {
		in_child();
		_exit(0);
	}
	reap(pid);
}

static void stepped(void)
{
	signal(SIGUSR1, handler);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	while (!said->end) {
		said->marks++;
		__asm__ volatile("int3" ::: "memory");
		once();
		in_parent();
	}
	_exit(0);
}

/* 0: it has ended, or worse. */
static int stop_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

static int to_mark(pid_t pid, int number)
{
	do
		ptrace(PTRACE_CONT, pid, NULL, number);
	while ((number = stop_of(pid)) && number != SIGTRAP);
	return number;
}

/* k instructions behind the mark the signal comes, for all k up to the next mark. */
static int handlers(void)
{
	pid_t pid = fork();
	int done = 0;

	if (!pid)
		stepped();
	if (!stop_of(pid))
		return 77;
	for (unsigned k = 0; !done && k < 2000; k += k < 60 ? 1 : 17) {
		unsigned marks = said->marks;

		for (unsigned i = 0; i < k && said->marks == marks; i++)
			if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || !stop_of(pid))
				return 6;
		done = said->marks != marks;
		if (!to_mark(pid, SIGUSR1))
			return 6;
		said->steps++;
	}
	said->end = 1;
	to_mark(pid, 0);
	return said->steps < 60 ? 7 : 0;
}

/* ---- the stack at each instruction ---- */

static int is_vfork(uintptr_t pc)
{
	return pc - (uintptr_t)&vfork < 256;
}

int main(int argc, char **argv);

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *found)
{
	uintptr_t pc = _Unwind_GetIP(context);

	*(int *)found += pc && _Unwind_FindEnclosingFunction((void *)(pc - 1)) == (void *)(uintptr_t)&main;
	return _URC_NO_REASON;
}

static uintptr_t seen_end;

static void trapped(int number, siginfo_t *info, void *given)
{
	ucontext_t *context = given;
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	int found = 0;

	(void)number, (void)info;
	if (!is_vfork(pc) || pc >= seen_end)
		return;
	_Unwind_Backtrace(frame, &found);
	said->steps++;
	if (found != 1) {
		said->wrong++;
		fprintf(stderr, "vfork+%u: main() is there %d times\n", (unsigned)(pc - (uintptr_t)&vfork), found);
	}
}

/* The trap flag; the kernel may have cleared it for a child. */
#define STEP_ON()  __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc")
#define STEP_OFF() __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc")

static __attribute__((noinline)) void follow(void)
{
	pid_t pid;

	STEP_ON();
	pid = vfork();
	if (!pid) {
		STEP_OFF();
		_exit(0);
	}
	STEP_OFF();
	if (pid > 0)
		reap(pid);
}

/* Where the function ends: the symbol's size is not to be had at run time, its FDE's end is. */
struct dwarf_eh_bases {
	void *tbase;
	void *dbase;
	void *func;
};
const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

static int unwinds(void)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	struct dwarf_eh_bases bases;

	seen_end = (uintptr_t)&vfork + 1;
	while (is_vfork(seen_end) && _Unwind_Find_FDE((void *)seen_end, &bases) &&
	       bases.func == (void *)(uintptr_t)&vfork)
		seen_end++;
	if (seen_end == (uintptr_t)&vfork + 1)
		seen_end += 40; /* nothing is known of it: the traps will tell */
	sigaction(SIGTRAP, &action, NULL);
	follow();
	if (said->steps < 20)
		return 8;
	forbid();
	follow();
	return fprintf(stderr, "steps %u\n", said->steps), said->wrong ? 9 : 0;
}
#endif

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int code = 0;

	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 1;
	in_parent();
#if defined(__x86_64__)
	if (strcmp(mode, "handler") == 0)
		code = handlers();
	else if (strcmp(mode, "unwind") == 0)
		code = unwinds();
	else
#endif
		for (int i = 0; i < 3; i++)
			outer(mode);
	in_parent();
	printf("%u %u %u\n", said->parent, said->child, said->handler);
	return code;
}
