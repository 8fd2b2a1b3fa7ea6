/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr export: traces for other people's programs.
 */
#include "analyze/read/reader.h"
#include "analyze/symbols/symbols.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/read/export_walk.h"
#include "tools/walk.h"
#include "visualize/export/export.h"

#include <ktr/conf.h>

#include <stdio.h>
#include <string.h>

struct export_command {
	struct walk walk;
	const char *output;
	int lines;
};

static const struct option_row export_rows[] = {
	OPTIONS_SOURCE(struct export_command, walk.find),
	OPTION_TEXT('o', "output", "FILE", struct export_command, output, "write there; - is standard output"),
	OPTIONS_WINDOW(struct export_command, walk),
	OPTION_FILTER(struct export_command, walk.filter),
	OPTION_THREADS(struct export_command, walk),
	OPTION_FLAG(0, "lines", struct export_command, lines,
		    "of samples: with lines of the source, and inlined functions as frames"),
};

static const char *export_names(unsigned i, const char **help)
{
	*help = i ? ktr__export_formats[i - 1] ? ktr__export_formats[i - 1]->help : NULL : "what formats there are";
	return !i ? "list" : ktr__export_formats[i - 1] ? ktr__export_formats[i - 1]->name : NULL;
}

static const struct options export_options = {
	.first = export_names,
	.operands = "FORMAT [TRACE]",
	.about =
		"Writes a trace in another format; `ktr export list` lists them. Without TRACE, ./ktr.out is\n"
		"read.",
	.examples = "ktr export list\n"
		    "ktr export chrome -o trace.json\n"
		    "ktr export csv --from 1s --to 2s -o second.csv\n",
	OPTIONS_ROWS(export_rows),
};

static int export_list(void)
{
	for (unsigned i = 0; ktr__export_formats[i] != NULL; i++)
		printf("%-11s %s\n", ktr__export_formats[i]->name, ktr__export_formats[i]->help);
	return 0;
}

/* The format that the first operand names, which is passed over. 0, or 2 after a complaint. */
static int export_format(int argc, char **argv, const struct ktr__export_format **format)
{
	const char *names[16], *nearest;
	size_t n = 0;

	if (optind == argc)
		return usage_error(argv[0], "which format? `ktr export list` lists them");
	*format = ktr__export_find(argv[optind]);
	if (*format != NULL) {
		optind++;
		return 0;
	}
	for (; ktr__export_formats[n] != NULL && n < 16; n++)
		names[n] = ktr__export_formats[n]->name;
	nearest = ktr_nearest_of(argv[optind], names, n);
	if (nearest != NULL)
		return usage_error(argv[0], "there is no format \"%s\"; did you mean %s?",
				   argv[optind], nearest);
	return usage_error(argv[0], "there is no format \"%s\"; `ktr export list` lists them",
			   argv[optind]);
}

static int cmd_export(int argc, char **argv)
{
	const struct ktr__export_format *format = NULL;
	struct export_command c = { .walk.find.command = argv[0] };
	int rc;

	if (!options_parse(&export_options, argc, argv, &c, &rc))
		return rc;
	if (optind < argc && strcmp(argv[optind], "list") == 0)
		return export_list();
	rc = export_format(argc, argv, &format);
	if (rc != 0)
		return rc;
	if (c.output == NULL)
		return usage_error(argv[0], "where to? -o FILE; -o - is standard output");
	rc = walk_open(&c.walk, argc, argv);
	if (rc != 0)
		return rc;
	if (c.lines && ktr__reader_symbols(c.walk.reader) != NULL)
		ktr__symbols_want_lines(ktr__reader_symbols(c.walk.reader));
	return export_walk(&c.walk, format, c.output);
}

COMMAND(export, "write a trace for other viewers: Perfetto, Chrome, KernelShark, CSV...",
	cmd_export);
