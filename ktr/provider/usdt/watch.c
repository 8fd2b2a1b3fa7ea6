/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trap kills a thread that blocks SIGTRAP, and a program that has put its own action in the place of ours. So
 * while probes are on, sigaction(2) and pthread_sigmask(3) of the C library are led here, and through them
 * signal(3), sigset(3), sigprocmask(2), siglongjmp(3) and what is in the C library itself: for SIGTRAP the
 * program's action and mask are kept here, and it is told what it has asked for. All other signals are as they
 * were.
 *
 * Both are changed in memory where no thread can stand in the change: of sigaction() the first byte, for a trap;
 * pthread_sigmask() is called in children of vfork(2) that block all signals (posix_spawn(3)), so it has a jump,
 * where its first instruction is one of five bytes or more within one word. Otherwise no probe is enabled.
 *
 * What goes to the kernel past the C library (Go) is seen once a second, for the action; and what is waited with by
 * sigsuspend(2), ppoll(2), pselect(2) and epoll_pwait(2) is not seen.
 */
#include "ktr/provider/usdt/watch.h"

#include "ktr/provider/usdt/ask.h"
#include "ktr/provider/usdt/point.h"
#include "ktr/provider/usdt/text.h"
#include "ktr/provider/usdt/trap.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCH_INTERNAL (3ull << (32 - 1)) /* the C library's own signals, 32 and 33 */

/* ---- whether ---- */

/* A line of a file of status in /proc; 0: it has none. */
static uint64_t watch_status(const char *path, const char *name, int base)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	const char *at;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static void watch_thread_name(const char *thread, char name[32])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, name, 31);
	if (fd >= 0)
		close(fd);
	name[n < 1 ? 0 : n - 1] = '\0';
}

/* Threads of ours block all signals, and come to no probe. */
static int watch_threads(struct ktr_error *why)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *at;
	char path[64], name[32];
	int code = 0;

	if (!dir)
		return ktr_error_set(why, ENOENT, "there is no /proc that would tell whether a thread blocks SIGTRAP");
	while (!code && (at = readdir(dir)) != NULL) {
		if (*at->d_name == '.' || strtol(at->d_name, NULL, 10) == gettid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", at->d_name);
		if (!(watch_status(path, "\nSigBlk:", 16) & KTR__USDT_TRAP_BIT))
			continue;
		watch_thread_name(at->d_name, name);
		if (strncmp(name, "ktr-", 4) != 0)
			code = ktr_error_set(why, EBUSY,
					     "its thread %s (%s) blocks SIGTRAP, a trap would kill it; "
					     "a program that is started with the probe on is kept from that",
					     at->d_name, name);
	}
	closedir(dir);
	return code;
}

int ktr__usdt_watch_may(struct ktr_error *why)
{
	uint64_t tracer = watch_status("/proc/self/status", "\nTracerPid:", 10);

	if (ktr__own_session()->sealed)
		return ktr_error_set(why, EPERM, "it is in a sandbox");
	if (tracer)
		return ktr_error_set(why, EBUSY,
				     "process %llu traces it (a debugger, strace), which would get the traps",
				     (unsigned long long)tracer);
	return watch_threads(why);
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
		code = ktr__usdt_ask(SYS_rt_sigaction, number, (long)(uintptr_t)(now ? &new : NULL),
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
	code = ktr__usdt_ask(SYS_rt_sigprocmask, how,
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

static struct ktr__usdt_point watch_action; /* the first byte of sigaction() */
static uint8_t *watch_mask; /* pthread_sigmask() */
static uint64_t watch_mask_word; /* that is there otherwise; 0: it is */
static bool watch_is_on;

/* Is it the C library's, and not somebody's who has put himself before it? */
static bool watch_is_libc(const void *function)
{
	struct ktr__object object;
	const char *slash;

	if (!ktr__object_find(function, &object))
		return false;
	slash = strrchr(object.path, '/');
	return strcmp(slash ? slash + 1 : object.path, "libc.so.6") == 0;
}

/* sub $N, %rsp; or cmp $N, ADDRESS(%rip): of seven bytes. */
static bool watch_is_long(const uint8_t *at)
{
	return (at[0] == 0x48 && at[1] == 0x81 && at[2] == 0xec) || (at[0] == 0x80 && at[1] == 0x3d);
}

static int watch_jump(uint8_t *at, struct ktr_error *why)
{
	int64_t far = (int64_t)((uintptr_t)watch_sigmask - ((uintptr_t)at + 5));
	int32_t near = (int32_t)far;
	uint64_t word, before;
	int code;

	if (!watch_is_long(at) || ((uintptr_t)at & 7) > 3)
		return ktr_error_set(why, ENOTSUP,
				     "the C library's pthread_sigmask() does not begin as one that can be watched");
	if (near != far)
		return ktr_error_set(why, ERANGE, "the C library is too far from libktr to be watched");
	at -= (uintptr_t)at & 7;
	memcpy(&before, at, sizeof(before));
	word = before;
	memcpy((uint8_t *)&word + ((uintptr_t)watch_mask & 7), "\xe9", 1);
	memcpy((uint8_t *)&word + ((uintptr_t)watch_mask & 7) + 1, &near, sizeof(near));
	code = ktr__usdt_text_word(at, word);
	if (code)
		return ktr_error_set(why, -code, "the C library's text cannot be written: %s", strerror(-code));
	watch_mask_word = before;
	return 0;
}

/* Handlers that are there already block SIGTRAP while they run: they do not any more. */
static void watch_handlers(void)
{
	for (int number = 1; number <= 64; number++) {
		struct ktr__usdt_action action = { 0, 0, 0, 0 };

		if (number == SIGTRAP || number == 32 || number == 33 ||
		    ktr__usdt_ask(SYS_rt_sigaction, number, 0, (long)(uintptr_t)&action, 8, 0, 0))
			continue;
		if (action.handler <= 1 || !(action.mask & KTR__USDT_TRAP_BIT))
			continue;
		action.mask &= ~KTR__USDT_TRAP_BIT;
		ktr__usdt_ask(SYS_rt_sigaction, number, (long)(uintptr_t)&action, 0, 8, 0, 0);
	}
}

int ktr__usdt_watch_on(struct ktr_error *why)
{
	uint64_t trap = KTR__USDT_TRAP_BIT;
	int code;

	if (watch_is_on)
		return 0;
	if (!watch_is_libc((const void *)(uintptr_t)sigaction) ||
	    !watch_is_libc((const void *)(uintptr_t)pthread_sigmask))
		return ktr_error_set(why, ENOTSUP, "its sigaction() or pthread_sigmask() is not glibc's");
	code = ktr__usdt_trap_install();
	if (code)
		return ktr_error_set(why, -code, "SIGTRAP cannot be handled: %s", strerror(-code));
	/* This thread is none of the program's, or has just begun. */
	ktr__usdt_ask(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)(uintptr_t)&trap, 0, 8, 0, 0);
	watch_mask = (uint8_t *)(uintptr_t)pthread_sigmask;
	code = watch_jump(watch_mask, why);
	if (code)
		return code;
	if (!watch_action.at) {
		watch_action.at = (uint8_t *)(uintptr_t)sigaction;
		watch_action.first = *watch_action.at;
		watch_action.instead = (void (*)(void))watch_sigaction;
		ktr__usdt_point_add(&watch_action);
	}
	code = ktr__usdt_point_on(&watch_action);
	watch_is_on = true;
	if (code) {
		ktr__usdt_watch_off();
		return ktr_error_set(why, -code, "the C library's text cannot be written: %s", strerror(-code));
	}
	watch_handlers();
	return 0;
}

void ktr__usdt_watch_off(void)
{
	if (!watch_is_on)
		return;
	watch_is_on = false;
	ktr__usdt_point_off(&watch_action);
	if (watch_mask_word && *watch_mask == 0xe9)
		ktr__usdt_text_word(watch_mask - ((uintptr_t)watch_mask & 7), watch_mask_word);
	watch_mask_word = 0;
}
