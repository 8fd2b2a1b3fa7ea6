/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and threads that end in all ways there are, each in the middle of a state, and what goes on behind
 * them; for tests/cli/show/ends.sh. The parent waits for a byte on standard input before each step, so that nothing
 * rests on time.
 */
#include <ktr.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int told[2]; /* from children: they have recorded */

static void *raw_thread(void *arg)
{
	KTR_STATE0(KTR_GEN, "life", "raw thread", "busy");
	CTR0(KTR_GEN, "raw thread's last");
	syscall(SYS_exit, 0);
	return arg;
}

static void *kind_thread(void *arg)
{
	KTR_STATE0(KTR_GEN, "life", "kind thread", "busy");
	return arg;
}

/* As long as a BGSAVE of redis: short against what follows. */
static void child(const char *how, char **argv)
{
	char id[40];

	snprintf(id, sizeof(id), "child %s", how);
	KTR_STATE0(KTR_GEN, "life", id, "saving");
	KTR_START0(KTR_GEN, "work", id, 7);
	KTR_COUNTER0(KTR_GEN, "bytes", id, 4096);
	usleep(20000);
	KTR_STATE0(KTR_GEN, "life", id, "syncing");
	usleep(5000);
	CTR1(KTR_GEN, "last of %s", id);
	if (write(told[1], "x", 1) != 1)
		_exit(9);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "crash") == 0)
		abort();
	if (strcmp(how, "raw") == 0)
		syscall(SYS_exit_group, 0);
	if (strcmp(how, "exec") == 0)
		execlp("sleep", "sleep", "60", (char *)NULL);
	if (strcmp(how, "again") == 0)
		execl("/proc/self/exe", argv[0], "second", (char *)NULL);
	exit(0);
}

static pid_t child_start(const char *how, char **argv)
{
	pid_t pid = fork();
	char byte;

	if (pid == 0)
		child(how, argv);
	if (pid < 0 || read(told[0], &byte, 1) != 1)
		exit(3);
	return pid;
}

int main(int argc, char **argv)
{
	static const char *const hows[] = { "_exit", "kill", "crash", "raw", "exit", "exec", "again" };
	const struct rlimit none = { 0, 0 };
	pid_t pid[7];
	pthread_t thread;

	if (argc > 1) { /* the other image of "again" */
		KTR_STATE0(KTR_GEN, "life", "second image", "running");
		pause();
	}
	setrlimit(RLIMIT_CORE, &none);
	if (pipe(told))
		return 3;
	KTR_STATE0(KTR_GEN, "life", "parent", "running");
	for (unsigned i = 0; i < 7; i++) {
		pid[i] = child_start(hows[i], argv);
		if (i < 5)
			waitpid(pid[i], NULL, 0);
	}
	pthread_create(&thread, NULL, raw_thread, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, kind_thread, NULL);
	pthread_join(thread, NULL);
	/* They are seen to be gone, at the latest, when the trace ends. */
	for (int i = 0; i < 20; i++) {
		CTR1(KTR_GEN, "the parent goes on %d", i);
		usleep(100000);
	}
	kill(pid[5], SIGKILL);
	kill(pid[6], SIGKILL);
	waitpid(pid[5], NULL, 0);
	waitpid(pid[6], NULL, 0);
	KTR_STATE0(KTR_GEN, "life", "parent", "ending");
	return 0;
}
