/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `ktr run` can say about its options before it starts the program, which would only say it in the
 * middle of its own output, and go on. Each returns 0, or an exit status after a complaint.
 */
#ifndef TOOLS_RUN_CHECK_H
#define TOOLS_RUN_CHECK_H

/*
 * A mask for a program. A name that is none of the usual classes may be one of the program's own: it is
 * taken if the program's file has it as a string, if libktr is not in the file (a script, or a program
 * whose libraries have it), or if it does not look like a slip of the pen.
 */
int run_check_mask(const char *command, const char *mask, const char *program);

int run_check_entries(const char *command, const char *entries);
int run_check_session(const char *command, const char *name);

/* Of a trace by the name that was given and by its path: may something be put there? Is nobody writing it? */
int run_check_output(const char *command, const char *trace, const char *path);
int run_check_unwritten(const char *command, const char *trace, const char *path);

#endif
