/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * getopt_long(3) with our tables and our own words. The letter string and the long options are made
 * anew for each option, out of the rows, so that nothing is kept between calls but getopt's optind.
 */
#include "tools/options.h"

#include <ktr/conf.h>

#include "conf/kit/utf8.h"
#include "conf/value.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX   48 /* rows of a command */

#define OPTIONS_DONE  (-1) /* help was printed */
#define OPTIONS_WRONG (-2)

/* --help has the letter h unless the command has another use for it. */
static const struct option_row options_help_rows[] = {
	{ 'h', "help", NULL, "print this and exit" },
	{ OPTION_LONG(999), "help", NULL, "print this and exit" },
};

static const struct option_row *options_row(const struct options *options, unsigned i)
{
	if (i < options->n_rows)
		return &options->rows[i];
	for (i = 0; i < options->n_rows; i++)
		if (options->rows[i].id == options_help_rows[0].id)
			return &options_help_rows[1];
	return &options_help_rows[0];
}

/* The column of an option's own text: "  -o, --output FILE". */
static int options_left(const struct option_row *row, char *text, size_t size)
{
	char letter[8] = "    ";

	if (row->id < 256)
		snprintf(letter, sizeof(letter), "-%c, ", row->id);
	return snprintf(text, size, "  %s--%s%s%s", letter, row->name, row->value ? " " : "",
			row->value ? row->value : "");
}

void options_help(const struct options *options, const char *command)
{
	char left[96];
	const char *line, *end;
	int width = 0, n;

	printf("examples:\n");
	for (line = options->examples; *line; line = end + 1) {
		end = strchr(line, '\n');
		printf("  %.*s\n", (int)(end - line), line);
	}
	printf("\nusage: %s [OPTIONS] %s\n%s\n\n", command, options->operands, options->about);
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

static int options_unknown(const struct options *options, const char *command, const char *word)
{
	char name[64], nearest[64];
	struct options copy = *options;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (ktr_nearest(name, options_names, &copy, nearest, sizeof(nearest)))
		usage_error(command, "there is no option --%s; did you mean --%s?", name, nearest);
	else
		usage_error(command, "there is no option --%s", name);
	return OPTIONS_WRONG;
}

/*
 * getopt_long sets optopt to the option it does not like, and to 0 for a long one it does not know.
 */
static int options_complain(const struct options *options, char **argv, int found)
{
	const struct option_row *row = NULL;

	if (!optopt)
		return options_unknown(options, argv[0], argv[optind - 1]);
	for (unsigned i = 0; i <= options->n_rows; i++)
		if (options_row(options, i)->id == optopt)
			row = options_row(options, i);
	if (!row)
		usage_error(argv[0], "there is no option -%c", optopt);
	else if (found == ':')
		usage_error(argv[0], "the option --%s needs a value: %s", row->name, row->value);
	else
		usage_error(argv[0], "the option --%s takes no value", row->name);
	return OPTIONS_WRONG;
}

int options_next(const struct options *options, int argc, char **argv, const char **value)
{
	char letters[2 * OPTIONS_MAX + 8], *at = letters;
	struct option longs[OPTIONS_MAX + 2];
	int id;

	/*
	 * "+" ends options at the first operand; ":" tells a missing value from an unknown option.
	 */
	if (options->stop)
		*at++ = '+';
	*at++ = ':';
	memset(longs, 0, sizeof(longs));
	for (unsigned i = 0; i <= options->n_rows && i <= OPTIONS_MAX; i++) {
		const struct option_row *row = options_row(options, i);

		longs[i].name = row->name;
		longs[i].has_arg = row->value ? required_argument : no_argument;
		longs[i].val = row->id;
		if (row->id < 256)
			*at++ = (char)row->id;
		if (row->id < 256 && row->value)
			*at++ = ':';
	}
	*at = '\0';
	opterr = 0;
	optopt = 0;
	id = getopt_long(argc, argv, letters, longs, NULL);
	*value = optarg;
	if (id == -1)
		return 0;
	if (id == '?' || id == ':')
		return options_complain(options, argv, id);
	if (id != options_row(options, options->n_rows)->id)
		return id;
	options_help(options, argv[0]);
	return OPTIONS_DONE;
}

int options_status(int id)
{
	return id == OPTIONS_DONE ? 0 : 2;
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

int option_rotate(const char *command, int id, const char *value, uint64_t *number)
{
	if (id == OPTION_KEEP)
		return option_number(command, "--keep", value, 0, 1000000, number);
	if (id == OPTION_SIZE)
		return option_number(command, "--size", value, 0, INT64_MAX, number);
	if (option_duration(value, number))
		return usage_error(command, "--every %s: not a duration such as 10min or 1h", value);
	return 0;
}

int operands_at_most(const char *command, int argc, char **argv, int n)
{
	if (argc - optind <= n)
		return 0;
	return usage_error(command, "\"%s\" is one operand too many", argv[optind + n]);
}
