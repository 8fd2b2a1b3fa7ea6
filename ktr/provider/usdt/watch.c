/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trap kills a thread that blocks SIGTRAP, and a program that has put its own action in the place of ours. So
 * while probes are on, sigaction(2) and pthread_sigmask(3) of the C library are led here, and through them
 * signal(3), sigset(3), sigprocmask(2), siglongjmp(3) and what is in the C library itself: for SIGTRAP the
 * program's action and mask are kept here, and it is told what it has asked for. All other signals are as they
 * were. Calls that wait with a mask of their own are led to wait.c.
 *
 * pthread_sigmask() is called in children of vfork(2) that block all signals (posix_spawn(3)), so it has to be led
 * by a jump. Otherwise no probe is enabled.
 *
 * What goes to the kernel past the C library (Go) is seen once a second, for the action.
 */
#include "ktr/provider/usdt/watch.h"

#include "ktr/arch/ask.h"
#include "ktr/provider/usdt/lead.h"
#include "ktr/provider/usdt/threads.h"
#include "ktr/provider/usdt/trap.h"
#include "ktr/provider/usdt/wait.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCH_INTERNAL (3ull << (32 - 1)) /* the C library's own signals, 32 and 33 */

int ktr__usdt_watch_may(struct ktr_error *why)
{
	unsigned tracer = ktr__usdt_threads_tracer();

	if (ktr__own_session()->sealed)
		return ktr_error_set(why, EPERM, "it is in a sandbox");
	if (tracer)
		return ktr_error_set(why, EBUSY, "process %u traces it (a debugger, strace), which would get the traps",
				     tracer);
	return 0;
}

/* ---- what is called instead ---- */

static uint64_t watch_set(const sigset_t *set)
{
	uint64_t word;

	memcpy(&word, set, sizeof(word));
	return word;
}

static void watch_put(sigset_t *set, uint64_t word)
{
	memset(set, 0, sizeof(*set));
	memcpy(set, &word, sizeof(word));
}

static void watch_from(struct ktr__usdt_action *to, const struct sigaction *from)
{
	to->handler = (uintptr_t)from->sa_handler;
	to->flags = (uint64_t)(uint32_t)from->sa_flags | KTR__USDT_RESTORER;
	to->restorer = ktr__usdt_trap_restorer();
	to->mask = watch_set(&from->sa_mask);
}

static void watch_to(struct sigaction *to, const struct ktr__usdt_action *from)
{
	to->sa_handler = (void (*)(int))(uintptr_t)from->handler; // NOLINT
	to->sa_flags = (int)from->flags;
	to->sa_restorer = (void (*)(void))(uintptr_t)from->restorer; // NOLINT
	watch_put(&to->sa_mask, from->mask);
}

static int watch_sigaction(int number, const struct sigaction *now, struct sigaction *before)
{
	struct ktr__usdt_action new = { 0, 0, 0, 0 }, old = { 0, 0, 0, 0 };
	long code = 0;

	if (number < 1 || number > 64 || number == 32 || number == 33) {
		errno = EINVAL;
		return -1;
	}
	if (now)
		watch_from(&new, now);
	if (number == SIGTRAP) {
		ktr__usdt_trap_action(now ? &new : NULL, &old);
	} else {
		new.mask &= ~KTR__USDT_TRAP_BIT;
		code = ktr__ask(SYS_rt_sigaction, number, (long)(uintptr_t)(now ? &new : NULL),
				     (long)(uintptr_t)&old, 8, 0, 0);
	}
	if (code) {
		errno = (int)-code;
		return -1;
	}
	if (before)
		watch_to(before, &old);
	return 0;
}

static int watch_sigmask(int how, const sigset_t *now, sigset_t *before)
{
	uint64_t set = 0, old = 0;
	bool was = ktr__usdt_trap_blocked;
	long code;

	if (now)
		set = watch_set(now) & ~WATCH_INTERNAL;
	/* SIGTRAP is in no mask of the kernel's: who unblocks it asks for what is so already. */
	code = ktr__ask(SYS_rt_sigprocmask, how,
			     (long)(uintptr_t)(now ? &(uint64_t){ set & ~KTR__USDT_TRAP_BIT } : NULL),
			     (long)(uintptr_t)&old, 8, 0, 0);
	if (code)
		return (int)-code;
	if (before)
		watch_put(before, was ? old | KTR__USDT_TRAP_BIT : old & ~KTR__USDT_TRAP_BIT);
	if (now && how == SIG_SETMASK)
		ktr__usdt_trap_blocked = set & KTR__USDT_TRAP_BIT;
	else if (now && (set & KTR__USDT_TRAP_BIT))
		ktr__usdt_trap_blocked = how == SIG_BLOCK;
	if (was && !ktr__usdt_trap_blocked)
		ktr__usdt_trap_unblocked();
	return 0;
}

/* ---- leading there ---- */

static struct ktr__usdt_lead watch_action = { .name = "sigaction", .instead = (void (*)(void))watch_sigaction };
static struct ktr__usdt_lead watch_mask = { .name = "pthread_sigmask", .instead = (void (*)(void))watch_sigmask,
					    .jumps = true };
static const char *watch_taken; /* what is somebody else's, who stands before the C library; NULL: nothing */
static bool watch_is_on;

static void watch_find_one(struct ktr__usdt_lead *lead)
{
	if (!ktr__usdt_lead_find(lead))
		watch_taken = lead->name;
}

void ktr__usdt_watch_find(void)
{
	watch_taken = NULL;
	watch_find_one(&watch_action);
	watch_find_one(&watch_mask);
	for (int i = 0; i < KTR__USDT_WAITS; i++)
		watch_find_one(&ktr__usdt_waits[i]);
}

/* Handlers that are there already block SIGTRAP while they run: they do not any more. */
static void watch_handlers(void)
{
	for (int number = 1; number <= 64; number++) {
		struct ktr__usdt_action action = { 0, 0, 0, 0 };

		if (number == SIGTRAP || number == 32 || number == 33 ||
		    ktr__ask(SYS_rt_sigaction, number, 0, (long)(uintptr_t)&action, 8, 0, 0))
			continue;
		if (action.handler <= 1 || !(action.mask & KTR__USDT_TRAP_BIT))
			continue;
		action.mask &= ~KTR__USDT_TRAP_BIT;
		ktr__ask(SYS_rt_sigaction, number, (long)(uintptr_t)&action, 0, 8, 0, 0);
	}
}

static int watch_lead(struct ktr_error *why)
{
	int code = ktr__usdt_lead_on(&watch_mask, why);

	code = code ? code : ktr__usdt_lead_on(&watch_action, why);
	for (int i = 0; !code && i < KTR__USDT_WAITS; i++)
		if (ktr__usdt_waits[i].at)
			code = ktr__usdt_lead_on(&ktr__usdt_waits[i], why);
	return code;
}

/* Threads are looked at when nothing they do passes us by any more. */
int ktr__usdt_watch_on(struct ktr_error *why)
{
	uint64_t trap = KTR__USDT_TRAP_BIT, before = 0;
	int code;

	if (watch_is_on)
		return 0;
	if (watch_taken)
		return ktr_error_set(why, ENOTSUP, "its %s() is not glibc's", watch_taken);
	if (!watch_action.at || !watch_mask.at)
		return ktr_error_set(why, ENOTSUP, "its C library is not glibc");
	code = ktr__usdt_trap_install();
	if (code)
		return ktr_error_set(why, -code, "SIGTRAP cannot be handled: %s", strerror(-code));
	/* This thread is none of the program's, or has just begun. */
	ktr__ask(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)(uintptr_t)&trap, (long)(uintptr_t)&before, 8, 0, 0);
	ktr__usdt_trap_blocked = before & trap;
	watch_is_on = true;
	code = watch_lead(why);
	if (!code) {
		watch_handlers();
		code = ktr__usdt_threads_may(why);
	}
	if (code)
		ktr__usdt_watch_off();
	return code;
}

void ktr__usdt_watch_off(void)
{
	if (!watch_is_on)
		return;
	watch_is_on = false;
	ktr__usdt_lead_off(&watch_action);
	ktr__usdt_lead_off(&watch_mask);
	for (int i = 0; i < KTR__USDT_WAITS; i++)
		ktr__usdt_lead_off(&ktr__usdt_waits[i]);
}
