/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each use that the framework of ktr/dtrace.h is documented with, in its own names: what is registered, fired,
 * read and counted is right. And what is asked for wrongly. Exit status 1 with a line for each that is not.
 *
 *	mach_uses uses		every macro and call
 *	mach_uses bad		what is asked for wrongly, and handlers that are in the way
 *	mach_uses files		at the process's limit of descriptors
 *	mach_uses fork		a child has the probes, and counts for itself
 *	mach_uses kernel	dtrace_init(): thread switches and page faults, beside what getrusage(2) counts
 *	mach_uses race SECONDS	points and names fired by two threads while the probe is made, switched and removed
 *	mach_uses ends		main returns while threads fire
 *	mach_uses plugin FILE	loads a library with a point, unloads it and loads it again
 *	mach_uses ids N		N probes, walked through by their ids, half of them removed, and registered again
 *	mach_uses serve		does what the lines of standard input say: fire N, read, wait
 */
#include <ktr/ctl.h>
#include <ktr/dtrace.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int wrong;

#define CHECK(what)                                                                              \
	do {                                                                                     \
		if (!(what)) {                                                                   \
			printf("line %d: not so: %s\n", __LINE__, #what);                        \
			wrong = 1;                                                               \
		}                                                                                \
	} while (0)

static unsigned n_calls;
static uint64_t seen[6];
static char seen_name[64];

static void handler(dtrace_probe_t *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
		    uint64_t arg4,
		    uint64_t arg5)
{
	const uint64_t args[6] = { arg0, arg1, arg2, arg3, arg4, arg5 };

	n_calls++;
	memcpy(seen, args, sizeof(seen));
	snprintf(seen_name, sizeof(seen_name), "%s", probe->name);
	CHECK(probe->enabled && probe->fire_count == n_calls && probe->type == DTRACE_PROBE_CUSTOM);
}

static void function(int arg)
{
	DTRACE_FUNCTION_ENTRY("function");
	(void)arg;
	DTRACE_FUNCTION_EXIT("function");
}

static kern_return_t call(int arg)
{
	kern_return_t result;

	DTRACE_SYSCALL_ENTRY("call", arg);
	result = arg + 1;
	DTRACE_SYSCALL_EXIT("call", result);
	return result;
}

static void fire_all(void)
{
	function(1);
	call(41);
	DTRACE_IPC_SEND(7u, 1024);
	DTRACE_IPC_RECEIVE(8u, 2048);
	DTRACE_VM_FAULT(0x1000, 2);
	DTRACE_THREAD_SWITCH((void *)0x10, (void *)0x20);
	DTRACE_TIMER_TICK(3);
	DTRACE_CUSTOM("custom", 1, 2, 3, 4, 5, -6);
	DTRACE_CUSTOM("nothing");
}

/* Ids rise with the places; each is told of by both calls. */
static void ids_walk(uint32_t n)
{
	dtrace_probe_t probe, same;
	uint32_t last = 0, i = 0;

	for (; dtrace_get_probe_info(i, &probe); i++) {
		CHECK(probe.id > last && dtrace_probe_get(probe.id, &same) && same.name == probe.name);
		last = probe.id;
	}
	CHECK(i == n && dtrace_get_probe_count() == n && errno == ENOENT);
}

static void ids(unsigned n)
{
	uint32_t *id = calloc(n, sizeof(*id)), *again = calloc(n, sizeof(*again));
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "many_%u", i);
		id[i] = dtrace_probe_register(DTRACE_PROBE_CUSTOM, name, "many", NULL);
		CHECK(id[i] > 3);
	}
	ids_walk(n);
	for (unsigned i = 0; i < n; i += 2)
		CHECK(dtrace_probe_remove(id[i]) && !dtrace_probe_remove(id[i]));
	ids_walk(n / 2);
	/* The framework's own come late, and have the ids that are kept for them. */
	again[0] = dtrace_probe_register(DTRACE_PROBE_IPC_SEND, "ipc_send", "many", NULL);
	CHECK(again[0] == 2);
	again[1] = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "many_0", "many", NULL);
	CHECK(again[1] > id[n - 1]);
	ids_walk(n / 2 + 2);
	dtrace_shutdown();
	CHECK(dtrace_get_probe_count() == 0);
	free(id);
	free(again);
}

static const struct {
	dtrace_probe_type_t type;
	const char *name;
	unsigned long long args[6];
} wanted[] = {
	{ DTRACE_PROBE_FUNCTION_ENTRY, "function", { 0 } },
	{ DTRACE_PROBE_FUNCTION_EXIT, "function", { 0 } },
	{ DTRACE_PROBE_SYSCALL_ENTRY, "call", { 41 } },
	{ DTRACE_PROBE_SYSCALL_EXIT, "call", { 42 } },
	{ DTRACE_PROBE_IPC_SEND, "ipc_send", { 7, 1024 } },
	{ DTRACE_PROBE_IPC_RECEIVE, "ipc_receive", { 8, 2048 } },
	{ DTRACE_PROBE_VM_FAULT, "vm_fault", { 0x1000, 2 } },
	{ DTRACE_PROBE_THREAD_SWITCH, "thread_switch", { 0x10, 0x20 } },
	{ DTRACE_PROBE_TIMER_TICK, "timer_tick", { 3 } },
	{ DTRACE_PROBE_CUSTOM, "custom", { 1, 2, 3, 4, 5, -6ull } },
};

#define N_WANTED (sizeof(wanted) / sizeof(wanted[0]))

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000 + (unsigned long long)ts.tv_nsec;
}

static void uses(void)
{
	dtrace_event_t events[100];
	dtrace_metrics_t metrics;
	uint32_t id[N_WANTED], own;
	unsigned long long began, total = 0;
	dtrace_probe_t probe;

	CHECK(dtrace_is_enabled() && dtrace_get_probe_count() == 0);
	fire_all();
	for (unsigned i = 0; i < N_WANTED; i++) {
		id[i] = dtrace_probe_register(wanted[i].type, wanted[i].name, "uses",
					      wanted[i].type == DTRACE_PROBE_CUSTOM ? handler : NULL);
		CHECK(id[i] != 0);
	}
	CHECK(dtrace_get_probe_count() == N_WANTED);
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0 && n_calls == 0);
	/* The kernel's own are not told here. */
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(dtrace_probe_enable(id[i]) == TRUE);
	ktr_set("debug.ktr.kernel", "none", NULL);
	dtrace_buffer_clear();
	began = now_ns() - 1000000; /* the clocks are told apart by less */
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == N_WANTED);
	for (unsigned i = 0; i < N_WANTED; i++) {
		CHECK(events[i].probe_id == id[i] && events[i].thread_id == (uint32_t)gettid());
		CHECK(events[i].task_id == (uint32_t)getpid());
		CHECK(events[i].cpu_id < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		CHECK(events[i].timestamp >= began && events[i].timestamp <= dtrace_gethrtime() + 1000000);
		/* Where functions are called from the test cannot know. */
		CHECK(i < 2 || memcmp(events[i].args, wanted[i].args, sizeof(wanted[i].args)) == 0);
		CHECK(i >= 2 || events[i].args[0] != 0);
		CHECK(!i || events[i].timestamp >= events[i - 1].timestamp);
	}
	CHECK(n_calls == 1 && strcmp(seen_name, "custom") == 0 && seen[0] == 1 && seen[5] == -6ull);

	/* One by one, and all at once. */
	CHECK(dtrace_probe_disable(id[4]) == TRUE);
	dtrace_disable();
	CHECK(!dtrace_is_enabled());
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0);
	dtrace_enable();
	ktr_set("debug.ktr.kernel", "none", NULL);
	dtrace_buffer_clear();
	fire_all();
	CHECK(dtrace_buffer_read(events, 4) == 4 && dtrace_buffer_read(events, 100) == N_WANTED - 5);
	CHECK(dtrace_probe_get(id[9], &probe) && probe.fire_count == 2 && strcmp(probe.name, "custom") == 0);
	CHECK(probe.id == id[9] && probe.type == DTRACE_PROBE_CUSTOM && probe.enabled && probe.handler);
	CHECK(strcmp(probe.function, "uses") == 0 && probe.arg_count == 6);
	CHECK(dtrace_probe_get(id[4], &probe) && !probe.enabled && probe.fire_count == 1 && !probe.handler);

	/* Without a macro. */
	own = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "by name", "uses", NULL);
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "by name", 1, 0, 0, 0, 0, 0);
	CHECK(own && dtrace_probe_enable(own));
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "by name", 5, 6, 7, 8, 9, 10);
	dtrace_probe_fire(DTRACE_PROBE_TIMER_TICK, "by name", 5, 6, 7, 8, 9, 10);
	CHECK(dtrace_buffer_read(events, 100) == 1 && events[0].probe_id == own && events[0].args[5] == 10);

	dtrace_get_metrics(&metrics);
	/* What the kernel has told of the two that it tells of is counted, too. */
	for (uint32_t i = 0; dtrace_get_probe_info(i, &probe); i++) {
		total += probe.fire_count;
		CHECK(probe.type == DTRACE_PROBE_VM_FAULT || probe.type == DTRACE_PROBE_THREAD_SWITCH ||
		      probe.fire_count == (probe.id == own || probe.id == id[4] ? 1 : 2));
	}
	CHECK(metrics.total_probes_fired == total && total >= 2 * N_WANTED && metrics.active_probes == N_WANTED);
	CHECK(metrics.total_events_captured == metrics.total_probes_fired && metrics.events_filtered == 0);
	CHECK(metrics.buffer_overruns == 0 && metrics.probe_overhead_ns > 0);
	ktr_set("debug.ktr.mask", "-mach", NULL);
	DTRACE_TIMER_TICK(4);
	ktr_set("debug.ktr.mask", "+mach", NULL);
	dtrace_get_metrics(&metrics);
	CHECK(metrics.events_filtered == 1 && dtrace_buffer_read(events, 100) == 0);
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(dtrace_probe_remove(id[i]) == TRUE);
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0 && n_calls == 2);
	CHECK(dtrace_get_probe_info(0, &probe) && probe.id == own && !dtrace_get_probe_info(1, &probe));
	dtrace_shutdown();
	CHECK(dtrace_get_probe_count() == 0);
}

/* More events than a buffer of a fixed thousand takes. */
static void many(void)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "many", "many", NULL), n, sum = 0;
	dtrace_event_t events[64];
	dtrace_probe_t probe;

	CHECK(id && dtrace_probe_enable(id));
	for (int i = 0; i < 5000; i++) {
		DTRACE_CUSTOM("many", i);
		/* A thread's ring of a pool may be shorter. */
		while (i % 500 == 499 && (n = dtrace_buffer_read(events, 64)) > 0)
			for (uint32_t k = 0; k < n && !wrong; k++)
				CHECK(events[k].args[0] == sum++);
	}
	CHECK(sum == 5000 && dtrace_probe_get(id, &probe) && probe.fire_count == 5000);
	CHECK(probe.total_time > 5000 && probe.total_time < 5000 * 1000000ull);
	CHECK(dtrace_probe_remove(id) == TRUE);
}

static uint32_t inner_id;
static int inner_removed = -1, blocked;
static pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

static void inner(dtrace_probe_t *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		  uint64_t a5)
{
	(void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	errno = 0;
	inner_removed = dtrace_probe_remove(probe->id);
	CHECK(errno == EDEADLK);
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "inner", 1, 0, 0, 0, 0, 0);
	errno = EDOM;
}

static void blocks(dtrace_probe_t *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		   uint64_t a5)
{
	(void)probe, (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	__atomic_store_n(&blocked, 1, __ATOMIC_RELEASE);
	pthread_mutex_lock(&block);
	pthread_mutex_unlock(&block);
	__atomic_store_n(&blocked, 2, __ATOMIC_RELEASE);
}

static void *block_fire(void *context)
{
	DTRACE_CUSTOM("blocks");
	return context;
}

static void *block_remove(void *context)
{
	CHECK(dtrace_probe_remove(*(uint32_t *)context) == TRUE);
	CHECK(__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) == 2);
	return NULL;
}

/* Whoever removes a probe waits for its handler, and nobody else does. */
static void bad_block(void)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "blocks", NULL, blocks);
	pthread_t fires, removes;

	CHECK(id && dtrace_probe_enable(id));
	pthread_mutex_lock(&block);
	pthread_create(&fires, NULL, block_fire, NULL);
	while (__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	pthread_create(&removes, NULL, block_remove, &id);
	CHECK(dtrace_probe_disable(inner_id) && dtrace_probe_enable(inner_id));
	pthread_mutex_unlock(&block);
	pthread_join(fires, NULL);
	pthread_join(removes, NULL);
}

static void bad(void)
{
	char name[1100];
	uint32_t id;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	errno = 0;
	CHECK(dtrace_probe_register((dtrace_probe_type_t)0, "x", "f", NULL) == 0 && errno == EINVAL);
	CHECK(dtrace_probe_register((dtrace_probe_type_t)11, "x", "f", NULL) == 0);
	CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, NULL, "f", NULL) == 0);
	CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, "", "f", NULL) == 0);
	CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, name, "f", NULL) == 0 && errno == EINVAL);
	CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, "x", "a:b", NULL) == 0 && errno == EINVAL);
	id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "100 %s%n*[a:b]?", NULL, NULL);
	CHECK(id > 3 && dtrace_probe_register(DTRACE_PROBE_CUSTOM, "100 %s%n*[a:b]?", NULL, NULL) == 0);
	CHECK(errno == EEXIST && dtrace_probe_enable(id));
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "100 %s%n*[a:b]?", 1, 2, 3, 4, 5, 6);
	CHECK(dtrace_probe_remove(id) && !dtrace_probe_remove(id) && errno == ENOENT);
	CHECK(!dtrace_probe_enable(id) && !dtrace_probe_disable(id) && !dtrace_probe_enable(0));
	CHECK(!dtrace_probe_remove(12345) && errno == ENOENT);
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, NULL, 1, 2, 3, 4, 5, 6);
	CHECK(dtrace_buffer_read(NULL, 10) == 0);

	inner_id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "inner", NULL, inner);
	CHECK(inner_id && dtrace_probe_enable(inner_id));
	errno = 0;
	dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "inner", 1, 2, 3, 4, 5, 6);
	CHECK(errno == 0 && inner_removed == FALSE);
	bad_block();
	CHECK(dtrace_probe_remove(inner_id));
}

/* No descriptor is to be had: probes need none. */
static void files(void)
{
	const struct rlimit none = { 0, 0 };
	dtrace_event_t event;
	uint32_t id;

	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "files", "files", NULL);
	CHECK(id && dtrace_probe_enable(id));
	DTRACE_CUSTOM("files", 1);
	CHECK(dtrace_buffer_read(&event, 1) == 1 && event.args[0] == 1);
	CHECK(dtrace_probe_remove(id));
}

static void forks(void)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "forks", "forks", NULL);
	dtrace_event_t events[10];
	dtrace_probe_t probe;
	int status;
	pid_t pid;

	CHECK(id && dtrace_probe_enable(id));
	DTRACE_CUSTOM("forks", 1);
	pid = fork();
	if (pid == 0) {
		DTRACE_CUSTOM("forks", 2);
		CHECK(dtrace_probe_get(id, &probe) && probe.fire_count == 1 && probe.enabled);
		CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, "a child's", "forks", NULL) == id + 1);
		exit(wrong);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(dtrace_buffer_read(events, 10) == 2 && events[0].task_id == (uint32_t)getpid());
	CHECK(events[1].task_id == (uint32_t)pid && events[1].probe_id == id && events[1].args[0] == 2);
}

/* ---- the kernel's ---- */

#define KERNEL_PAGES 300

struct kernel_counts {
	long switches, faults;
	uint32_t tid;
};

static void *kernel_work(void *context)
{
	struct kernel_counts *counts = context;
	const struct timespec nap = { 0, 2000000 };
	const size_t bytes = KERNEL_PAGES * 4096ul;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	counts->tid = (uint32_t)gettid();
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	nanosleep(&nap, NULL);
	getrusage(RUSAGE_THREAD, &before);
	getrusage(RUSAGE_THREAD, &after);
	DTRACE_CUSTOM("begin");
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < 20; i++)
		nanosleep(&nap, NULL);
	for (unsigned i = 0; i < KERNEL_PAGES; i++)
		memory[i * 4096ul] = 1;
	getrusage(RUSAGE_THREAD, &after);
	DTRACE_CUSTOM("end");
	counts->switches = after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw;
	counts->faults = after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
	munmap(memory, bytes);
	return NULL;
}

/* Reads until the thread's end has been told, or for two minutes: what there was between its two events. */
static int kernel_read(struct kernel_counts *told, const uint32_t id[2])
{
	const struct timespec pause = { 0, 5000000 };
	static dtrace_event_t events[100000];
	uint32_t n = 0, begin = 0, end = 0, ended = 0;

	for (int tries = 0; tries < 24000 && !ended; tries++) {
		uint32_t more = dtrace_buffer_read(events + n, 100000 - n);

		for (uint32_t i = n; i < n + more; i++)
			ended |= events[i].probe_id == 1 && events[i].args[0] == told->tid &&
				 events[i].args[2] == 3;
		n += more;
		if (!ended)
			nanosleep(&pause, NULL);
	}
	for (uint32_t i = 0; i < n; i++) {
		begin = events[i].probe_id == id[0] ? i : begin;
		end = events[i].probe_id == id[1] ? i : end;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (events[i].thread_id != told->tid || events[i].timestamp < events[begin].timestamp ||
		    events[i].timestamp > events[end].timestamp)
			continue;
		told->switches += events[i].probe_id == 1 && events[i].args[0] == told->tid;
		told->faults += events[i].probe_id == 3;
	}
	return ended;
}

/* 77: the kernel tells nothing, which a line on stderr says. */
static int kernel(void)
{
	uint32_t id[2];
	struct kernel_counts counts = { 0 }, told = { 0 };
	dtrace_probe_t probe;
	pthread_t thread;

	dtrace_init();
	dtrace_init();
	CHECK(dtrace_get_probe_count() == 3);
	CHECK(dtrace_probe_get(1, &probe) && strcmp(probe.name, "thread_switch") == 0 && probe.enabled);
	CHECK(dtrace_probe_get(2, &probe) && strcmp(probe.name, "ipc_send") == 0 && probe.enabled);
	CHECK(dtrace_probe_get(3, &probe) && strcmp(probe.name, "vm_fault") == 0 && probe.enabled);
	id[0] = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "begin", "kernel_work", NULL);
	id[1] = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "end", "kernel_work", NULL);
	CHECK(id[0] == 4 && id[1] == 5 && dtrace_probe_enable(4) && dtrace_probe_enable(5));
	pthread_create(&thread, NULL, kernel_work, &counts);
	pthread_join(thread, NULL);
	told.tid = counts.tid;
	if (!kernel_read(&told, id))
		return 77;
	printf("%ld %ld %ld %ld\n", counts.switches, told.switches, counts.faults, told.faults);
	CHECK(dtrace_probe_get(3, &probe) && (long)probe.fire_count >= told.faults);
	CHECK(dtrace_probe_disable(1) && dtrace_probe_disable(3));
	return wrong;
}

/* ---- removal under fire ---- */

static int race_over;
static uint64_t race_calls;

static void race_handler(dtrace_probe_t *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 uint64_t a5)
{
	(void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	CHECK(a0 == 1 && probe->type == DTRACE_PROBE_CUSTOM);
	__atomic_fetch_add(&race_calls, 1, __ATOMIC_RELAXED);
}

static void *race_fire(void *context)
{
	while (!__atomic_load_n(&race_over, __ATOMIC_RELAXED)) {
		DTRACE_CUSTOM("race", 1);
		dtrace_probe_fire(DTRACE_PROBE_CUSTOM, "named", 1, 2, 3, 4, 5, 6);
	}
	return context;
}

static void race(int seconds)
{
	unsigned long long until = now_ns() + (unsigned long long)seconds * 1000000000;
	uint64_t calls, none_in = 0, n = 0;
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, race_fire, NULL);
	while (now_ns() < until) {
		uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "race", "race", race_handler);
		uint32_t named = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "named", "race", race_handler);

		CHECK(id && named && dtrace_probe_enable(id) && dtrace_probe_enable(named));
		for (int i = 0; i < 100; i++)
			sched_yield();
		CHECK(dtrace_probe_remove(named) && dtrace_probe_remove(id));
		calls = __atomic_load_n(&race_calls, __ATOMIC_RELAXED);
		sched_yield();
		none_in += calls == __atomic_load_n(&race_calls, __ATOMIC_RELAXED);
		n++;
	}
	__atomic_store_n(&race_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK(none_in == n && n && race_calls);
}

static void *ends_fire(void *context)
{
	for (;;)
		DTRACE_CUSTOM("ends", 1);
	return context;
}

static void ends(void)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "ends", "ends", race_handler);
	pthread_t thread;

	CHECK(id && dtrace_probe_enable(id));
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, ends_fire, NULL);
	while (__atomic_load_n(&race_calls, __ATOMIC_RELAXED) < 1000)
		sched_yield();
}

static void plugin(const char *path)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "plugged", "plugin", NULL);
	dtrace_event_t events[10];

	CHECK(id && dtrace_probe_enable(id));
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(path, RTLD_NOW);
		void (*fire)(int);
		void *symbol = library ? dlsym(library, "plugged_fire") : NULL;

		CHECK(symbol != NULL);
		if (!symbol)
			return;
		memcpy(&fire, &symbol, sizeof(fire));
		fire(i);
		CHECK(dlclose(library) == 0);
		CHECK(dtrace_buffer_read(events, 10) == 1 && events[0].probe_id == id);
		CHECK(events[0].args[0] == (unsigned)i);
	}
	CHECK(dtrace_probe_remove(id));
}

/* ---- for who looks from outside ---- */

static void serve(void)
{
	char line[64], verb[16];
	uint32_t id;
	int n;

	dtrace_init();
	id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "served", "serve", NULL);
	printf("%u\n", id);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		n = 1;
		if (sscanf(line, "%15s %d", verb, &n) >= 1 && strcmp(verb, "fire") == 0)
			for (int i = 0; i < n; i++) {
				DTRACE_CUSTOM("served", i);
				DTRACE_CUSTOM("point", i, "text");
				DTRACE_IPC_SEND(1, i);
			}
		printf("done\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "uses";

	if (strcmp(what, "bad") == 0)
		bad();
	else if (strcmp(what, "files") == 0)
		files();
	else if (strcmp(what, "fork") == 0)
		forks();
	else if (strcmp(what, "kernel") == 0)
		return kernel();
	else if (strcmp(what, "race") == 0)
		race(argc > 2 ? atoi(argv[2]) : 1);
	else if (strcmp(what, "ends") == 0)
		ends();
	else if (strcmp(what, "plugin") == 0)
		plugin(argc > 2 ? argv[2] : "");
	else if (strcmp(what, "ids") == 0)
		ids(argc > 2 ? (unsigned)atoi(argv[2]) : 2000);
	else if (strcmp(what, "serve") == 0)
		serve();
	else {
		uses();
		many();
	}
	return wrong;
}
