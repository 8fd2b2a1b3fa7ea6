/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that wait, each in a loop of a thread of its own for SECONDS, and how many of them end with EINTR: eintr
 * SECONDS. Between two calls the thread is busy for a moment, as programs are.
 */
#define _GNU_SOURCE
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
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 200000

/* Where threads connect, and where they accept: each with a helper on the other side. */
struct listener {
	int fd;
	struct sockaddr_un address;
	socklen_t bytes;
};

static int epoll_fd, queue;
static struct listener connected, accepted;
static sem_t semaphore;

static struct timespec soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += NAP_NS;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static int call_nanosleep(void)
{
	struct timespec nap = { 0, NAP_NS };

	return nanosleep(&nap, NULL);
}

static int call_poll(void)
{
	return poll(NULL, 0, 1);
}

static int call_select(void)
{
	struct timeval nap = { 0, NAP_NS / 1000 };

	return select(0, NULL, NULL, NULL, &nap);
}

static int call_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, 1);
}

static int call_sem_timedwait(void)
{
	struct timespec end = soon();

	return sem_timedwait(&semaphore, &end);
}

static int call_sigtimedwait(void)
{
	struct timespec nap = { 0, NAP_NS };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &nap);
}

/* Another thread sends one from time to time: this has no time of its own. */
static int call_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(queue, &message, sizeof(message.text), 0, 0) < 0 ? -1 : 0;
}

/* A listener whose queue is full keeps who connects waiting. */
static int connect_to(const struct listener *to)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int rc = connect(fd, (const struct sockaddr *)&to->address, to->bytes), saved = errno;

	close(fd);
	errno = saved;
	return rc;
}

static int accept_from(const struct listener *from)
{
	int fd = accept(from->fd, NULL, NULL), saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return fd < 0 ? -1 : 0;
}

static int call_connect(void)
{
	return connect_to(&connected);
}

static int call_accept(void)
{
	return accept_from(&accepted);
}

static volatile int over, helped = 1;

static void busy(void)
{
	volatile uint64_t sink = 0;

	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

/* ---- the other sides, which go on until nobody waits for them ---- */

static void nap(void)
{
	struct timespec time = { 0, NAP_NS };

	nanosleep(&time, NULL);
}

static void *sends(void *unused)
{
	struct {
		long type;
		char text[8];
	} message = { 1, "x" };

	for (; helped; nap())
		msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
	return unused;
}

static void *accepts(void *unused)
{
	for (; helped; nap()) {
		struct pollfd ready = { .fd = connected.fd, .events = POLLIN };

		if (poll(&ready, 1, 10) > 0)
			accept_from(&connected);
	}
	return unused;
}

static void *connects(void *unused)
{
	for (; helped; nap())
		connect_to(&accepted);
	return unused;
}

/* ---- calls ---- */

static struct count {
	const char *name;
	int (*call)(void);
	pthread_t thread;
	unsigned long n, n_eintr;
} counts[] = {
	{ .name = "nanosleep", .call = call_nanosleep },
	{ .name = "poll", .call = call_poll },
	{ .name = "select", .call = call_select },
	{ .name = "epoll_wait", .call = call_epoll_wait },
	{ .name = "sem_timedwait", .call = call_sem_timedwait },
	{ .name = "sigtimedwait", .call = call_sigtimedwait },
	{ .name = "msgrcv", .call = call_msgrcv },
	{ .name = "connect", .call = call_connect },
	{ .name = "accept", .call = call_accept },
};

#define N_COUNTS (sizeof(counts) / sizeof(counts[0]))

static void *calls(void *context)
{
	struct count *count = context;

	for (; !over; count->n++) {
		count->n_eintr += count->call() < 0 && errno == EINTR;
		busy();
	}
	return NULL;
}

static int listens(struct listener *on, const char *name)
{
	on->address.sun_family = AF_UNIX;
	snprintf(on->address.sun_path + 1, sizeof(on->address.sun_path) - 1, "ktr-eintr-%d-%s", getpid(), name);
	on->bytes = (socklen_t)(sizeof(on->address.sun_family) + 1 + strlen(on->address.sun_path + 1));
	on->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return bind(on->fd, (struct sockaddr *)&on->address, on->bytes) || listen(on->fd, 0);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	void *(*const helper[])(void *) = { sends, accepts, connects };
	pthread_t other[sizeof(helper) / sizeof(helper[0])];

	epoll_fd = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0 || listens(&connected, "connected") || listens(&accepted, "accepted"))
		return 1;
	for (unsigned i = 0; i < sizeof(helper) / sizeof(helper[0]); i++)
		pthread_create(&other[i], NULL, helper[i], NULL);
	for (unsigned i = 0; i < N_COUNTS; i++)
		pthread_create(&counts[i].thread, NULL, calls, &counts[i]);
	while (seconds)
		seconds = sleep(seconds);
	over = 1;
	for (unsigned i = 0; i < N_COUNTS; i++)
		pthread_join(counts[i].thread, NULL);
	helped = 0;
	/* Who connects may wait for its connection to be taken. */
	while (pthread_tryjoin_np(other[2], NULL)) {
		struct pollfd ready = { .fd = accepted.fd, .events = POLLIN };

		if (poll(&ready, 1, 10) > 0)
			call_accept();
	}
	pthread_join(other[0], NULL);
	pthread_join(other[1], NULL);
	for (unsigned i = 0; i < N_COUNTS; i++)
		printf("%-14s %8lu calls %6lu EINTR\n", counts[i].name, counts[i].n, counts[i].n_eintr);
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
