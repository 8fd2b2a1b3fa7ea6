/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs do that makes it hard to follow them: forks, vforks, execs, threads, signals, ends. Each the same
 * at every run, so that two tracers can be compared.
 *
 *	lives forks N | threads N | signals N | vfork | exec-thread | killed | crash | restart | pipe | sockets |
 *	      vectors | utrace
 */
#include <ktr/ktrace.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void lives_caught(int number)
{
	(void)number;
	caught++;
}

static void lives_handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = lives_caught, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

static void lives_reap(pid_t pid)
{
	waitpid(pid, NULL, 0);
}

static void lives_forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			write(1, "child\n", 6);
			_exit(i & 127);
		}
		lives_reap(pid);
	}
}

static void lives_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/echo", "echo", "vforked", (char *)NULL);
		_exit(127);
	}
	lives_reap(pid);
}

static volatile int made; /* the thread, and its maker calls nothing any more */

static void *lives_exec(void *argument)
{
	(void)argument;
	while (!made)
		;
	execl("/bin/echo", "echo", "from a thread", (char *)NULL);
	return NULL;
}

static void lives_exec_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, lives_exec, NULL);
	made = 1;
	for (;;)
		;
}

static void *lives_thread(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", *(int *)argument);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++)
		access("/nonexistent", R_OK);
	return NULL;
}

static void lives_threads(int n)
{
	pthread_t thread;

	/* One after the other: the order in which they begin is that of the program. */
	for (int i = 0; i < n; i++) {
		pthread_create(&thread, NULL, lives_thread, &i);
		pthread_join(thread, NULL);
	}
}

static void lives_signals(int n)
{
	lives_handle(SIGUSR1, 0);
	lives_handle(SIGUSR2, SA_NODEFER);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < n; i++) {
		raise(SIGUSR1);
		kill(getpid(), SIGUSR2);
		raise(SIGHUP);
	}
	printf("%d\n", (int)caught);
}

static void lives_restart(void)
{
	struct itimerval timer = { .it_value = { 0, 20000 } };
	int pipes[2];
	char byte;
	pid_t pid;

	/* A read that is begun again, and one that is not. */
	lives_handle(SIGALRM, SA_RESTART);
	if (pipe(pipes) < 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	setitimer(ITIMER_REAL, &timer, NULL);
	pause();
	lives_handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &timer, NULL);
	read(pipes[0], &byte, 1);
	kill(pid, SIGTERM);
	lives_reap(pid);
}

static void lives_pipe(void)
{
	int pipes[2];
	char text[16];
	pid_t pid;

	if (pipe(pipes) < 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		write(pipes[1], "through a pipe", 14);
		_exit(0);
	}
	lives_reap(pid);
	read(pipes[0], text, sizeof(text));
}

static void lives_vectors(void)
{
	char *volatile nowhere = (char *)8;
	struct iovec out[3] = { { (char[]){ "one " }, 4 },
				{ (char[]){ "two " }, 4 },
				{ (char[]){ "three\n" }, 6 } };
	char first[3], second[64];
	struct iovec in[2] = { { first, 3 }, { second, sizeof(second) } };
	struct msghdr message = { .msg_iov = out, .msg_iovlen = 3 };
	int pair[2], fd = open("vectors", O_RDWR | O_CREAT | O_TRUNC, 0644);

	writev(fd, out, 3);
	preadv(fd, in, 2, 0);
	writev(fd, out, 0);
	read(fd, first, 3); /* the end */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		exit(1);
	sendmsg(pair[0], &message, 0);
	message.msg_iov = in;
	message.msg_iovlen = 2;
	recvmsg(pair[1], &message, 0);
	memset(second, 'x', sizeof(second));
	for (int i = 0; i < 200; i++)
		write(fd, second, sizeof(second));
	write(fd, nowhere, 5);
}

static void lives_sockets(void)
{
	struct sockaddr_in internet = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 internet6 = { .sin6_family = AF_INET6,
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT,
					  .sin6_port = htons(9) };
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/nonexistent/socket" };
	socklen_t n = sizeof(internet);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct stat stat_;

	internet.sin_port = htons(1);
	connect(fd, (struct sockaddr *)&internet, sizeof(internet));
	close(fd);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	internet.sin_port = 0;
	bind(fd, (struct sockaddr *)&internet, sizeof(internet));
	getsockname(fd, (struct sockaddr *)&internet, &n);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect(fd, (struct sockaddr *)&local, sizeof(local));
	close(fd);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	connect(fd, (struct sockaddr *)&internet6, sizeof(internet6));
	stat("/", &stat_);
	lstat("/nonexistent", &stat_);
}

static int lives_utrace(void)
{
	char large[KTR_UTRACE_MAX + 1] = "";

	errno = 5;
	if (ktr_utrace("phase two\n", 10) || ktr_utrace(NULL, 0) || ktr_utrace((void *)8, 5) ||
	    ktr_utrace(large, KTR_UTRACE_MAX) || errno != 5)
		return 1;
	return !(ktr_utrace(large, sizeof(large)) == -1 && errno == EINVAL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "forks") == 0)
		lives_forks(n);
	else if (strcmp(what, "vfork") == 0)
		lives_vfork();
	else if (strcmp(what, "exec-thread") == 0)
		lives_exec_thread();
	else if (strcmp(what, "threads") == 0)
		lives_threads(n);
	else if (strcmp(what, "signals") == 0)
		lives_signals(n);
	else if (strcmp(what, "killed") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(what, "crash") == 0)
		*(volatile int *)8 = 1;
	else if (strcmp(what, "restart") == 0)
		lives_restart();
	else if (strcmp(what, "pipe") == 0)
		lives_pipe();
	else if (strcmp(what, "vectors") == 0)
		lives_vectors();
	else if (strcmp(what, "utrace") == 0)
		return lives_utrace();
	else if (strcmp(what, "sockets") == 0)
		lives_sockets();
	else
		return 2;
	return 0;
}
