/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of what system calls take: flags, commands, signals, of Linux, on the machine that this is compiled for. */
#ifndef TOOLS_KDUMP_NAMES_H
#define TOOLS_KDUMP_NAMES_H

#include <stdint.h>

enum kdump_names_kind {
	KDUMP_NAMES_MASK,  /* flags */
	KDUMP_NAMES_MASK0, /* flags, of which none is usual: 0 */
	KDUMP_NAMES_ENUM,  /* one of them */
	KDUMP_NAMES_VALID  /* one of them, or another number that has no name */
};

struct kdump_name {
	uint64_t value;
	const char *name;
};

struct kdump_names {
	char letter; /* of a call's argument, ktr/provider/syscall/calls.h */
	uint8_t kind; /* enum kdump_names_kind */
	uint32_t field; /* bits of a mask that are one of several, rather than flags */
	const struct kdump_name *names; /* ends with NULL; longer masks before what is in them */
};

/* NULL: a number without names. */
const struct kdump_names *kdump_names(char letter);

/* Of an enum. NULL: none. */
const char *kdump_names_find(const struct kdump_name *names, uint64_t value);

/* SIGHUP, SIGRTMIN+3; text has room for 32 bytes. NULL: no signal. */
const char *kdump_names_signal(int number, char text[32]);

#endif
