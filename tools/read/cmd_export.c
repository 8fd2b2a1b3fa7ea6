/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr export: traces for other people's programs.
 */
#include "tools/command.h"
#include "tools/read/export_walk.h"
#include "tools/options.h"
#include "tools/walk.h"

#include "visualize/export/export.h"

#include <ktr/conf.h>

#include <stdio.h>
#include <string.h>

static const struct option_row export_rows[] = {
	OPTIONS_SOURCE,
	{ 'o', "output", "FILE", "write there; - is standard output" },
	{ WALK_FROM, "from", "TIME", "begin there: 1.5s, 20ms; -1s counts from the end" },
	{ WALK_TO, "to", "TIME", "end before that" },
	FILTER_ROW,
};

static const struct options export_options = {
	.operands = "FORMAT [TRACE]",
	.about =
		"Writes a trace in another format; `ktr export list` lists them. Without TRACE, ./ktr.out is\n"
		"read.",
	.examples = "ktr export list\n"
		    "ktr export chrome -o trace.json\n"
		    "ktr export csv --from 1s --to 2s -o second.csv\n",
	.rows = export_rows,
	.n_rows = sizeof(export_rows) / sizeof(export_rows[0]),
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
	struct walk walk = { .find.command = argv[0] };
	const char *value, *output = NULL;
	int id, rc;

	while ((id = options_next(&export_options, argc, argv, &value)) > 0) {
		if (id == 'o')
			output = value;
		else if (walk_option(&walk, id, value) < 0)
			return 2;
	}
	if (id < 0)
		return options_status(id);
	if (optind < argc && strcmp(argv[optind], "list") == 0)
		return export_list();
	rc = export_format(argc, argv, &format);
	if (rc != 0)
		return rc;
	if (output == NULL)
		return usage_error(argv[0], "where to? -o FILE; -o - is standard output");
	rc = walk_open(&walk, argc, argv);
	return rc != 0 ? rc : export_walk(&walk, format, output);
}

COMMAND(export, "write a trace for other viewers: Perfetto, Chrome, KernelShark, CSV...",
	cmd_export);
