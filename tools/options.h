/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options and messages, the same in every subcommand: each option has a long name, options may
 * stand before or behind operands, --help prints examples first, a misspelt option is answered
 * with the nearest one.
 *
 *	static const struct option_row rows[] = {
 *		OPTIONS_SOURCE,
 *		{ 'o', "output", "FILE", "write to FILE instead of the terminal" },
 *		{ OPTION_LONG(0), "json", NULL, "print JSON" },
 *	};
 *	static const struct options options = {
 *		.operands = "[TRACE]", .about = "Prints the events of a trace.",
 *		.examples = "ktr dump\nktr dump -p 4711 --json\n",
 *		.rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]),
 *	};
 *
 *	while ((id = options_next(&options, argc, argv, &value)) > 0)
 *		switch (id) ...
 *	if (id < 0)
 *		return options_status(id);
 *	... operands are argv[optind] to argv[argc - 1]
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdio.h>
#include <ktr/error.h>

#include <getopt.h>
#include <stdint.h>

/* The id of an option without a letter; n from 0. */
#define OPTION_LONG(n) (256 + (n))

struct option_row {
	int id;		   /* its letter, or OPTION_LONG(n) */
	const char *name;  /* without the dashes */
	const char *value; /* what its value is called, in capitals; NULL: takes none */
	const char *help;  /* one line, lower case, no full stop */
};

struct options {
	const char *operands; /* as in a synopsis */
	const char *about;    /* one sentence or more */
	const char *examples; /* command lines, each with a newline */
	const struct option_row *rows;
	unsigned n_rows;
	int stop; /* 1: options end at the first operand, which is a command with its own */
};

/* The rows that say what is to be read; see find.h. */
#define OPTIONS_SOURCE                                                                           \
	{ 'p', "pid", "PID", "the session of a process" },                                       \
		{ 's', "session", "NAME", "a session by its name (see ktr ls)" }

/* The rows of those who write traces; values are read by option_rotate(). */
#define OPTION_SIZE  OPTION_LONG(901)
#define OPTION_EVERY OPTION_LONG(902)
#define OPTION_KEEP  OPTION_LONG(903)
#define OPTIONS_ROTATE                                                                           \
	{ OPTION_SIZE, "size", "BYTES", "begin another trace when one has so many (1G); 0: never" },   \
		{ OPTION_EVERY, "every", "DURATION", "begin another trace every 10min, 1h, 1d" },      \
		{ OPTION_KEEP, "keep", "N",                                                      \
		  "keep N older traces TRACE.1, TRACE.2 ... (4); 0: stop at --size" }

/*
 * The next option's id, with *value set if it takes one; 0 behind the last, with optind at the
 * first operand; negative when the command is over: help was printed, or a complaint.
 */
int options_next(const struct options *options, int argc, char **argv, const char **value);

/* The exit status for a negative id: 0 or 2. */
int options_status(int id);

/* Prints the help text of --help to stdout. */
void options_help(const struct options *options, const char *command);

/* Text of which no byte is a terminal's: see ktr__utf8_visible(); its lines stay. */
void print_visible(FILE *to, const char *text);

/*
 * Complaints on stderr, "COMMAND: text" with a newline added. usage_error() adds where to find
 * help and returns 2; fail() and fail_with() return 1. command is argv[0].
 */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fail_with(const char *command, const struct ktr_error *err);

/*
 * Reads a whole number, decimal or 0x; K, M, G multiply by powers of 1024. Complains and returns 2
 * when it is not one, or not in [min, max]; what names it: "--cpu".
 */
int option_number(const char *command, const char *what, const char *value, uint64_t min,
		  uint64_t max, uint64_t *number);

/* A time: 1.5s, 20ms, 10min; without a unit, seconds. 0 or -errno. */
int option_duration(const char *value, uint64_t *ns);

/* The value of an option of OPTIONS_ROTATE. 0 or 2, with a complaint. */
int option_rotate(const char *command, int id, const char *value, uint64_t *number);

/* Complains and returns 2 when there are more than n operands. */
int operands_at_most(const char *command, int argc, char **argv, int n);

#endif
