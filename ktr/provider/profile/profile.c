/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider profile: profile:::profile-997 is where a thread is each 1/997 s of its CPU time, by its stack. The
 * usual rates are offered, any other by its name: profile-250, profile-10ms. One at a time is on.
 *
 * Where the kernel allows perf events (source.c), it takes the samples, and no signal is sent; for threads that can
 * have none, in children of fork(2), and where that is asked for, timers are there. A thread has one of both.
 *
 * A thread's timer (threads.c) sends it a signal of real time that nobody uses. The handler finds the stack
 * (unwind.c) and records it, with how many ticks it stands for. Nothing in it waits, allocates or asks the loader.
 * A system call that it comes into may end with EINTR, where the kernel does not begin it again: a thread that
 * sleeps uses no CPU time, so that is a matter of the moment in which it goes to sleep.
 *
 * The handler stays when the probe is off, for a signal may be on its way.
 */
#include "ktr/provider/profile/profile.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/profile/code.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/profile/small.h"
#include "ktr/provider/profile/source.h"
#include "ktr/provider/profile/tail.h"
#include "ktr/provider/profile/unwind.h"
#include "ktr/provider/registry/agent.h"
#include "ktr/provider/registry/registry.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/provider/timer/signal.h"
#include "ktr/provider/timer/threads.h"
#include "ktr/record/own.h"

#include <ktr/ctl.h>
#include <ktr/provider.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROFILE_LEAST_NS     20000ull /* 50 kHz */
#define PROFILE_MOST_NS      100000000000ull
#define PROFILE_NAPS	     200 /* of 1 ms, at the end of the process, for a round to end */

static struct ktr_provider *profile_provider;
static struct ktr_provider_probe *profile_probe; /* that is on, or was; atomic */
static uint64_t profile_period_ns;               /* 0: none is on. Atomic */
static uint64_t profile_late_ns;                 /* what is a long time for the kernel's tick to come */
static int profile_signal;                       /* 0: none is ours yet */
static uint32_t profile_strange;                 /* a stack went through what is not known; atomic */
static pthread_key_t profile_key;
static bool profile_has_key;
static __thread bool profile_is_small __attribute__((tls_model("initial-exec"))); /* its stack: it has no timer */

/* Knobs of the program's own, both: which source is asked for, and which is used; PROFILE_BY_*. */
#define PROFILE_BY_NONE	  0 /* asked for: as any */
#define PROFILE_BY_PERF	  1
#define PROFILE_BY_TIMERS 2
#define PROFILE_BY_ANY	  3 /* asked for: perf events, else timers; used: both, some threads could have no event */
static uint64_t profile_no_word[3];
static uint64_t *profile_asked = &profile_no_word[0], *profile_used = &profile_no_word[1];
static uint64_t *profile_filters = &profile_no_word[2]; /* under which perf events may be tried */

/* ---- a sample ---- */

static const char profile_user[] = "user", profile_kernel[] = "kernel", profile_blocked[] = "blocked",
		  profile_missed[] = "missed";

static void profile_record(uint64_t n_ticks, const char *how, const struct ktr__frames *frames)
{
	struct ktr_provider_probe *probe = __atomic_load_n(&profile_probe, __ATOMIC_ACQUIRE);
	uint64_t period_ns = __atomic_load_n(&profile_period_ns, __ATOMIC_RELAXED);

	if (probe && period_ns)
		ktr_provider_fire4(probe, n_ticks, n_ticks * period_ns, (uint64_t)(uintptr_t)how,
				   (uint64_t)(uintptr_t)frames);
}

/*
 * After a system call the time was the kernel's. One that lets signals through again brings what has come in the
 * meantime: where that was is not known.
 */
static const char *profile_how(const ucontext_t *at, uint64_t ns)
{
	static const uint8_t call[] = { 0x0f, 0x05 };           /* syscall */
	static const uint8_t unblock[] = { 0xb8, 14, 0, 0, 0 }; /* mov $SYS_rt_sigprocmask, %eax */
	uint64_t pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP];
	const uint8_t *text = (const uint8_t *)(uintptr_t)pc; // NOLINT
	const struct ktr__map_object *object = ktr__maps_at(pc);

	if (!object || pc - object->text_begin < 7 || pc >= object->text_end || memcmp(text - 2, call, 2) != 0)
		return profile_user;
	return ns > profile_late_ns && memcmp(text - 7, unblock, 5) == 0 ? profile_blocked : profile_kernel;
}

static void profile_thread_met(struct ktr__profiled *thread)
{
	if (profile_has_key && !thread->is_marked)
		pthread_setspecific(profile_key, thread);
	thread->is_marked = true;
}

static void profile_tell_missing(uint64_t n_ticks)
{
	struct ktr__frames none = { .word = 0 };

	if (n_ticks)
		profile_record(n_ticks, profile_missed, &none);
}

static void profile_handler(int number, siginfo_t *info, void *context)
{
	uint64_t n_ticks = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
	struct ktr__profiled *thread = ktr__profile_of(info);
	struct ktr__frames frames;
	const char *how;
	int saved = errno;
	bool strange;

	(void)number;
	if (!thread || !__atomic_load_n(&thread->timer, __ATOMIC_ACQUIRE) ||
	    !__atomic_load_n(&profile_period_ns, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&thread->n_came, n_ticks + thread->n_late, __ATOMIC_RELAXED);
	if (thread->n_late) {
		profile_tell_missing(thread->n_late);
		thread->n_late = 0;
	}
	profile_thread_met(thread);
	ktr__maps_enter();
	how = profile_how(context, n_ticks * profile_period_ns);
	ktr__unwind(&frames, context, &thread->stack, &strange);
	ktr__maps_leave();
	if (how == profile_blocked)
		frames.word = 0;
	profile_record(n_ticks, how, &frames);
	/* Something has been loaded; or it is code that no file has: once a second. */
	if (strange && !__atomic_exchange_n(&profile_strange, 1, __ATOMIC_RELAXED))
		ktr__rows_wake();
	errno = saved;
}

/* ---- threads ---- */

/* Other destructors go on after ours, so it is called again as often as the C library does that. */
static void profile_thread_ends(void *value)
{
	static __thread unsigned n_ends;
	enum ktr__followed_end end;
	struct ktr__ticks_told told;

	if (++n_ends < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(profile_key, value);
		return;
	}
	end = ktr__source_is_on() ? ktr__source_thread_ends(&told) : KTR__FOLLOWED_STRANGER;
	if (end == KTR__FOLLOWED_IS_TOLD)
		return;
	if (end == KTR__FOLLOWED_WAS_REFUSED)
		profile_tell_missing(ktr__profile_disarm(&told));
	else if (profile_is_small && ktr__profile_disarm(NULL) == 0)
		profile_tell_missing(ktr__profile_due());
	else
		profile_tell_missing(ktr__profile_disarm(NULL));
	/* Who looks for threads that have nothing may find it yet, and would tell all of it again. */
	if (ktr__source_is_on())
		ktr__profile_refuse((uint32_t)gettid());
}

/* A thread of the program's begins. It may have been made with all signals blocked, as daemons do. */
static void profile_thread_begins(void)
{
	struct ktr__stack_range stack;
	sigset_t set;

	if (profile_has_key)
		pthread_setspecific(profile_key, &profile_key);
	if (ktr__source_is_on() && ktr__source_thread_begins())
		return;
	stack = ktr__small_own();
	profile_is_small = ktr__small_is(&stack);
	if (profile_is_small) {
		ktr__profile_refuse((uint32_t)gettid());
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, profile_signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ktr__profile_arm(&stack);
}

/* ---- the signal ---- */

/* One that the program has left alone. */
static int profile_take_signal(struct ktr_error *why)
{
	int number = ktr__timer_signal_take(profile_signal, profile_handler);

	if (number == -EBUSY)
		return ktr_error_set(why, EBUSY, "the program uses all signals of real time from %d to %d",
				     KTR__TIMER_SIGNAL_LEAST, KTR__TIMER_SIGNAL_MOST);
	if (number < 0)
		return ktr_error_set(why, -number, "no signal can be had: %s", strerror(-number));
	profile_signal = number;
	return 0;
}

/* ---- rates ---- */

/* Its CPU time between two samples; 0: it is no name of ours. 997, 997hz; 10ms, 250us, 500000ns, 1s. */
static uint64_t profile_period(const char *name, size_t length)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "", 0 },           { "hz", 0 },         { "ns", 1 },
		      { "us", 1000 },      { "usec", 1000 },    { "ms", 1000000 },
		      { "msec", 1000000 }, { "s", 1000000000 }, { "sec", 1000000000 } };
	static const char begin[] = "profile-";
	uint64_t number = 0, ns = 0;
	size_t at = sizeof(begin) - 1;

	if (length <= at || length > at + 16 || memcmp(name, begin, at) != 0)
		return 0;
	for (; at < length && name[at] >= '0' && name[at] <= '9'; at++)
		number = number * 10 + (uint64_t)(name[at] - '0');
	for (unsigned i = 0; number && i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].unit) == length - at && memcmp(units[i].unit, name + at, length - at) == 0)
			ns = units[i].ns ? number * units[i].ns : (1000000000u + number / 2) / number;
	return ns >= PROFILE_LEAST_NS && ns <= PROFILE_MOST_NS ? ns : 0;
}

static void profile_offer(const char *name, size_t length)
{
	struct ktr_provider_probe *probe;
	char text[32];

	if (!profile_period(name, length))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	ktr_provider_offer(profile_provider, NULL, NULL, text, NULL, &probe);
}

/* What a SPEC asks for: its last part, unless that is a glob. */
static void profile_offer_asked(const char *spec, size_t length)
{
	const char *colon = memrchr(spec, ':', length);

	if (colon)
		profile_offer(colon + 1, length - (size_t)(colon + 1 - spec));
}

/* ---- the provider's operations ---- */

static void profile_provide(struct ktr_provider *provider, const char *spec)
{
	static const char *const usual[] = { "profile-97",  "profile-99",   "profile-199",  "profile-499",
					     "profile-997", "profile-1999", "profile-4001", "profile-4999" };
	size_t length;

	profile_provider = provider;
	if (spec) {
		profile_offer_asked(spec, strlen(spec));
		return;
	}
	for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		profile_offer(usual[i], strlen(usual[i]));
	for (const char *at = ktr__probes_list(); *at; at += length + (at[length] == ',')) {
		at += strspn(at, " \t");
		length = strcspn(at, ",");
		profile_offer_asked(at, length);
	}
}

/* A timer for one that runs and can have no perf event. */
static int profile_otherwise(uint32_t tid, bool late, const struct ktr__ticks_told *told)
{
	if (!ktr__small_has(tid))
		return told ? ktr__profile_go_on(tid, told) : ktr__profile_add(tid, late);
	ktr__profile_refuse(tid);
	return 0;
}

static void profile_scan(void)
{
	if (ktr__source_is_on())
		ktr__source_scan();
	else
		ktr__profile_scan(true, ktr__small_has);
}

/*
 * Code that no file has is strange for ever: it is looked for once a second. Sooner at first, for what a program
 * begins with is strange, too, and one that lives for half a second has its code named.
 */
static void profile_look_strange(void)
{
	static uint64_t due_ms, pause_ms; /* by one thread at a time */
	struct timespec now;
	uint64_t now_ms;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (now_ms < due_ms || !(__atomic_load_n(&profile_strange, __ATOMIC_RELAXED) | ktr__source_was_strange()))
		return;
	pause_ms = pause_ms ? 2 * pause_ms : 60;
	pause_ms = pause_ms < 1000 ? pause_ms : 1000;
	due_ms = now_ms + pause_ms;
	ktr__code_look();
	__atomic_store_n(&profile_strange, 0, __ATOMIC_RELAXED);
}

static void profile_round(void)
{
	ktr__source_round(false);
	/* What is loaded while other code is strange would be looked for a second later. */
	if (ktr__source_is_strange()) {
		ktr__maps_look();
		profile_look_strange();
	}
	__atomic_store_n(&ktr__agent_often_ms, ktr__source_pause_ms(), __ATOMIC_RELAXED);
}

static bool profile_is_asked_at_start(void)
{
	return *ktr__probes_list() != '\0';
}

/* Which source it is, for who reads the session, and for who has asked for it on our command line. */
static void profile_say(uint64_t used, const struct ktr_error *why_not)
{
	if (why_not && why_not->code == EALREADY)
		return; /* another process of the session has said it */
	if (__atomic_exchange_n(profile_used, used, __ATOMIC_RELAXED) == used || !profile_is_asked_at_start())
		return;
	if (used == PROFILE_BY_PERF)
		ktr__complain("samples are the kernel's, by perf events: no signal is sent to the program");
	else
		ktr__complain("samples by timers of threads%s%s%s: system calls that the program does not expect to be "
			      "interrupted may be, see ktr-profile(1)",
			      why_not ? ", for perf events cannot be had (" : "", why_not ? why_not->text : "",
			      why_not ? ")" : "");
}

/* Some have timers, beside others that have perf events: once. */
static void profile_say_both(void)
{
	int code = ktr__source_first_refused();

	if (!code || __atomic_exchange_n(profile_used, PROFILE_BY_ANY, __ATOMIC_RELAXED) == PROFILE_BY_ANY ||
	    !profile_is_asked_at_start())
		return;
	ktr__complain("some threads can have no perf event (%s), and have timers: system calls of theirs may be interrupted, "
		      "see ktr-profile(1)", strerror(-code));
}

/* Samples by perf events, where somebody wants them. 0, 1: by timers; or -errno, where those are not wanted. */
static int profile_enable_source(struct ktr_provider_probe *probe, uint64_t period_ns, struct ktr_error *why)
{
	uint64_t asked = __atomic_load_n(profile_asked, __ATOMIC_RELAXED);
	const struct ktr__source_ask ask = { .probe = probe,
					     .period_ns = period_ns,
					     .n_filters = __atomic_load_n(profile_filters, __ATOMIC_RELAXED),
					     .otherwise = profile_otherwise };
	struct ktr_error why_not = KTR_ERROR_NONE;

	if (asked == PROFILE_BY_TIMERS) {
		profile_say(PROFILE_BY_TIMERS, NULL);
		return 1;
	}
	if (ktr__source_start(&ask, &why_not) == 0) {
		profile_say(PROFILE_BY_PERF, NULL);
		return 0;
	}
	if (asked == PROFILE_BY_PERF)
		return ktr_error_set(why, why_not.code, "%s", why_not.text);
	profile_say(PROFILE_BY_TIMERS, &why_not);
	return 1;
}

/* Timers of all threads. 0 or -errno. */
static int profile_enable_timers(struct ktr_error *why)
{
	int code = ktr__profile_scan(false, ktr__small_has);

	/* Threads that some library makes past us. */
	if (!code && !ktr__create_is_called())
		__atomic_store_n(&ktr__agent_often, profile_scan, __ATOMIC_RELEASE);
	return code ? ktr_error_set(why, -code, "no timers can be had: %s", strerror(-code)) : 0;
}

static int profile_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	uint64_t period_ns = profile_period(probe->name, strlen(probe->name));
	struct timespec tick = { 0, 4000000 };
	int code;

	if (profile_period_ns)
		return ktr_error_set(why, EBUSY, "%s is on, and there is one rate at a time",
				     profile_probe->name);
	if (ktr__own_session()->sealed)
		return ktr_error_set(why, EPERM, "it is in a sandbox");
	/* Also where the kernel takes samples: for threads of which it cannot. */
	code = profile_take_signal(why);
	if (code)
		return code;
	ktr__maps_look();
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	profile_late_ns = 3 * (uint64_t)tick.tv_nsec + 2 * period_ns;
	__atomic_store_n(&profile_probe, probe, __ATOMIC_RELEASE);
	__atomic_store_n(&profile_period_ns, period_ns, __ATOMIC_RELEASE);
	code = ktr__profile_start(profile_signal, period_ns);
	__atomic_store_n(&ktr__create_begins, profile_thread_begins, __ATOMIC_RELEASE);
	ktr__create_lead();
	code = code ? code : profile_enable_source(probe, period_ns, why);
	if (code > 0)
		code = profile_enable_timers(why);
	else if (!code)
		__atomic_store_n(&ktr__agent_often, profile_round, __ATOMIC_RELEASE);
	ktr__rows_wake(); /* the thread looks at that */
	if (!code)
		return 0;
	ktr__create_restore();
	__atomic_store_n(&ktr__create_begins, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&profile_period_ns, 0, __ATOMIC_RELEASE);
	ktr__profile_stop();
	return why->text[0] ? code : ktr_error_set(why, -code, "no timers can be had: %s", strerror(-code));
}

static void profile_disable(struct ktr_provider_probe *probe)
{
	if (probe != profile_probe)
		return;
	__atomic_store_n(&ktr__agent_often, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__agent_often_ms, KTR__AGENT_OFTEN_MS, __ATOMIC_RELAXED);
	ktr__create_restore();
	__atomic_store_n(&ktr__create_begins, NULL, __ATOMIC_RELEASE);
	if (ktr__source_is_on())
		ktr__source_stop();
	ktr__profile_stop();
	__atomic_store_n(&profile_period_ns, 0, __ATOMIC_RELEASE);
	__atomic_store_n(profile_used, PROFILE_BY_NONE, __ATOMIC_RELAXED);
}

static int profile_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	static const struct ktr_provider_arg arguments[] = { { "ticks", "uint32_t", KTR_ARG_U32 },
							     { "ns", "int64_t", KTR_ARG_I64 },
							     { "how", "const char *", KTR_ARG_STR },
							     { "stack", "stack", KTR_ARG_STACK } };

	(void)probe;
	if (number >= sizeof(arguments) / sizeof(arguments[0]))
		return -ENOENT;
	*arg = arguments[number];
	return 0;
}

/* Once a second, and when a stack went through something new. */
static void profile_look(struct ktr_provider *provider)
{
	(void)provider;
	if (!profile_period_ns)
		return;
	ktr__create_look();
	ktr__maps_look();
	profile_look_strange();
	if (!ktr__timer_signal_is_ours(profile_signal, profile_handler)) {
		/* The program has taken the signal: its handler gets no more of ours. */
		uint64_t period_ns = profile_period_ns;

		ktr__profile_stop();
		if (profile_take_signal(NULL))
			return;
		ktr__profile_start(profile_signal, period_ns);
		if (!ktr__source_is_on())
			ktr__profile_scan(false, ktr__small_has);
	}
	ktr__profile_reap();
	profile_scan();
	if (ktr__source_is_on())
		profile_say_both();
}

static const struct ktr_provider_ops profile_ops = {
	.size = sizeof(profile_ops),
	.provide = profile_provide,
	.enable = profile_enable,
	.disable = profile_disable,
	.arg_desc = profile_argument,
	.look = profile_look,
};

/* ---- life ---- */

/* Only the thread that forked is here, without a timer. */
static void profile_after_fork_child(void)
{
	if (profile_period_ns)
		ktr__profile_arm(NULL);
}

static void profile_forget(void)
{
	ktr__maps_forked();
	ktr__tail_forked();
	/* Its parent feeds the session, and has the kernel's samples; the child has timers. */
	if (ktr__source_forked())
		__atomic_store_n(&ktr__agent_often, NULL, __ATOMIC_RELEASE);
	ktr__profile_forked();
}

/*
 * Handlers run in this order: what was the parent's is forgotten before the child's own thread looks for threads.
 */
__attribute__((constructor(103))) static void profile_note_forks(void)
{
	pthread_atfork(NULL, NULL, profile_forget);
}

static void profile_knobs(void)
{
	static const struct ktr_knob asked = { .name = "debug.ktr.profile.source",
					       .type = KTR_KNOB_UINT,
					       .access = KTR_KNOB_RWTUN,
					       .help = "where samples come from: 1 perf events, 2 timers of threads, 0, 3 "
						       "perf events where they can be had, else timers",
					       .initial = "0",
					       .environment = "KTR_PROFILE_SOURCE",
					       .max = PROFILE_BY_ANY },
				     used = { .name = "debug.ktr.profile.used",
					      .type = KTR_KNOB_UINT,
					      .access = KTR_KNOB_RD,
					      .help = "where they come from: 1 perf events, 2 timers of threads, 3 timers where "
						      "threads can have no event, 0 none are asked for",
					      .initial = "0",
					      .max = PROFILE_BY_ANY },
				     filters = { .name = "debug.ktr.profile.filters",
						 .type = KTR_KNOB_UINT,
						 .access = KTR_KNOB_RWTUN,
						 .help = "how many filters of system calls, seccomp(2), are known not to end "
							 "the process for perf_event_open(2)",
						 .initial = "0",
						 .environment = "KTR_PROFILE_FILTERS",
						 .max = UINT32_MAX };
	uint64_t *word;

	if (ktr_knob_add(&asked, &word, NULL) == 0)
		profile_asked = word;
	if (ktr_knob_add(&used, &word, NULL) == 0)
		profile_used = word;
	if (ktr_knob_add(&filters, &word, NULL) == 0)
		profile_filters = word;
}

static void profile_begin(void)
{
	struct ktr_provider *provider;

	ktr__create_begin();
	profile_has_key = pthread_key_create(&profile_key, profile_thread_ends) == 0 && profile_key < 32;
	pthread_atfork(NULL, NULL, profile_after_fork_child);
	profile_knobs();
	ktr_provider_register("profile", &profile_ops, NULL, &provider);
}

void ktr__profile_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, profile_begin);
}

/* What was due to the thread that ends the process. */
__attribute__((destructor)) static void profile_end(void)
{
	const struct timespec nap = { 0, 1000000 };
	bool locked = false;

	if (!profile_period_ns)
		return;
	profile_tell_missing(ktr__profile_missing());
	if (!ktr__source_is_on())
		return;
	/* A handler of a signal may have interrupted who has it. */
	for (unsigned i = 0; i < PROFILE_NAPS && !(locked = ktr__registry_trylock()); i++)
		nanosleep(&nap, NULL);
	if (!locked)
		return;
	ktr__source_round(true);
	ktr__registry_unlock();
}
