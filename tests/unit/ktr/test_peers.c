/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets of this process that were there before somebody asks what they are called. */
#include "tests/unit/suite.h"

#include "ktr/provider/syscall/descriptors.h"
#include "ktr/provider/syscall/peers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Two ends and the socket that listened. 0, or -1: there is no such network. */
static int peers_make(const struct sockaddr *address, socklen_t n, int end[3])
{
	struct sockaddr_storage own;
	socklen_t length = sizeof(own);

	end[0] = end[1] = -1;
	end[2] = socket(address->sa_family, SOCK_STREAM, 0);
	if (end[2] < 0 || bind(end[2], address, n) < 0 || listen(end[2], 1) < 0 ||
	    getsockname(end[2], (struct sockaddr *)&own, &length) < 0)
		return -1;
	end[0] = socket(address->sa_family, SOCK_STREAM, 0);
	if (end[0] < 0 || connect(end[0], (struct sockaddr *)&own, length) < 0)
		return -1;
	end[1] = accept(end[2], NULL, NULL);
	return end[1] < 0 ? -1 : 0;
}

static void peers_close(const int end[3])
{
	for (int i = 0; i < 3; i++)
		if (end[i] >= 0)
			close(end[i]);
}

/* As a tracer that comes now calls it. */
static void peers_name(int fd, char name[KTR__DESCRIPTORS_NAME])
{
	struct ktr__descriptors *descriptors = calloc(1, sizeof(*descriptors));

	snprintf(name, KTR__DESCRIPTORS_NAME, "%s", ktr__descriptors_name(descriptors, getpid(), getpid(), fd));
	ktr__descriptors_free(descriptors);
	free(descriptors);
}

static unsigned peers_port(int fd)
{
	struct sockaddr_in6 own = { 0 }; /* its port is where that of sockaddr_in is */
	socklen_t length = sizeof(own);

	getsockname(fd, (struct sockaddr *)&own, &length);
	return ntohs(own.sin6_port);
}

static void peers_of(const struct sockaddr *address, socklen_t n, const char *host)
{
	char name[KTR__DESCRIPTORS_NAME], wanted[64];
	int end[3];

	if (peers_make(address, n, end) == 0) {
		for (int i = 0; i < 2; i++) {
			snprintf(wanted, sizeof(wanted), "%s:%u", host, peers_port(end[!i]));
			peers_name(end[i], name);
			CU_ASSERT_STRING_EQUAL(name, wanted);
		}
		snprintf(wanted, sizeof(wanted), "listening %s:%u", host, peers_port(end[2]));
		peers_name(end[2], name);
		CU_ASSERT_STRING_EQUAL(name, wanted);
	}
	peers_close(end);
}

static void connected_before_are_called_after_their_peers(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	peers_of((struct sockaddr *)&in, sizeof(in), "127.0.0.1");
	peers_of((struct sockaddr *)&in6, sizeof(in6), "[::1]");
}

static void local_ones_have_their_own_paths(void)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	socklen_t n;
	char name[KTR__DESCRIPTORS_NAME];
	int end[3];

	/* Of the abstract namespace, which leaves nothing behind. */
	snprintf(local.sun_path + 1, sizeof(local.sun_path) - 1, "ktr peers %d", (int)getpid());
	n = sizeof(sa_family_t) + 1 + (socklen_t)strlen(local.sun_path + 1);
	CU_ASSERT_EQUAL(peers_make((struct sockaddr *)&local, n, end), 0);
	local.sun_path[0] = '@';
	peers_name(end[1], name);
	CU_ASSERT_STRING_EQUAL(name, local.sun_path);
	peers_name(end[0], name);
	CU_ASSERT(strncmp(name, "socket:[", 8) == 0);
	peers_close(end);
}

static void one_that_is_made_now_has_no_peer(void)
{
	struct ktr__descriptors *descriptors = calloc(1, sizeof(*descriptors));
	const uint64_t args[KTR__CALL_ARGS] = { AF_INET, SOCK_STREAM };
	const struct ktr__call *call = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	for (unsigned i = 0; ktr__call_row(i); i++)
		if (strcmp(ktr__call_row(i)->name, "socket") == 0)
			call = ktr__call_row(i);
	ktr__descriptors_set(descriptors, getpid(), fd, "of another");
	ktr__descriptors_returned(descriptors, getpid(), call, args, fd);
	CU_ASSERT(strncmp(ktr__descriptors_name(descriptors, getpid(), getpid(), fd), "socket:[", 8) == 0);
	close(fd);
	ktr__descriptors_free(descriptors);
	free(descriptors);
}

static void what_is_none(void)
{
	char name[64] = "kept";

	CU_ASSERT_EQUAL(ktr__peer_inode("socket:[4711]"), 4711);
	CU_ASSERT_EQUAL(ktr__peer_inode("pipe:[4711]"), 0);
	CU_ASSERT_EQUAL(ktr__peer_inode("/a/socket:[1]"), 0);
	CU_ASSERT_EQUAL(ktr__peer_name(getpid(), 1, name, sizeof(name)), 0);
	CU_ASSERT_EQUAL(ktr__peer_name(-1, 1, name, sizeof(name)), 0);
	CU_ASSERT_STRING_EQUAL(name, "kept");
}

SUITE(peers, TEST(connected_before_are_called_after_their_peers), TEST(local_ones_have_their_own_paths),
      TEST(one_that_is_made_now_has_no_peer), TEST(what_is_none));
