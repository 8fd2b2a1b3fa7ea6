/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ^C does to a command, and SIGTERM and SIGHUP: what it has begun to write is removed, its pager may be read
 * to the end, its line of progress goes, and it dies of the signal, so that a shell sees the status 130, 143 or
 * 129 and a loop around it ends, too. Commands that end in another way set handlers of their own: ktr run, ktr
 * record.
 */
#ifndef TOOLS_INTERRUPT_H
#define TOOLS_INTERRUPT_H

#include <sys/types.h>

/* Once, before all else. A signal that the caller ignores stays ignored. */
void interrupt_init(void);

/* In a child that is going to be another program. */
void interrupt_none(void);

/* The pager that is being written to, to be waited for; -1, -1: none. */
void interrupt_pager(pid_t pid, int fd);

/*
 * From here on ^C calls the function, in the handler, and the command goes on; NULL: it ends the command again.
 * What was interrupted and has cleaned up ends with interrupt_end().
 */
void interrupt_call(void (*function)(void));

/* SIGTERM, too, calls that function: of a command that a service manager ends. */
void interrupt_call_term(void);

/* Has ^C, or such a SIGTERM, come since interrupt_call()? */
int interrupt_came(void);

/* Ends the command as ^C would have. */
void interrupt_end(void) __attribute__((noreturn));

#endif
