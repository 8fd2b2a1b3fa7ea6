/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks a memcached for small things, for tests/bench-programs/run.py:
 *
 *	client SOCKET CONNECTIONS REQUESTS
 *
 * Each connection has one request under way, one of four "get" of a key that is there, the others "set" of a
 * hundred bytes. Ends when all are answered; an answer that is wrong ends it with status 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define KEYS  1000
#define BYTES 100

struct connection {
	int fd;
	int sets, fills;
	char answer[512];
	size_t n;
};

static unsigned long asked, n_requests, n_filled;

static int failed(const char *what)
{
	fprintf(stderr, "client: %s: %s\n", what, strerror(errno));
	return 1;
}

static int ask(struct connection *c)
{
	static char value[BYTES + 1];
	char text[BYTES + 100];
	unsigned key = (unsigned)(asked * 2654435761u >> 8) % KEYS;
	int n;

	if (!value[0])
		memset(value, 'v', BYTES);
	/* The first requests fill the store; none is got before all of them are answered. */
	c->fills = asked < KEYS;
	c->sets = n_filled < KEYS || asked % 4 != 0;
	if (c->fills)
		key = (unsigned)asked;
	asked++;
	c->n = 0;
	n = c->sets ? snprintf(text, sizeof(text), "set key%u 0 0 %d\r\n%s\r\n", key, BYTES, value) :
		      snprintf(text, sizeof(text), "get key%u\r\n", key);
	return write(c->fd, text, (size_t)n) == n ? 0 : failed("write");
}

/* 1: answered; 0: not yet; -1: that is no answer. */
static int hear(struct connection *c)
{
	ssize_t n = read(c->fd, c->answer + c->n, sizeof(c->answer) - 1 - c->n);

	if (n <= 0)
		return -1;
	c->n += (size_t)n;
	c->answer[c->n] = '\0';
	if (c->n < 2 || strcmp(c->answer + c->n - 2, "\r\n") != 0)
		return 0;
	if (c->sets)
		return strcmp(c->answer, "STORED\r\n") == 0 ? 1 : -1;
	if (c->n < 5 || strcmp(c->answer + c->n - 5, "END\r\n") != 0)
		return 0;
	return strncmp(c->answer, "VALUE key", 9) == 0 ? 1 : -1;
}

int main(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN };
	unsigned long answered = 0;
	struct connection *c;
	int n, ready;

	if (argc != 4 || strlen(argv[1]) >= sizeof(to.sun_path)) {
		fprintf(stderr, "usage: client SOCKET CONNECTIONS REQUESTS\n");
		return 2;
	}
	strcpy(to.sun_path, argv[1]);
	n = atoi(argv[2]);
	n_requests = strtoul(argv[3], NULL, 10);
	c = calloc((size_t)n, sizeof(*c));
	ready = epoll_create1(EPOLL_CLOEXEC);
	if (!c || ready < 0)
		return failed("start");
	for (int i = 0; i < n && asked < n_requests; i++) {
		c[i].fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		event.data.ptr = &c[i];
		if (connect(c[i].fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
		    epoll_ctl(ready, EPOLL_CTL_ADD, c[i].fd, &event) != 0)
			return failed(argv[1]);
		if (ask(&c[i]))
			return 1;
	}
	while (answered < n_requests) {
		struct epoll_event got[64];
		int n_got = epoll_wait(ready, got, 64, 10000);

		if (n_got <= 0)
			return failed("no answer");
		for (int i = 0; i < n_got; i++) {
			struct connection *one = got[i].data.ptr;
			int rc = hear(one);

			if (rc < 0) {
				fprintf(stderr, "client: a wrong answer: %s\n", one->answer);
				return 1;
			}
			answered += rc > 0;
			n_filled += rc > 0 && one->fills;
			if (rc > 0 && asked < n_requests && ask(one))
				return 1;
		}
	}
	return 0;
}
