/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_code.h"

#include "analyze/read/reader.h"
#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

#include <stdio.h>
#include <string.h>

void run_code_keep(const char *command, const char *trace)
{
	struct ktr_reader_options alone = { .size = sizeof(alone), .alone = 1 };
	struct ktr__symbols *symbols;
	struct ktr_reader *reader;
	int64_t n;

	if (ktr_reader_open(trace, &alone, &reader, NULL))
		return;
	symbols = ktr__reader_symbols(reader);
	n = symbols ? ktr__symbols_keep(symbols) : 0;
	if (n < 0)
		fprintf(stderr, "%s: %s: names of code made at run time could not be kept: %s\n", command, trace,
			strerror((int)-n));
	ktr_reader_close(reader);
}
