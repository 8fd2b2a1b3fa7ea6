/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each use that the framework of ktr/dtrace.h is documented with, in its own names: what is registered, fired,
 * read and counted is right. And what is asked for wrongly. Exit status 1 with a line for each that is not.
 *
 *	probe_uses [uses|bad|files]	files: at the process's limit of descriptors
 */
#include <ktr/dtrace.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
	unsigned long long began;
	dtrace_probe_t probe;

	dtrace_init();
	CHECK(dtrace_is_enabled());
	fire_all();
	for (unsigned i = 0; i < N_WANTED; i++) {
		id[i] = dtrace_probe_register(wanted[i].type, wanted[i].name, "uses",
					      wanted[i].type == DTRACE_PROBE_CUSTOM ? handler : NULL);
		CHECK(id[i] != 0);
	}
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0 && n_calls == 0);
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(dtrace_probe_enable(id[i]) == 0);
	began = now_ns() - 1000000; /* the clocks are told apart by less */
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == N_WANTED);
	for (unsigned i = 0; i < N_WANTED; i++) {
		CHECK(events[i].probe_id == id[i] && events[i].thread_id == (uint32_t)gettid());
		CHECK(events[i].task_id == (uint32_t)getpid());
		CHECK(events[i].cpu_id < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		CHECK(events[i].timestamp >= began && events[i].timestamp <= now_ns() + 1000000);
		CHECK(memcmp(events[i].args, wanted[i].args, sizeof(wanted[i].args)) == 0);
		CHECK(!i || events[i].timestamp >= events[i - 1].timestamp);
	}
	CHECK(n_calls == 1 && strcmp(seen_name, "custom") == 0 && seen[0] == 1 && seen[5] == -6ull);

	/* One by one, and all at once. */
	CHECK(dtrace_probe_disable(id[4]) == 0);
	dtrace_disable();
	CHECK(!dtrace_is_enabled());
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0);
	dtrace_enable();
	fire_all();
	CHECK(dtrace_buffer_read(events, 4) == 4 && dtrace_buffer_read(events, 100) == N_WANTED - 5);
	CHECK(dtrace_probe_get(id[9], &probe) == 0 && probe.fire_count == 2 && strcmp(probe.name, "custom") == 0);
	CHECK(probe.id == id[9] && probe.type == DTRACE_PROBE_CUSTOM && probe.enabled && probe.handler);
	CHECK(dtrace_probe_get(id[4], &probe) == 0 && !probe.enabled && probe.fire_count == 1 && !probe.handler);

	/* Without a macro. */
	own = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "by handle", "uses", NULL);
	CHECK(own && dtrace_probe_enable(own) == 0);
	KTR_PROBE3(ktr_probe_by_id(own), 5, "text", -1);
	CHECK(dtrace_buffer_read(events, 100) == 1 && events[0].probe_id == own && events[0].args[0] == 5);
	CHECK(dtrace_probe_get(own, &probe) == 0 && probe.arg_count == 3);

	dtrace_get_metrics(&metrics);
	CHECK(metrics.total_probes_fired == 2 * N_WANTED - 1 + 1);
	CHECK(metrics.total_events_captured == metrics.total_probes_fired);
	CHECK(metrics.buffer_overruns == 0 && metrics.probe_overhead_ns > 0 && metrics.probe_overhead_ns < 100000);
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(dtrace_probe_remove(id[i]) == 0);
	fire_all();
	CHECK(dtrace_buffer_read(events, 100) == 0 && n_calls == 2);
}

/* More events than any buffer of a fixed thousand takes. */
static void many(void)
{
	uint32_t id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "many", "many", NULL), n, sum = 0;
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	dtrace_event_t events[64];

	CHECK(id && dtrace_probe_enable(id) == 0);
	for (int i = 0; i < 5000; i++) {
		DTRACE_CUSTOM("many", i);
		/* A thread's ring of a pool may be shorter. */
		while (i % 500 == 499 && (n = dtrace_buffer_read(events, 64)) > 0)
			for (uint32_t k = 0; k < n && !wrong; k++)
				CHECK(events[k].args[0] == sum++);
	}
	CHECK(sum == 5000);
	/* Some are timed, few, and stand for all. */
	ktr_probe_metrics(&metrics);
	CHECK(metrics.n_sampled >= 6 && metrics.n_sampled <= 8 && metrics.sampled_ns > 0);
	CHECK(ktr_probe_find(KTR_PROBE_CUSTOM, "many")->total_ns >= 64 * metrics.sampled_ns);
	CHECK(dtrace_probe_remove(id) == 0);
}

static struct ktr_probe *self_probe, *other_probe;
static int self_code, other_code, blocked;
static pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

static void self_handler(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 uint64_t a5)
{
	(void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	self_code = ktr_probe_remove(probe);
	other_code = ktr_probe_handler(other_probe, NULL, NULL);
	CTR0(KTR_GEN, "a handler traces");
	KTR_PROBE0(probe);
	KTR_PROBE0(other_probe);
	CHECK(ktr_probe_disable(other_probe) == 0 && ktr_probe_enable(other_probe) == 0);
	errno = EDOM;
}

static void block_handler(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
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
	KTR_PROBE0((struct ktr_probe *)context);
	return NULL;
}

static void *block_remove(void *context)
{
	CHECK(ktr_probe_remove(context) == 0);
	CHECK(__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) == 2);
	return NULL;
}

static void bad_block(void)
{
	pthread_t fires, removes;
	struct ktr_probe *probe;

	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "blocks", NULL, block_handler, &probe) == 0);
	CHECK(ktr_probe_enable(probe) == 0);
	pthread_mutex_lock(&block);
	pthread_create(&fires, NULL, block_fire, probe);
	while (__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	pthread_create(&removes, NULL, block_remove, probe);
	/* Others go on while one waits. */
	CHECK(ktr_probe_disable(other_probe) == 0 && ktr_probe_enable(other_probe) == 0);
	KTR_PROBE0(other_probe);
	pthread_mutex_unlock(&block);
	pthread_join(fires, NULL);
	pthread_join(removes, NULL);
}

static void bad(void)
{
	char name[KTR_PROBE_NAME_MAX + 2];
	struct ktr_probe *probe;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK(ktr_probe_register(KTR_PROBE_NONE, "x", "f", NULL, &probe) == -EINVAL && !probe);
	CHECK(ktr_probe_register((enum ktr_probe_type)11, "x", "f", NULL, NULL) == -EINVAL);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, NULL, "f", NULL, NULL) == -EINVAL);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "", "f", NULL, NULL) == -EINVAL);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, name, "f", NULL, NULL) == -EINVAL);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "100 %s%n", NULL, NULL, &probe) == 0);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "100 %s%n", NULL, NULL, NULL) == -EEXIST);
	CHECK(ktr_probe_enabled(probe) == 0 && ktr_probe_enable(probe) == 0 && ktr_probe_enabled(probe) == 1);
	CHECK(ktr_probe_disable(probe) == 0 && ktr_probe_disable(probe) == 0 && ktr_probe_enabled(probe) == 0);
	CHECK(dtrace_probe_register(DTRACE_PROBE_CUSTOM, "100 %s%n", "f", NULL) == 0 && errno == EEXIST);
	CHECK(ktr_probe_enable(probe) == 0);
	KTR_PROBE6(probe, 1, 2, 3, 4, 5, 6);
	CHECK(ktr_probe_remove(probe) == 0 && ktr_probe_remove(probe) == -ENOENT);
	CHECK(ktr_probe_enable(probe) == -ENOENT && ktr_probe_disable(probe) == -ENOENT);
	CHECK(ktr_probe_handler(probe, self_handler, NULL) == -ENOENT);
	KTR_PROBE1(probe, 1);
	CHECK(dtrace_probe_enable(0) == -ENOENT && dtrace_probe_remove(12345) == -ENOENT);

	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "self", NULL, self_handler, &self_probe) == 0);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "other", NULL, self_handler, &other_probe) == 0);
	CHECK(ktr_probe_enable(self_probe) == 0 && ktr_probe_enable(other_probe) == 0);
	errno = 0;
	KTR_PROBE0(self_probe);
	CHECK(errno == 0 && self_code == -EDEADLK && other_code == -EDEADLK);
	CHECK(ktr_probe_fires(self_probe) == 2 && ktr_probe_fires(other_probe) == 3);
	CHECK(ktr_probe_handler(other_probe, NULL, NULL) == 0);
	bad_block();
	CHECK(ktr_probe_remove(self_probe) == 0 && ktr_probe_remove(other_probe) == 0);
}

/* No descriptor is to be had: probes need none. */
static void files(void)
{
	const struct rlimit none = { 0, 0 };
	dtrace_event_t event;
	uint32_t id;

	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "files", "files", NULL);
	CHECK(id && dtrace_probe_enable(id) == 0);
	DTRACE_CUSTOM("files", 1);
	CHECK(dtrace_buffer_read(&event, 1) == 1 && event.args[0] == 1);
	CHECK(dtrace_probe_remove(id) == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "uses";

	if (strcmp(what, "bad") == 0)
		bad();
	else if (strcmp(what, "files") == 0)
		files();
	else {
		uses();
		many();
	}
	return wrong;
}
