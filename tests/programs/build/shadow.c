/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shadow stack, kept by a tracer that runs a program one instruction after another: each call puts its return
 * address there, each return is compared with it. For tests/cli/build/cet.sh, since few machines have the real one.
 * Events of all kinds are recorded, by the usual and the cold ways, and vfork(2) is called, succeeds and fails. A
 * child of vfork(2) has its parent's shadow stack, and a place of its own in it; rdssp answers as it does where
 * there is one.
 *
 * A restartable sequence begins anew after each step, so the program takes back its registration, and does
 * what the kernel would have done: it is on CPU 0 from then on.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHADOW_MAX   4096
#define SHADOW_STEPS 2000000u
#define RSEQ_SIG     0x53053053

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static uintptr_t shadow[SHADOW_MAX];

struct place {
	pid_t pid;
	unsigned depth; /* of its own in shadow[] */
};

static unsigned n_steps, n_calls, n_returns, n_asked, n_vforks;

static int quit(const char *what, uintptr_t at)
{
	printf("%s at %#jx after %u steps\n", what, (uintmax_t)at, n_steps);
	exit(1);
}

/* ---- the program ---- */

static void cpu_zero(void)
{
	char *self;

	if (!&__rseq_size || !__rseq_size)
		return;
	__asm__("movq %%fs:0, %0" : "=r"(self));
	self += __rseq_offset;
	if (syscall(SYS_rseq, self, 32, 1 /* RSEQ_FLAG_UNREGISTER */, RSEQ_SIG))
		_exit(76);
	memset(self, 0, 16); /* cpu_id_start, cpu_id, rseq_cs */
}

static void forbid_vfork(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(76);
}

static __attribute__((noinline)) void events(int n)
{
	struct ktr_stack stack;

	CTR0(KTR_GEN, "none");
	CTR1(KTR_GEN, "one %d", n);
	CTR6(KTR_GEN, "%d %d %d %d %d %d", 1, 2, 3, 4, 5, 6);
	CTR2(KTR_GEN, "%s %d", "text", n);
	CTR2(KTR_GEN, "%d %s", n, "a longer text, of more than forty-seven bytes: it goes the general way");
	CTR1(KTR_GEN, "%f", 1.5);
	CTR0(KTR_PROC, "kept");
	ktr_stack_save(&stack);
	CTRSTACK(KTR_GEN, &stack, 4);
}

static __attribute__((noinline)) void spawn(void)
{
	pid_t pid = vfork();

	if (!pid) {
		events(2);
		_exit(0);
	}
	if (pid < 0 && errno == EMFILE)
		return;
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		_exit(75);
}

static void program(void)
{
	cpu_zero();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	__asm__ volatile("int3" ::: "memory");
	for (int i = 0; i < 3; i++)
		events(i);
	spawn();
	events(3);
	__asm__ volatile("int3" ::: "memory");
	forbid_vfork();
	__asm__ volatile("int3" ::: "memory");
	spawn();
	events(4);
	__asm__ volatile("int3" ::: "memory");
	_exit(0);
}

/* ---- the tracer ---- */

static uintptr_t word(pid_t pid, uintptr_t at)
{
	errno = 0;
	return (uintptr_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
}

enum { OTHER, CALL, RETURN, RDSSP };

/* What the bytes at pc are, behind prefixes; 0x67 is what a linker fills up a call with that it has made direct. */
static int kind(const unsigned char *b)
{
	int rep = 0;

	for (; *b == 0x66 || *b == 0xf2 || *b == 0xf3 || *b == 0x2e || *b == 0x3e || *b == 0x64 || *b == 0x65 ||
	       *b == 0x67;
	     b++)
		rep |= *b == 0xf3;
	if ((*b & 0xf0) == 0x40)
		b++;
	if (rep && b[0] == 0x0f && b[1] == 0x1e && b[2] == 0xce)
		return RDSSP; /* of rsi */
	if (b[0] == 0xe8 || (b[0] == 0xff && (b[1] >> 3 & 7) == 2))
		return CALL;
	return b[0] == 0xc3 || b[0] == 0xc2 ? RETURN : OTHER;
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, __WALL) == pid ? status : -1;
}

static void follow(struct place *p);

/* The child stops at its beginning, and runs to its end; the parent waits for it. */
static void follow_child(const struct place *parent)
{
	struct place child = *parent;
	unsigned long pid;

	ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid);
	child.pid = (pid_t)pid;
	wait_for(child.pid);
	n_vforks++;
	follow(&child);
}

/* Runs one instruction. False: the next mark, or the end. */
static int step(struct place *p)
{
	struct user_regs_struct regs;
	uintptr_t words[2], pc;
	int what, status;

	ptrace(PTRACE_GETREGS, p->pid, NULL, &regs);
	pc = regs.rip;
	words[0] = word(p->pid, pc);
	words[1] = word(p->pid, pc + 8);
	what = kind((const unsigned char *)words);
	ptrace(PTRACE_SINGLESTEP, p->pid, NULL, NULL);
	status = wait_for(p->pid);
	if (WIFSTOPPED(status) && status >> 8 == (SIGTRAP | PTRACE_EVENT_VFORK << 8)) {
		follow_child(p);
		ptrace(PTRACE_SINGLESTEP, p->pid, NULL, NULL);
		status = wait_for(p->pid);
	}
	/* The parent's own child has ended. */
	while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD) {
		ptrace(PTRACE_SINGLESTEP, p->pid, NULL, NULL);
		status = wait_for(p->pid);
	}
	if (!WIFSTOPPED(status))
		return 0;
	if (WSTOPSIG(status) != SIGTRAP)
		quit(strsignal(WSTOPSIG(status)), pc);
	n_steps++;
	ptrace(PTRACE_GETREGS, p->pid, NULL, &regs);
	if (what == CALL) {
		if (p->depth == SHADOW_MAX)
			quit("too deep", pc);
		shadow[p->depth++] = word(p->pid, regs.rsp);
		n_calls++;
	} else if (what == RETURN) {
		if (!p->depth || shadow[--p->depth] != regs.rip)
			quit("a return that the shadow stack does not know", pc);
		n_returns++;
	} else if (what == RDSSP) {
		regs.rsi = (uintptr_t)&shadow[p->depth];
		ptrace(PTRACE_SETREGS, p->pid, NULL, &regs);
		n_asked++;
	}
	return (words[0] & 0xff) != 0xcc;
}

static void follow(struct place *p)
{
	while (step(p))
		if (n_steps > SHADOW_STEPS)
			quit("no end", 0);
}

int main(void)
{
	struct place p = { .depth = 0 };
	int status;

	p.pid = fork();
	if (!p.pid)
		program();
	status = wait_for(p.pid);
	if (!WIFSTOPPED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	ptrace(PTRACE_SETOPTIONS, p.pid, NULL, PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
	follow(&p);
	ptrace(PTRACE_CONT, p.pid, NULL, NULL);
	if (!WIFSTOPPED(wait_for(p.pid)))
		quit("the program has ended", 0);
	follow(&p);
	ptrace(PTRACE_CONT, p.pid, NULL, NULL);
	status = wait_for(p.pid);
	printf("%u calls, %u returns, %u children, rdssp %u times\n", n_calls, n_returns, n_vforks, n_asked);
	return !(WIFEXITED(status) && WEXITSTATUS(status) == 0 && p.depth == 0 && n_calls > 100 && n_vforks == 1 &&
		 n_asked == 1);
}
