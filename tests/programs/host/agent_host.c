/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, and prints whatever could tell it of a tracer: its environment, its
 * descriptors, signal dispositions, what its threads and children return, its exit status.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *thread(void *context)
{
	long *n = context;

	for (int i = 0; i < 1000; i++)
		*n += i;
	return n;
}

/* Descriptors that an exec would hand on, and any below 3. */
static void descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.' && atoi(entry->d_name) < 3;
	printf("descriptors below three: %d\n", n);
	if (dir)
		closedir(dir);
}

/* The numbers that the next two files get; of one that reads its commands from a file 0 is the first. */
static void lowest(const char *whose)
{
	int first = dup(2), second = dup(2);

	printf("lowest descriptors of the %s: %d %d\n", whose, first, second);
	close(first);
	close(second);
}

static void dispositions(void)
{
	struct sigaction action;
	sigset_t mask;
	int n = 0;

	for (int sig = 1; sig < 32; sig++)
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			printf("signal %d is handled or ignored\n", sig);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++)
		n += sigismember(&mask, sig) == 1;
	printf("blocked: %d\n", n);
}

int main(int argc, char **argv)
{
	long sum[4] = { 0 };
	pthread_t id[4];
	int status;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	for (char **at = environ; *at; at++)
		if (strstr(*at, "PRELOAD") || strstr(*at, "AGENT"))
			printf("%s\n", *at);
	descriptors();
	lowest("program");
	dispositions();
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, &sum[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	printf("threads: %ld\n", sum[0] + sum[1] + sum[2] + sum[3]);
	pid = fork();
	if (pid == 0) {
		lowest("child");
		_exit(7);
	}
	printf("forked: %d\n", waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "echo preloaded: $LD_PRELOAD; exit 8", (char *)NULL);
		_exit(127);
	}
	printf("vforked: %d\n", waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		abort();
	return argc > 1 ? atoi(argv[1]) : 0;
}
