/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of /proc/PID/net: addresses are in hexadecimal the words that hold them in the network's order. */
#include "ktr/provider/syscall/peers.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEERS_LISTENS 0x0a /* a state of TCP's */

struct peers_end {
	uint32_t word[4];
	unsigned port;
};

/* "0100007F:0050", of one word or four. 1, or 0: it is none. */
static int peers_end(const char *text, struct peers_end *end, int *family)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	char word[9] = "";

	if (n != 8 && n != 32)
		return 0;
	*family = n == 8 ? AF_INET : AF_INET6;
	for (size_t i = 0; i < n / 8; i++) {
		memcpy(word, text + 8 * i, 8);
		end->word[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	end->port = (unsigned)strtoul(colon + 1, NULL, 16);
	return 1;
}

static void peers_print(const struct peers_end *end, int family, const char *before, char *name, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, end->word, text, sizeof(text));
	snprintf(name, size, family == AF_INET ? "%s%s:%u" : "%s[%s]:%u", before, text, end->port);
}

/* A line of tcp, tcp6, udp or udp6. 1: it is the socket's, and says who its peer is. */
static int peers_internet(const char *line, uint64_t inode, char *name, size_t size)
{
	char own_text[48], other_text[48];
	struct peers_end own = { { 0 }, 0 }, other = { { 0 }, 0 };
	unsigned state;
	uint64_t found;
	int family;

	if (sscanf(line, " %*u: %47s %47s %x %*s %*s %*s %*u %*u %" SCNu64, own_text, other_text, &state,
		   &found) != 4 ||
	    found != inode || !peers_end(own_text, &own, &family) || !peers_end(other_text, &other, &family))
		return 0;
	if (other.port)
		peers_print(&other, family, "", name, size);
	else if (state == PEERS_LISTENS)
		peers_print(&own, family, "listening ", name, size);
	return other.port || state == PEERS_LISTENS;
}

/* A line of unix. */
static int peers_local(const char *line, uint64_t inode, char *name, size_t size)
{
	uint64_t found;
	int at = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 " %n", &found, &at) != 1 || found != inode || !at ||
	    line[at] == '\0' || line[at] == '\n')
		return 0;
	snprintf(name, size, "%.*s", (int)strcspn(line + at, "\n"), line + at);
	return 1;
}

static int peers_file(pid_t tid, const char *file, uint64_t inode, char *name, size_t size)
{
	int is_local = strcmp(file, "unix") == 0, known = 0;
	char path[64], line[512];
	size_t n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)tid, file);
	in = fopen(path, "re");
	if (!in)
		return 0;
	while (!known && n < KTR__PEERS_BYTES && fgets(line, sizeof(line), in)) {
		n += strlen(line);
		known = is_local ? peers_local(line, inode, name, size) : peers_internet(line, inode, name, size);
	}
	fclose(in);
	return known;
}

int ktr__peer_name(pid_t tid, uint64_t inode, char *name, size_t size)
{
	static const char *const files[] = { "tcp", "unix", "tcp6", "udp", "udp6" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (peers_file(tid, files[i], inode, name, size))
			return 1;
	return 0;
}

uint64_t ktr__peer_inode(const char *link)
{
	uint64_t inode;

	return sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}
