/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * getopt_long(3) with our tables and our own words. What it returns for a long option is the place of its row, so
 * that every complaint is about a row.
 */
#include "tools/options.h"

#include "tools/progress.h"

#include "conf/kit/utf8.h"
#include "conf/number.h"

#include <ktr/conf.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX  48  /* rows of a command */
#define OPTIONS_LONG 256 /* what getopt(3) returns for the first long option: no letter */

void (*options_told)(const struct options *options);

/* The row after the last is that of --help, which has the letter h unless the command has another use for it. */
const struct option_row *options_row(const struct options *options, unsigned i)
{
	static const struct option_row help[] = {
		{ .letter = 'h', .name = "help", .help = "print this and exit" },
		{ .letter = 0, .name = "help", .help = "print this and exit" },
	};

	if (i < options->n_rows)
		return &options->rows[i];
	for (i = 0; i < options->n_rows; i++)
		if (options->rows[i].letter == 'h')
			return &help[1];
	return &help[0];
}

/* The row of what getopt(3) has returned or left in optopt; NULL for a letter that is none. */
static const struct option_row *options_find(const struct options *options, int id)
{
	if (id >= OPTIONS_LONG)
		return options_row(options, (unsigned)(id - OPTIONS_LONG));
	for (unsigned i = 0; i <= options->n_rows; i++)
		if (options_row(options, i)->letter == id)
			return options_row(options, i);
	return NULL;
}

/* The column of an option's own text: "  -o, --output FILE". */
static int options_left(const struct option_row *row, char *text, size_t size)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return snprintf(text, size, "  %s--%s%s%s", letter, row->name, row->value && *row->value != '[' ? " " : "",
			row->value ? row->value : "");
}

/* Prints the help text of --help to stdout. */
static void options_help(const struct options *options, const char *command)
{
	char left[96];
	const char *line, *end;
	int width = 0, n;

	printf("examples:\n");
	for (line = options->examples; *line; line = end + 1) {
		end = strchr(line, '\n');
		printf("  %.*s\n", (int)(end - line), line);
	}
	printf("\nusage: %s [OPTIONS]%s%s\n%s\n\n", command, options->operands && *options->operands ? " " : "",
	       options->operands ? options->operands : "", options->about);
	for (unsigned i = 0; i <= options->n_rows; i++) {
		n = options_left(options_row(options, i), left, sizeof(left));
		width = n > width ? n : width;
	}
	for (unsigned i = 0; i <= options->n_rows; i++) {
		options_left(options_row(options, i), left, sizeof(left));
		printf("%-*s  %s\n", width, left, options_row(options, i)->help);
	}
}

static int options_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct options *options = context;

	*value = idx;
	if (idx > options->n_rows)
		return -2; /* ENOENT; any negative number ends the list */
	snprintf(name, size, "%s", options_row(options, idx)->name);
	return 0;
}

static void options_unknown(const struct options *options, const char *command, const char *word)
{
	char name[64], nearest[64];
	struct options copy = *options;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (ktr_nearest(name, options_names, &copy, nearest, sizeof(nearest)))
		usage_error(command, "there is no option --%s; did you mean --%s?", name, nearest);
	else
		usage_error(command, "there is no option --%s", name);
}

/*
 * getopt_long sets optopt to the option it does not like, and to 0 for a long one it does not know.
 */
static void options_complain(const struct options *options, char **argv, int found)
{
	const struct option_row *row = options_find(options, optopt);

	if (!optopt)
		options_unknown(options, argv[0], argv[optind - 1]);
	else if (!row)
		usage_error(argv[0], "there is no option -%c", optopt);
	else if (found == ':')
		usage_error(argv[0], "the option --%s needs a value: %s", row->name, row->value);
	else
		usage_error(argv[0], "the option --%s takes no value", row->name);
}

/* "+" ends options at the first operand; ":" tells a missing value from an unknown option. */
static void options_tables(const struct options *options, char letters[2 * OPTIONS_MAX + 8],
			   struct option longs[OPTIONS_MAX + 2])
{
	if (options->stop)
		*letters++ = '+';
	*letters++ = ':';
	memset(longs, 0, (OPTIONS_MAX + 2) * sizeof(longs[0]));
	for (unsigned i = 0; i <= options->n_rows && i <= OPTIONS_MAX; i++) {
		const struct option_row *row = options_row(options, i);

		longs[i].name = row->name;
		longs[i].has_arg = !row->value ? no_argument : *row->value == '[' ? optional_argument :
			required_argument;
		longs[i].val = OPTIONS_LONG + (int)i;
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->value)
			*letters++ = ':';
	}
	*letters = '\0';
}

static int options_time(const struct option_row *row, const char *command, const char *what, const char *value,
			uint64_t *ns)
{
	if (option_duration(value, ns) == 0 && *ns >= row->min)
		return 0;
	return usage_error(command, "%s %s: not a duration such as %s", what, value, row->example);
}

static int options_percent(const struct option_row *row, const char *command, const char *what, const char *value,
			   double *share)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end || !(percent >= 0) || percent > (double)row->max)
		return usage_error(command, "%s: \"%s\" is no share from 0 to %g percent", what, value,
				   (double)row->max);
	*share = percent / 100;
	return 0;
}

static int options_word(const struct option_row *row, const char *command, const char *what, const char *value,
			int *word)
{
	char list[256] = "";
	size_t n = 0;

	for (unsigned i = 0; row->words[i]; i++) {
		if (strcmp(value, row->words[i]) == 0) {
			*word = (int)(row->min + i);
			return 0;
		}
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      !i ? "" : row->words[i + 1] ? ", " : " or ", row->words[i]);
	}
	return usage_error(command, "%s is %s, not \"%s\"", what, list, value);
}

static int options_list(const char *command, const char *what, const char *value, struct option_list *list)
{
	if (list->n == OPTIONS_LIST_MAX)
		return usage_error(command, "at most %d times %s", OPTIONS_LIST_MAX, what);
	list->text[list->n++] = value;
	return 0;
}

/* Stores the value where the row says. what: the option as it was written. 0, or 2 after a complaint. */
static int options_store(const struct option_row *row, void *at, const char *what, const char *value, char **argv)
{
	switch ((enum option_kind)row->kind) {
	case OPTION_KIND_SET:
		*(int *)at = (int)row->min;
		return 0;
	case OPTION_KIND_BITS:
		*(unsigned *)at |= (unsigned)row->min;
		return 0;
	case OPTION_KIND_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_KIND_LIST:
		return options_list(argv[0], what, value, at);
	case OPTION_KIND_NUMBER:
		return option_number(argv[0], what, value, row->min, row->max, at);
	case OPTION_KIND_TIME:
		return options_time(row, argv[0], what, value, at);
	case OPTION_KIND_PERCENT:
		return options_percent(row, argv[0], what, value, at);
	case OPTION_KIND_WORD:
		return options_word(row, argv[0], what, value, at);
	case OPTION_KIND_TAKE:
		return row->take(at, what, value, argv);
	case OPTION_KIND_HELP:
		break;
	}
	return 0;
}

bool options_parse(const struct options *options, int argc, char **argv, void *command, int *status)
{
	char letters[2 * OPTIONS_MAX + 8], what[64];
	struct option longs[OPTIONS_MAX + 2];
	const struct option_row *row;
	int id;

	if (options_told) {
		*status = 0;
		options_told(options);
		return false;
	}
	options_tables(options, letters, longs);
	opterr = optopt = 0;
	*status = 2;
	while ((id = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (id == '?' || id == ':') {
			options_complain(options, argv, id);
			return false;
		}
		row = options_find(options, id);
		if (row->kind == OPTION_KIND_HELP) {
			options_help(options, argv[0]);
			*status = 0;
			return false;
		}
		if (id < OPTIONS_LONG)
			snprintf(what, sizeof(what), "-%c", id);
		else
			snprintf(what, sizeof(what), "--%s", row->name);
		if (options_store(row, (char *)command + row->at, what, optarg, argv))
			return false;
	}
	*status = 0;
	return true;
}

void print_visible(FILE *to, const char *text)
{
	char clean[4 * 256];

	while (*text) {
		size_t n = strcspn(text, "\n");

		n = n < 256 ? n : 256;
		fwrite(clean, 1, ktr__utf8_visible(clean, text, n), to);
		text += n;
		if (*text == '\n')
			fputc(*text++, to);
	}
}

static void __attribute__((format(printf, 2, 0)))
options_say(const char *command, const char *format, va_list args)
{
	char line[4096] = "";

	vsnprintf(line, sizeof(line), format, args);
	fflush(stdout);
	progress_wipe();
	fprintf(stderr, "%s: ", command);
	/* What is repeated of a command line or of a trace stays text; lines are ours. */
	print_visible(stderr, line);
	fputc('\n', stderr);
}

int usage_error(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	options_say(command, format, args);
	va_end(args);
	fprintf(stderr, "%s --help shows how it is used.\n", command);
	return 2;
}

int fail(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	options_say(command, format, args);
	va_end(args);
	return 1;
}

int fail_with(const char *command, const struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	return fail(command, "%s", ktr_error_print(err, line, sizeof(line)));
}

int option_number(const char *command, const char *what, const char *value, uint64_t min,
		  uint64_t max, uint64_t *number)
{
	uint64_t n;

	if (ktr__parse_size(value, &n, NULL))
		return usage_error(command, "%s: \"%s\" is not a number", what, value);
	if (n < min || n > max)
		return usage_error(command, "%s: %llu is not between %llu and %llu", what,
				   (unsigned long long)n, (unsigned long long)min,
				   (unsigned long long)max);
	*number = n;
	return 0;
}

int option_duration(const char *value, uint64_t *ns)
{
	char seconds[64];
	size_t n = strlen(value);

	if (n == 0 || value[n - 1] < '0' || value[n - 1] > '9')
		return ktr__parse_duration(value, ns, NULL);
	if ((size_t)snprintf(seconds, sizeof(seconds), "%ss", value) >= sizeof(seconds))
		return -EINVAL;
	return ktr__parse_duration(seconds, ns, NULL);
}

int operands_at_most(const char *command, int argc, char **argv, int n)
{
	if (argc - optind <= n)
		return 0;
	return usage_error(command, "\"%s\" is one operand too many", argv[optind + n]);
}
