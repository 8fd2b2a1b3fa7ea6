/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, and that counts whatever could tell it of somebody who attaches to it: calls
 * that end with EINTR or before their time, wrong results. It goes on until a file is there, and prints its counts.
 *
 *	attach_host FILE ROLE...	the first role is the main thread's, each other has a thread of its own
 *
 * The role "threads" makes threads that live for a moment: FILE.threads tells of them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS	   20
#define SPINS	   1000000u
#define SPIN_TIMES 6364136223846793005u
#define SPIN_PLUS  1442695040888963407u

struct role {
	const char *name;
	int (*round)(struct role *role); /* 0, or how wrong it was */
	unsigned long rounds, interrupted, wrong, early;
	int fd, other, id;
	sem_t sem;
	uint64_t sum;
};

static const char *file;
static struct role role[64];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* [ms] The kernel's tick, by which timeouts of sockets are counted: where the count lags, they are early by one. */
static double tick(void)
{
	struct timespec ts;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &ts) ? 10 : (double)ts.tv_nsec / 1e6;
}

/* A call that is to end with this result and errno after WAIT_MS. */
static int timed(struct role *r, double began, int got, int wanted, int code)
{
	int error = errno;

	if (got < 0 && error == EINTR) {
		r->interrupted++;
		return 0;
	}
	if (got != wanted || (got < 0 && error != code))
		return 1;
	r->early += now() - began < WAIT_MS - 1 - tick();
	return 0;
}

static int do_spin(struct role *r)
{
	for (uint64_t i = 0; i < SPINS; i++) {
		r->sum = r->sum * SPIN_TIMES + SPIN_PLUS;
		__asm__ volatile("" : "+r"(r->sum));
	}
	return 0;
}

/* What so many steps make of 0, by doubling: no register was another for a moment. */
static uint64_t spun(uint64_t n)
{
	uint64_t times = SPIN_TIMES, plus = SPIN_PLUS, all_plus = 0;

	for (; n; n /= 2) {
		if (n % 2)
			all_plus = all_plus * times + plus;
		plus *= times + 1;
		times *= times;
	}
	return all_plus;
}

static int do_malloc(struct role *r)
{
	enum { N = 64 };
	static __thread struct { unsigned char *at; size_t n; } part[N];
	static __thread unsigned seed = 1;
	int wrong = 0;

	(void)r;
	for (int i = 0; i < 20000; i++) {
		unsigned k = rand_r(&seed) % N;

		if (part[k].at) {
			wrong += part[k].at[0] != (unsigned char)k || part[k].at[part[k].n - 1] != (unsigned char)k;
			free(part[k].at);
		}
		part[k].n = 1 + rand_r(&seed) % (rand_r(&seed) % 100 ? 2000 : 300000);
		part[k].at = malloc(part[k].n);
		memset(part[k].at, (int)k, part[k].n);
	}
	return wrong;
}

static int do_dlopen(struct role *r)
{
	(void)r;
	for (int i = 0; i < 50; i++) {
		void *handle = dlopen(getenv("ATTACH_LIBRARY"), RTLD_NOW);
		int (*answer)(void) = handle ? (int (*)(void))dlsym(handle, "attach_answer") : NULL;

		if (!answer || answer() != 42 || dlclose(handle))
			return 1;
	}
	return 0;
}

static int do_epoll(struct role *r)
{
	struct epoll_event event;
	double began = now();

	if (!r->fd)
		r->fd = epoll_create1(EPOLL_CLOEXEC);
	return timed(r, began, epoll_wait(r->fd, &event, 1, WAIT_MS), 0, 0);
}

/* Of which it is looked at from outside what is left. */
static int do_long(struct role *r)
{
	struct epoll_event event;

	if (!r->fd)
		r->fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_wait(r->fd, &event, 1, 60000) != 0;
}

/* As programs are that are compiled with their own system calls: no C library is asked. */
static int do_epoll2(struct role *r)
{
	const struct timespec time = { 0, WAIT_MS * 1000000 };
	struct epoll_event event;
	double began = now();

	if (!r->fd)
		r->fd = epoll_create1(EPOLL_CLOEXEC);
	return timed(r, began, (int)syscall(SYS_epoll_pwait2, r->fd, &event, 1, &time, NULL, 8), 0, 0);
}

static int do_semtimedop(struct role *r)
{
	const struct timespec time = { 0, WAIT_MS * 1000000 };
	struct sembuf down = { 0, -1, 0 };
	double began = now();

	if (!r->id) {
		r->id = semget(IPC_PRIVATE, 1, 0600);
		semctl(r->id, 0, SETVAL, 0);
	}
	return timed(r, began, semtimedop(r->id, &down, 1, &time), -1, EAGAIN);
}

static int do_sem(struct role *r)
{
	struct timespec until;
	double began = now();

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return timed(r, began, sem_timedwait(&r->sem, &until), -1, ETIMEDOUT);
}

static int do_sigtimedwait(struct role *r)
{
	const struct timespec time = { 0, WAIT_MS * 1000000 };
	double began = now();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return timed(r, began, sigtimedwait(&set, NULL, &time), -1, EAGAIN);
}

static int do_nanosleep(struct role *r)
{
	const struct timespec time = { 0, WAIT_MS * 1000000 };
	double began = now();

	return timed(r, began, nanosleep(&time, NULL), 0, 0);
}

static int do_poll(struct role *r)
{
	double began = now();

	return timed(r, began, poll(NULL, 0, WAIT_MS), 0, 0);
}

static int do_select(struct role *r)
{
	struct timeval time = { 0, WAIT_MS * 1000 };
	double began = now();

	return timed(r, began, select(0, NULL, NULL, NULL, &time), 0, 0);
}

static void socket_time(int fd, int option)
{
	struct timeval time = { 0, WAIT_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, option, &time, sizeof(time));
}

static int do_recv(struct role *r)
{
	double began = now();
	int pair[2];
	char byte;

	if (!r->fd && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		r->fd = pair[0];
		socket_time(r->fd, SO_RCVTIMEO);
	}
	return timed(r, began, (int)recv(r->fd, &byte, 1, 0), -1, EAGAIN);
}

static int listens(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)); /* a name of its own (autobind) */
	listen(fd, 0);
	return fd;
}

static int do_accept(struct role *r)
{
	double began = now();

	if (!r->fd) {
		r->fd = listens();
		socket_time(r->fd, SO_RCVTIMEO);
	}
	return timed(r, began, accept(r->fd, NULL, NULL), -1, EAGAIN);
}

/* To one who does not accept, and has one waiting already. */
static int do_connect(struct role *r)
{
	struct sockaddr_un address;
	socklen_t n = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;
	double began;

	if (!r->fd) {
		r->fd = listens();
		getsockname(r->fd, (struct sockaddr *)&address, &n);
		r->other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		connect(r->other, (struct sockaddr *)&address, n);
	}
	getsockname(r->fd, (struct sockaddr *)&address, &n);
	socket_time(fd, SO_SNDTIMEO);
	began = now();
	rc = timed(r, began, connect(fd, (struct sockaddr *)&address, n), -1, EAGAIN);
	close(fd);
	return rc;
}

/* A child sends. */
static int do_msgrcv(struct role *r)
{
	struct { long type; char byte; } message = { 1, 7 };
	pid_t pid;
	int rc, status;

	if (!r->id)
		r->id = msgget(IPC_PRIVATE, 0600);
	pid = fork();
	if (pid == 0) {
		usleep(WAIT_MS * 1000);
		_exit(msgsnd(r->id, &message, 1, 0) != 0);
	}
	rc = (int)msgrcv(r->id, &message, 1, 0, 0);
	if (rc < 0 && errno == EINTR) {
		r->interrupted++;
		rc = (int)msgrcv(r->id, &message, 1, 0, 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		r->interrupted++;
	return rc != 1 || status != 0;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	for (volatile int i = 0; i < 20000; i++)
		;
	alarms++;
}

/* Nearly always in the handler of a signal. */
static int do_signal(struct role *r)
{
	static timer_t timer;
	struct itimerspec every = { { 0, 200000 }, { 0, 200000 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	sig_atomic_t before = alarms;
	double began = now();
	sigset_t set;

	if (!r->id) {
		r->id = 1;
		sigaction(SIGALRM, &action, NULL);
		sigemptyset(&set);
		sigaddset(&set, SIGALRM);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		timer_create(CLOCK_MONOTONIC, &event, &timer);
		timer_settime(timer, 0, &every, NULL);
	}
	do_spin(r);
	while (alarms == before && now() - began < 10000)
		;
	return alarms == before;
}

/* Children that execute others, and a parent that waits in the call that makes them. */
static int do_fork(struct role *r)
{
	int status = -1;
	pid_t pid = r->rounds % 2 ? fork() : vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno == EINTR)
			r->interrupted++;
		else
			return 1;
	return status != 0;
}

static int do_stdio(struct role *r)
{
	static FILE *null;

	(void)r;
	if (!null)
		null = fopen("/dev/null", "w");
	for (int i = 0; i < 20000; i++)
		if (fprintf(null, "%d %s %f\n", i, "text", (double)i) < 0)
			return 1;
	return 0;
}

struct brief {
	struct role *role;
	pid_t tid;
	uint64_t born_ns, ended_ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *lives_briefly(void *context)
{
	struct timespec wait = { 0, WAIT_MS * 1000000 };
	struct brief *brief = context;

	brief->tid = (pid_t)syscall(SYS_gettid);
	brief->born_ns = now_ns();
	for (int i = 0; i < 5; i++) {
		double began = now();

		brief->role->wrong += timed(brief->role, began, nanosleep(&wait, NULL), 0, 0) != 0;
	}
	brief->ended_ns = now_ns();
	return NULL;
}

/* FILE.threads has each one's number, and the clock when it was there and before it ended. */
static int do_threads(struct role *r)
{
	static FILE *told;
	struct brief brief = { .role = r };
	pthread_t thread;

	if (!told) {
		char path[4096];

		snprintf(path, sizeof(path), "%s.threads", file);
		told = fopen(path, "w");
	}
	if (!told || pthread_create(&thread, NULL, lives_briefly, &brief) || pthread_join(thread, NULL))
		return 1;
	fprintf(told, "%d %llu %llu\n", (int)brief.tid, (unsigned long long)brief.born_ns,
		(unsigned long long)brief.ended_ns);
	return 0;
}

static const struct {
	const char *name;
	int (*round)(struct role *role);
} roles[] = { { "spin", do_spin },	   { "malloc", do_malloc },
	      { "dlopen", do_dlopen },	   { "epoll", do_epoll },
	      { "long", do_long },	   { "epoll2", do_epoll2 },	   { "semtimedop", do_semtimedop },
	      { "sem", do_sem },	   { "sigtimedwait", do_sigtimedwait },
	      { "nanosleep", do_nanosleep }, { "poll", do_poll },
	      { "select", do_select },	   { "recv", do_recv },
	      { "accept", do_accept },	   { "connect", do_connect },
	      { "msgrcv", do_msgrcv },	   { "signal", do_signal },
	      { "fork", do_fork },	   { "stdio", do_stdio },
	      { "threads", do_threads } };

static void *run(void *context)
{
	struct role *r = context;
	double began = now();
	int wrong;

	/* By the clock, for who looks for the file makes no system call in between. */
	while (now() - began < 600e3) {
		wrong = r->round(r);
		r->wrong += wrong != 0;
		r->rounds++;
		if (access(file, F_OK) == 0)
			break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	unsigned long bad = 0;
	int n = argc - 2;
	sigset_t set;

	if (argc < 3 || n > 64)
		return 2;
	file = argv[1];
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGALRM); /* for the thread of that role */
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(roles) / sizeof(roles[0]); k++)
			if (strcmp(argv[2 + i], roles[k].name) == 0)
				role[i].round = roles[k].round;
		role[i].name = argv[2 + i];
		sem_init(&role[i].sem, 0, 0);
		if (!role[i].round)
			return 2;
	}
	printf("begun\n");
	fflush(stdout);
	for (int i = 1; i < n; i++)
		pthread_create(&thread[i], NULL, run, &role[i]);
	run(&role[0]);
	for (int i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < n; i++) {
		struct role *r = &role[i];

		if (r->round == do_spin)
			r->wrong += r->sum != spun((uint64_t)r->rounds * SPINS);
		printf("%s: %lu rounds, %lu EINTR, %lu wrong, %lu early\n", r->name, r->rounds, r->interrupted, r->wrong,
		       r->early);
		bad += r->interrupted + r->wrong + r->early + !r->rounds;
		if (r->id && r->round == do_semtimedop)
			semctl(r->id, 0, IPC_RMID);
		if (r->id && r->round == do_msgrcv)
			msgctl(r->id, IPC_RMID, NULL);
	}
	return bad ? 1 : 0;
}
