/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For privileges.sh: programs started as root that give up their rights, as servers do. Each records events
 * numbered from 0 on before and after that, as many as it is told, and ends cleanly.
 *
 *	privileges HOW[:waits] COUNT [FILE]
 *
 * With ":waits" main and workers are half-way until FILE is there; at-once is that anyway.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534
#define WORKERS 4

static int count;
static const char *awaited; /* the file, may be NULL */
static int waits;

/* In eight parts, with a pause between them, so that there is somebody to switch to. */
static void say(int from, int to)
{
	const struct timespec pause = { 0, 10000000 };

	for (int part = 0; part < 8; part++) {
		int end = from + (to - from) / 8 * (part + 1);

		for (int i = from + (to - from) / 8 * part; i < end; i++)
			CTR1(KTR_GEN, "event %d", i);
		nanosleep(&pause, NULL);
	}
}

/* Until the file is there, bounded. */
static void await(void)
{
	const struct timespec pause = { 0, 10000000 };

	for (int i = 0; awaited && access(awaited, F_OK) && i < 12000; i++)
		nanosleep(&pause, NULL);
}

static void check(int rc, const char *what)
{
	if (rc) {
		perror(what);
		_exit(1);
	}
}

static void drop(void)
{
	check(setgroups(0, NULL), "setgroups");
	check(setgid(NOBODY), "setgid");
	check(setuid(NOBODY), "setuid");
}

static int in_main(void)
{
	say(0, count / 2);
	drop();
	if (waits)
		await();
	say(count / 2, count);
	return 0;
}

/* Before anything is recorded but the start. Then there is time until somebody has rotated. */
static int at_once(void)
{
	drop();
	say(0, count / 2);
	await();
	say(count / 2, count);
	return 0;
}

static int jail(void)
{
	say(0, count / 2);
	check(chroot("/proc/self/fdinfo") || chdir("/"), "chroot");
	check(setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
	check(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	say(count / 2, count);
	return 0;
}

static void *raw_thread(void *argument)
{
	int n = (int)(long)argument;

	check((int)syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY), "setresgid");
	check((int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY), "setresuid");
	say(count / WORKERS * n, count / WORKERS * (n + 1));
	return NULL;
}

/* Thread by thread, as who does not use the C library's call. */
static int raw(void)
{
	pthread_t thread[WORKERS];

	for (long i = 1; i < WORKERS; i++)
		check(pthread_create(&thread[i], NULL, raw_thread, (void *)i), "pthread_create");
	raw_thread(NULL);
	for (int i = 1; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void worker(int n)
{
	int from = count / WORKERS * n, to = count / WORKERS * (n + 1), middle = waits ? (from + to) / 2 : from;

	drop();
	if (waits) {
		say(from, middle);
		await();
	}
	say(middle, to);
	exit(0);
}

static int workers(void)
{
	int status, failed = 0;

	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			worker(i);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

/* The master goes, and the workers stay. */
static int orphans(void)
{
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			worker(i);
	return 0;
}

/* Another program takes over from this one, as in a binary upgrade, and has workers of its own. */
static int upgrade(char **argv)
{
	char how[] = "upgraded", *next[] = { argv[0], how, argv[2], NULL };
	pid_t pid = fork();
	int status;

	if (!pid) {
		drop();
		say(0, count / 4);
		exit(0);
	}
	if (fork() == 0) {
		execv("/proc/self/exe", next);
		_exit(1);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static int upgraded(void)
{
	int status, failed = 0;

	say(count / 4, count / 2);
	for (int i = 2; i < WORKERS; i++)
		if (fork() == 0)
			worker(i);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

static int daemon_then_drop(void)
{
	say(0, count / 4);
	if (fork() > 0)
		_exit(0);
	setsid();
	drop();
	say(count / 4, count);
	return 0;
}

static int drop_then_daemon(void)
{
	drop();
	say(0, count / 4);
	if (fork() > 0)
		_exit(0);
	setsid();
	say(count / 4, count);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} lives[] = { { "main", in_main }, { "at-once", at_once }, { "chroot", jail }, { "raw", raw },
		      { "workers", workers }, { "orphans", orphans }, { "daemon", daemon_then_drop },
		      { "drop-daemon", drop_then_daemon }, { "upgraded", upgraded } };

	size_t length = argc > 1 ? strcspn(argv[1], ":") : 0;

	count = argc > 2 ? atoi(argv[2]) : 0;
	awaited = argc > 3 ? argv[3] : NULL;
	waits = argc > 1 && argv[1][length];
	/* "HOW:waits": for the end of standard input, too, before anything. */
	while (waits && getchar() != EOF)
		;
	if (argc > 2 && strcmp(argv[1], "upgrade") == 0)
		return upgrade(argv);
	for (unsigned i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		if (argc > 1 && strlen(lives[i].name) == length && strncmp(lives[i].name, argv[1], length) == 0)
			return lives[i].run();
	return 2;
}
