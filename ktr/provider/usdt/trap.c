/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread comes to the trap that stands for a nop, and the kernel calls the handler, which records the event and
 * has it go on behind the nop. While it runs all signals are blocked but SIGTRAP, so that none is left by
 * longjmp(3); what the recorder calls and has probes of its own is passed by.
 *
 * What is no trap of ours is the program's: its action is called as the kernel would have done it, with its mask,
 * or kills.
 *
 * The handler stays when nothing is on any more, for a thread may have come to a trap that has just been taken
 * back.
 */
#include "ktr/provider/usdt/trap.h"

#include "ktr/arch/ask.h"
#include "ktr/provider/usdt/point.h"
#include "ktr/provider/usdt/values.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SA_ONSTACK: the stack of whoever has another one for signals may be short. */
#define TRAP_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART)

static struct ktr__usdt_action trap_program; /* the program's; under trap_lock */
static uint32_t trap_lock;
static uint64_t trap_restorer;
static __thread uint32_t trap_depth;
static __thread bool trap_pending; /* one came while the thread thought that it blocks it */

__thread bool ktr__usdt_trap_blocked;

/* ---- the program's own ---- */

static long trap_raw_action(int signal, const struct ktr__usdt_action *now, struct ktr__usdt_action *before)
{
	return ktr__ask(SYS_rt_sigaction, signal, (long)(uintptr_t)now, (long)(uintptr_t)before, 8, 0, 0);
}

static uint64_t trap_mask(uint64_t now)
{
	uint64_t before = 0;

	ktr__ask(SYS_rt_sigprocmask, SIG_SETMASK, (long)(uintptr_t)&now, (long)(uintptr_t)&before, 8, 0, 0);
	return before;
}

/* Held for a moment, with signals blocked: no handler waits for its own thread. */
void ktr__usdt_trap_action(const struct ktr__usdt_action *now, struct ktr__usdt_action *before)
{
	uint64_t mask = trap_mask(~KTR__USDT_TRAP_BIT);

	while (__atomic_exchange_n(&trap_lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (before)
		*before = trap_program;
	if (now)
		trap_program = *now;
	__atomic_store_n(&trap_lock, 0, __ATOMIC_RELEASE);
	trap_mask(mask);
}

static void trap_die(void)
{
	struct ktr__usdt_action nothing = { 0, 0, 0, 0 };

	trap_raw_action(SIGTRAP, &nothing, NULL);
	ktr__ask(SYS_tgkill, getpid(), gettid(), SIGTRAP, 0, 0, 0);
}

/* si_code is above 0 where an instruction was the cause: that is never ignored, and not put off. */
static void trap_program_call(int signal, siginfo_t *info, ucontext_t *at)
{
	struct ktr__usdt_action action, none = { 0, 0, 0, 0 };
	uint64_t mask, before;

	ktr__usdt_trap_action(NULL, &action);
	if (info->si_code <= 0 && ktr__usdt_trap_blocked) {
		trap_pending = true;
		return;
	}
	if (action.handler == (uintptr_t)SIG_IGN && info->si_code <= 0)
		return;
	if (action.handler == (uintptr_t)SIG_DFL || action.handler == (uintptr_t)SIG_IGN ||
	    (info->si_code > 0 && ktr__usdt_trap_blocked)) {
		trap_die();
		return;
	}
	if (action.flags & SA_RESETHAND)
		ktr__usdt_trap_action(&none, NULL);
	memcpy(&mask, &at->uc_sigmask, sizeof(mask));
	before = trap_mask((mask | action.mask) & ~KTR__USDT_TRAP_BIT);
	if (action.flags & SA_SIGINFO)
		((void (*)(int, siginfo_t *, void *))(uintptr_t)action.handler)(signal, info, at);
	else
		((void (*)(int))(uintptr_t)action.handler)(signal);
	trap_mask(before);
}

bool ktr__usdt_trap_unblocked(void)
{
	if (!trap_pending)
		return false;
	trap_pending = false;
	ktr__ask(SYS_tgkill, getpid(), gettid(), SIGTRAP, 0, 0, 0);
	return true;
}

/* ---- the handler ---- */

static void trap_fire(const struct ktr__usdt_point *point, const ucontext_t *at)
{
	struct ktr_provider_probe *probe = __atomic_load_n(&point->probe, __ATOMIC_ACQUIRE);

	if (!probe || !ktr__provider_on(probe) || trap_depth)
		return;
	trap_depth = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__usdt_fire(point, probe, at);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	trap_depth = 0;
}

/*
 * True: it was ours. What is off and was on once may have been taken back meanwhile, or could not be; or a debugger
 * has put it back when it took its own from there.
 */
static bool trap_ours(ucontext_t *at)
{
	greg_t *pc = &at->uc_mcontext.gregs[REG_RIP];
	uint8_t *place = (uint8_t *)(uintptr_t)*pc - 1; // NOLINT
	const struct ktr__usdt_point *first = ktr__usdt_point_at(place), *point = first;
	bool is_there;

	while (point && !__atomic_load_n(&point->was_on, __ATOMIC_SEQ_CST))
		point = ktr__usdt_point_also(point);
	if (!point)
		return false;
	is_there = __atomic_load_n(place, __ATOMIC_RELAXED) == KTR__USDT_TRAP;
	if (!is_there)
		*pc = (greg_t)(uintptr_t)place;
	else if (point->instead)
		*pc = (greg_t)(uintptr_t)point->instead;
	else
		*pc = (greg_t)(uintptr_t)(place + point->n_nop);
	for (point = first; point; point = ktr__usdt_point_also(point))
		if (is_there && !point->instead && __atomic_load_n(&point->is_on, __ATOMIC_SEQ_CST))
			trap_fire(point, at);
	return true;
}

static void trap_handler(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code != SI_KERNEL || !trap_ours(context))
		trap_program_call(signal, info, context);
	errno = saved;
}

uint64_t ktr__usdt_trap_restorer(void)
{
	return trap_restorer;
}

/* By the C library the first time, which knows where handlers return to. */
int ktr__usdt_trap_install(void)
{
	struct ktr__usdt_action there = { 0, 0, 0, 0 }, ours;
	struct sigaction action = { .sa_flags = TRAP_FLAGS };
	long code = trap_raw_action(SIGTRAP, NULL, &there);

	if (code)
		return (int)code;
	if (there.handler == (uintptr_t)trap_handler)
		return 0;
	ktr__usdt_trap_action(&there, NULL);
	if (!trap_restorer) {
		action.sa_sigaction = trap_handler;
		sigfillset(&action.sa_mask);
		sigdelset(&action.sa_mask, SIGTRAP);
		if (sigaction(SIGTRAP, &action, NULL))
			return -errno;
		trap_raw_action(SIGTRAP, NULL, &ours);
		trap_restorer = ours.restorer;
		return 0;
	}
	ours = (struct ktr__usdt_action){ (uintptr_t)trap_handler,
					  TRAP_FLAGS | KTR__USDT_RESTORER, trap_restorer, ~KTR__USDT_TRAP_BIT };
	return (int)trap_raw_action(SIGTRAP, &ours, NULL);
}
