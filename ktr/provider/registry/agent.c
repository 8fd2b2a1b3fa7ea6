/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread of the process's, which sleeps on the session's count of changes and looks at all probes when it has
 * moved; while some are on, ten times a second at what they take (budget.c). All signals are blocked in it. It is
 * not there where the process has no session.
 *
 * It does not keep a process: when the main thread has ended, by pthread_exit(3) or by the bare system call, it
 * ends too, and what is asked from outside after that is not done any more. The first is seen by a destructor of
 * the main thread's, the other by a look once a second at whether the main thread has a list of robust futexes, and
 * if not (it never has one on musl) at its state in /proc.
 *
 * Handlers of fork run in the order that they were given, and those before a fork the other way round; libktr's,
 * which it has given when it started, take its locks after ours. A child that has providers has a thread of its
 * own.
 */
#include "ktr/provider/registry/agent.h"

#include "ktr/provider/registry/budget.h"
#include "ktr/provider/registry/registry.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/record/own.h"
#include "ktr/start/attach.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AGENT_STACK (256u << 10) /* [bytes] a provider's operations run on it */
#define AGENT_MS    1000 /* between two looks at whether the main thread is there */
#define AGENT_SPEC  4096	 /* [bytes] a longer one is none */

static bool agent_begun;   /* atomic */
static bool agent_runs;	   /* atomic: the thread is there, or about to be */
static bool agent_no_main; /* atomic: the main thread has ended */
static pthread_key_t agent_key;

void (*ktr__agent_often)(void);
void (*ktr__agent_ends)(void);
unsigned ktr__agent_often_ms = KTR__AGENT_OFTEN_MS;

static bool agent_main_is_dead(void)
{
	void *robust = NULL;
	char text[1024];
	const char *end;
	size_t bytes;
	ssize_t n;
	int fd;

	if (__atomic_load_n(&agent_no_main, __ATOMIC_ACQUIRE))
		return true;
	if (syscall(SYS_get_robust_list, getpid(), &robust, &bytes) == 0 && robust)
		return false;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] && (end[2] == 'Z' || end[2] == 'X');
}

/*
 * So long, or until somebody wakes us: true. What has to be done often is done meanwhile, and when we are woken; a
 * little sooner than it is due, if that is how we are awake anyway.
 */
static bool agent_rest(uint32_t change, unsigned ms)
{
	static unsigned rested_ms; /* since it was done last; by the thread */
	void (*often)(void);
	bool woken = false;

	while (!woken && ms && __atomic_load_n(&ktr__agent_often, __ATOMIC_ACQUIRE)) {
		unsigned often_ms = __atomic_load_n(&ktr__agent_often_ms, __ATOMIC_RELAXED);
		unsigned part_ms = often_ms > rested_ms ? often_ms - rested_ms : 1;

		part_ms = part_ms < ms ? part_ms : ms;
		woken = ktr__rows_wait(change, part_ms);
		ms -= part_ms;
		rested_ms += part_ms;
		if (!woken && rested_ms + often_ms / 8 < often_ms)
			continue;
		rested_ms = 0;
		ktr__registry_lock();
		often = __atomic_load_n(&ktr__agent_often, __ATOMIC_ACQUIRE);
		if (often)
			often();
		ktr__registry_unlock();
	}
	return woken || (ms && ktr__rows_wait(change, ms));
}

/* A second, or until somebody wakes us. While probes are on it is looked at what they take. */
static void agent_wait(uint32_t change, struct ktr__budget *budget)
{
	if (!ktr__budget_begin(budget)) {
		agent_rest(change, AGENT_MS);
		return;
	}
	if (!ktr__budget_left(budget) && ktr__budget_look(budget))
		return;
	/* Who is woken again and again looks all the same. */
	for (unsigned n = 0; n < AGENT_MS / KTR__BUDGET_MS; n++)
		if (agent_rest(change, ktr__budget_left(budget)) || ktr__budget_look(budget))
			return;
}

static void *agent_main(void *context)
{
	struct ktr__budget budget = { .base = NULL };
	void (*ends)(void);
	char spec[AGENT_SPEC];

	(void)context;
	for (;;) {
		uint32_t change = ktr__rows_change();

		ktr__registry_lock();
		if (!ktr__registry_any() || agent_main_is_dead())
			break;
		if (ktr__rows_asked(spec, sizeof(spec)))
			ktr__registry_provide(spec);
		ktr__registry_settings();
		ktr__registry_look(NULL);
		ktr__registry_unlock();
		ktr__rows_done(change);
		agent_wait(change, &budget);
	}
	ktr__budget_end(&budget);
	/* Under the lock: whoever registers the next provider starts the next thread. */
	ktr__rows_leave();
	__atomic_store_n(&agent_runs, false, __ATOMIC_RELEASE);
	ends = __atomic_load_n(&ktr__agent_ends, __ATOMIC_ACQUIRE);
	if (ends)
		ends();
	ktr__registry_unlock();
	return NULL;
}

bool ktr__agent_runs(void)
{
	return __atomic_load_n(&agent_runs, __ATOMIC_ACQUIRE);
}

void ktr__agent_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, mask;

	if (__atomic_load_n(&agent_runs, __ATOMIC_ACQUIRE) || ktr__own_session()->sealed || agent_main_is_dead())
		return;
	ktr__rows_host();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, AGENT_STACK);
	__atomic_store_n(&agent_runs, true, __ATOMIC_RELEASE);
	if (pthread_create(&thread, &attr, agent_main, NULL) == 0)
		pthread_setname_np(thread, "ktr-provider");
	else
		__atomic_store_n(&agent_runs, false, __ATOMIC_RELEASE);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (getpid() == (pid_t)syscall(SYS_gettid))
		pthread_setspecific(agent_key, &agent_key);
	if (!__atomic_load_n(&agent_runs, __ATOMIC_ACQUIRE))
		ktr__rows_leave();
}

static void agent_main_ends(void *value)
{
	(void)value;
	__atomic_store_n(&agent_no_main, true, __ATOMIC_RELEASE);
	ktr__rows_wake();
}

static void agent_before_fork(void)
{
	ktr__registry_lock();
}

static void agent_after_fork(void)
{
	ktr__registry_unlock();
}

/* libktr's handler has run before: the session is that of the child. */
static void agent_after_fork_child(void)
{
	agent_no_main = false;
	ktr__rows_forget();
	ktr__registry_forked();
	if (__atomic_exchange_n(&agent_runs, false, __ATOMIC_ACQ_REL))
		ktr__agent_start();
}

/* Both calls may be made twice; libktr is asked for a session before the lock is taken. */
void ktr__agent_begin(void)
{
	bool not_yet = false;

	ktr__module_attach(&ktr__module_entry); /* the gate that we look at */
	if (!__atomic_compare_exchange_n(&agent_begun, &not_yet, true, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	pthread_key_create(&agent_key, agent_main_ends);
	pthread_atfork(agent_before_fork, agent_after_fork, agent_after_fork_child);
}

/* Whoever looks from outside sees that they have gone. exit(3) may have been called in a handler of a signal. */
__attribute__((destructor(101))) static void agent_end(void)
{
	ktr__registry_gone();
}
