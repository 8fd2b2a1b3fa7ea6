/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr/probe.h offers: what is registered, fired, read and counted is right. And what is asked for wrongly.
 * Exit status 1 with a line for each that is not.
 *
 *	probe_uses [uses|bad|files]	files: at the process's limit of descriptors
 */
#include <ktr/probe.h>

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

static void handler(struct ktr_probe *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
		    uint64_t arg4,
		    uint64_t arg5)
{
	const uint64_t args[6] = { arg0, arg1, arg2, arg3, arg4, arg5 };

	n_calls++;
	memcpy(seen, args, sizeof(seen));
	snprintf(seen_name, sizeof(seen_name), "%s", probe->name);
	CHECK(ktr_probe_enabled(probe) && ktr_probe_fires(probe) == n_calls && probe->type == KTR_PROBE_CUSTOM);
}

static void fire_all(void)
{
	KTR_PROBE_POINT0(KTR_PROBE_FUNCTION_ENTRY, "function");
	KTR_PROBE_POINT0(KTR_PROBE_FUNCTION_EXIT, "function");
	KTR_PROBE_POINT1(KTR_PROBE_SYSCALL_ENTRY, "call", 41);
	KTR_PROBE_POINT1(KTR_PROBE_SYSCALL_EXIT, "call", 42);
	KTR_PROBE_POINT2(KTR_PROBE_IPC_SEND, "ipc_send", 7u, 1024);
	KTR_PROBE_POINT2(KTR_PROBE_IPC_RECEIVE, "ipc_receive", 8u, 2048);
	KTR_PROBE_POINT2(KTR_PROBE_VM_FAULT, "vm_fault", 0x1000, 2);
	KTR_PROBE_POINT2(KTR_PROBE_THREAD_SWITCH, "thread_switch", (void *)0x10, (void *)0x20);
	KTR_PROBE_POINT1(KTR_PROBE_TIMER_TICK, "timer_tick", 3);
	KTR_PROBE_POINT6(KTR_PROBE_CUSTOM, "custom", 1, 2, 3, 4, 5, -6);
	KTR_PROBE_POINT0(KTR_PROBE_CUSTOM, "nothing");
}

static const struct {
	enum ktr_probe_type type;
	const char *name;
	uint64_t args[6];
} wanted[] = {
	{ KTR_PROBE_FUNCTION_ENTRY, "function", { 0 } },
	{ KTR_PROBE_FUNCTION_EXIT, "function", { 0 } },
	{ KTR_PROBE_SYSCALL_ENTRY, "call", { 41 } },
	{ KTR_PROBE_SYSCALL_EXIT, "call", { 42 } },
	{ KTR_PROBE_IPC_SEND, "ipc_send", { 7, 1024 } },
	{ KTR_PROBE_IPC_RECEIVE, "ipc_receive", { 8, 2048 } },
	{ KTR_PROBE_VM_FAULT, "vm_fault", { 0x1000, 2 } },
	{ KTR_PROBE_THREAD_SWITCH, "thread_switch", { 0x10, 0x20 } },
	{ KTR_PROBE_TIMER_TICK, "timer_tick", { 3 } },
	{ KTR_PROBE_CUSTOM, "custom", { 1, 2, 3, 4, 5, -6ull } },
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
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	struct ktr_probe *probe[N_WANTED], *own;
	struct ktr_probe_event events[100];
	unsigned long long began;

	CHECK(ktr_probes_enabled());
	fire_all();
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(ktr_probe_register(wanted[i].type, wanted[i].name, "uses",
					 wanted[i].type == KTR_PROBE_CUSTOM ? handler : NULL, &probe[i]) == 0);
	fire_all();
	CHECK(ktr_probe_read(events, 100) == 0 && n_calls == 0);
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(ktr_probe_enable(probe[i]) == 0);
	began = now_ns() - 1000000; /* the clocks are told apart by less */
	fire_all();
	CHECK(ktr_probe_read(events, 100) == N_WANTED);
	for (unsigned i = 0; i < N_WANTED; i++) {
		CHECK(events[i].probe == probe[i]->id && events[i].tid == (uint32_t)gettid());
		CHECK(events[i].pid == (uint32_t)getpid());
		CHECK(events[i].cpu < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		CHECK(events[i].time_ns >= began && events[i].time_ns <= now_ns() + 1000000);
		CHECK(memcmp(events[i].arg, wanted[i].args, sizeof(wanted[i].args)) == 0);
		CHECK(!i || events[i].time_ns >= events[i - 1].time_ns);
	}
	CHECK(n_calls == 1 && strcmp(seen_name, "custom") == 0 && seen[0] == 1 && seen[5] == -6ull);

	/* One by one, and all at once. */
	CHECK(ktr_probe_disable(probe[4]) == 0);
	ktr_probes_disable();
	CHECK(!ktr_probes_enabled());
	fire_all();
	CHECK(ktr_probe_read(events, 100) == 0);
	ktr_probes_enable();
	fire_all();
	CHECK(ktr_probe_read(events, 4) == 4 && ktr_probe_read(events, 100) == N_WANTED - 5);
	CHECK(ktr_probe_fires(probe[9]) == 2 && ktr_probe_enabled(probe[9]));
	CHECK(ktr_probe_fires(probe[4]) == 1 && !ktr_probe_enabled(probe[4]));

	/* Without a point. */
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "by handle", "uses", NULL, &own) == 0 && ktr_probe_enable(own) == 0);
	KTR_PROBE3(own, 5, "text", -1);
	CHECK(ktr_probe_read(events, 100) == 1 && events[0].probe == own->id && events[0].arg[0] == 5);
	CHECK(own->n_args == 3 && ktr_probe_by_id(own->id) == own);

	ktr_probe_metrics(&metrics);
	CHECK(metrics.n_fired == 2 * N_WANTED - 1 + 1 && metrics.n_captured == metrics.n_fired);
	CHECK(metrics.n_overruns == 0 && metrics.overhead_ns > 0 && metrics.overhead_ns < 100000);
	for (unsigned i = 0; i < N_WANTED; i++)
		CHECK(ktr_probe_remove(probe[i]) == 0);
	fire_all();
	CHECK(ktr_probe_read(events, 100) == 0 && n_calls == 2);
}

/* More events than any buffer of a fixed thousand takes. */
static void many(void)
{
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	struct ktr_probe_event events[64];
	struct ktr_probe *probe;
	uint32_t sum = 0;
	size_t n;

	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "many", "many", NULL, &probe) == 0 && ktr_probe_enable(probe) == 0);
	for (int i = 0; i < 5000; i++) {
		KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "many", i);
		/* A thread's ring of a pool may be shorter. */
		while (i % 500 == 499 && (n = ktr_probe_read(events, 64)) > 0)
			for (size_t k = 0; k < n && !wrong; k++)
				CHECK(events[k].arg[0] == sum++);
	}
	CHECK(sum == 5000);
	/* Some are timed, few, and stand for all. */
	ktr_probe_metrics(&metrics);
	CHECK(metrics.n_sampled >= 6 && metrics.n_sampled <= 8 && metrics.sampled_ns > 0);
	CHECK(probe->total_ns >= 64 * metrics.sampled_ns);
	CHECK(ktr_probe_remove(probe) == 0);
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
	CHECK(ktr_probe_enable(probe) == 0);
	KTR_PROBE6(probe, 1, 2, 3, 4, 5, 6);
	CHECK(ktr_probe_remove(probe) == 0 && ktr_probe_remove(probe) == -ENOENT);
	CHECK(ktr_probe_enable(probe) == -ENOENT && ktr_probe_disable(probe) == -ENOENT);
	CHECK(ktr_probe_handler(probe, self_handler, NULL) == -ENOENT);
	KTR_PROBE1(probe, 1);
	CHECK(!ktr_probe_by_id(0) && !ktr_probe_by_id(12345));

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
	struct ktr_probe_event event;
	struct ktr_probe *probe;

	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK(ktr_probe_register(KTR_PROBE_CUSTOM, "files", "files", NULL, &probe) == 0 && ktr_probe_enable(probe) == 0);
	KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "files", 1);
	CHECK(ktr_probe_read(&event, 1) == 1 && event.arg[0] == 1);
	CHECK(ktr_probe_remove(probe) == 0);
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
