/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that does to its writer thread what daemons do, and records N events before and N after.
 * For tests/cli/trace/writer.sh.
 *
 *	host MODE N FILE	FILE: opened where the writer's descriptors might be, gets one known line
 *
 *	close	closes all descriptors and opens others in their place
 *	fork	forks; the child records too, and both go on
 *	exec	forks and executes /bin/true a hundred times
 *	chroot	chroots into an empty directory, drops its uid, and closes all descriptors
 *	early	the same at once, without a look whether its trace has begun
 *	poor	both chroot and limit: a user that may not open its standard error any more
 *	daemon	forks twice, parents calling _exit; closes all descriptors, as daemon(3) and others do
 *	swift	the same at once, before its trace has a clock
 *	leave	forks and exits; the child goes on in a process and a mount namespace of its own if it may
 *	jail	forks and exits; the child goes on in an empty root, from before its parent has gone
 *	apart	forks; the child, which debug.ktr.follow_fork keeps out of the session, outlives its parent
 *	limit	runs with a file size limit that the trace reaches; SIGXFSZ would kill it
 *	exit	calls _exit: nothing runs at the end
 *	flush	the same, but flushes first
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int n;
static const char *file;

static void record(const char *when)
{
	for (int i = 0; i < n; i++)
		CTR2(KTR_GEN, "%s %d", when, i);
}

/* Until the writer has given the trace its name. */
static void await_trace(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/metadata", getenv("KTR_FILE"));
	while (access(path, F_OK))
		sched_yield();
}

/* Opens files and sockets on the lowest free descriptors, and writes to each. */
static void occupy(void)
{
	static const char line[] = "the host's own line\n";
	int pair[2];

	for (int i = 0; i < 20; i++) {
		int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);

		if (fd >= 0 && i == 7 && write(fd, line, sizeof(line) - 1) < 0)
			_exit(9);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			_exit(9);
	}
}

static void do_close(void)
{
	if (close_range(0, ~0u, 0))
		_exit(8);
	occupy();
}

static void do_fork(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		record("child");
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(7);
}

static void do_exec(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			_exit(7);
	}
}

static void do_chroot(void)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s.root", file);
	if (mkdir(dir, 0755) || chroot(dir) || chdir("/") || setgid(65534) || setuid(65534))
		_exit(6);
	close_range(3, ~0u, 0);
}

/* The grandchild has gone on; those before it have left without a word. */
static void do_daemon(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	if (chdir("/") || close_range(0, ~0u, 0))
		_exit(8);
	occupy();
}

/* The parent's exit ends its writer and its part of the trace properly. */
static void do_leave(void)
{
	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		errno = 0; /* not allowed: without it, then */
	if (fork())
		exit(0);
}

/* Until the successor's thread has a root of its own: no other way to wait for it is known. */
static void await_successor(void)
{
	time_t end = time(NULL) + 120;
	pid_t own = getpid();

	while (time(NULL) < end) {
		struct dirent *entry;
		DIR *dir = opendir("/proc/self/task");

		while (dir && (entry = readdir(dir)))
			if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != own &&
			    syscall(SYS_kcmp, own, atoi(entry->d_name), 3 /* KCMP_FS */, 0, 0) != 0) {
				closedir(dir);
				return;
			}
		if (dir)
			closedir(dir);
	}
	_exit(3);
}

static void do_jail(void)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s.root", file);
	mkdir(dir, 0755);
	if (fork())
		exit(0);
	await_successor();
	file = strrchr(file, '/');
	if (chroot(dir) || chdir("/"))
		_exit(6);
}

/* No successor comes of it, and nothing is said when the parent has gone. */
static void do_apart(void)
{
	pid_t parent = getpid();

	if (fork())
		exit(0);
	while (getppid() == parent)
		usleep(1000);
	usleep(150000); /* a successor would try at once */
}

/* Until this process has inherited the writer: its parents may take their time to die. */
static void await_writer(void)
{
	time_t end = time(NULL) + 120;

	while (ktr_flush() == -ESRCH && time(NULL) < end)
		usleep(1000);
}

/* Whoever waits for a daemon waits for this. */
static void done(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.done", file);
	close(open(path, O_WRONLY | O_CREAT, 0600));
}

static void do_limit(void)
{
	const struct rlimit limit = { 100000, 100000 };

	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(5);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	n = atoi(argv[2]);
	file = argv[3];
	record("before");
	if (strcmp(argv[1], "early") != 0 && strcmp(argv[1], "swift") != 0)
		await_trace();
	if (strcmp(argv[1], "close") == 0)
		do_close();
	else if (strcmp(argv[1], "fork") == 0)
		do_fork();
	else if (strcmp(argv[1], "exec") == 0)
		do_exec();
	else if (strcmp(argv[1], "chroot") == 0 || strcmp(argv[1], "early") == 0)
		do_chroot();
	else if (strcmp(argv[1], "limit") == 0)
		do_limit();
	else if (strcmp(argv[1], "poor") == 0)
		do_chroot(), do_limit();
	else if (strcmp(argv[1], "daemon") == 0 || strcmp(argv[1], "swift") == 0)
		do_daemon();
	else if (strcmp(argv[1], "leave") == 0)
		do_leave();
	else if (strcmp(argv[1], "jail") == 0)
		do_jail();
	else if (strcmp(argv[1], "apart") == 0)
		do_apart();
	record("after");
	if (strcmp(argv[1], "daemon") == 0 || strcmp(argv[1], "swift") == 0 || strcmp(argv[1], "leave") == 0 ||
	    strcmp(argv[1], "jail") == 0)
		await_writer();
	atexit(done);
	if (strcmp(argv[1], "flush") == 0 && ktr_flush())
		return 4;
	if (strcmp(argv[1], "exit") == 0 || strcmp(argv[1], "flush") == 0)
		_exit(0);
	return 0;
}
