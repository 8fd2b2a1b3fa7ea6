/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a trigger names what there is: known once there are call sites. */
#ifndef TOOLS_TRIGGER_NAMES_H
#define TOOLS_TRIGGER_NAMES_H

/*
 * Looks at a trace or a session for what a trigger names. what: stands before the complaint, which says on standard
 * error what the trigger names and nothing has, with the nearest there is.
 */
void trigger_names_check(const char *command, const char *what, const char *text, const char *path);

/*
 * The same when a program has ended; where all names are right and the trigger never held, that is said. Returns 1
 * where it held.
 */
int trigger_names_end(const char *command, const char *what, const char *text, const char *path);

#endif
