/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a process that does not end by exit(3) or by returning from main().
 *
 * A main thread may end alone: by pthread_exit(3), after which the C library has the last thread call exit(0);
 * or by the bare system call, after which nobody calls anything, and the process is gone with its last
 * thread, with the status that the main thread ended with. The writer is one of the process's threads, so
 * that neither would come to pass while it waits for events that nobody can record any more.
 *
 * pthread_exit(3) is seen by the destructor of libktr's key (ktr/record/thread.c), which calls
 * ktr__writer_thread_end() in its last round. Who finds itself alone there but for the threads of the writer does
 * what the C library would do next, and calls exit(0): on the thread, with the files and the signal mask, with
 * which it would have been called. The writer is stopped by the exit as by any other.
 *
 * A main thread that is not alone (or whoever starts a writer when it has gone) leaves a keeper: a thread that
 * sleeps until the others have ended, and then calls exit(0). It is needed for the program's descriptors, in which
 * buffers are still to be written: the writer has none of them, and once the program's last thread has ended they
 * are closed. A thread of the program that has recorded, and is the last one, does not leave that to the keeper.
 * Of one that never has, the writer finds out that it is gone, and wakes the keeper.
 *
 * Behind the bare system call there is no keeper. The writer ends the trace and then its thread, which makes
 * the kernel end the process: it is not the last for the C library, which still counts the main thread. The
 * process's status is that of its last thread (Linux 5.16 and later) or of its main thread (before), so the writer
 * ends with main's, unless main was not the last: others end with 0. (A thread that has recorded nothing and
 * ends after main, but before the writer looks again, is not noticed. Should the main thread have ended by
 * pthread_exit(3) unseen, because libktr came by dlopen(3) in another thread and main has recorded nothing, then
 * the C library calls exit(0) on the writer's thread: handlers run, but find the descriptors closed.)
 *
 * Which of two threads is the last is decided where the kernel begins to end them. A program can tell so by
 * pthread_join(3) long before the thread is a zombie, or is not counted any more: in between its files are closed.
 * So threads are asked for their flags: PF_EXITING is set before pthread_join(3) returns.
 *
 * The main thread is dead when it has no list of robust futexes any more: one system call at most 20 times a
 * second. Where it has none while it lives (musl), and to be sure, /proc is asked for the number of threads and
 * for its state, through files that were opened when the writer began: the program may leave for another root.
 * Without /proc a process whose main thread is gone is not seen to be empty, and lives until it is killed.
 */
#include "writer/last.h"

#include "ktr/load/writer_hook.h"
#include "writer/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LAST_LOOK_NS 50000000ull /* between two looks at the main thread */
#define LAST_EXITING 0x4ul	 /* PF_EXITING of Linux's sched.h */

static struct {
	bool left;     /* the main thread has ended, or is about to, by pthread_exit(3) */
	bool kept;     /* the keeper is there */
	bool outlived; /* a thread has ended after main */
	uint32_t go;   /* futex: 1 when the keeper is to end the process */
	sigset_t mask; /* main's signal mask, which the keeper ends the process with */
} last_main;

void ktr__last_open(struct ktr__last_files *files)
{
	files->task_fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	files->stat_fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
}

/* A thread, as the kernel prints it. */
struct last_thread {
	bool ending; /* it is on its way out; whoever joined it has been told so */
	bool dead;
	int status; /* of a dead one: the argument of its last call */
};

/*
 * "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS ... CODE": proc(5). CODE is what it ended with, as wait(2) has
 * it.
 */
static struct last_thread last_read(int fd)
{
	struct last_thread thread = { false, false, 0 };
	char text[1024], state;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long flags;
	const char *end;

	text[n < 0 ? 0 : n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %lu", &state, &flags) != 2)
		return thread;
	thread.dead = state == 'Z' || state == 'X';
	thread.ending = thread.dead || flags & LAST_EXITING;
	thread.status = (int)(strtoul(strrchr(text, ' ') + 1, NULL, 10) >> 8 & 0xff);
	return thread;
}

/* Is the entry of /proc/self/task a thread, but not the main one, that still runs? */
static bool last_runs(int task_fd, const char *name)
{
	long tid = strtol(name, NULL, 10);
	char path[32];
	bool runs;
	int fd;

	if (tid <= 0 || tid == getpid())
		return false;
	snprintf(path, sizeof(path), "%ld/stat", tid);
	fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
	runs = fd >= 0 && !last_read(fd).ending;
	if (fd >= 0)
		close(fd);
	return runs;
}

/* How many threads run besides the main one? Counted up to one more than are wanted. 0: it cannot be told. */
static unsigned last_count(int task_fd, unsigned wanted)
{
	unsigned n = 0, links;
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int fd;

	/* A directory has a link for each in it, main too, and for itself and its parent. */
	if (fstat(task_fd, &st) || st.st_nlink < 3)
		return 0;
	links = (unsigned)st.st_nlink - 3;
	fd = links > wanted ? openat(task_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0)
		return links;
	dir = fdopendir(fd);
	while (dir && n <= wanted && (entry = readdir(dir)) != NULL)
		n += last_runs(task_fd, entry->d_name);
	if (dir)
		closedir(dir);
	else
		close(fd);
	return n;
}

/* May the main thread be dead? What has no list of robust futexes is, or never had one. */
static bool last_may_be_dead(void)
{
	void *robust = NULL;
	size_t bytes;

	return syscall(SYS_get_robust_list, getpid(), &robust, &bytes) != 0 || !robust;
}

/* For threads of the program: the file is not kept open. */
static bool last_main_is_ending(void)
{
	int fd = last_may_be_dead() ? open("/proc/self/stat", O_RDONLY | O_CLOEXEC) : -1;
	bool ending = fd >= 0 && last_read(fd).ending;

	if (fd >= 0)
		close(fd);
	return ending;
}

/* Have all threads ended but ours? */
static bool last_is_empty(struct ktr__last_files *files)
{
	unsigned ours = 1u + __atomic_load_n(&last_main.kept, __ATOMIC_ACQUIRE), n;
	struct last_thread thread;

	if (!last_may_be_dead())
		return false;
	thread = last_read(files->stat_fd);
	if (!thread.ending)
		return false;
	n = last_count(files->task_fd, ours);
	files->outlived = files->outlived || n > ours;
	files->status = thread.status;
	return thread.dead && n == ours;
}

int ktr__last_status(const struct ktr__last_files *files)
{
	return files->outlived || __atomic_load_n(&last_main.outlived, __ATOMIC_ACQUIRE) ? 0 : files->status;
}

bool ktr__last_look(struct ktr__last_files *files)
{
	uint64_t now = ktr__drain_now();

	if (now - files->looked_ns < LAST_LOOK_NS)
		return false;
	files->looked_ns = now;
	if (__atomic_load_n(&last_main.go, __ATOMIC_RELAXED) || !last_is_empty(files))
		return false;
	if (!__atomic_load_n(&last_main.kept, __ATOMIC_ACQUIRE))
		return true;
	__atomic_store_n(&last_main.go, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &last_main.go, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return false;
}

/* Signals that came when the program had no thread any more found nobody, and must not find us. */
static void *last_keep(void *context)
{
	const struct timespec none = { 0, 0 };
	sigset_t all;

	(void)context;
	__atomic_store_n(&last_main.kept, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&last_main.go, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &last_main.go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &last_main.mask, NULL);
	exit(0);
}

/* With a stack as large as any: the program's handlers run on it. Without memory for it there is none. */
static void last_leave(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &last_main.mask);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, last_keep, NULL) == 0)
		pthread_setname_np(thread, "ktr-keeper");
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &last_main.mask, NULL);
}

/* Is there a writer's thread, or a successor's? One that has ended by itself does not count. */
static bool last_has_writer(void)
{
	enum ktr__writer_state state = __atomic_load_n(&ktr__writer.state, __ATOMIC_RELAXED);

	return state == WRITER_RUNNING || state == WRITER_SUCCESSOR || state == WRITER_STARTING;
}

/* Is the calling thread the last of the program's? */
static bool last_is_only(bool is_main)
{
	unsigned others = is_main ? 1 : 2u + __atomic_load_n(&last_main.kept, __ATOMIC_ACQUIRE), n;
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = last_count(fd, others);
	close(fd);
	return n == others;
}

void ktr__writer_thread_end(void)
{
	bool left = __atomic_load_n(&last_main.left, __ATOMIC_ACQUIRE), is_main;

	if (!last_has_writer())
		return;
	is_main = getpid() == (pid_t)syscall(SYS_gettid);
	if (!is_main && last_main_is_ending())
		__atomic_store_n(&last_main.outlived, true, __ATOMIC_RELEASE);
	if (!is_main && !left)
		return;
	if (last_is_only(is_main))
		exit(0);
	if (is_main && !left) {
		__atomic_store_n(&last_main.left, true, __ATOMIC_RELEASE);
		last_leave();
	}
}

void ktr__last_begin(void)
{
	if (last_main.left || getpid() == (pid_t)syscall(SYS_gettid) || !last_main_is_ending())
		return;
	last_main.left = true;
	last_leave();
}

void ktr__last_forget(void)
{
	memset(&last_main, 0, sizeof(last_main));
}
