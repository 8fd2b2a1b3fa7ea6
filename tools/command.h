/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subcommand of ktr is one file cmd_NAME.c that ends in
 *
 *	COMMAND(dump, "print the events of a trace as text", cmd_dump);
 *
 * main() finds it by itself. run() gets argv[0] = "ktr NAME" and returns the exit status: 0, 1
 * (the answer is no, or the run failed) or 2 (usage).
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

struct command {
	const char *name;
	const char *help; /* one line, lower case, no full stop; NULL: it is for programs, and not listed */
	int (*run)(int argc, char **argv);
	int alone; /* a link of its name to ktr is this command: ktrdump, kdump */
	struct command *next;
};

/* Adds one, which it keeps, to all that there are. */
void command_add(struct command *command);

/* All of them, sorted by name. */
extern struct command *command_first;

/* What SIGPIPE was set to when ktr was started: for the programs that it starts. */
extern void (*command_sigpipe)(int);
extern void (*command_sigxfsz)(int);

#define COMMAND(command_name, help_line, function)                                               \
	COMMAND_NAMED(command_name, #command_name, help_line, function, 0)

/* One that is a program by its name, too, which need be no word of C. */
#define COMMAND_ALONE(command_name, text, help_line, function)                                   \
	COMMAND_NAMED(command_name, text, help_line, function, 1)

#define COMMAND_NAMED(command_name, text, help_line, function, is_alone)                         \
	static struct command command_name##_command = { text, help_line, function, is_alone, 0 }; \
	static void __attribute__((constructor)) command_name##_command_add(void)                \
	{                                                                                        \
		command_add(&command_name##_command);                                            \
	}                                                                                        \
	extern int command_needs_a_semicolon

#endif
