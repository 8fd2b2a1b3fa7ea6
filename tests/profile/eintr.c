/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that wait, in loops for SECONDS each, and how many of them end with EINTR: eintr SECONDS. Between two
 * calls the thread is busy for a moment, as programs are.
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

static int epoll_fd, queue, listener;
static sem_t semaphore;
static struct sockaddr_un address;
static socklen_t address_bytes;

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

/* Connects and accepts take turns: a listener whose queue is full keeps who connects waiting. */
static int call_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int rc = connect(fd, (struct sockaddr *)&address, address_bytes), saved = errno;

	close(fd);
	errno = saved;
	return rc;
}

static int call_accept(void)
{
	int fd = accept(listener, NULL, NULL), saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return fd < 0 ? -1 : 0;
}

static volatile int over;
static volatile uint64_t sink;

static void busy(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

static void *sends(void *unused)
{
	struct {
		long type;
		char text[8];
	} message = { 1, "x" };
	struct timespec nap = { 0, NAP_NS };

	(void)unused;
	while (!over) {
		msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
		nanosleep(&nap, NULL);
	}
	msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
	return NULL;
}

static void *accepts(void *unused)
{
	(void)unused;
	while (!over) {
		struct pollfd ready = { .fd = listener, .events = POLLIN };
		struct timespec nap = { 0, NAP_NS };

		if (poll(&ready, 1, 10) > 0)
			call_accept();
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void *connects(void *unused)
{
	(void)unused;
	while (!over) {
		struct timespec nap = { 0, NAP_NS };

		call_connect();
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void counts(const char *name, int (*call)(void), void *(*helper)(void *), unsigned seconds)
{
	struct timespec now, end;
	unsigned long n = 0, n_eintr = 0;
	pthread_t other;

	over = 0;
	if (helper)
		pthread_create(&other, NULL, helper, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		n_eintr += call() < 0 && errno == EINTR;
		n++;
		busy();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	over = 1;
	/* It may wait for its connection to be taken. */
	while (helper && pthread_tryjoin_np(other, NULL)) {
		struct pollfd ready = { .fd = listener, .events = POLLIN };

		if (poll(&ready, 1, 10) > 0)
			call_accept();
	}
	printf("%-14s %8lu calls %6lu EINTR\n", name, n, n_eintr);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	epoll_fd = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	queue = msgget(IPC_PRIVATE, 0600);
	address.sun_family = AF_UNIX;
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "ktr-eintr-%d", getpid());
	address_bytes = (socklen_t)(sizeof(address.sun_family) + 1 + strlen(address.sun_path + 1));
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, address_bytes) || listen(listener, 0))
		return 1;
	counts("nanosleep", call_nanosleep, NULL, seconds);
	counts("poll", call_poll, NULL, seconds);
	counts("select", call_select, NULL, seconds);
	counts("epoll_wait", call_epoll_wait, NULL, seconds);
	counts("sem_timedwait", call_sem_timedwait, NULL, seconds);
	counts("sigtimedwait", call_sigtimedwait, NULL, seconds);
	counts("msgrcv", call_msgrcv, sends, seconds);
	counts("connect", call_connect, accepts, seconds);
	counts("accept", call_accept, connects, seconds);
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
