/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One request for each connection. None is waited for longer than a second: a peer that says nothing stops
 * nobody.
 */
#include "tools/ktrace/ktrace_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define KTRACE_CONTROL_BACKLOG 16

static socklen_t ktrace_control_name(struct sockaddr_un *address, pid_t pid)
{
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "ktr-ktrace.%d", (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void ktrace_control_patience(int fd, int seconds)
{
	struct timeval time = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

static int ktrace_control_peer(int fd, struct ucred *peer)
{
	socklen_t n = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &n) == 0 && n == sizeof(*peer);
}

int ktrace_control_listen(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
	struct sockaddr_un address;
	socklen_t n = ktrace_control_name(&address, getpid());

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, KTRACE_CONTROL_BACKLOG) == 0 &&
	    fcntl(fd, F_SETOWN, getpid()) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int ktrace_control_accept(int listening, struct ktrace_request *request, int *peer)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who;

	if (fd < 0)
		return 0;
	ktrace_control_patience(fd, 1);
	if (ktrace_control_peer(fd, &who) && (who.uid == 0 || who.uid == geteuid()) &&
	    recv(fd, request, sizeof(*request), 0) == sizeof(*request)) {
		*peer = fd;
		return 1;
	}
	close(fd);
	return 0;
}

void ktrace_control_answer(int peer, int answer)
{
	int32_t word = answer;

	send(peer, &word, sizeof(word), MSG_NOSIGNAL);
	close(peer);
}

int ktrace_control_ask(pid_t tracer, const struct ktrace_request *request)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t n = ktrace_control_name(&address, tracer);
	int32_t answer;
	struct ucred who;
	ssize_t got;

	if (fd < 0)
		return -errno;
	ktrace_control_patience(fd, 10);
	if (connect(fd, (struct sockaddr *)&address, n) < 0 || !ktrace_control_peer(fd, &who) ||
	    who.pid != tracer || send(fd, request, sizeof(*request), MSG_NOSIGNAL) != sizeof(*request)) {
		close(fd);
		return -ENOTCONN;
	}
	got = recv(fd, &answer, sizeof(answer), 0);
	close(fd);
	return got == sizeof(answer) ? answer : got == 0 || errno == ECONNRESET ? 0 : -ETIMEDOUT;
}
