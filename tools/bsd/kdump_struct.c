/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's structures, by their names; the layout is that of writer/ktrace/layout.h. */
#include "tools/bsd/kdump_struct.h"

#include "tools/bsd/kdump_text.h"
#include "writer/ktrace/layout.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define KDUMP_STRUCT_UNIX_PATH 2 /* [bytes] before the path of a sockaddr_un */

/* ---- sockaddr ---- */

static void kdump_struct_unix(FILE *out, const char *bytes, size_t n)
{
	const char *path = bytes + KDUMP_STRUCT_UNIX_PATH;
	size_t length = n - KDUMP_STRUCT_UNIX_PATH;

	/* A name of Linux's abstract namespace begins with NUL; @ says so. */
	if (length > 1 && !*path) {
		fputc('@', out);
		path++;
		length--;
	} else {
		length = strnlen(path, length);
	}
	kdump_text(out, path, length);
}

static void kdump_struct_internet(FILE *out, const char *bytes, size_t n, int family)
{
	size_t need = family == AF_INET ? 16 : 28, at = family == AF_INET ? 4 : 8;
	char text[INET6_ADDRSTRLEN];
	uint16_t port;

	if (n < need) {
		fputs("invalid", out);
		return;
	}
	memcpy(&port, bytes + 2, sizeof(port));
	inet_ntop(family, bytes + at, text, sizeof(text));
	fprintf(out, family == AF_INET ? "%s:%u" : "[%s]:%u", text, ntohs(port));
}

static int kdump_struct_sockaddr(const struct kdump_format *format, const char *bytes, size_t n)
{
	unsigned family;

	if (n < KDUMP_STRUCT_UNIX_PATH || (uint8_t)bytes[0] != n || n > sizeof(struct ktr__ktrace_sockaddr))
		return 0;
	family = (uint8_t)bytes[1];
	fputs("struct sockaddr { ", format->out);
	switch (family) {
	case KTR__KTRACE_AF_UNIX:
		fputs("AF_UNIX, ", format->out);
		kdump_struct_unix(format->out, bytes, n);
		break;
	case KTR__KTRACE_AF_INET:
		fputs("AF_INET, ", format->out);
		kdump_struct_internet(format->out, bytes, n, AF_INET);
		break;
	case KTR__KTRACE_AF_INET6:
		fputs("AF_INET6, ", format->out);
		kdump_struct_internet(format->out, bytes, n, AF_INET6);
		break;
	case KTR__KTRACE_AF_NETLINK:
		fputs("AF_NETLINK, unknown address family", format->out);
		break;
	default:
		fprintf(format->out, "<invalid=%u>, unknown address family", family);
	}
	fputs(" }\n", format->out);
	return 1;
}

/* ---- stat ---- */

/* As ls -l shows it, and a blank. */
static void kdump_struct_mode(FILE *out, unsigned mode)
{
	static const char types[16] = { [S_IFIFO >> 12] = 'p', [S_IFCHR >> 12] = 'c', [S_IFDIR >> 12] = 'd',
					[S_IFBLK >> 12] = 'b', [S_IFREG >> 12] = '-', [S_IFLNK >> 12] = 'l',
					[S_IFSOCK >> 12] = 's' };
	static const unsigned special[3] = { S_ISUID, S_ISGID, S_ISVTX };
	char type = types[mode >> 12 & 15];

	fputc(type ? type : '?', out);
	for (int i = 0; i < 3; i++) {
		unsigned bits = mode >> (6 - 3 * i) & 7;
		char x = bits & 1 ? 'x' : '-';

		if (mode & special[i])
			x = i == 2 ? (bits & 1 ? 't' : 'T') : (bits & 1 ? 's' : 'S');
		fprintf(out, "%c%c%c", bits & 4 ? 'r' : '-', bits & 2 ? 'w' : '-', x);
	}
	fputc(' ', out);
}

static void kdump_struct_time(const struct kdump_format *format, const char *name, struct ktr__ktrace_timespec time)
{
	char text[64] = "";
	time_t seconds = (time_t)time.sec;
	struct tm tm;

	fprintf(format->out, "%s=", name);
	if (format->resolve && localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%b %e %T %Y", &tm))
		fprintf(format->out, "\"%s\"", text);
	else
		fprintf(format->out, "%" PRId64, time.sec);
	if (time.nsec)
		fprintf(format->out, ".%09" PRId64, time.nsec);
	fputs(", ", format->out);
}

static void kdump_struct_owner(FILE *out, const char *what, const char *name, unsigned id)
{
	if (name)
		fprintf(out, "%s=\"%s\", ", what, name);
	else
		fprintf(out, "%s=%u, ", what, id);
}

static int kdump_struct_stat(const struct kdump_format *format, const char *bytes, size_t n)
{
	struct ktr__ktrace_stat stat;
	struct passwd *user = NULL;
	struct group *group = NULL;
	FILE *out = format->out;

	if (n != sizeof(stat))
		return 0;
	memcpy(&stat, bytes, n);
	fprintf(out, "struct stat {dev=%" PRIu64 ", ino=%" PRIu64 ", mode=", stat.dev, stat.ino);
	if (format->resolve) {
		kdump_struct_mode(out, stat.mode);
		user = getpwuid(stat.uid);
		group = getgrgid(stat.gid);
	} else {
		fprintf(out, "0%o", stat.mode);
	}
	fprintf(out, ", nlink=%" PRIu64 ", ", stat.nlink);
	kdump_struct_owner(out, "uid", user ? user->pw_name : NULL, stat.uid);
	kdump_struct_owner(out, "gid", group ? group->gr_name : NULL, stat.gid);
	fprintf(out, "rdev=%" PRIu64 ", ", stat.rdev);
	kdump_struct_time(format, "atime", stat.atime);
	kdump_struct_time(format, "mtime", stat.mtime);
	kdump_struct_time(format, "ctime", stat.ctime);
	kdump_struct_time(format, "birthtime", stat.birthtime);
	fprintf(out, "size=%" PRId64 ", blksize=%d, blocks=%" PRId64 ", flags=0x%x }\n", stat.size, stat.blksize,
		stat.blocks, stat.flags);
	return 1;
}

/* ---- others ---- */

static int kdump_struct_itimerval(const struct kdump_format *format, const char *bytes, size_t n)
{
	struct ktr__ktrace_itimerval timer;

	if (n != sizeof(timer))
		return 0;
	memcpy(&timer, bytes, n);
	fprintf(format->out,
		"itimerval { .interval = {%" PRId64 ", %" PRId64 "}, .value = {%" PRId64 ", %" PRId64 "} }\n",
		timer.interval.sec, timer.interval.usec, timer.value.sec, timer.value.usec);
	return 1;
}

static int kdump_struct_cpuset(const struct kdump_format *format, const char *bytes, size_t n)
{
	int any = 0;

	fputs("cpuset_t [ ", format->out);
	for (size_t i = 0; i < 8 * n; i++)
		if ((uint8_t)bytes[i / 8] >> i % 8 & 1)
			fprintf(format->out, any++ ? ", %zu" : "%zu", i);
	fputs(any ? " ]\n" : " empty ]\n", format->out);
	return 1;
}

static const struct {
	const char *name;
	int (*print)(const struct kdump_format *format, const char *bytes, size_t n); /* 0: it cannot be one */
} kdump_structs[] = {
	{ "sockaddr", kdump_struct_sockaddr },
	{ "stat", kdump_struct_stat },
	{ "itimerval", kdump_struct_itimerval },
	{ "cpuset_t", kdump_struct_cpuset },
};

/* The length of a name with its NUL; 0: it is none. */
static size_t kdump_struct_name(const char *bytes, size_t n, int digits)
{
	size_t length = strnlen(bytes, n);

	if (length == n)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (!isalpha((unsigned char)bytes[i]) && bytes[i] != '_' &&
		    !(digits && isdigit((unsigned char)bytes[i])))
			return 0;
	return length + 1;
}

void kdump_struct(const struct kdump_format *format, const char *bytes, size_t n)
{
	size_t name = kdump_struct_name(bytes, n, 0);
	int good = 0;

	if (name && name < n) {
		unsigned i = 0, n_structs = sizeof(kdump_structs) / sizeof(kdump_structs[0]);

		while (i < n_structs && strcmp(bytes, kdump_structs[i].name) != 0)
			i++;
		if (i == n_structs) {
			fputs("unknown structure\n", format->out);
			return;
		}
		good = kdump_structs[i].print(format, bytes + name, n - name);
	}
	if (!good)
		fputs("invalid record\n", format->out);
}

/* What FreeBSD has arrays of (kevent) Linux has none of: the elements' bytes. */
void kdump_struct_array(const struct kdump_format *format, const char *bytes, size_t n)
{
	uint64_t size = 0;
	size_t name = 0;

	if (n > sizeof(size)) {
		memcpy(&size, bytes, sizeof(size));
		name = kdump_struct_name(bytes + sizeof(size), n - sizeof(size), 1);
	}
	if (!name || !size) {
		fputs("invalid record\n", format->out);
		return;
	}
	fprintf(format->out, "struct %s[] = { ", bytes + sizeof(size));
	for (size_t at = sizeof(size) + name, i = 0; n - at >= size; at += size, i++) {
		fputs(i ? "\n             { " : "{ ", format->out);
		for (size_t k = 0; k < size; k++)
			fprintf(format->out, "%02x", (uint8_t)bytes[at + k]);
		fputs(" }", format->out);
	}
	fputs(" }\n", format->out);
}
