/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host whose probes' handlers do what handlers do: they block for ever, fork, load libraries, end their thread or
 * the process, leave by longjmp(3); and which has RCU sections of its own. Who may not wait for them does its work
 * meanwhile; nothing here rests on time, and whoever waits where he should not does so until timeout(1) comes.
 *
 *	handlers CASE PLUGIN	exit status 0, or what the case says; 3: it went wrong, and stderr says how
 */
#include <ktr/probe.h>

#include <urcu-bp.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 50

extern void (*handlers_closing)(void);
void (*handlers_closing)(void);

static const char *plugin;
static struct ktr_probe *a, *b;
static uint32_t inside, leave, closing, removed, n_calls, n_outer; /* atomic */
static sigjmp_buf jump;

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

static void until(const uint32_t *word)
{
	while (!get(word))
		sched_yield();
}

#define check(what)                                                                              \
	do {                                                                                     \
		if (!(what)) {                                                                   \
			fprintf(stderr, "handlers: line %d: not %s\n", __LINE__, #what);         \
			_exit(3);                                                                \
		}                                                                                \
	} while (0)

#define HANDLER(name)                                                                            \
	static void name(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, \
			 uint64_t a5)
#define HANDLER_UNUSED (void)probe, (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5

static struct ktr_probe *made(const char *name, ktr_probe_fn *handler)
{
	struct ktr_probe *probe;

	check(ktr_probe_register(KTR_PROBE_CUSTOM, name, __func__, handler, &probe) == 0);
	check(ktr_probe_enable(probe) == 0);
	return probe;
}

static pthread_t run(void *(*what)(void *context), void *context)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, what, context) == 0);
	return thread;
}

static void *fire(void *probe)
{
	KTR_PROBE0(probe);
	return NULL;
}

static void *take_away(void *probe)
{
	check(ktr_probe_remove(probe) == 0);
	set(&removed);
	return NULL;
}

HANDLER(blocks)
{
	HANDLER_UNUSED;
	set(&inside);
	until(&leave);
}

/* A probe, in whose handler a thread is that does not come back before `leave`. */
static struct ktr_probe *blocked(const char *name, pthread_t *thread)
{
	struct ktr_probe *probe = made(name, blocks);

	*thread = run(fire, probe);
	until(&inside);
	return probe;
}

/* Whoever removes it has begun to. */
static void until_removing(const struct ktr_probe *probe)
{
	while (__atomic_load_n(&probe->id, __ATOMIC_SEQ_CST) || __atomic_load_n(&probe->handler, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void open_and_close(void)
{
	void *module = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	void (*in_plugin)(void);

	check(module);
	*(void **)(void *)&in_plugin = dlsym(module, "plugin_fire");
	check(in_plugin);
	in_plugin();
	check(dlclose(module) == 0);
}

/* ---- a handler blocks ---- */

static int case_block_exit(void)
{
	pthread_t thread;

	blocked("a", &thread);
	return 0;
}

static int case_block_dlclose(void)
{
	pthread_t thread;

	blocked("a", &thread);
	open_and_close();
	_exit(0);
}

static int case_block_remove(void)
{
	pthread_t thread, remover;

	a = blocked("a", &thread);
	b = made("b", blocks);
	remover = run(take_away, a);
	until_removing(a);
	check(ktr_probe_handler(b, blocks, &a) == 0);
	check(b->context == &a);
	check(ktr_probe_remove(b) == 0);
	check(ktr_probe_remove(a) == -ENOENT);
	/* Its name is taken until the handler has ended: a new one would meet the old one's context. */
	check(ktr_probe_register(KTR_PROBE_CUSTOM, "a", "", blocks, NULL) == -EEXIST);
	check(!get(&removed));
	set(&leave);
	pthread_join(remover, NULL);
	check(get(&removed));
	pthread_join(thread, NULL);
	check(ktr_probe_register(KTR_PROBE_CUSTOM, "a", "", blocks, NULL) == 0);
	return 0;
}

/* The host's own grace periods. */
static int case_block_synchronize(void)
{
	pthread_t thread;

	blocked("a", &thread);
	synchronize_rcu();
	_exit(0);
}

static int waited(pid_t child)
{
	int status;

	check(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

/* fork() while somebody waits for a handler. */
static int case_block_fork(void)
{
	pthread_t thread, remover;

	a = blocked("a", &thread);
	remover = run(take_away, a);
	until_removing(a);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (!child) {
			b = made("b", blocks);
			check(ktr_probe_remove(b) == 0);
			/* Neither he who was in it nor he who waited is here. */
			a = made("a", NULL);
			check(ktr_probe_remove(a) == 0);
			exit(0);
		}
		check(waited(child) == 0);
	}
	set(&leave);
	pthread_join(remover, NULL);
	pthread_join(thread, NULL);
	return 0;
}

/* ---- a handler forks ---- */

static struct ktr_probe *awaited; /* the probe that somebody is removing meanwhile */

static void child_of_handler(void)
{
	check(ktr_probe_remove(a) == -EDEADLK);
	KTR_PROBE0(a);
	check(ktr_probe_register(KTR_PROBE_CUSTOM, "child's", "", blocks, &b) == 0);
	check(ktr_probe_enable(b) == 0);
	set(&leave);
	KTR_PROBE0(b);
	check(get(&inside) > 0);
}

HANDLER(forks)
{
	HANDLER_UNUSED;
	check(!get(&n_calls));
	set(&n_calls);
	set(&closing);
	until_removing(awaited);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (!child) {
			child_of_handler();
			__atomic_store_n(&n_outer, 1, __ATOMIC_SEQ_CST);
			return; /* to the host, which ends the child as it ends itself */
		}
		check(waited(child) == 0);
	}
}

static void *fire_forks(void *probe)
{
	KTR_PROBE0(probe);
	if (get(&n_outer)) {
		/* In the child it is in no handler any more, and nobody in that of its own. */
		check(ktr_probe_remove(b) == 0);
		check(ktr_probe_remove(a) == (awaited == a ? -ENOENT : 0));
		exit(0);
	}
	return NULL;
}

static int case_fork_same(void)
{
	pthread_t thread, remover;

	awaited = a = made("a", forks);
	thread = run(fire_forks, a);
	until(&closing);
	remover = run(take_away, a);
	pthread_join(thread, NULL);
	pthread_join(remover, NULL);
	return 0;
}

static int case_fork_other(void)
{
	pthread_t blocking, thread, remover;

	awaited = blocked("b", &blocking);
	a = made("a", forks);
	thread = run(fire_forks, a);
	until(&closing);
	remover = run(take_away, awaited);
	pthread_join(thread, NULL);
	check(ktr_probe_remove(a) == 0);
	set(&leave);
	pthread_join(remover, NULL);
	pthread_join(blocking, NULL);
	return 0;
}

/* ---- a handler loads a library while another thread closes one ---- */

HANDLER(loads)
{
	void *module;

	HANDLER_UNUSED;
	set(&inside);
	until(&closing);
	module = dlopen("libz.so.1", RTLD_NOW);
	if (module)
		dlclose(module);
}

static void begins_to_close(void)
{
	set(&closing);
}

static int case_dlopen(void)
{
	pthread_t thread;

	a = made("a", loads);
	handlers_closing = begins_to_close;
	thread = run(fire, a);
	until(&inside);
	open_and_close();
	pthread_join(thread, NULL);
	check(ktr_probe_remove(a) == 0);
	return 0;
}

/* ---- a handler ends its thread or the process ---- */

HANDLER(exits)
{
	HANDLER_UNUSED;
	exit(7);
}

static int case_exit(void)
{
	KTR_PROBE0(made("exits", exits));
	return 3;
}

static int case_exit_thread(void)
{
	pthread_join(run(fire, made("exits", exits)), NULL);
	return 3;
}

/* exit() by the one while another is in a handler that blocks, and a third one waits for that. */
static int case_exit_removing(void)
{
	pthread_t thread;

	a = blocked("a", &thread);
	run(take_away, a);
	until_removing(a);
	return case_exit();
}

HANDLER(ends_thread)
{
	HANDLER_UNUSED;
	pthread_exit(NULL);
}

HANDLER(is_cancelled)
{
	HANDLER_UNUSED;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static int case_pthread_exit(void)
{
	a = made("a", ends_thread);
	b = made("b", is_cancelled);
	pthread_join(run(fire, a), NULL);
	pthread_join(run(fire, b), NULL);
	check(ktr_probe_remove(a) == 0 && ktr_probe_remove(b) == 0);
	return 0;
}

HANDLER(ends_raw)
{
	HANDLER_UNUSED;
	__atomic_store_n(&inside, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
	syscall(SYS_exit, 0);
}

static int case_raw_exit(void)
{
	a = made("a", ends_raw);
	run(fire, a);
	until(&inside);
	while (syscall(SYS_tgkill, getpid(), (pid_t)get(&inside), 0) == 0)
		sched_yield();
	check(ktr_probe_remove(a) == 0);
	return 0;
}

/* ---- a handler is left ---- */

HANDLER(jumps)
{
	HANDLER_UNUSED;
	set(&n_calls);
	siglongjmp(jump, 1);
}

/* The next call by the same statement is one, and who has jumped out may remove. */
static int case_longjmp(void)
{
	volatile uint32_t n = 0;

	a = made("a", jumps);
	sigsetjmp(jump, 1);
	if (n++ < 3) {
		KTR_PROBE0(a);
		check(!"reached");
	}
	check(get(&n_calls) == 3);
	check(ktr_probe_remove(a) == 0);
	return 0;
}

HANDLER(returns)
{
	HANDLER_UNUSED;
	set(&n_calls);
}

/* One level further down than what it calls first. */
static __attribute__((noinline)) void fire_deep(struct ktr_probe *probe)
{
	char room[256];

	__asm__ volatile("" : : "r"(room) : "memory");
	KTR_PROBE0(probe);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void *jump_and_block(void *context)
{
	if (!sigsetjmp(jump, 1))
		fire_deep(a);
	/* From further up: what was left is over. */
	KTR_PROBE0(b);
	set(&inside);
	until(&leave);
	return context;
}

/* Another thread removes it while the one that has jumped lives on. */
static int case_longjmp_other(void)
{
	pthread_t thread;

	a = made("a", jumps);
	b = made("b", returns);
	thread = run(jump_and_block, NULL);
	until(&inside);
	check(get(&n_calls) == 2);
	check(ktr_probe_remove(a) == 0 && ktr_probe_remove(b) == 0);
	set(&leave);
	pthread_join(thread, NULL);
	return 0;
}

/* Out of an inner handler into an outer one: when that returns both are over. */
HANDLER(jumps_within)
{
	HANDLER_UNUSED;
	if (!sigsetjmp(jump, 1))
		fire_deep(b);
	set(&n_outer);
	check(ktr_probe_remove(probe) == -EDEADLK);
}

static void *fire_and_block(void *probe)
{
	KTR_PROBE0(probe);
	set(&inside);
	until(&leave);
	return NULL;
}

static int case_longjmp_within(void)
{
	pthread_t thread;

	a = made("a", jumps_within);
	b = made("b", jumps);
	thread = run(fire_and_block, a);
	until(&inside);
	check(get(&n_calls) == 1 && get(&n_outer) == 1);
	check(ktr_probe_remove(b) == 0 && ktr_probe_remove(a) == 0);
	set(&leave);
	pthread_join(thread, NULL);
	return 0;
}

/*
 * A signal's stack that lies above the thread's: a handler that runs below is not over because a call comes from
 * there, and one that was left there is, though its frame lies higher.
 */
static void on_signal(int number)
{
	(void)number;
	KTR_PROBE0(b);
}

HANDLER(raises)
{
	HANDLER_UNUSED;
	set(&n_outer);
	if (!sigsetjmp(jump, 1))
		raise(SIGUSR1);
	KTR_PROBE0(a); /* is in it still, and is not called by itself */
	check(get(&n_outer) == 1);
	check(ktr_probe_remove(a) == -EDEADLK);
}

static void *fire_with_stack(void *top)
{
	stack_t stack = { .ss_sp = top, .ss_size = 1 << 18 };

	check(sigaltstack(&stack, NULL) == 0);
	KTR_PROBE0(a);
	/* That of b was left on the signal's stack; this one is not on it. */
	if (!sigsetjmp(jump, 1))
		raise(SIGUSR1);
	if (!sigsetjmp(jump, 1))
		KTR_PROBE0(b);
	set(&inside);
	until(&leave);
	return NULL;
}

static int signal_stack(ktr_probe_fn *inner, uint32_t calls)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	size_t n = 1 << 18;
	char *stacks = mmap(NULL, 2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	check(stacks != MAP_FAILED && sigaction(SIGUSR1, &action, NULL) == 0);
	a = made("a", raises);
	b = made("b", inner);
	pthread_attr_init(&attributes);
	check(pthread_attr_setstack(&attributes, stacks, n) == 0);
	check(pthread_create(&thread, &attributes, fire_with_stack, stacks + n) == 0);
	until(&inside);
	check(get(&n_calls) == calls && get(&n_outer) == 1);
	if (inner == returns)
		check(ktr_probe_remove(b) == 0);
	check(ktr_probe_remove(a) == 0);
	set(&leave);
	pthread_join(thread, NULL);
	if (inner != returns)
		check(ktr_probe_remove(b) == 0);
	return 0;
}

static int case_signal_stack(void)
{
	return signal_stack(returns, 3);
}

static int case_signal_stack_left(void)
{
	return signal_stack(jumps, 3);
}

/* ---- the host has RCU sections of its own ---- */

static void *read_for_ever(void *context)
{
	rcu_read_lock();
	set(&inside);
	until(&leave);
	set(&n_outer);
	rcu_read_unlock();
	return context;
}

static int case_reader_dlclose(void)
{
	pthread_t thread = run(read_for_ever, NULL);

	until(&inside);
	open_and_close();
	check(!get(&n_outer)); /* it is in its section still */
	set(&leave);
	pthread_join(thread, NULL);
	return 0;
}

static int case_reader_remove(void)
{
	pthread_t thread = run(read_for_ever, NULL);

	until(&inside);
	a = made("a", returns);
	KTR_PROBE0(a);
	check(ktr_probe_handler(a, returns, &a) == 0 && ktr_probe_remove(a) == 0);
	check(!get(&n_outer));
	set(&leave);
	pthread_join(thread, NULL);
	return 0;
}

static int case_reader_return(void)
{
	run(read_for_ever, NULL);
	until(&inside);
	return 0;
}

/* fork() while the host waits for a reader of its own. */
static void *wait_for_reader(void *context)
{
	synchronize_rcu();
	return context;
}

static int case_reader_fork(void)
{
	pthread_t thread = run(read_for_ever, NULL), waiting;

	until(&inside);
	waiting = run(wait_for_reader, NULL);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		check(waited(child) == 0);
	}
	set(&leave);
	pthread_join(waiting, NULL);
	pthread_join(thread, NULL);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
#define CASE(name) { #name, case_##name }
	CASE(block_exit),    CASE(block_dlclose),      CASE(block_remove),  CASE(block_synchronize),
	CASE(block_fork),    CASE(fork_same),	       CASE(fork_other),    CASE(dlopen),
	CASE(exit),	     CASE(exit_thread),	       CASE(exit_removing), CASE(pthread_exit),
	CASE(raw_exit),	     CASE(longjmp),	       CASE(longjmp_other), CASE(longjmp_within),
	CASE(signal_stack),  CASE(signal_stack_left),  CASE(reader_dlclose), CASE(reader_remove),
	CASE(reader_return), CASE(reader_fork),
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		puts(cases[i].name);
	plugin = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			return cases[i].run();
	return argc == 1 ? 0 : 2;
}
