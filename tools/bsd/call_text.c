/* SPDX-License-Identifier: BSD-2-Clause */
/* Names are those of kdump_names.c. */
#include "tools/bsd/call_text.h"

#include "tools/bsd/kdump_names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Text under construction, cut to its room. */
struct call_text_out {
	char *at, *end;
	int n; /* names of flags in it */
};

static void call_text_add(struct call_text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void call_text_add(struct call_text_out *out, const char *format, ...)
{
	size_t room = (size_t)(out->end - out->at);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->at, room, format, args);
	va_end(args);
	out->at += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void call_text_flag(struct call_text_out *out, const char *name)
{
	call_text_add(out, "%s%s", out->n++ ? "|" : "", name);
}

static void call_text_mask(struct call_text_out *out, const struct kdump_names *names, uint64_t value)
{
	uint64_t left = value & ~(uint64_t)names->field, one = value & names->field;

	for (const struct kdump_name *name = names->names; name->name; name++) {
		int is_one = names->field && !(name->value & ~(uint64_t)names->field);

		if (is_one ? name->value == one : name->value ? (left & name->value) == name->value : !value) {
			call_text_flag(out, name->name);
			left &= ~name->value;
			if (is_one)
				one = UINT64_MAX; /* it has its name */
		}
	}
	if (names->field && one != UINT64_MAX)
		left |= one;
	if (left || !out->n)
		call_text_add(out, left ? "%s%#" PRIx64 : "%s%" PRIu64, out->n ? "|" : "", left);
}

static void call_text_enum(struct call_text_out *out, const struct kdump_names *names, uint64_t value)
{
	const char *name = kdump_names_find(names->names, value);

	if (!name)
		name = kdump_names_find(names->names, (uint64_t)(int32_t)value);
	if (name)
		call_text_add(out, "%s", name);
	else
		call_text_add(out, "%#x", (unsigned)value);
}

static void call_text_signal(struct call_text_out *out, uint64_t value)
{
	char text[32];

	if (kdump_names_signal((int)value, text))
		call_text_add(out, "%s", text);
	else
		call_text_add(out, "%d", (int)value);
}

/* The lowest byte is the signal that the parent gets. */
static void call_text_clone(struct call_text_out *out, uint64_t value)
{
	char text[32];

	if (value & ~(uint64_t)0xff || !value)
		call_text_mask(out, kdump_names('c'), value & ~(uint64_t)0xff);
	if (!(value & 0xff))
		return;
	if (kdump_names_signal((int)(value & 0xff), text))
		call_text_flag(out, text);
	else
		call_text_add(out, "|%#x", (unsigned)(value & 0xff));
}

static void call_text_futex(struct call_text_out *out, uint64_t value)
{
	call_text_enum(out, kdump_names('u'), value & (uint64_t)FUTEX_CMD_MASK & UINT32_MAX);
	call_text_add(out, "%s%s", value & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
		      value & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
}

static void call_text_number(struct call_text_out *out, const struct ktr__call *call, unsigned i, uint64_t value)
{
	struct ktr__call_arg arg = { .kind = '*' };

	if (call)
		ktr__call_arg(call, i, &arg);
	switch (arg.kind) {
	case '*':
		call_text_add(out, value ? "%#" PRIx64 : call ? "NULL" : "%" PRIu64, value);
		return;
	case '^':
		call_text_add(out, "%u", (unsigned)value);
		return;
	case '-':
	case '+': /* lengths that no memory has are numbers below zero */
		call_text_add(out, "%" PRId64, (int64_t)value);
		return;
	default:
		call_text_add(out, "%d", (int)value);
	}
}

/* What arguments before it say of it. */
static char call_text_letter(const struct ktr__call *call, const uint64_t *args, unsigned i)
{
	char letter = call ? call->args[i] : '.';

	if (letter == 'f')
		return args[i - 1] == F_SETFL ? 'o' : args[i - 1] == F_SETFD ? 'f' : '.';
	if (letter == '=')
		return args[i - 1] == SOL_SOCKET ? '(' : args[i - 1] == IPPROTO_TCP ? ')' : '.';
	if (letter == 'I' && args[0] != AF_INET && args[0] != AF_INET6)
		return '.';
	return letter;
}

int call_text_has_names(const struct ktr__call *call, unsigned i)
{
	return strchr("mdscuf=", call->args[i]) || kdump_names(call->args[i]) != NULL;
}

size_t call_text(const struct ktr__call *call, const uint64_t *args, unsigned i, char *to, size_t size)
{
	struct call_text_out out = { to, to + size, 0 };
	char letter = call_text_letter(call, args, i);
	const struct kdump_names *names = kdump_names(letter);

	to[0] = '\0';
	switch (letter) {
	case 'd':
		call_text_add(&out, (int)args[i] == AT_FDCWD ? "AT_FDCWD" : "%d", (int)args[i]);
		break;
	case 'm':
		call_text_add(&out, args[i] & 07777 ? "%#o" : "000", (unsigned)args[i]);
		break;
	case 's':
		call_text_signal(&out, args[i]);
		break;
	case 'c':
		call_text_clone(&out, args[i]);
		break;
	case 'u':
		call_text_futex(&out, args[i]);
		break;
	case 'f':
		call_text_add(&out, args[i] == FD_CLOEXEC ? "FD_CLOEXEC" : "%#x", (unsigned)args[i]);
		break;
	default:
		if (!names)
			call_text_number(&out, call, i, args[i]);
		else if (names->kind == KDUMP_NAMES_MASK || names->kind == KDUMP_NAMES_MASK0)
			call_text_mask(&out, names, (uint32_t)args[i]);
		else
			call_text_enum(&out, names, args[i]);
	}
	return (size_t)(out.at - to);
}

int call_text_is_unsaid(const struct ktr__call *call, const uint64_t *args, unsigned i)
{
	char letter = call ? call->args[i] : '.';

	if (letter == 'm' && i > 0 && call->args[i - 1] == 'o')
		return !(args[i - 1] & O_CREAT) && (args[i - 1] & O_TMPFILE) != O_TMPFILE;
	if (letter != 'f')
		return 0;
	switch (args[i - 1]) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS:
		return 1;
	default:
		return 0;
	}
}

int call_text_gives_address(const struct ktr__call *call)
{
	static const char *const names[] = { "mmap", "brk", "mremap", "shmat" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(call->name, names[i]) == 0)
			return 1;
	return 0;
}

void call_text_errno(int error, char to[32])
{
	const char *name = strerrorname_np(error);

	if (name)
		snprintf(to, 32, "%s", name);
	else
		snprintf(to, 32, "%d", error);
}

static size_t call_text_unix(const struct sockaddr_un *address, size_t n, char *to, size_t size)
{
	size_t path = n > offsetof(struct sockaddr_un, sun_path) ? n - offsetof(struct sockaddr_un, sun_path) : 0;
	struct call_text_out out = { to, to + size, 0 };

	if (path && address->sun_path[0])
		call_text_add(&out, "%.*s", (int)strnlen(address->sun_path, path), address->sun_path);
	else if (path > 1)
		call_text_add(&out, "@%.*s", (int)strnlen(address->sun_path + 1, path - 1), address->sun_path + 1);
	else
		call_text_add(&out, "(no name)");
	return (size_t)(out.at - to);
}

size_t call_text_address(const void *bytes, size_t n, char *to, size_t size)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in *in = (const void *)&address;
	const struct sockaddr_in6 *in6 = (const void *)&address;
	struct call_text_out out = { to, to + size, 0 };
	char text[INET6_ADDRSTRLEN] = "";

	to[0] = '\0';
	if (n < sizeof(sa_family_t) || n > sizeof(address))
		return 0;
	memcpy(&address, bytes, n);
	switch (address.ss_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		call_text_add(&out, "%s:%u", text, ntohs(in->sin_port));
		return (size_t)(out.at - to);
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		call_text_add(&out, "[%s]:%u", text, ntohs(in6->sin6_port));
		return (size_t)(out.at - to);
	case AF_UNIX:
		return call_text_unix((const void *)&address, n, to, size);
	default:
		return 0;
	}
}
