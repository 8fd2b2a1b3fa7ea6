/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server: a TCP server with a thread per connection, and the clients that ask it. A request is a span from
 * its first byte to the end of the answer; what the server does meanwhile (parse, look up, answer) are
 * spans of their own, so that a slow request shows what it was slow in.
 *
 *	ktr run ./server && ktr report && ktr plot latency --span request
 */
#define _GNU_SOURCE
#include <ktr.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

KTR_CLASS_DEFINE(http, "requests");

enum {
	CLIENTS = 4,
	REQUESTS = 50 /* of each client */
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_in address = { .sin_family = AF_INET };

static unsigned look_up(unsigned key)
{
	KTR_SCOPE(KTR_CLASS(http), "look up", "key:%u", key);
	unsigned value;

	pthread_mutex_lock(&cache_lock);
	if (key % 25 == 0) /* not in the cache: the planted slow path */
		nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	value = key * 2654435761u;
	pthread_mutex_unlock(&cache_lock);
	return value;
}

static int answer(int fd, const char *line)
{
	KTR_SCOPE(KTR_CLASS(http), "request", "fd:%d", fd);
	char text[64];
	unsigned key;
	int n;

	CTR2(KTR_CLASS(http), "fd %d asks: %s", fd, line);
	if (sscanf(line, "GET %u", &key) != 1) {
		CTR1(KTR_CLASS(http), "fd %d: not a request", fd);
		return -1;
	}
	n = snprintf(text, sizeof(text), "OK %u\n", look_up(key));
	return write(fd, text, (size_t)n) == n ? 0 : -1;
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	FILE *from = fdopen(dup(fd), "r");
	char line[64];

	pthread_setname_np(pthread_self(), "connection");
	while (from && fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = 0;
		if (answer(fd, line) < 0)
			break;
	}
	if (from)
		fclose(from);
	close(fd);
	return NULL;
}

static void *client(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), n_right = 0;
	unsigned seed = (unsigned)(uintptr_t)arg, key, value;
	FILE *from;
	char line[64];

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return NULL;
	from = fdopen(fd, "r");
	for (int i = 0; from && i < REQUESTS; i++) {
		key = seed * 1000 + (unsigned)i;
		if (dprintf(fd, "GET %u\n", key) < 0 || !fgets(line, sizeof(line), from))
			break;
		n_right += sscanf(line, "OK %u", &value) == 1 && value == key * 2654435761u;
	}
	if (from)
		fclose(from);
	return (void *)(intptr_t)n_right;
}

int main(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), total = 0;
	pthread_t clients[CLIENTS], connections[CLIENTS];
	socklen_t size = sizeof(address);
	void *n;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, CLIENTS) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		perror("server");
		return 1;
	}
	for (intptr_t i = 0; i < CLIENTS; i++)
		if (pthread_create(&clients[i], NULL, client, (void *)(i + 1)) != 0)
			return 1;
	for (int i = 0; i < CLIENTS; i++) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0 || pthread_create(&connections[i], NULL, serve, (void *)(intptr_t)fd) != 0)
			return 1;
	}
	for (int i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i], &n);
		pthread_join(connections[i], NULL);
		total += (int)(intptr_t)n;
	}
	printf("%d right answers\n", total);
	return total == CLIENTS * REQUESTS ? 0 : 1;
}
