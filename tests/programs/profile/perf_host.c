/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that would notice what a profiler does with descriptors, memory and credentials; each prints what it
 * found, or "THREAD-ID ns" of CPU time for its threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_OWN 40 /* descriptors from there on are closed by the program again and again */

static volatile uint64_t sink;
static int ends; /* atomic */

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void works(uint64_t us)
{
	uint64_t end = cpu_ns() + us * 1000;

	while (cpu_ns() < end)
		for (int i = 0; i < 2000; i++)
			sink += (uint64_t)i * (uint64_t)i;
}

static void *works_thread(void *us)
{
	works((uintptr_t)us);
	return NULL;
}

static void *tells_thread(void *us)
{
	works((uintptr_t)us);
	printf("%d %llu\n", gettid(), (unsigned long long)cpu_ns());
	return NULL;
}

/* How many descriptors of the table are perf events. Allocates and opens nothing. */
static int events_seen(void)
{
	int n = 0;

	for (int fd = 0; fd < 2 * FIRST_OWN; fd++) {
		char path[32], to[64];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, to, sizeof(to) - 1);
		to[length < 0 ? 0 : length] = '\0';
		n += strstr(to, "perf_event") != NULL;
	}
	return n;
}

static int lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];
	int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n++;
	if (file)
		fclose(file);
	return n;
}

/* ---- a table that the program thinks is its own ---- */

static int null, n_seen, n_lost;

/* Closes what it does not know, has a file there, and looks whether it stays. */
static void *closes(void *unused)
{
	while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE)) {
		struct stat of;
		int fd;

		syscall(SYS_close_range, FIRST_OWN, ~0u, 0);
		fd = fcntl(null, F_DUPFD, FIRST_OWN);
		for (int i = 0; i < 30; i++)
			sched_yield();
		n_lost += fstat(fd, &of) != 0 || !S_ISCHR(of.st_mode);
		n_seen += events_seen();
	}
	return unused;
}

static int fill_below(int number)
{
	int fd;

	while ((fd = dup(2)) >= 0 && fd < number - 1)
		;
	return fd < 0;
}

static int table(void)
{
	int n_inherited = 0, status;
	pthread_t closer, thread;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fill_below(FIRST_OWN))
		return 1;
	pthread_create(&closer, NULL, closes, NULL);
	for (int i = 0; i < 1500; i++) {
		if (pthread_create(&thread, NULL, works_thread, (void *)(uintptr_t)300))
			return 2;
		if (i % 20 == 0) {
			pid_t pid = i % 40 ? fork() : (pid_t)syscall(SYS_fork);

			if (pid == 0)
				_exit(events_seen() != 0);
			if (waitpid(pid, &status, 0) != pid)
				return 3;
			n_inherited += status != 0;
		}
		pthread_join(thread, NULL);
	}
	__atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
	pthread_join(closer, NULL);
	printf("seen %d lost %d inherited %d\n", n_seen, n_lost, n_inherited);
	return 0;
}

/* ---- what is open when it is attached ---- */

static volatile sig_atomic_t n_notified;

static void notified(int number)
{
	(void)number;
	n_notified++;
}

static int listens(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "ktr-perf-%d", getpid());
	if (bind(fd, (const struct sockaddr *)&name, sizeof(name)) || listen(fd, 1)) {
		close(fd);
		return -errno;
	}
	return fd;
}

/* Of a pipe, a name and a lock that it gives up; waits for a line before. */
static int holds(void)
{
	int pipe_fd[2], server = listens(), fd;
	char c = 0;

	if (pipe(pipe_fd) || server < 0 || read(0, &c, 1) != 1)
		return 1;
	close(pipe_fd[1]);
	close(server);
	printf("pipe %s", read(pipe_fd[0], &c, 1) == 0 ? "ends" : "does not end");
	fd = listens();
	printf(" name %s\n", fd >= 0 ? "is free" : strerror(-fd));
	fflush(stdout);
	return read(0, &c, 1) != 1;
}

/* A message queue tells it of what comes. */
static int queue(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[32], c = 0;
	mqd_t mq;

	if (read(0, &c, 1) != 1)
		return 1;
	snprintf(name, sizeof(name), "/ktr-perf-%d", getpid());
	mq = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attr);
	if (mq < 0) {
		puts("is not open");
		return 0;
	}
	mq_unlink(name);
	signal(SIGUSR1, notified);
	if (mq_notify(mq, &event))
		return 1;
	puts("is open");
	if (read(0, &c, 1) != 1 || mq_send(mq, "x", 1, 0))
		return 1;
	printf("notified %d\n", (int)n_notified);
	return 0;
}

/* ---- limits ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_ready; /* atomic */

static void *works_later(void *us)
{
	__atomic_fetch_add(&n_ready, 1, __ATOMIC_RELEASE);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return tells_thread(us);
}

/* Threads that are all there before the first of them works. */
static int many(int n, unsigned ms)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));

	pthread_mutex_lock(&gate);
	for (int i = 0; thread && i < n; i++)
		if (pthread_create(&thread[i], NULL, works_later, (void *)(uintptr_t)(ms * 1000)))
			return 1;
	while (__atomic_load_n(&n_ready, __ATOMIC_ACQUIRE) < (unsigned)n)
		sched_yield();
	pthread_mutex_unlock(&gate);
	for (int i = 0; thread && i < n; i++)
		pthread_join(thread[i], NULL);
	return !thread;
}

/* Many that do little and end, then some that go on: what they had is free then. */
static int later(int n, unsigned ms)
{
	pthread_t first[512], last[2];

	pthread_mutex_lock(&gate);
	for (int i = 0; i < n; i++)
		if (pthread_create(&first[i], NULL, works_later, (void *)(uintptr_t)1000))
			return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&last[i], NULL, tells_thread, (void *)(uintptr_t)(ms * 1000)))
			return 1;
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < n; i++)
		pthread_join(first[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(last[i], NULL);
	return 0;
}

/* Another thread works; says how many timers there are. */
static int another(unsigned ms)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, tells_thread, (void *)(uintptr_t)(ms * 1000)))
		return 1;
	pthread_join(thread, NULL);
	printf("timers %d\n", lines_of("/proc/self/timers"));
	return 0;
}

static pthread_key_t last_key; /* made last: its destructor comes after the others */

static void naps(void *value)
{
	static __thread unsigned n;

	if (++n < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(last_key, value);
	else
		usleep(1200000);
}

static void *lingers_thread(void *unused)
{
	pthread_setspecific(last_key, &last_key);
	tells_thread((void *)(uintptr_t)100000);
	return unused;
}

/* A thread is there for a while after all has been told of its end. */
static int lingers(void)
{
	pthread_t thread;

	if (pthread_key_create(&last_key, naps) || pthread_create(&thread, NULL, lingers_thread, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

/* No descriptor is left. */
static int files(void)
{
	struct rlimit limit = { FIRST_OWN, FIRST_OWN };
	pthread_t thread;
	int status, n;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	while (dup(2) >= 0)
		;
	if (pthread_create(&thread, NULL, tells_thread, (void *)(uintptr_t)200000))
		return 2;
	pthread_join(thread, NULL);
	close(FIRST_OWN - 1);
	close(FIRST_OWN - 2);
	n = lines_of("/proc/self/timers");
	status = another(10);
	printf("timers %d\n", n);
	return status;
}

static int drops(void)
{
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	return another(200);
}

/* A filter for all threads, which ends the process for perf_event_open(2). */
static int filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (another(50) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
		return 1;
	return another(200);
}

/* The main thread ends, others go on; then they end, and the process has to. */
static void *last(void *unused)
{
	works(30000);
	return unused;
}

static int leaves(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, last, NULL))
		return 1;
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	const char *life = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;
	unsigned ms = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

	alarm(300);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return strcmp(life, "table") == 0     ? table()
	       : strcmp(life, "holds") == 0   ? holds()
	       : strcmp(life, "queue") == 0   ? queue()
	       : strcmp(life, "many") == 0    ? many(n, ms)
	       : strcmp(life, "later") == 0   ? later(n, ms)
	       : strcmp(life, "another") == 0 ? another(200)
	       : strcmp(life, "lingers") == 0 ? lingers()
	       : strcmp(life, "files") == 0   ? files()
	       : strcmp(life, "drops") == 0   ? drops()
	       : strcmp(life, "filters") == 0 ? filters()
	       : strcmp(life, "leaves") == 0  ? leaves()
					      : 2;
}
