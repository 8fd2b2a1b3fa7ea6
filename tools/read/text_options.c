/* SPDX-License-Identifier: BSD-2-Clause */
/* See text_options.h. */
#include "tools/read/text_options.h"

#include "analyze/symbols/symbols.h"

#include <string.h>

static int text_time(const char *command, struct text_options *text, const char *value)
{
	static const char *const forms[] = { "relative", "delta", "utc", "raw" };

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(value, forms[i]) == 0) {
			text->time = (enum ktr__text_time)i;
			return 1;
		}
	usage_error(command, "--time is relative, delta, utc or raw, not \"%s\"", value);
	return -2;
}

static unsigned text_column(int id)
{
	switch (id) {
	case 't':
		return KTR__TEXT_TIME;
	case 'c':
		return KTR__TEXT_CPU;
	case 'H':
		return KTR__TEXT_THREAD;
	case 'k':
		return KTR__TEXT_CLASS;
	case 'f':
		return KTR__TEXT_WHERE;
	case 'i':
		return KTR__TEXT_INDEX;
	default:
		return 0;
	}
}

int text_option(const char *command, struct text_options *text, int id, const char *value)
{
	switch (id) {
	case TEXT_TIME:
		return text_time(command, text, value);
	case TEXT_FUNC:
		text->more |= KTR__TEXT_FUNC;
		return 1;
	case TEXT_COLOR:
		return colour_option(command, value, &text->colour) ? -2 : 1;
	case 'r':
		text->time = KTR__TEXT_DELTA;
		return 1;
	case 'q':
		text->no_header = 1;
		return 1;
	default:
		text->columns |= text_column(id);
		return text_column(id) != 0;
	}
}

void text_begin(const struct text_options *text, struct ktr__sink_text *sink, struct ktr__out *out,
		struct ktr_reader *reader)
{
	ktr__sink_text_init(sink);
	sink->out = out;
	sink->info = ktr_reader_info(reader);
	sink->symbols = ktr__reader_symbols(reader);
	sink->columns = (text->columns ? text->columns : KTR__TEXT_USUAL) | text->more;
	sink->time = text->time;
	if (!text->no_header)
		ktr__sink_text_header(sink);
}
