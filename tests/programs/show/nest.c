/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scopes whose nesting is known to the millisecond: the clock is the program's own, and stands still but for
 * what it adds itself.
 *
 *	nest known	what tests/cli/show/nest.py lists: siblings, two threads, what longjmp(3) leaves
 *	nest deep N	N levels of recursion
 *	nest turns	three threads, one at a time, that hand two requests on
 */
#include <ktr.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t begun_ns[2], ahead_ns;
static jmp_buf back;

/* For the clock source that asks the kernel: the libraries in this program ask this one. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);
	int64_t ns = now->tv_sec * 1000000000ll + now->tv_nsec;

	if (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME) {
		int64_t *begun = &begun_ns[clock == CLOCK_REALTIME];

		if (*begun == 0)
			*begun = ns;
		ns = *begun + ahead_ns;
		now->tv_sec = ns / 1000000000;
		now->tv_nsec = ns % 1000000000;
	}
	return rc;
}

static void pass(int ms)
{
	ahead_ns += ms * 1000000ll;
}

__attribute__((noinline)) static void parse(void)
{
	KTR_SCOPE(KTR_VM, "parse");
	pass(100);
}

__attribute__((noinline)) static void read_all(int parses)
{
	KTR_SCOPE(KTR_VM, "read_all");
	pass(50);
	if (parses)
		parse();
	pass(parses ? 50 : 150);
}

__attribute__((noinline)) static void throws(void)
{
	KTR_SCOPE(KTR_VM, "throws");
	pass(50);
	longjmp(back, 1);
}

__attribute__((noinline)) static void attempt(int fails)
{
	KTR_SCOPE(KTR_VM, "attempt");
	pass(50);
	if (fails)
		throws();
	pass(50);
}

static void *work(void *arg)
{
	KTR_SCOPE(KTR_VM, "work");
	pthread_setname_np(pthread_self(), "worker");
	pass(100);
	{
		KTR_SCOPE(KTR_VM, "write");
		pass(100);
	}
	return arg;
}

static void known(void)
{
	KTR_SCOPE(KTR_VM, "main");
	pthread_t id;

	pass(100);
	read_all(0);
	read_all(1);
	if (setjmp(back) == 0)
		attempt(1);
	attempt(0);
	pthread_create(&id, NULL, work, NULL);
	pthread_join(id, NULL);
	pass(100);
}

static int deep(int levels)
{
	KTR_SCOPE(KTR_VM, "level");
	pass(10);
	return levels > 1 ? deep(levels - 1) + 1 : 1;
}

/* Whose turn it is, for which request, and for how long [ms]. */
static const struct turn {
	int who, request, ms;
} turns[] = { { 0, 1, 10 }, { 0, 2, 10 }, { 1, 1, 60 }, { 2, 1, 30 }, { 1, 2, 40 }, { 2, 2, 20 } };

#define TURNS (sizeof(turns) / sizeof(turns[0]))

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static size_t turn_at;

static void take_turn(int who, const struct turn *turn)
{
	if (who == 0) {
		KTR_SCOPE(KTR_VM, "take", "request:%d", turn->request);
		pass(turn->ms);
	} else if (who == 1) {
		KTR_SCOPE(KTR_VM, "work", "request:%d", turn->request);
		pass(turn->ms);
	} else {
		KTR_SCOPE(KTR_VM, "reply", "request:%d", turn->request);
		pass(turn->ms);
	}
}

static void *take_turns(void *arg)
{
	static const char *const names[] = { "beta", "gamma", "alpha" };
	int who = *(int *)arg;

	pthread_setname_np(pthread_self(), names[who]);
	pthread_mutex_lock(&turn_lock);
	while (turn_at < TURNS) {
		if (turns[turn_at].who == who) {
			take_turn(who, &turns[turn_at++]);
			pthread_cond_broadcast(&turn_over);
		} else {
			pthread_cond_wait(&turn_over, &turn_lock);
		}
	}
	pthread_mutex_unlock(&turn_lock);
	return NULL;
}

static void in_turns(void)
{
	int who[] = { 0, 1, 2 };
	pthread_t id[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&id[i], NULL, take_turns, &who[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(id[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "deep") == 0)
		return deep(atoi(argv[2])) != atoi(argv[2]);
	if (argc > 1 && strcmp(argv[1], "turns") == 0)
		in_turns();
	else
		known();
	return 0;
}
