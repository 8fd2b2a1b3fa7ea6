/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handlers of the signals that faults and abort(3) send. Each wakes the writer, waits until it has written
 * what was recorded, CRASH_WAIT_NS at most, and then does what would have happened without it: calls the
 * program's handler, or lets the signal's default come. Nothing else runs in the dying thread: two futexes
 * and a clock, no lock, no memory.
 *
 * A program installs its own handlers after ours, which were there before main. So once more, and only
 * once, ours are put in front of what is found then. The two times have a handler each: a program's handler
 * that in its turn calls the one before it reaches the first of ours, never the second again.
 *
 * Programs whose handlers mend faults (garbage collectors) have many of them: the writer is asked once in
 * CRASH_AGAIN_NS at most. A child of vfork(2) shares our memory, but has no writer.
 */
#include "writer/crash.h"

#include "ktr/session/libc.h"
#include "writer/writer.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CRASH_WAIT_NS  1000000000ull /* a disk that takes longer has lost this: the session has the rest */
#define CRASH_AGAIN_NS 1000000000ull
#define CRASH_LOOK_NS  250000000ull
#define CRASH_SIGNALS  6u
#define CRASH_TIMES    2u

static const int crash_signals[CRASH_SIGNALS] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS };

static struct {
	struct sigaction before[CRASH_TIMES][CRASH_SIGNALS]; /* whose place we took */
	bool installed[CRASH_TIMES][CRASH_SIGNALS];
	bool on;
	uint64_t looked_ns;
	uint64_t asked_ns; /* when a handler last asked */
	uint32_t asked;	   /* +1 by a handler */
	uint32_t taken;	   /* futex: as far as the writer has come */
} crash;

uint32_t ktr__crash_asked(void)
{
	uint32_t asked = __atomic_load_n(&crash.asked, __ATOMIC_ACQUIRE);

	return asked == crash.taken ? 0 : asked;
}

void ktr__crash_taken(uint32_t asked)
{
	__atomic_store_n(&crash.taken, asked, __ATOMIC_RELEASE);
	syscall(SYS_futex, &crash.taken, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Has the writer take what there is. Whoever comes while another thread waits, waits too. */
static void crash_flush(void)
{
	const struct timespec look = { 0, 10000000 };
	uint64_t begun = ktr__drain_now(), last = __atomic_load_n(&crash.asked_ns, __ATOMIC_RELAXED);
	uint32_t asked, taken;

	if (__atomic_load_n(&ktr__writer.state, __ATOMIC_RELAXED) != WRITER_RUNNING ||
	    __atomic_load_n(&ktr__writer.pid, __ATOMIC_RELAXED) != getpid())
		return;
	if (begun - last >= CRASH_AGAIN_NS && __atomic_compare_exchange_n(&crash.asked_ns, &last, begun, 0,
									   __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		/* 0 is nobody's. */
		if (!__atomic_add_fetch(&crash.asked, 1, __ATOMIC_RELEASE))
			__atomic_add_fetch(&crash.asked, 1, __ATOMIC_RELEASE);
		ktr__writer_ring();
	}
	asked = __atomic_load_n(&crash.asked, __ATOMIC_RELAXED);
	while ((taken = __atomic_load_n(&crash.taken, __ATOMIC_ACQUIRE)) != asked &&
	       ktr__drain_now() - begun < CRASH_WAIT_NS)
		syscall(SYS_futex, &crash.taken, FUTEX_WAIT_PRIVATE, taken, &look, NULL, 0);
}

/*
 * What would have happened without us: the program's handler, or the default, which comes when we return. Flags do
 * not tell which: those of a handler that the kernel has reset (SA_RESETHAND) stay behind.
 */
static void crash_chain(const struct sigaction *before, int number, siginfo_t *info, void *context)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };

	if (before->sa_handler == SIG_DFL) {
		sigaction(number, &by_default, NULL);
		ktr__signal_again(number, info);
	} else if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(number, info, context);
	} else {
		before->sa_handler(number);
	}
}

static void crash_signal(unsigned time, int number, siginfo_t *info, void *context)
{
	int saved = errno;

	crash_flush();
	errno = saved;
	for (unsigned i = 0; i < CRASH_SIGNALS; i++)
		if (crash_signals[i] == number)
			crash_chain(&crash.before[time][i], number, info, context);
}

static void crash_first(int number, siginfo_t *info, void *context)
{
	crash_signal(0, number, info, context);
}

static void crash_second(int number, siginfo_t *info, void *context)
{
	crash_signal(1, number, info, context);
}

static void (*const crash_handlers[CRASH_TIMES])(int, siginfo_t *, void *) = { crash_first, crash_second };

/* Which of ours it is; CRASH_TIMES: none. */
static unsigned crash_which(const struct sigaction *action)
{
	unsigned time = 0;

	while (time < CRASH_TIMES &&
	       (!(action->sa_flags & SA_SIGINFO) || action->sa_sigaction != crash_handlers[time]))
		time++;
	return time;
}

/*
 * Ours has the flags and the mask of the program's handler, so that the kernel does what the program wanted. A
 * signal that it ignores stays ignored: exec(2) hands that on, and no system call is interrupted.
 */
static void crash_install(unsigned i)
{
	unsigned time = crash.installed[0][i] ? 1 : 0;
	struct sigaction now, ours, was;

	if (sigaction(crash_signals[i], NULL, &now) || now.sa_handler == SIG_IGN ||
	    crash_which(&now) < CRASH_TIMES || crash.installed[time][i])
		return;
	ours = now;
	if (now.sa_handler == SIG_DFL)
		ours.sa_flags = SA_ONSTACK; /* of a stack that has run over, where the program has another */
	ours.sa_flags |= SA_SIGINFO;
	ours.sa_sigaction = crash_handlers[time];
	crash.before[time][i] = now;
	if (sigaction(crash_signals[i], &ours, &was))
		return;
	/* The program has changed it meanwhile: that stays, and is looked at again. */
	crash.before[time][i] = was;
	if (was.sa_handler != now.sa_handler || was.sa_flags != now.sa_flags)
		sigaction(crash_signals[i], &was, NULL);
	else
		crash.installed[time][i] = true;
}

/* What somebody has put in front of ours stays. */
static void crash_remove(unsigned i)
{
	struct sigaction now;

	for (unsigned time = CRASH_TIMES; time-- > 0;)
		if (crash.installed[time][i] && sigaction(crash_signals[i], NULL, &now) == 0 &&
		    crash_which(&now) == time)
			crash.installed[time][i] = sigaction(crash_signals[i], &crash.before[time][i], NULL) != 0;
}

void ktr__crash_look(bool on)
{
	uint64_t now;

	if (!on && !crash.on)
		return;
	now = ktr__drain_now();
	if (on == crash.on && now - crash.looked_ns < CRASH_LOOK_NS)
		return;
	crash.on = on;
	crash.looked_ns = now;
	for (unsigned i = 0; i < CRASH_SIGNALS; i++)
		if (on)
			crash_install(i);
		else
			crash_remove(i);
}
