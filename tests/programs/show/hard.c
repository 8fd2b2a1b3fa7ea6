/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is hard to draw, one thing of it for each word:
 *
 *	threads	200 of them, each with a state of its own
 *	rows	300 rows of states, and one that stands out
 *	names	rows whose names of 80 characters differ in the middle, at the end, and at the beginning
 *	odd	names with emoji, from right to left, and of letters that few fonts have
 *	deep	31 levels of recursion
 *	numbers	counters from -7 to 3e9, and of doubles
 *	day	10 ms of a state, every hour of a day: the clock is the program's own
 *	flood	a million events, nearly all of which are lost: the writer has the CPU when nobody else wants it
 *	one	one event
 *	none	no event
 */
#include <ktr.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* So much that what a busy machine takes for the events is little against it. */
#define ROUND_NS 1000000000ll

static int64_t ahead_ns; /* of the kernel's clock: what is said to take long is over at once */

/* For the clock source that asks the kernel: the libraries in this program ask this one. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);
	int64_t ns = now->tv_sec * 1000000000ll + now->tv_nsec + ahead_ns;

	now->tv_sec = ns / 1000000000;
	now->tv_nsec = ns % 1000000000;
	return rc;
}

static void *thread(void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "thread %03u", (unsigned)(uintptr_t)arg);
	KTR_STATE0(KTR_SCHED, "thread", name, "working");
	if (!arg)
		ahead_ns += 20 * ROUND_NS;
	CTR1(KTR_GEN, "thread %u", (unsigned)(uintptr_t)arg);
	KTR_STATE0(KTR_SCHED, "thread", name, "waiting");
	return NULL;
}

static void threads(void)
{
	pthread_t id[200];

	/* The first is alone, and works longest: a picture that has no room for all has it. */
	pthread_create(&id[0], NULL, thread, NULL);
	pthread_join(id[0], NULL);
	for (uintptr_t i = 1; i < 200; i++)
		pthread_create(&id[i], NULL, thread, (void *)i);
	for (unsigned i = 1; i < 200; i++)
		pthread_join(id[i], NULL);
}

static void rows(void)
{
	char name[32];

	for (unsigned round = 0; round < 20; round++, ahead_ns += ROUND_NS)
		for (unsigned i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "row %03u", i);
			KTR_STATE0(KTR_SCHED, "row", name,
				   i == 217 || round == 3 ? "stuck" : round % 2 ? "busy" : "idle");
		}
}

static void names(void)
{
	char name[128];

	for (unsigned round = 0; round < 20; round++, ahead_ns += ROUND_NS)
		for (unsigned i = 0; i < 12; i++) {
			snprintf(name, sizeof(name),
				 "%02u.cluster.production.europe/worker.%s%02u/requests-of-all-clients/queue.%02u",
				 i % 4 == 2 ? i : 0, i % 2 ? "read" : "send", i % 4 < 2 ? i : 0, i % 4 == 3 ? i : 0);
			KTR_STATE0(KTR_SCHED,
				   "a.group.whose.name.is.long.too.and.goes.on.for.eighty.characters.in.all.places",
				   name,
				   (round % 3 == 0) == (i % 2 == 0)
					   ? "waiting for an answer from the service on the other side, number one, of many"
					   : "waiting for an answer from the service on the other side, number two, of many");
			KTR_START0(KTR_NET, "exchange", name, i);
			KTR_STOP0(KTR_NET, "exchange", name, i);
		}
}

static void odd(void)
{
	static const char *const name[] = {
		"\xf0\x9f\x9a\x80 rocket \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
		"\xd7\xa2\xd7\x95\xd7\x91\xd7\x93 29",
		"\xd8\xb9\xd8\xa7\xd9\x85\xd9\x84 7",
		"\xf0\x92\x80\x80\xf0\x92\x80\xb8 tablet",
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
		"\xf3\xb0\x80\x80 private",
		"e\xcc\x81\xcc\x82\xcc\x83 marks", "<b>&amp;\"'`$(x)\\n",
	};

	for (unsigned round = 0; round < 20; round++, ahead_ns += ROUND_NS)
		for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
			KTR_STATE0(KTR_SCHED, "odd", name[i], name[(i + round) % (sizeof(name) / sizeof(name[0]))]);
			KTR_START0(KTR_NET, "odd span", name[i], i);
			KTR_STOP0(KTR_NET, "odd span", name[i], i);
		}
}

static int deep(int level)
{
	KTR_SCOPE(KTR_VM, "level");
	ahead_ns += level == 31 ? 1000000000 : 1000000;
	return level < 31 ? deep(level + 1) + 1 : 1;
}

static void numbers(void)
{
	for (int i = 0; i < 200; i++) {
		KTR_COUNTER0(KTR_GEN, "n", "small", i % 20 - 7);
		KTR_COUNTER0(KTR_GEN, "n", "large", 15000000ll * i - 7);
		KTR_COUNTER0(KTR_GEN, "n", "double", (i - 80) * 0.0031);
		ahead_ns += ROUND_NS / 10;
	}
}

static void day(void)
{
	for (int hour = 0; hour < 24; hour++) {
		KTR_STATE0(KTR_SCHED, "cron", "hourly", "running");
		ahead_ns += 10000000;
		KTR_STATE0(KTR_SCHED, "cron", "hourly", "sleeping");
		ahead_ns += 3600000000000ll - 10000000;
	}
}

/* The writer runs where we do, and only when we do not: what a small ring does not hold is lost. */
static void starve_writer(void)
{
	const struct sched_param none = { 0 };
	struct dirent *task;
	cpu_set_t here;
	char path[64], name[32];
	DIR *tasks = opendir("/proc/self/task");

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	while (tasks && (task = readdir(tasks))) {
		pid_t tid = atoi(task->d_name);
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
		comm = tid && tid != getpid() ? fopen(path, "r") : NULL;
		if (!comm)
			continue;
		if (fgets(name, sizeof(name), comm)) {
			sched_setaffinity(tid, sizeof(here), &here);
			sched_setscheduler(tid, SCHED_IDLE, &none);
		}
		fclose(comm);
	}
	if (tasks)
		closedir(tasks);
}

static void flood(void)
{
	starve_writer();
	for (int i = 0; i < 1000000; i++) {
		CTR1(KTR_GEN, "event %d", i);
		if (i % 200 == 0)
			KTR_STATE0(KTR_SCHED, "worker", "one", i % 400 ? "reading" : "writing");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "rows") == 0)
		rows();
	else if (strcmp(what, "names") == 0)
		names();
	else if (strcmp(what, "odd") == 0)
		odd();
	else if (strcmp(what, "deep") == 0)
		deep(1);
	else if (strcmp(what, "numbers") == 0)
		numbers();
	else if (strcmp(what, "day") == 0)
		day();
	else if (strcmp(what, "flood") == 0)
		flood();
	else if (strcmp(what, "one") == 0)
		CTR0(KTR_GEN, "the only one");
	return 0;
}
