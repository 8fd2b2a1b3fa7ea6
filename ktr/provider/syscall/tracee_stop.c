/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread is seized, which stops nothing, and asked to stop. Signals that are there before that go their way. Most
 * calls that it waits in the kernel makes again when it goes on; those that end with EINTR (tracee_wait.c) we make
 * again, unless a signal is there that would have ended them without us.
 */
#include "ktr/provider/syscall/tracee_stop.h"

#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_WAIT    2000000000ull /* [ns] for a stop that we have asked for */
#define STOP_LOOKS   200	   /* that only give way to others, before any nap */
#define STOP_TAKEN   8 /* looks, to one that asks whether the stop was told to somebody else */
#define STOP_NAP_NS  20000
#define STOP_SHORT_NS 200000000u
#define STOP_ARMED_NS 50000000u /* for a thread of the least priority on a busy CPU */
#define STOP_MARK     0x4b5452u /* that nobody's call has there */
#define STOP_SYSCALL (SIGTRAP | 0x80)
#define STOP_USER_CS 0x33 /* 64 bits */

int ktr__tracee_regs(const struct ktr__tracee_stop *stop, struct user_regs_struct *regs, int set)
{
	struct iovec iov = { regs, sizeof(*regs) };
	long rc = ptrace(set ? PTRACE_SETREGSET : PTRACE_GETREGSET, stop->tid, NT_PRSTATUS, &iov);

	/* Of a process of 32 bits there are fewer. */
	return rc < 0 ? -errno : iov.iov_len != sizeof(*regs) ? -ENOEXEC : 0;
}

/* Has it ended? Of such a one, while it is there, the kernel says EPERM, too. */
static int stop_has_ended(pid_t tid)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	n = ktr__tracee_text(path, text, sizeof(text));
	at = n > 0 ? strrchr(text, ')') : NULL;
	return n == -ENOENT || n == -ESRCH || (at && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0));
}

int ktr__tracee_seize(pid_t tid, long options)
{
	int code;

	if (ptrace(PTRACE_SEIZE, tid, NULL, options) == 0)
		return 0;
	code = errno;
	return code == EPERM && stop_has_ended(tid) ? -ESRCH : -code;
}

/*
 * Of the end of our own process's child it is told who waits for it as its parent. Any other's would stay a zombie
 * for as long as we trace it, and so would a thread.
 */
static void stop_ended(pid_t tid)
{
	uint64_t process = 0, parent = 0;

	ktr__tracee_status(tid, "Tgid:", 10, &process);
	ktr__tracee_status(tid, "PPid:", 10, &parent);
	if ((pid_t)process != tid || (pid_t)parent != getpid())
		waitpid(tid, NULL, __WALL | WNOHANG);
}

/* As waitpid(2) with WNOHANG, but that an end is not taken from whom it is for: tid, 0, or -1 with errno set. */
static pid_t stop_look(pid_t tid, int *status)
{
	siginfo_t info = { .si_pid = 0 };
	const int look = WNOHANG | __WALL;

	if (waitid(P_PID, (id_t)tid, &info, look | WSTOPPED | WEXITED | WNOWAIT) < 0)
		return -1;
	if (!info.si_pid)
		return 0;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
		stop_ended(tid);
		errno = ECHILD;
		return -1;
	}
	info.si_pid = 0;
	if (waitid(P_PID, (id_t)tid, &info, look | WSTOPPED) < 0)
		return -1;
	/* The event is above the signal. */
	*status = info.si_status << 8 | 0x7f;
	return info.si_pid;
}

/*
 * The same where another thread of ours may have been told of the stop, which waits for any child. For a stop
 * that we have asked for, and for those of groups, the kernel has the status in si_code; no signal has that.
 * One that has stopped since the first look is told of now: else the next look would be told of this stop once
 * more.
 */
static pid_t stop_look_well(pid_t tid, int *status)
{
	pid_t got = stop_look(tid, status);
	siginfo_t info;

	if (got || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0)
		return got;
	got = stop_look(tid, status);
	if (got)
		return got;
	*status = (info.si_code >> 8 == PTRACE_EVENT_STOP ? info.si_code : info.si_signo) << 8 | 0x7f;
	return tid;
}

/* *ran_ns: when it was last looked at before it had stopped; as it was, if it had at once. */
static int stop_await(pid_t tid, uint64_t *ran_ns)
{
	const struct timespec nap = { 0, STOP_NAP_NS };
	uint64_t until = ktr__tracee_wait_now() + STOP_WAIT;

	for (int n = 0;; n++) {
		uint64_t now = ktr__tracee_wait_now();
		int status;
		pid_t got = n % STOP_TAKEN ? stop_look(tid, &status) : stop_look_well(tid, &status);

		if (got > 0 || (got < 0 && errno != EINTR))
			return got < 0 ? -ESRCH : status;
		*ran_ns = now;
		if (now > until)
			return -ETIMEDOUT;
		if (n < STOP_LOOKS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
}

int ktr__tracee_await(pid_t tid)
{
	uint64_t ran_ns = 0;

	return stop_await(tid, &ran_ns);
}

/* Asks it to stop, and waits for that. 0 or -errno. */
static int stop_ask(struct ktr__tracee_stop *stop)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, stop->tid, NULL, NULL) < 0)
		return -errno;
	stop->asked_ns = stop->ran_ns = ktr__tracee_wait_now();
	while ((status = stop_await(stop->tid, &stop->ran_ns)) >= 0) {
		int number = WSTOPSIG(status), event = status >> 16;

		if (event == PTRACE_EVENT_STOP) {
			stop->is_group_stop = number != SIGTRAP;
			return 0;
		}
		/* Any stop takes the place of the one that we have asked for. */
		if (ptrace(PTRACE_INTERRUPT, stop->tid, NULL, NULL) < 0 ||
		    ptrace(PTRACE_CONT, stop->tid, NULL, (long)(number == STOP_SYSCALL ? 0 : number)) < 0)
			return -errno;
	}
	return status;
}

static int stop_is_ours(const struct user_regs_struct *regs)
{
#if defined(__x86_64__)
	return regs->cs == STOP_USER_CS;
#else
	(void)regs;
	return 1;
#endif
}

int ktr__tracee_stop(struct ktr__tracee_stop *stop)
{
	int rc = ktr__tracee_seize(stop->tid, (long)PTRACE_O_TRACESYSGOOD), is_known;

	stop->is_group_stop = 0;
	if (rc)
		return rc;
	rc = stop_ask(stop);
	if (!rc)
		rc = ktr__tracee_regs(stop, &stop->regs, 0);
	/* Not before: a stop is told of before the thread has left its CPU, which counts as a sleep; asked for its
	   registers the kernel waits for that. */
	if (!ktr__tracee_wait_same("/proc", stop->pid, stop->tid, &stop->wait))
		stop->wait.began_ns = 0;
	if (!rc && ptrace(PTRACE_GETSIGMASK, stop->tid, sizeof(stop->mask), &stop->mask) < 0)
		rc = -errno;
	is_known = !rc;
	if (!rc && !stop_is_ours(&stop->regs))
		rc = -ENOEXEC;
	if (rc && is_known)
		ktr__tracee_go(stop, 0);
	else if (rc)
		ptrace(PTRACE_DETACH, stop->tid, NULL, NULL);
	return rc;
}

/* ---- to let go ---- */

#if defined(__x86_64__)
static unsigned long long *stop_arg(struct user_regs_struct *regs, int i)
{
	unsigned long long *const args[] = { &regs->rdi, &regs->rsi, &regs->rdx,
					     &regs->r10, &regs->r8,  &regs->r9 };

	return args[i];
}

/*
 * A time that we have set is told from the program's own: a timespec by where it lies, a number of ms, of which the
 * kernel takes 32 bits, by those above.
 */
static int stop_is_ours_time(uint64_t argument, int is_ms, uint64_t left)
{
	return is_ms ? argument >> 32 == STOP_MARK : argument == left;
}

/*
 * Is it another call like the one that was looked at, which was over before the thread was asked to stop, or may
 * have been? It has not slept yet: what has slept since would have been noticed, ktr__tracee_wait_same(). One whose
 * time we have set is what it is; of two that are alike the first was over by then. But the kernel's timer begins
 * before a thread sleeps, which may lose its CPU in between: so of a short time all is waited for anew, once,
 * rather than that one ends early.
 */
static int stop_is_next(const struct ktr__tracee_stop *stop, uint64_t argument, int i, uint64_t ns)
{
	uint64_t over = stop->asked_ns - stop->wait.least_ns;

	if (argument != stop->wait.args[i] || ns != stop->wait.time_ns)
		return 1;
	return stop->asked_ns >= stop->wait.least_ns && over + (ns <= STOP_SHORT_NS ? STOP_ARMED_NS : 0) >= ns;
}

/* The time of a call as it is made: 0, or -1 where there is none. */
static int stop_time_of(const struct ktr__tracee_stop *stop, uint64_t argument, int is_ms, int64_t *ns)
{
	struct timespec time;

	*ns = (int64_t)(int32_t)argument * 1000000;
	if (is_ms)
		return *ns < 0 ? -1 : 0;
	if (ktr__tracee_read(stop->tid, argument, &time, sizeof(time)) < sizeof(time) || time.tv_sec < 0 ||
	    time.tv_sec > INT32_MAX)
		return -1;
	*ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	return 0;
}

/*
 * The time of a call that is made again: what is left of it. The register that it is in is one that a function may
 * change, but not an instruction that makes a system call, so this is done for those of the C library, which does
 * not rely on it. 1: `left` is used.
 */
static int stop_time(struct ktr__tracee_stop *stop, struct user_regs_struct *regs, uint64_t left)
{
	uint64_t over = stop->wait.began_ns ? ktr__tracee_wait_now() - stop->wait.began_ns : 0;
	int is_ms, at = ktr__tracee_wait_timeout((long)stop->regs.orig_rax, &is_ms);
	struct timespec time;
	uint64_t argument;
	int64_t ns;

	if (at < 0 || !over || stop->wait.rank != KTR__RANK_TIMED || regs->rip < stop->libc ||
	    regs->rip >= stop->libc_end || (!is_ms && !left))
		return 0;
	argument = *stop_arg(regs, at);
	if (stop_time_of(stop, argument, is_ms, &ns))
		return 0;
	if (stop_is_ours_time(argument, is_ms, left) ? argument == stop->wait.args[at] :
						       !stop_is_next(stop, argument, at, (uint64_t)ns))
		ns = ktr__tracee_wait_left(ns, over);
	if (is_ms) {
		*stop_arg(regs, at) = (uint64_t)(ns + 999999) / 1000000 | (uint64_t)STOP_MARK << 32;
		return 0;
	}
	time = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	if (ktr__tracee_write(stop->tid, left, &time, sizeof(time)) < sizeof(time))
		return 0;
	*stop_arg(regs, at) = left;
	return 1;
}

/* Signals that a process takes no notice of: whether it says so, or has not said what is to be done. */
static uint64_t stop_ignored(pid_t tid)
{
	const uint64_t defaults = 1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) |
				  1ull << (SIGURG - 1) | 1ull << (SIGWINCH - 1);
	uint64_t ignored = 0, caught = 0;

	ktr__tracee_status(tid, "SigIgn:", 16, &ignored);
	ktr__tracee_status(tid, "SigCgt:", 16, &caught);
	return ignored | (defaults & ~caught);
}

/* A call that our stop has ended is made again, unless a signal is there that would have ended it without us. */
static int stop_again(struct ktr__tracee_stop *stop, uint64_t left)
{
	uint64_t process = 0, thread = 0;
	struct user_regs_struct regs = stop->regs;
	int used;

	if ((int64_t)regs.orig_rax < 0 || (int64_t)regs.rax != -EINTR ||
	    !ktr__tracee_wait_repeats((long)regs.orig_rax))
		return 0;
	ktr__tracee_status(stop->tid, "ShdPnd:", 16, &process);
	ktr__tracee_status(stop->tid, "SigPnd:", 16, &thread);
	if ((process | thread) & ~stop->mask & ~stop_ignored(stop->tid))
		return 0;
	used = stop_time(stop, &regs, left);
	regs.rip -= 2; /* the instruction: syscall, 0f 05 */
	regs.rax = regs.orig_rax;
	regs.orig_rax = UINT64_MAX;
	ktr__tracee_regs(stop, &regs, 1);
	return used;
}
#else
/* arm64 does not let a tracer see the first argument as it was, nor set it. */
static int stop_again(struct ktr__tracee_stop *stop, uint64_t left)
{
	(void)stop, (void)left;
	return 0;
}
#endif

int ktr__tracee_go(struct ktr__tracee_stop *stop, uint64_t left)
{
	int used = stop->is_group_stop ? 0 : stop_again(stop, left);

	return ptrace(PTRACE_DETACH, stop->tid, NULL, NULL) < 0 ? -errno : used;
}

int ktr__tracee_late(pid_t tid)
{
	int status;
	pid_t got = stop_look_well(tid, &status);

	if (got == 0)
		return 0;
	if (got > 0)
		ptrace(PTRACE_DETACH, tid, NULL,
		       status >> 16 || WSTOPSIG(status) == STOP_SYSCALL ? 0L : (long)WSTOPSIG(status));
	return 1;
}
