/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handlers of probes: they are called, and whoever takes one away waits until nobody is in it.
 *
 * What a handler does is the program's affair: it may block for ever, fork, load a library, end its thread or the
 * process, or be left by longjmp(3). Nobody but who takes away this handler, from this probe, may wait for it. So
 * there is no grace period of liburcu here. All readers of a flavour, the host's own among them, share one domain:
 * a handler that blocks would hold up each synchronize_rcu() of the host, and a reader of the host that sleeps each
 * removal. One that calls dlopen(3) would wait for the loader's lock, held by a dlclose(3) that waits for it.
 * exit(3) out of a handler would wait for itself, and fork(2) for a lock that is held as long as somebody waits.
 * Besides, each flavour but the bulletproof one wants threads registered, which a handler of a signal cannot do.
 *
 * Instead each thread publishes which probes' handlers it is in: its flights, the innermost last. A call publishes
 * its probe, then loads the handler; whoever takes a handler away stores NULL there, then looks for flights of that
 * probe. Each is a store before a load, all four sequentially consistent, so one sees the other: either the call
 * finds no handler, or its flight is waited for. That costs the call one locked instruction, and asks nothing of
 * the kernel, as membarrier(2) would, which filters of system calls may forbid.
 *
 * A thread's flights are a stack, as its calls are, also where a signal comes in between. What has been left by
 * longjmp(3) is found when the thread calls the next handler, by a frame that is not below that of the flight: then
 * that frame is no more. So it is when an outer handler returns. A thread that ends in a handler takes its flights
 * along (the key's destructor; the kernel is asked where a thread has none, after a while); the child of a fork has
 * those of the thread that has forked.
 *
 * liburcu's part is the publication of what is read without a lock: handlers, by who has the probes, and threads.
 * No lock is taken here, and what calls handlers may run in handlers of signals.
 */
#include "ktr/provider/handler/handler.h"

#include "ktr/provider/handler/rcu.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HANDLER_DEPTH	   64 /* handlers that one thread is in at once; deeper ones are not called */
#define HANDLER_KEY_INLINE 32 /* keys beyond are set by an allocation (thread.c): not in handlers of signals */
#define HANDLER_NEAR	   65536u   /* [bytes] so far below a flight a frame is on its stack; nothing is asked */
#define HANDLER_PAUSE_NS   20000u   /* between looks: at first, */
#define HANDLER_PAUSES_NS  2000000u /* and at most */

/* Written by its thread alone. */
struct handler_flight {
	const void *probe; /* NULL: none. Read by those who wait (seq_cst) */
	uintptr_t frame;   /* of the call */
};

struct handler_thread {
	struct handler_thread *next; /* of all, never removed */
	uint32_t used;		     /* 1: a thread has it */
	uint32_t n;		     /* flights, but for those of handlers of signals that came in between */
	pid_t tid;
	struct handler_flight flight[HANDLER_DEPTH];
};

static struct handler_thread *handler_threads; /* by liburcu's publication */
static __thread struct handler_thread *handler_self;
static pthread_key_t handler_key;
static bool handler_key_usable;

/* Flights from the nth on are over. Who waits for one sees what its handler did. */
static void handler_drop(struct handler_thread *self, uint32_t n)
{
	for (uint32_t i = self->n; i-- > n;)
		__atomic_store_n(&self->flight[i].probe, NULL, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->n = n;
}

static void handler_thread_end(void *value)
{
	struct handler_thread *self = value;

	handler_self = NULL;
	handler_drop(self, 0);
	__atomic_store_n(&self->used, 0, __ATOMIC_RELEASE);
}

/* Did it end where no destructor saw it: by the raw system call, or in the parent of a raw fork? */
static bool handler_thread_gone(pid_t tid)
{
	int saved = errno;
	bool gone = syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;

	errno = saved;
	return gone;
}

/* Takes over the struct of a thread that has ended; also where that has not been seen. */
static bool handler_take(struct handler_thread *thread, pid_t tid)
{
	uint32_t none = 0;
	pid_t old;

	if (__atomic_compare_exchange_n(&thread->used, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return true;
	old = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);
	if (old != tid && (handler_key_usable || !old || !handler_thread_gone(old)))
		return false;
	if (!__atomic_compare_exchange_n(&thread->tid, &old, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	handler_drop(thread, 0);
	return true;
}

/* A struct that a thread that has ended left, or a new one; NULL: no memory, or a sandbox. */
static __attribute__((noinline, cold)) struct handler_thread *handler_thread_new(void)
{
	struct handler_thread *self = rcu_dereference(handler_threads);
	pid_t tid;

	if (ktr__own_session()->sealed)
		return NULL;
	tid = gettid();
	while (self && !handler_take(self, tid))
		self = self->next;
	if (!self) {
		self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (self == MAP_FAILED)
			return NULL;
		self->used = 1;
		self->next = __atomic_load_n(&handler_threads, __ATOMIC_RELAXED);
		/* As rcu_cmpxchg_pointer(), but in a way that thread sanitizers see. */
		while (!__atomic_compare_exchange_n(&handler_threads, &self->next, self, 0, __ATOMIC_RELEASE,
						    __ATOMIC_RELAXED))
			;
	}
	__atomic_store_n(&self->tid, tid, __ATOMIC_RELAXED);
	handler_self = self;
	if (handler_key_usable)
		pthread_setspecific(handler_key, self);
	return self;
}

/*
 * Is a flight over, seen from a frame of its thread? A live one's frame is above it. On a signal's stack of its own
 * that says nothing about frames that are not; and when we are on none, nobody is there.
 */
static bool handler_over(uintptr_t flight, uintptr_t frame, const stack_t *stack)
{
	bool flight_on = flight - (uintptr_t)stack->ss_sp < stack->ss_size;
	bool frame_on = frame - (uintptr_t)stack->ss_sp < stack->ss_size;

	return flight_on == frame_on ? flight <= frame : flight_on;
}

/* Drops the flights that have been left by longjmp(3), as far as can be told from this frame. */
static __attribute__((noinline, cold)) void handler_unwind(struct handler_thread *self, uintptr_t frame)
{
	stack_t stack = { .ss_size = 0 };
	int saved = errno;
	uint32_t n = self->n;

	/* A handler that fires, as most are that one comes from: a flight taken for live is at worst waited for. */
	if (self->flight[n - 1].frame - frame - 1 < HANDLER_NEAR)
		return;
	/* Where a filter of system calls forbids to ask, nothing is dropped. */
	if (!sigaltstack(NULL, &stack)) {
		if (stack.ss_flags & SS_DISABLE)
			stack.ss_size = 0;
		while (n && handler_over(self->flight[n - 1].frame, frame, &stack))
			n--;
		if (n < self->n)
			handler_drop(self, n);
	}
	errno = saved;
}

bool ktr__handler_inside(const void *frame)
{
	if (handler_self && handler_self->n)
		handler_unwind(handler_self, (uintptr_t)frame);
	return handler_self && handler_self->n;
}

/* May it be called, here and now? Not by itself, and not where it could not be waited for. */
static bool handler_may(const struct handler_thread *self, const void *probe)
{
	for (uint32_t i = self->n; i-- > 0;)
		if (__atomic_load_n(&self->flight[i].probe, __ATOMIC_RELAXED) == probe)
			return false;
	return self->n < HANDLER_DEPTH;
}

__attribute__((noinline)) void ktr__handler_call(void *probe, ktr__handler_run *run, const uint64_t *arg)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), before;
	struct handler_thread *self = handler_self;
	struct handler_flight *flight;
	int saved = errno;
	uint32_t n;

	if (!self && !(self = handler_thread_new()))
		return;
	if (self->n)
		handler_unwind(self, frame);
	if (!handler_may(self, probe))
		return;
	/* A handler of a signal that takes this flight before it is counted leaves it as it was. */
	n = self->n;
	flight = &self->flight[n];
	before = flight->frame;
	flight->frame = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->n = n + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&flight->probe, probe, __ATOMIC_SEQ_CST);
	run(probe, arg);
	handler_drop(self, n);
	flight->frame = before;
	errno = saved;
}

/* ---- taking handlers away ---- */

void ktr__handler_pause(uint32_t *ns)
{
	struct timespec time = { 0, *ns ? *ns : HANDLER_PAUSE_NS };
	int saved = errno;

	/* Not the C library's, which is where a thread may be cancelled. */
	syscall(SYS_nanosleep, &time, NULL);
	errno = saved;
	*ns = time.tv_nsec < HANDLER_PAUSES_NS ? 2 * (uint32_t)time.tv_nsec : HANDLER_PAUSES_NS;
}

void ktr__handler_wait(const void *probe)
{
	for (struct handler_thread *t = rcu_dereference(handler_threads); t; t = t->next)
		for (uint32_t i = 0; i < HANDLER_DEPTH; i++) {
			uint32_t ns = 0;

			while (__atomic_load_n(&t->flight[i].probe, __ATOMIC_SEQ_CST) == probe) {
				pid_t tid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);

				if (ns == HANDLER_PAUSES_NS && handler_thread_gone(tid))
					break;
				ktr__handler_pause(&ns);
			}
		}
}

/* The one thread that is left goes on where it was. */
void ktr__handlers_forked(void)
{
	for (struct handler_thread *t = rcu_dereference(handler_threads); t; t = t->next) {
		if (t == handler_self) {
			if (!ktr__own_session()->sealed)
				t->tid = gettid();
		} else if (t->used) {
			handler_drop(t, 0);
			t->used = 0;
		}
	}
}

__attribute__((constructor(101))) static void handler_start(void)
{
	handler_key_usable = pthread_key_create(&handler_key, handler_thread_end) == 0 &&
			     handler_key < HANDLER_KEY_INLINE;
}
