/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run-time probes under fire: eight threads fire probes by handle and by points, while others switch them, change
 * their handlers, remove and register them again. A handler that is called behind the return of what took it away
 * finds its context dead. Two threads give the same probes handlers in turn, each with a context of its own, which
 * is the one that the handler finds from its beginning to its end.
 *
 *	probe_race SECONDS [N]	N probes are registered besides, and removed in the end (100,000)
 */
#include <ktr/probe.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RACE_THREADS 8
#define RACE_PROBES  32
#define RACE_CHANGED 2

static struct ktr_probe *race_probe[RACE_PROBES], *race_changed[RACE_CHANGED];
static uint32_t race_alive[RACE_PROBES]; /* atomic: the handler may run */
static uint32_t race_stop;
static uint64_t race_wrong, race_calls, race_removed, race_changes, race_fires;

static void race_wrong_is(const char *what)
{
	__atomic_fetch_add(&race_wrong, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "probe_race: %s\n", what);
}

static void race_handler(struct ktr_probe *probe, uint64_t i, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 uint64_t a5)
{
	(void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	if (!__atomic_load_n(&race_alive[i], __ATOMIC_SEQ_CST))
		race_wrong_is("a handler was called behind its removal");
	if (ktr_probe_remove(probe) != -EDEADLK)
		race_wrong_is("a handler could remove its probe");
	KTR_PROBE1(probe, i); /* does not call it again */
	CTR1(KTR_GEN, "handler of %u", (unsigned)i);
	__atomic_fetch_add(&race_calls, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&race_alive[i], __ATOMIC_SEQ_CST))
		race_wrong_is("a handler was still running behind its removal");
}

static void race_handler_of(struct ktr_probe *probe, ktr_probe_fn *handler, const void *context)
{
	for (int i = 0; i < 3; i++) {
		if (__atomic_load_n(&probe->context, __ATOMIC_RELAXED) != context)
			race_wrong_is("a handler met another one's context");
		if (i < 2)
			sched_yield();
	}
	if (ktr_probe_handler(probe, handler, NULL) != -EDEADLK)
		race_wrong_is("a handler could change its probe's");
}

#define RACE_HANDLER(n)                                                                          \
	static char race_context##n;                                                             \
	static void race_handler##n(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, \
				    uint64_t a4, uint64_t a5)                                    \
	{                                                                                        \
		(void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;                      \
		race_handler_of(probe, race_handler##n, &race_context##n);                       \
	}
RACE_HANDLER(1)
RACE_HANDLER(2)

static void *race_change(void *context)
{
	unsigned state = context ? 3 : 4;

	while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED)) {
		struct ktr_probe *probe = race_changed[rand_r(&state) % RACE_CHANGED];

		if (context ? ktr_probe_handler(probe, race_handler1, &race_context1) :
			      ktr_probe_handler(probe, race_handler2, &race_context2))
			race_wrong_is("a handler cannot be changed");
		__atomic_fetch_add(&race_changes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *race_fire(void *context)
{
	uint64_t n = 0;

	(void)context;
	while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED)) {
		for (uint64_t i = 0; i < RACE_PROBES; i++)
			KTR_PROBE1(race_probe[i], i);
		KTR_PROBE0(race_changed[n % RACE_CHANGED]);
		KTR_PROBE_POINT2(KTR_PROBE_CUSTOM, "point", n, n);
		n++;
	}
	__atomic_fetch_add(&race_fires, n * (RACE_PROBES + 1), __ATOMIC_RELAXED);
	return NULL;
}

static void *race_switch(void *context)
{
	unsigned state = 1;

	while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED)) {
		struct ktr_probe *probe = rand_r(&state) % 4 ? race_probe[rand_r(&state) % RACE_PROBES] :
							      ktr_probe_find(KTR_PROBE_CUSTOM, "point");
		int code;

		if (rand_r(&state) % 64 == 0)
			ktr_probes_disable();
		code = rand_r(&state) % 2 ? ktr_probe_enable(probe) : ktr_probe_disable(probe);
		if (code && code != -ENOENT)
			race_wrong_is(strerror(-code));
		ktr_probes_enable();
	}
	return context;
}

static void race_register(uint64_t i)
{
	char name[32];
	int code;

	snprintf(name, sizeof(name), "race %u", (unsigned)i);
	__atomic_store_n(&race_alive[i], 1, __ATOMIC_SEQ_CST);
	code = ktr_probe_register(KTR_PROBE_CUSTOM, name, __func__, race_handler, &race_probe[i]);
	if (code || ktr_probe_enable(race_probe[i]))
		race_wrong_is("a probe cannot be registered");
}

static void *race_remove(void *context)
{
	unsigned state = 2;

	while (!__atomic_load_n(&race_stop, __ATOMIC_RELAXED)) {
		uint64_t i = rand_r(&state) % RACE_PROBES;
		struct ktr_probe *probe = race_probe[i], *again;
		char name[32];

		if (rand_r(&state) % 2) {
			if (ktr_probe_handler(probe, NULL, NULL))
				race_wrong_is("a handler cannot be taken away");
			__atomic_store_n(&race_alive[i], 0, __ATOMIC_SEQ_CST);
			__atomic_store_n(&race_alive[i], 1, __ATOMIC_SEQ_CST);
			ktr_probe_handler(probe, race_handler, NULL);
			continue;
		}
		if (ktr_probe_remove(probe))
			race_wrong_is("a probe cannot be removed");
		__atomic_store_n(&race_alive[i], 0, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&race_removed, 1, __ATOMIC_RELAXED);
		if (ktr_probe_remove(probe) != -ENOENT || ktr_probe_enable(probe) != -ENOENT)
			race_wrong_is("a removed probe is there");
		snprintf(name, sizeof(name), "race %u", (unsigned)i);
		__atomic_store_n(&race_alive[i], 1, __ATOMIC_SEQ_CST);
		if (ktr_probe_register(KTR_PROBE_CUSTOM, name, __func__, race_handler, &again) || again != probe ||
		    ktr_probe_enable(again))
			race_wrong_is("a removed probe cannot be registered again");
	}
	return context;
}

static int race_seen(void *context, struct ktr_probe *probe)
{
	(void)probe;
	++*(unsigned *)context;
	return 0;
}

static void race_many(unsigned n, struct ktr_probe **many)
{
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "many %u", i);
		if (ktr_probe_register(KTR_PROBE_FUNCTION_ENTRY, name, "race_many", NULL, &many[i]))
			race_wrong_is("not as many can be registered");
	}
}

/* Has there been too little of what is watched? */
static int race_none(void)
{
	return __atomic_load_n(&race_removed, __ATOMIC_RELAXED) < 3 ||
	       __atomic_load_n(&race_changes, __ATOMIC_RELAXED) < 100;
}

int main(int argc, char **argv)
{
	struct timespec time = { argc > 1 ? atoi(argv[1]) : 1, 0 };
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 100000, seen = 0;
	struct ktr_probe **many = calloc(n + 1, sizeof(struct ktr_probe *));
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	pthread_t thread[RACE_THREADS + 4];

	race_many(n, many);
	for (uint64_t i = 0; i < RACE_PROBES; i++)
		race_register(i);
	for (int i = 0; i < RACE_CHANGED; i++)
		if (ktr_probe_register(KTR_PROBE_CUSTOM, i ? "changed" : "changed too", NULL, NULL,
				       &race_changed[i]) ||
		    ktr_probe_enable(race_changed[i]))
			race_wrong_is("a probe cannot be registered");
	for (unsigned i = 0; i < RACE_THREADS; i++)
		pthread_create(&thread[i], NULL, race_fire, NULL);
	pthread_create(&thread[RACE_THREADS], NULL, race_switch, NULL);
	pthread_create(&thread[RACE_THREADS + 1], NULL, race_remove, NULL);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[RACE_THREADS + 2 + i], NULL, race_change, i ? &race_stop : NULL);
	nanosleep(&time, NULL);
	/* A removal waits for the handlers of its probe, which on a busy machine takes turns of all threads. */
	for (int i = 0; i < 6000 && race_none(); i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	__atomic_store_n(&race_stop, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < RACE_THREADS + 4; i++)
		pthread_join(thread[i], NULL);
	ktr_probe_walk(race_seen, &seen);
	if (seen != n + RACE_PROBES + RACE_CHANGED + 1)
		race_wrong_is("not all probes are listed");
	ktr_probe_metrics(&metrics);
	if (metrics.n_fired != metrics.n_captured + metrics.n_filtered || metrics.n_probes != seen)
		race_wrong_is("the numbers do not add up");
	for (unsigned i = 0; i < n; i++)
		if (ktr_probe_remove(many[i]))
			race_wrong_is("not all can be removed");
	seen = 0;
	ktr_probe_walk(race_seen, &seen);
	if (seen != RACE_PROBES + RACE_CHANGED + 1)
		race_wrong_is("removed probes are listed");
	printf("%llu fires, %llu recorded, %llu calls of handlers, %llu removals, %llu changes, %llu wrong\n",
	       (unsigned long long)metrics.n_fired, (unsigned long long)metrics.n_captured,
	       (unsigned long long)race_calls, (unsigned long long)race_removed, (unsigned long long)race_changes,
	       (unsigned long long)race_wrong);
	free(many);
	return race_wrong != 0 || !race_calls || !race_removed || !race_changes;
}
