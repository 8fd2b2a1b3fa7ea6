/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options and messages, the same in every subcommand. A command has one table of its options, and each row says
 * where its value goes: a member of the command's struct. Parsing, --help, "did you mean", complaints about values
 * and the test that the manual pages name every option follow from that table. Options may stand before or after
 * operands.
 *
 *	struct dump {
 *		struct walk walk;
 *		const char *output;
 *		int csv;
 *	};
 *
 *	static const struct option_row dump_rows[] = {
 *		OPTIONS_WALK(struct dump, walk),
 *		OPTION_TEXT('o', "output", "FILE", struct dump, output, "write to FILE"),
 *		OPTION_FLAG(0, "csv", struct dump, csv, "as a table with a head"),
 *	};
 *	static const struct options dump_options = {
 *		.operands = "[TRACE]", .about = "Prints the events of a trace.",
 *		.examples = "ktr dump\nktr dump -p 4711 --csv\n",
 *		OPTIONS_ROWS(dump_rows),
 *	};
 *
 *	if (!options_parse(&dump_options, argc, argv, &dump, &status))
 *		return status;
 *	... operands are argv[optind] to argv[argc - 1]
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <ktr/error.h>

#include <stdio.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_LIST_MAX 64 /* times that an option can be repeated */

/* What an option may be given several times for. */
struct option_list {
	const char *text[OPTIONS_LIST_MAX];
	unsigned n;
};

/* What the target of a row is. */
enum option_kind {
	OPTION_KIND_HELP,
	OPTION_KIND_SET,     /* int: becomes min */
	OPTION_KIND_BITS,    /* unsigned: gets the bits of min */
	OPTION_KIND_TEXT,    /* const char * */
	OPTION_KIND_LIST,    /* struct option_list */
	OPTION_KIND_NUMBER,  /* uint64_t, in [min, max] */
	OPTION_KIND_TIME,    /* uint64_t [ns], in [min, max] */
	OPTION_KIND_PERCENT, /* double, a share; max is in percent */
	OPTION_KIND_WORD,    /* an enum: min is the first word's value */
	OPTION_KIND_TAKE     /* whatever take() makes of it */
};

/*
 * Takes a value that is of no such kind: into the target, at. what: the option as it was written. Returns 0, or 2
 * after a complaint. Words after it that belong to it are taken off at argv[optind].
 */
typedef int option_take_fn(void *at, const char *what, const char *value, char **argv);

struct option_row {
	char letter;       /* 0: none */
	uint8_t kind;      /* enum option_kind */
	uint32_t at;       /* [bytes] of its target in the command's struct */
	const char *name;  /* without the dashes */
	const char *value; /* what its value is called, in capitals; NULL: takes none; "[=18]": may be left out,
		NULL then */
	const char *help;  /* one line, lower case, no full stop */
	uint64_t min, max;
	union {
		const char *const *words; /* ends with NULL */
		const char *example;      /* of a time */
		option_take_fn *take;
	};
};

struct options {
	const char *operands; /* as in a synopsis */
	const char *about;    /* one sentence or more */
	const char *examples; /* command lines, each with a newline */
	const struct option_row *rows;
	unsigned n_rows;
	const char *(*first)(unsigned i, const char **help); /* what its first operand may be; NULL ends them */
	int stop; /* 1: options end at the first operand, which is a command with its own */
};

#define OPTIONS_ROWS(table) .rows = (table), .n_rows = sizeof(table) / sizeof((table)[0])

/* Where a member lies; that it is of the right type is checked when this is built. */
#define OPTION_AT(of, member, holds)                                                                     \
	((uint32_t)(offsetof(of, member) + 0 * sizeof(char[(holds) ? 1 : -1])))
#define OPTION_AT_A(type, of, member)                                                                    \
	OPTION_AT(of, member, __builtin_types_compatible_p(__typeof__(((of *)0)->member), type))

/* Rows: letter, name, what its value is called; the command's struct and the member; bounds; help. */
#define OPTION_SET(l, n, of, member, to, h)                                                              \
	{ .letter = l, .name = n, .kind = OPTION_KIND_SET, .min = to,                                    \
	  .at = OPTION_AT(of, member, sizeof(((of *)0)->member) == sizeof(int)), .help = h }
#define OPTION_FLAG(l, n, of, member, h) OPTION_SET(l, n, of, member, 1, h)
#define OPTION_BITS(l, n, of, member, bits, h)                                                           \
	{ .letter = l, .name = n, .kind = OPTION_KIND_BITS, .min = bits,                                 \
	  .at = OPTION_AT_A(unsigned, of, member), .help = h }
#define OPTION_TEXT(l, n, v, of, member, h)                                                              \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_TEXT,                                  \
	  .at = OPTION_AT_A(const char *, of, member), .help = h }
#define OPTION_LIST(l, n, v, of, member, h)                                                              \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_LIST,                                  \
	  .at = OPTION_AT_A(struct option_list, of, member), .help = h }
#define OPTION_NUMBER(l, n, v, of, member, least, most, h)                                               \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_NUMBER, .min = least, .max = most,     \
	  .at = OPTION_AT_A(uint64_t, of, member), .help = h }
#define OPTION_TIME(l, n, v, of, member, least, as, h)                                                   \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_TIME, .min = least, .example = as,     \
	  .at = OPTION_AT_A(uint64_t, of, member), .help = h }
#define OPTION_PERCENT(l, n, v, of, member, most, h)                                                     \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_PERCENT, .max = most,                  \
	  .at = OPTION_AT_A(double, of, member), .help = h }
#define OPTION_WORD(l, n, v, of, member, first, list, h)                                                 \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_WORD, .min = first, .words = list,     \
	  .at = OPTION_AT(of, member, sizeof(((of *)0)->member) == sizeof(int)), .help = h }
#define OPTION_TAKE(l, n, v, of, member, function, h)                                                    \
	{ .letter = l, .name = n, .value = v, .kind = OPTION_KIND_TAKE, .take = function,                \
	  .at = OPTION_AT(of, member, 1), .help = h }

/* The rows of those who write traces. */
struct rotate_options {
	uint64_t bytes, ns, keep; /* ROTATE_AS_IT_IS: not asked for */
};

#define ROTATE_AS_IT_IS	  UINT64_MAX
#define ROTATE_OPTIONS    { ROTATE_AS_IT_IS, ROTATE_AS_IT_IS, ROTATE_AS_IT_IS }
#define OPTIONS_ROTATE(of, member)                                                                       \
	OPTION_NUMBER(0, "size", "BYTES", of, member.bytes, 0, INT64_MAX,                                \
		      "begin another trace when one has so many (1G); 0: never"),                        \
	OPTION_TIME(0, "every", "DURATION", of, member.ns, 0, "10min or 1h",                             \
		    "begin another trace every 10min, 1h, 1d"),                                          \
	OPTION_NUMBER(0, "keep", "N", of, member.keep, 0, 1000000,                                       \
		      "keep N older traces TRACE.1, TRACE.2 ... (4); 0: stop at --size")

/*
 * Puts what the options say into the command's struct and leaves optind at the first operand. Returns false when
 * the command is over, with *status to end with: 0 after --help, 2 after a complaint.
 */
bool options_parse(const struct options *options, int argc, char **argv, void *command, int *status);

/* Row i of the table, the last one being --help, which is row n_rows. */
const struct option_row *options_row(const struct options *options, unsigned i);

/* For completion: is told the command's options instead, whatever the words are; the command is over then. */
extern void (*options_told)(const struct options *options);

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

/* Complains and returns 2 when there are more than n operands. */
int operands_at_most(const char *command, int argc, char **argv, int n);

#endif
