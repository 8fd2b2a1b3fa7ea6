/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host for the peer campaign: peer_host KIND FD PLUGIN [once]. It goes on with its work, and counts it, until
 * it is told to stop in the page behind FD; then it ends by returning from main().
 *
 *	threads	every kind of event with all payloads, in threads that come and go
 *	forks	fork, vfork, exec, dlopen and dlclose; children record too
 *	control	all of debug.ktr is read and set, rings stop and go on, knobs and names are made
 *	probes	run-time probes are made, switched, fired, read and removed
 */
#include "tests/stress/peer.h"

#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/event.h>
#include <ktr/probe.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_THREADS 3
#define HOST_EVENTS  200 /* of each kind that a thread records before it ends */

KTR_CLASS_DEFINE(peer_host, "events of the campaign's hosts");
#define HOST KTR_CLASS(peer_host)

static struct peer_page *page;
static const char *plugin, *self_path;
static unsigned turn;

/* Neighbours that nobody writes to. */
static uint64_t canary_before[64];
static char long_text[2000];
static uint64_t canary_behind[64];

static int stopped(void)
{
	return __atomic_load_n(&page->stop, __ATOMIC_RELAXED);
}

static void well(void)
{
	for (int i = 0; i < 64; i++)
		if (canary_before[i] != 0x5ca1ab1e || canary_behind[i] != 0x5ca1ab1e)
			page->bad = __LINE__;
	__atomic_fetch_add(&page->loops, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void events(int n)
{
	struct ktr_stack stack;
	char text[64];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "text %d of %d", i, n);
		CTR0(KTR_GEN, "nothing");
		CTR1(KTR_NET, "one %d", i);
		CTR3(HOST, "three %d %ld %p", i, (long)n, (void *)text);
		CTR6(KTR_SCHED, "six %d %d %d %d %d %d", i, 2, 3, 4, 5, 6);
		CTR2(KTR_GEN, "a double %f %d", 0.5 * i, i);
		CTR2(KTR_GEN, "a string %s %d", text, i);
		CTR1(KTR_INIT, "kept %s", text);
		CTR2(HOST, "two strings %s %s", text, long_text + sizeof(long_text) - 1 - i % 1000);
		CTR2(KTR_GEN, "cut %.*s", i % 40, long_text);
		CTR1(KTR_GEN, "none %s", (char *)NULL);
		CTR1(KTR_PROC, "kept %d", i);
		KTR_STATE1(KTR_SCHED, "worker", text, "waiting", "n:%d", i);
		KTR_COUNTER0(KTR_GEN, "queue", "files", i);
		KTR_START0(KTR_VFS, "file", text, i);
		KTR_STOP0(KTR_VFS, "file", text, i);
		ktr_stack_save(&stack);
		CTRSTACK(KTR_GEN, &stack, 0);
		CTRSTACK(KTR_LOCK, NULL, 4);
	}
}

static void *thread_events(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "peer %u", turn);
	pthread_setname_np(pthread_self(), name);
	if (turn & 1)
		ktr_thread_name(name);
	events(HOST_EVENTS / 10);
	return arg;
}

static void do_threads(void)
{
	pthread_t thread[HOST_THREADS];
	int n = 0;

	turn++;
	while (n < HOST_THREADS && pthread_create(&thread[n], NULL, thread_events, NULL) == 0)
		n++;
	events(5);
	while (n--)
		pthread_join(thread[n], NULL);
}

static int ended(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* Of a session that is cut off, too. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS && getenv("TRUNCATE"))
		return 1;
	if (status)
		fprintf(stderr, "a child: status %#x\n", status);
	return status == 0;
}

static void do_plugin(void)
{
	void *object = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	int (*trace)(int n) = object ? (int (*)(int))(uintptr_t)dlsym(object, "plugin_trace") : NULL;

	if (trace)
		trace(3);
	if (object)
		dlclose(object);
}

static void do_forks(void)
{
	pid_t pid = fork();

	turn++;
	if (!pid) {
		events(10);
		do_plugin();
		if (turn % 3 == 0)
			execl(self_path, self_path, "threads", "-", plugin, "once", (char *)NULL);
		if (turn % 3 == 1)
			exit(0);
		_exit(0);
	}
	events(5);
	if (pid > 0 && !ended(pid))
		page->bad = __LINE__;
	if (turn % 5 == 0) {
		pid = vfork();
		if (!pid)
			_exit(0);
		if (pid > 0 && !ended(pid))
			page->bad = __LINE__;
	}
	do_plugin();
}

/* Each of these may fail, and none may do harm. */
static void do_control(void)
{
	static const char *const set[][2] = {
		{ "mask", "all" },
		{ "mask", "gen|net" },
		{ "entries", "4096" },
		{ "entries", "512" },
		{ "freeze", "1" },
		{ "freeze", "0" },
		{ "sites", "+*events*" },
		{ "sites", "#peer_host.c,-thread*" },
		{ "sites", "none" },
		{ "count", "gen" },
		{ "count", "none" },
		{ "keep", "net" },
		{ "keep", "init|proc" },
		{ "cpumask", "0" },
		{ "cpumask", "all" },
		{ "clock", "8" },
		{ "clock", "1" },
		{ "clear", "1" },
		{ "freeze_after", "100" },
		{ "freeze_after", "0" },
		{ "trigger", "" },
		{ "follow_fork", "own" },
		{ "follow_fork", "same" },
		{ "alq_rotate", "1" },
		{ "verbose", "1" },
		{ "verbose", "0" },
		{ "alq_max", "0" },
		{ "keep_session", "0" },
	};
	static const char *const get[] = {
		"mask",
		"count",
		"compile",
		"cpumask",
		"sites",
		"frozen_by",
		"trigger",
		"trigger_sites",
		"recorded",
		"dropped",
		"alq_file",
		"entries",
		"kernel",
	};
	static struct ktr_knob row = { .name = "peer.depth", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN,
				       .help = "a knob of the host's" };
	static uint64_t *word;
	char name[64], value[KTR_VALUE_BYTES];
	struct ktr_stats stats = { .size = sizeof(stats) };
	unsigned i = turn++ % (sizeof(set) / sizeof(set[0]));

	if (!word)
		ktr_knob_add(&row, &word, NULL);
	snprintf(name, sizeof(name), "debug.ktr.%s", set[i][0]);
	ktr_set(name, set[i][1], NULL);
	snprintf(name, sizeof(name), "debug.ktr.%s", get[turn % (sizeof(get) / sizeof(get[0]))]);
	ktr_get(name, value, sizeof(value), NULL);
	ktr_get("peer.depth", value, sizeof(value), NULL);
	ktr_mask_change(KTR_GEN | KTR_NET, KTR_LOCK, NULL);
	ktr_stats(&stats);
	if (turn % 7 == 0)
		ktr_freeze();
	if (turn % 11 == 0)
		ktr_set("debug.ktr.freeze", "0", NULL);
	if (turn % 64 == 0)
		ktr_flush();
	events(5);
	if (turn % 8 == 0)
		do_threads();
}

static void probe_handler(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			  uint64_t a5)
{
	(void)probe, (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	CTR0(KTR_GEN, "handler");
}

static void *thread_fire(void *arg)
{
	for (int i = 0; i < 100; i++) {
		KTR_PROBE2((struct ktr_probe *)arg, i, 2);
		KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "point", i);
	}
	return NULL;
}

static void do_probes(void)
{
	struct ktr_probe_event event[32];
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	struct ktr_probe *probe = NULL;
	pthread_t thread;
	char name[32];
	int started;

	snprintf(name, sizeof(name), "probe%u", turn++ % 200);
	ktr_probe_register(KTR_PROBE_CUSTOM, name, __func__, turn & 1 ? probe_handler : NULL, &probe);
	if (!probe)
		probe = ktr_probe_find(KTR_PROBE_CUSTOM, name);
	if (!probe)
		return;
	if (turn & 2)
		ktr_probe_enable(probe);
	started = pthread_create(&thread, NULL, thread_fire, probe) == 0;
	thread_fire(probe);
	if (started)
		pthread_join(thread, NULL);
	ktr_probe_enabled(probe);
	ktr_probe_read(event, 32);
	if (turn % 16 == 0)
		ktr_probe_metrics(&metrics);
	if (turn & 4)
		ktr_probe_remove(probe);
	if (turn % 32 == 0) {
		pid_t pid = fork();

		if (!pid) {
			thread_fire(probe);
			_exit(0);
		}
		if (pid > 0 && !ended(pid))
			page->bad = __LINE__;
	}
	events(2);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*turn)(void);
	} kinds[] = {
		{ "threads", do_threads },
		{ "forks", do_forks },
		{ "control", do_control },
		{ "probes", do_probes },
	};
	static struct peer_page none;
	int once = argc > 4;

	if (argc < 4)
		return 2;
	page = once ? &none : mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0);
	if (page == MAP_FAILED)
		return 2;
	plugin = argv[3];
	self_path = argv[0];
	memset(long_text, 'l', sizeof(long_text) - 1);
	for (int i = 0; i < 64; i++)
		canary_before[i] = canary_behind[i] = 0x5ca1ab1e;
	if (!once) {
		snprintf(page->path, sizeof(page->path), "%s", ktr_session_path());
		__atomic_store_n(&page->ready, 1, __ATOMIC_RELEASE);
	}
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		while (strcmp(argv[1], kinds[i].name) == 0 && !stopped()) {
			kinds[i].turn();
			well();
			if (once)
				return 0;
		}
	return page->bad != 0;
}
