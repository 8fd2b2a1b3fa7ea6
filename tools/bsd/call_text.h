/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of system calls as strace(1) prints them: names of flags, commands, signals, and no numbers beside
 * them.
 */
#ifndef TOOLS_CALL_TEXT_H
#define TOOLS_CALL_TEXT_H

#include "ktr/provider/syscall/calls.h"

#include <stddef.h>

/* Has argument i names, so that call_text() is more than its number? */
int call_text_has_names(const struct ktr__call *call, unsigned i);

/* Its text, cut to size. Its length. */
size_t call_text(const struct ktr__call *call, const uint64_t *args, unsigned i, char *to, size_t size);

/* Nobody looks at it: a mode where no file is made, what a command of fcntl(2) does not take. */
int call_text_is_unsaid(const struct ktr__call *call, const uint64_t *args, unsigned i);

/* Is its result an address? */
int call_text_gives_address(const struct ktr__call *call);

/* "ENOENT"; a number where it has no name. */
void call_text_errno(int error, char to[32]);

/*
 * "127.0.0.1:80", "[::1]:80", "/run/x.sock", "@abstract": of what the kernel lays out. Its length; 0: nothing
 * known.
 */
size_t call_text_address(const void *bytes, size_t n, char *to, size_t size);

#endif
