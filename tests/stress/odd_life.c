/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: before main and after it, exit under the feet of busy threads, and strings at the edge of
 * what may be read.
 */
#include "tests/stress/odd.h"

#include <ktr.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static bool life_on;

__attribute__((constructor)) static void life_begin(void)
{
	CTR0(KTR_GEN, "a constructor");
}

__attribute__((constructor(200))) static void life_begin_early(void)
{
	CTR0(KTR_GEN, "an early constructor");
}

__attribute__((destructor)) static void life_end(void)
{
	if (life_on)
		CTR0(KTR_GEN, "a destructor");
}

__attribute__((destructor(200))) static void life_end_late(void)
{
	if (life_on)
		CTR0(KTR_GEN, "a late destructor");
}

static void life_at_exit(void)
{
	CTR1(KTR_GEN, "at exit: %s", "still here");
}

static void life_run(void)
{
	life_on = true;
	atexit(life_at_exit);
	CTR0(KTR_GEN, "main");
}

static void life_check(void)
{
	static const char *const order[] = { "an early constructor", "a constructor", "main", "at exit: %s",
					     "a destructor", "a late destructor" };
	uint64_t time = 0;

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct odd_event *event = odd_find(order[i]);

		ODD_CHECK(odd_count(order[i]) == 1);
		ODD_CHECK(event && event->entry.timestamp >= time);
		time = event ? event->entry.timestamp : time;
	}
	ODD_CHECK(odd_count("process %d exits") == 1);
}
ODD_CASE(life, life_run, life_check);

/* The main thread leaves while others are at it. */
static void *life_busy(void *argument)
{
	for (int i = 0;; i++)
		CTR3(KTR_VFS, "busy %d %s %p", i, "in the middle", argument);
	return NULL;
}

static void life_exit_run(void)
{
	for (int i = 0; i < 20; i++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid) {
			pthread_t thread;

			for (int j = 0; j < 4; j++)
				if (pthread_create(&thread, NULL, life_busy, NULL))
					_exit(1);
			/* To the keep ring: the others fill the main ones. */
			CTR1(KTR_INIT, "leaving %d", i);
			exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			exit(1);
	}
}

static void life_exit_check(void)
{
	ODD_CHECK(odd_counts_up("leaving %d", 0, 20));
}
ODD_CASE(life_exit, life_exit_run, life_exit_check);

/* Strings that end where memory ends. */
#define LIFE_STRINGS 700

static void life_pages_run(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *room = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end;

	if (room == MAP_FAILED || munmap(room, page) || munmap(room + 2 * page, page))
		exit(1);
	end = room + 2 * page;
	memset(room + page, 'x', page);
	for (int n = 0; n < LIFE_STRINGS; n++) {
		/* No terminator: the precision says where it ends. */
		CTR3(KTR_GEN, "page precision %d %.*s", n, n, end - n);
		end[-1] = 0;
		CTR2(KTR_GEN, "page string %d %s", n, end - 1 - n);
		CTR3(KTR_GEN, "page two %d %s %s", n, end - 1 - n, end - 1);
		CTR2(KTR_GEN, "page nine %d %.9s", n, end - 1 - (n > 9 ? 9 : n));
		end[-1] = 'x';
		CTR2(KTR_GEN, "page start %d %.3s", n, room + page);
	}
	CTR2(KTR_GEN, "unmapped %p %p", (void *)room, (char *)end);
	CTR1(KTR_GEN, "nowhere %p", (char *)16);
	CTR1(KTR_GEN, "null %s", (char *)NULL);
	CTR2(KTR_GEN, "nothing of nothing %.*s", 0, (char *)NULL);
	CTR2(KTR_GEN, "nothing of something %.*s", 0, (char *)room);
}

static void life_lengths(const char *format, unsigned word, unsigned most)
{
	for (unsigned i = 0; i < odd_n_events; i++) {
		const struct odd_event *event = &odd_events[i];
		uint64_t n = event->entry.arg[0], length = event->entry.arg[word];

		if (strcmp(event->format, format) != 0)
			continue;
		ODD_CHECK((length & KTR_PAYLOAD_LENGTH) == (n < most ? n : most));
		ODD_CHECK(strspn(event->text, "x") == (n < most ? n : most) || n > 400);
	}
}

static void life_pages_check(void)
{
	const struct odd_event *null = odd_find("null %s");

	ODD_CHECK(odd_counts_up("page precision %d %.*s", 0, LIFE_STRINGS));
	ODD_CHECK(odd_counts_up("page string %d %s", 0, LIFE_STRINGS));
	ODD_CHECK(odd_counts_up("page two %d %s %s", 0, LIFE_STRINGS));
	ODD_CHECK(odd_counts_up("page nine %d %.9s", 0, LIFE_STRINGS));
	life_lengths("page precision %d %.*s", 2, KTR_STRING_MAX);
	life_lengths("page string %d %s", 1, KTR_STRING_MAX);
	life_lengths("page nine %d %.9s", 1, 9);
	ODD_CHECK(odd_count("unmapped %p %p") == 1 && odd_find("unmapped %p %p")->n_conts == 0);
	ODD_CHECK(odd_count("nowhere %p") == 1 && odd_find("nowhere %p")->entry.arg[0] == 16);
	ODD_CHECK(null && null->entry.arg[0] & KTR_PAYLOAD_NULL);
	ODD_CHECK(odd_count("nothing of nothing %.*s") == 1);
	ODD_CHECK(odd_count("nothing of something %.*s") == 1);
}
ODD_CASE(life_pages, life_pages_run, life_pages_check);

/*
 * A string in a page that another thread takes away at that moment: CTR faults as printf would. A host
 * whose handler jumps out of it goes on tracing: the event is not recorded, every other one is, whole, and
 * errno is as it was.
 */
#define LIFE_FAULTS 3000

static sigjmp_buf life_escape;
static char *life_page;

static void life_fault(int sig)
{
	(void)sig;
	siglongjmp(life_escape, 1);
}

static void *life_takes_away(void *stop)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
		mprotect(life_page, page, PROT_NONE);
		mprotect(life_page, page, PROT_READ);
	}
	return NULL;
}

static void life_faults_run(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int stop = 0;
	pthread_t other;

	life_page = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (life_page == MAP_FAILED || signal(SIGSEGV, life_fault) == SIG_ERR)
		exit(1);
	memset(life_page, 'x', 40);
	mprotect(life_page, page, PROT_NONE);
	for (volatile int i = 0; i < LIFE_FAULTS; i++) {
		/* The first ones fault for certain. */
		if (i == 10 && pthread_create(&other, NULL, life_takes_away, &stop))
			exit(1);
		errno = 4711;
		if (sigsetjmp(life_escape, 1) == 0)
			CTR2(KTR_GEN, "may fault %d %s", i, life_page);
		else
			odd_fact[0]++;
		CTR1(KTR_GEN, "behind a fault %d", i);
		odd_fact[1] += errno == 4711;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
}

static void life_faults_check(void)
{
	static const char whole[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	unsigned spoilt = 0;

	for (unsigned i = 0; i < odd_n_events; i++)
		spoilt += strcmp(odd_events[i].format, "may fault %d %s") == 0 &&
			  strcmp(odd_events[i].text, whole) != 0;
	ODD_CHECK(odd_fact[0] >= 10);
#ifndef __SANITIZE_THREAD__ /* which changes errno itself around a handler, and is jumped out of */
	ODD_CHECK(odd_fact[1] == LIFE_FAULTS);
#endif
	ODD_CHECK(spoilt == 0);
	ODD_CHECK(odd_count("may fault %d %s") == LIFE_FAULTS - odd_fact[0]);
	ODD_CHECK(odd_counts_up("behind a fault %d", 0, LIFE_FAULTS));
	ODD_CHECK(odd_control.drop_nested == 0);
}
ODD_CASE(life_faults, life_faults_run, life_faults_check);
