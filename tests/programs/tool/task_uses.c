/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_uses WHAT: libktr-task's samples by callers who do more than one thing at a time. Prints what is wrong, and
 * ends with 1 then.
 *
 *	reuse	  a descriptor's number is another pipe's by now
 *	waits	  one begins while another is being ended, which waits for its reader
 *	storm	  two threads begin and end samplings on one pipe, again and again
 *	many	  samplings that have ended while another goes on
 *	again	  a process of the same number as one that has ended
 *	tail	  structures of a newer caller, and of one that has set no size
 *	cancelled callers are
 *	within	  an end within a round
 */
#include <ktr/task.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed;

static void wrong(const char *what, long long is, long long wanted)
{
	printf("%s: %lld instead of %lld\n", what, is, wanted);
	failed = 1;
}

static void same(const char *what, long long is, long long wanted)
{
	if (is != wanted)
		wrong(what, is, wanted);
}

/* ---- who is sampled ---- */

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it stays in no case */
	while (pid == 0)
		pause();
	return pid;
}

static void gone(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- who reads ---- */

struct stream {
	int fd;
	pthread_t thread;
	char *bytes;
	size_t n;
	unsigned n_buffers, n_last, n_first, n_bad;
};

static void *stream_read(void *context)
{
	struct stream *stream = context;
	size_t room = 0;
	ssize_t n;

	do {
		if (room - stream->n < 65536)
			stream->bytes = realloc(stream->bytes, room = 2 * room + 131072);
		n = read(stream->fd, stream->bytes + stream->n, 65536);
		__atomic_fetch_add(&stream->n, n > 0 ? (size_t)n : 0, __ATOMIC_RELEASE);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return NULL;
}

/* The end to write to. */
static int stream_open(struct stream *stream)
{
	int ends[2];

	memset(stream, 0, sizeof(*stream));
	if (pipe2(ends, O_CLOEXEC))
		exit(2);
	stream->fd = ends[0];
	pthread_create(&stream->thread, NULL, stream_read, stream);
	return ends[1];
}

/* When nobody writes any more: whole buffers, one after the other. */
static void stream_end(struct stream *stream)
{
	size_t at = 0;

	pthread_join(stream->thread, NULL);
	while (at < stream->n) {
		struct ktr_sample_buffer buffer;

		size_t left = stream->n - at;

		memcpy(&buffer, stream->bytes + at, left < sizeof(buffer) ? left : sizeof(buffer));
		if (left < sizeof(buffer) || buffer.magic != KTR_SAMPLE_MAGIC ||
		    buffer.n_bytes > left) {
			stream->n_bad++;
			break;
		}
		stream->n_buffers++;
		stream->n_last += buffer.is_last;
		stream->n_first += buffer.number == 0;
		at += buffer.n_bytes;
	}
	close(stream->fd);
	free(stream->bytes);
}

/* ---- */

static void reuse(void)
{
	pid_t pid = child();
	struct stream one, two;
	int fd = stream_open(&one), other = stream_open(&two);

	same("one", ktr_sample_task(pid, 200, fd, NULL), 0);
	dup2(other, fd);
	close(other);
	same("two", ktr_sample_task(pid, 200, fd, NULL), 0);
	usleep(50000);
	same("the newer one", ktr_sample_stop(fd, NULL, NULL), 0);
	same("the older one", ktr_sample_stop(fd, NULL, NULL), 0);
	same("a third", ktr_sample_stop(fd, NULL, NULL), -ENOENT);
	close(fd);
	stream_end(&one);
	stream_end(&two);
	same("beginnings in the first pipe", one.n_first, 1);
	same("ends in the first pipe", one.n_last, 1);
	same("beginnings in the second pipe", two.n_first, 1);
	same("ends in the second pipe", two.n_last, 1);
	same("damage", one.n_bad + two.n_bad, 0);
	gone(pid);
}

#define STORM	    60
#define STORM_DEPTH 300

static __attribute__((noinline)) int deep(int n)
{
	int rest = n ? deep(n - 1) : pause();

	__asm__ volatile("" : "+r"(rest));
	return rest;
}

static void *deep_run(void *unused)
{
	deep(STORM_DEPTH);
	return unused;
}

/* A round of it is more than a pipe's room. */
static pid_t deep_child(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; pid == 0 && i < 6; i++)
		pthread_create(&thread, NULL, deep_run, NULL);
	while (pid == 0)
		pause();
	return pid;
}

static int storm_fd;
static pid_t storm_pid[2];

static void *storm_run(void *pid)
{
	for (int i = 0; i < STORM; i++) {
		int rc = ktr_sample_task(*(pid_t *)pid, 5000, storm_fd, NULL);

		if (rc)
			wrong("begin", rc, 0);
		usleep((useconds_t)(3000 + 91 * i));
		rc = ktr_sample_stop(storm_fd, NULL, NULL);
		if (rc && rc != -ENOENT) /* the other one was quicker */
			wrong("end", rc, 0);
	}
	return NULL;
}

static void storm(void)
{
	pthread_t thread[2];
	struct stream stream;

	/* First: they would have the end to write to, too. */
	storm_pid[0] = deep_child();
	storm_pid[1] = deep_child();
	storm_fd = stream_open(&stream);
	fcntl(storm_fd, F_SETPIPE_SZ, 4096);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, storm_run, &storm_pid[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ktr_sample_stop(storm_fd, NULL, NULL);
	close(storm_fd);
	stream_end(&stream);
	same("damage", stream.n_bad, 0);
	same("ends without a beginning", stream.n_first, stream.n_last);
	if (stream.n_last < STORM)
		wrong("samplings", stream.n_last, STORM);
	gone(storm_pid[0]);
	gone(storm_pid[1]);
}

static void *waits_stop(void *fd)
{
	same("end", ktr_sample_stop(*(int *)fd, NULL, NULL), 0);
	return NULL;
}

static void *waits_begin(void *fd)
{
	same("begin", ktr_sample_task(storm_pid[1], 5000, *(int *)fd, NULL), 0);
	return NULL;
}

static void waits(void)
{
	struct stream stream = { 0 };
	pthread_t stops, begins;
	int ends[2];

	storm_pid[0] = deep_child();
	storm_pid[1] = deep_child();
	if (pipe2(ends, O_CLOEXEC))
		exit(2);
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	stream.fd = ends[0];
	same("begin", ktr_sample_task(storm_pid[0], 5000, ends[1], NULL), 0);
	usleep(300000); /* there is a piece that does not go on */
	pthread_create(&stops, NULL, waits_stop, &ends[1]);
	usleep(100000);
	pthread_create(&begins, NULL, waits_begin, &ends[1]);
	usleep(300000);
	pthread_create(&stream.thread, NULL, stream_read, &stream);
	pthread_join(stops, NULL);
	pthread_join(begins, NULL);
	usleep(100000);
	same("end", ktr_sample_stop(ends[1], NULL, NULL), 0);
	close(ends[1]);
	stream_end(&stream);
	same("damage", stream.n_bad, 0);
	same("ends", stream.n_last, 2);
	gone(storm_pid[0]);
	gone(storm_pid[1]);
}

static unsigned descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned n = 0;

	while (folder && readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static unsigned threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned n = 0;

	while (folder && readdir(folder))
		n++;
	closedir(folder);
	return n - 2;
}

#define MANY 40

static void many(void)
{
	struct ktr_sample_sums sums = { .size = sizeof(sums) };
	pid_t stays = child();
	struct stream stream;
	int fd = stream_open(&stream);
	unsigned before;

	same("begin", ktr_sample_task(stays, 100, fd, NULL), 0);
	before = descriptors();
	for (int i = 0; i < MANY; i++) {
		pid_t pid = child();

		same("begin", ktr_sample_task(pid, 1000, fd, NULL), 0);
		gone(pid);
		while (threads() > 3) /* this one, who reads, and the sampling that stays */
			usleep(1000);
	}
	if (descriptors() > before + 4)
		wrong("descriptors", descriptors(), before);
	same("end", ktr_sample_stop(fd, &sums, NULL), -ESRCH);
	same("samplings", sums.n_samplings, MANY + 1);
	close(fd);
	stream_end(&stream);
	same("ends", stream.n_last, MANY + 1);
	gone(stays);
}

/* A child of a number that is free: 0 where that is not allowed. */
static pid_t child_of_number(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1 };
	pid_t made = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	while (made == 0)
		pause();
	return made > 0 ? made : 0;
}

static void again(void)
{
	struct ktr_sample_sums sums = { .size = sizeof(sums) };
	pid_t pid = child(), next;
	int ends[2];

	/* Nobody reads, and there is no room: what has ended stays for a while. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		exit(2);
	for (char byte[4096] = { 0 }; write(ends[1], byte, sizeof(byte)) > 0;)
		;
	same("begin", ktr_sample_task(pid, 1000, ends[1], NULL), 0);
	usleep(20000);
	gone(pid);
	usleep(100000);
	next = child_of_number(pid);
	if (!next) {
		printf("skipped: no number can be had: %s\n", strerror(errno));
		return;
	}
	same("another one", ktr_sample_task(next, 1000, ends[1], NULL), 0);
	same("twice", ktr_sample_task(next, 1000, ends[1], NULL), 0);
	usleep(20000);
	ktr_sample_stop(ends[1], &sums, NULL);
	same("samplings", sums.n_samplings, 2);
	gone(next);
}

static void tail(void)
{
	struct {
		struct ktr_thread_info info;
		char more[64];
	} newer;
	static struct {
		struct ktr_vm_region region;
		char more[64];
	} region, was;
	pid_t pid = child();
	int n = 0;

	memset(&newer, 0xff, sizeof(newer));
	newer.info.size = sizeof(newer);
	same("a newer one", ktr_thread_info(pid, pid, &newer.info, NULL), 0);
	for (unsigned i = 0; i < sizeof(newer.more); i++)
		n += newer.more[i] != 0;
	same("what a newer one has more", n, 0);
	same("its size", newer.info.size, sizeof(newer));
	newer.info.size = UINT32_MAX;
	same("no size", ktr_thread_info(pid, pid, &newer.info, NULL), -EINVAL);
	memset(&region, 0xff, sizeof(region));
	region.region.size = sizeof(region);
	memcpy(&was, &region, sizeof(was));
	same("nothing above", ktr_vm_region(pid, UINT64_MAX, &region.region, NULL), -ENOENT);
	same("what is there after that", memcmp(&was, &region, sizeof(was)), 0);
	same("a region", ktr_vm_region(pid, 0, &region.region, NULL), 0);
	for (unsigned i = 0; i < sizeof(region.more); i++)
		n += region.more[i] != 0;
	same("what a newer region has more", n, 0);
	gone(pid);
}

static pid_t cancel_pid;

static void *cancel_run(void *context)
{
	struct ktr_thread_state state = { .size = sizeof(state) };
	struct ktr_vm_region *region = calloc(1, sizeof(*region));

	region->size = sizeof(*region);
	pthread_cleanup_push(free, region);
	for (;;) {
		ktr_thread_state(cancel_pid, 0, &state, NULL);
		ktr_vm_region(cancel_pid, 0, region, NULL);
		ktr_sample_task(cancel_pid, 1000, *(int *)context, NULL);
		ktr_sample_stop(*(int *)context, NULL, NULL);
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void cancelled(void)
{
	struct ktr_thread_info info = { .size = sizeof(info) };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	unsigned before;

	cancel_pid = child();
	before = descriptors();
	for (int i = 0; i < 30; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, cancel_run, &fd);
		usleep((useconds_t)(1000 + 137 * i));
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	same("descriptors", descriptors(), before);
	same("begin", ktr_sample_task(cancel_pid, 1000, fd, NULL), 0);
	same("end", ktr_sample_stop(fd, NULL, NULL), 0);
	same("info", ktr_thread_info(cancel_pid, 0, &info, NULL), 0);
	if (info.state != 'S')
		wrong("its state", info.state, 'S');
	gone(cancel_pid);
}

#define WITHIN 1500

static void *within_wait(void *unused)
{
	pause();
	return unused;
}

static void within(void)
{
	struct ktr_sample_sums sums = { .size = sizeof(sums) };
	struct stream stream;
	pthread_attr_t small;
	pthread_t thread;
	int ready[2], fd;
	char byte;
	pid_t pid;

	if (pipe(ready))
		exit(2);
	pid = fork();
	if (pid == 0) {
		int n = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		while (n < WITHIN && pthread_create(&thread, &small, within_wait, NULL) == 0)
			n++;
		if (write(ready[1], &"yn"[n < WITHIN], 1) == 1)
			pause();
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1 || byte != 'y') {
		printf("skipped: no %d threads can be had\n", WITHIN);
		gone(pid);
		return;
	}
	fd = stream_open(&stream);
	same("begin", ktr_sample_task(pid, 1, fd, NULL), 0);
	while (!__atomic_load_n(&stream.n, __ATOMIC_ACQUIRE))
		usleep(100);
	same("end", ktr_sample_stop(fd, &sums, NULL), 0);
	if (!sums.n_samples || sums.n_samples >= WITHIN)
		wrong("samples of a round that was ended", (long long)sums.n_samples, WITHIN / 2);
	same("rounds", (long long)sums.n_rounds, 0);
	close(fd);
	stream_end(&stream);
	same("damage", stream.n_bad, 0);
	same("ends", stream.n_last, 1);
	gone(pid);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} uses[] = { { "reuse", reuse }, { "waits", waits }, { "storm", storm },   { "many", many },
		     { "again", again }, { "tail", tail },   { "within", within }, { "cancelled", cancelled } };

	for (unsigned i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (argc == 2 && strcmp(argv[1], uses[i].name) == 0) {
			uses[i].run();
			return failed;
		}
	return 2;
}
