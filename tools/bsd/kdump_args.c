/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each letter of ktr/provider/syscall/call_rows.h becomes, in the forms of FreeBSD's kdump: masks as
 * number<NAME|NAME>, the rest of one without a name as <invalid>N behind, one of several as its name.
 */
#include "tools/bsd/kdump_args.h"

#include "tools/bsd/call_text.h"
#include "tools/bsd/kdump_names.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void kdump_args_number(const struct kdump_format *format, uint64_t value)
{
	fprintf(format->out, format->decimal ? "%" PRId64 : "%#" PRIx64, value);
}

/* ---- names ---- */

static int kdump_args_named(FILE *out, const char *name, int n)
{
	fprintf(out, "%s%s", n ? "|" : "", name);
	return n + 1;
}

void kdump_args_mask(const struct kdump_format *format, const struct kdump_names *names, uint64_t value)
{
	uint64_t left = value & ~(uint64_t)names->field, one = value & names->field;
	const struct kdump_name *name;
	int n = 0;

	if (!value && names->kind == KDUMP_NAMES_MASK0) {
		fputc('0', format->out);
		return;
	}
	fprintf(format->out, names->letter == 'm' ? "%#" PRIo64 "<" : "%#" PRIx64 "<", value);
	for (name = names->names; name->name; name++) {
		int is_one = names->field && !(name->value & ~(uint64_t)names->field);

		if (is_one ? name->value == one : name->value ? (left & name->value) == name->value : !value) {
			n = kdump_args_named(format->out, name->name, n);
			left &= ~name->value;
			if (is_one)
				one = UINT64_MAX; /* it has its name */
		}
	}
	if (names->field && one != UINT64_MAX)
		left |= one;
	fputc('>', format->out);
	if (left)
		fprintf(format->out, "<invalid>%" PRIu64, left);
}

static void kdump_args_enum(const struct kdump_format *format, const struct kdump_names *names, uint64_t value)
{
	/* Values below zero are those of 32 bits. */
	const char *name = kdump_names_find(names->names, value);

	if (!name)
		name = kdump_names_find(names->names, (uint64_t)(int32_t)value);
	if (name)
		fputs(name, format->out);
	else if (names->kind == KDUMP_NAMES_VALID)
		kdump_args_number(format, value);
	else
		fprintf(format->out, format->decimal ? "<invalid=%d>" : "<invalid=%#x>", (int)value);
}

static void kdump_args_signal(const struct kdump_format *format, uint64_t value)
{
	char text[32];

	if (kdump_names_signal((int)value, text))
		fputs(text, format->out);
	else
		fprintf(format->out, "SIG %d", (int)value);
}

/* The lowest byte is the signal that the parent gets. */
static void kdump_args_clone(const struct kdump_format *format, uint64_t value)
{
	const struct kdump_names *names = kdump_names('c');
	uint64_t left = value & ~(uint64_t)0xff;
	char text[32];
	int n = 0;

	fprintf(format->out, "%#" PRIx64 "<", value);
	for (const struct kdump_name *name = names->names; name->name; name++)
		if (left & name->value) {
			n = kdump_args_named(format->out, name->name, n);
			left &= ~name->value;
		}
	if (kdump_names_signal((int)(value & 0xff), text))
		kdump_args_named(format->out, text, n);
	else
		left |= value & 0xff;
	fputc('>', format->out);
	if (left)
		fprintf(format->out, "<invalid>%" PRIu64, left);
}

static void kdump_args_futex(const struct kdump_format *format, uint64_t value)
{
	fprintf(format->out, "%#x<", (unsigned)value);
	if (value & FUTEX_PRIVATE_FLAG)
		fputs("FUTEX_PRIVATE_FLAG|", format->out);
	if (value & FUTEX_CLOCK_REALTIME)
		fputs("FUTEX_CLOCK_REALTIME|", format->out);
	kdump_args_enum(format, kdump_names('u'), value & (uint64_t)FUTEX_CMD_MASK & UINT32_MAX);
	fputc('>', format->out);
}

/* ---- arguments that depend on the one before ---- */

static const struct kdump_name kdump_args_fd_names[] = { { FD_CLOEXEC, "FD_CLOEXEC" }, { 0, NULL } };
static const struct kdump_names kdump_args_fd_flags = { 'f', KDUMP_NAMES_MASK0, 0, kdump_args_fd_names };

static void kdump_args_fcntl(const struct kdump_format *format, uint64_t command, uint64_t value)
{
	if (command == F_SETFL)
		kdump_args_mask(format, kdump_names('o'), value);
	else if (command == F_SETFD)
		kdump_args_mask(format, &kdump_args_fd_flags, value);
	else
		kdump_args_number(format, value);
}

/* Options of sockets, by their level. */
static void kdump_args_option(const struct kdump_format *format, uint64_t level, uint64_t value)
{
	const struct kdump_names *names =
		level == SOL_SOCKET ? kdump_names('(') : level == IPPROTO_TCP ? kdump_names(')') : NULL;

	if (names)
		kdump_args_enum(format, names, value);
	else
		kdump_args_number(format, value);
}

/* Protocols have names where the domain is the Internet. */
static void kdump_args_protocol(const struct kdump_format *format, uint64_t domain, uint64_t value)
{
	if (domain == AF_INET || domain == AF_INET6)
		kdump_args_enum(format, kdump_names('I'), value);
	else
		kdump_args_number(format, value);
}

static void kdump_args_one(const struct kdump_format *format, char letter, const uint64_t *args, unsigned i)
{
	const struct kdump_names *names = kdump_names(letter);

	switch (letter) {
	case '#':
		fprintf(format->out, "%d", (int)args[i]);
		return;
	case 'd':
		if ((int)args[i] == AT_FDCWD)
			fputs("AT_FDCWD", format->out);
		else
			kdump_args_number(format, args[i]);
		return;
	case 's':
		kdump_args_signal(format, args[i]);
		return;
	case 'c':
		kdump_args_clone(format, args[i]);
		return;
	case 'u':
		kdump_args_futex(format, args[i]);
		return;
	case 'f':
		kdump_args_fcntl(format, args[i - 1], args[i]);
		return;
	case '=':
		kdump_args_option(format, args[i - 1], args[i]);
		return;
	case 'I':
		kdump_args_protocol(format, args[0], args[i]);
		return;
	default:
		break;
	}
	if (!names)
		kdump_args_number(format, args[i]);
	else if (names->kind == KDUMP_NAMES_MASK || names->kind == KDUMP_NAMES_MASK0)
		kdump_args_mask(format, names, (uint32_t)args[i]);
	else
		kdump_args_enum(format, names, args[i]);
}

void kdump_args(const struct kdump_format *format, const struct ktr__call *call, const uint64_t *args, unsigned n)
{
	char separator = '(';

	if (!n)
		return;
	if (format->plain || (call && call->n_args != n))
		call = NULL;
	for (unsigned i = 0; i < n; i++) {
		if (call_text_is_unsaid(call, args, i))
			continue;
		fputc(separator, format->out);
		separator = ',';
		kdump_args_one(format, call ? call->args[i] : '.', args, i);
	}
	fputc(')', format->out);
}
