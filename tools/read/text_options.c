/* SPDX-License-Identifier: BSD-2-Clause */
/* See text_options.h. */
#include "tools/read/text_options.h"

#include "analyze/read/reader.h"

const char *const text_times[] = { "relative", "delta", "utc", "raw", NULL };

void text_begin(const struct text_options *text, struct ktr__sink_text *sink, struct ktr__out *out,
		struct ktr_reader *reader)
{
	ktr__sink_text_init(sink);
	sink->out = out;
	sink->info = ktr_reader_info(reader);
	sink->symbols = ktr__reader_symbols(reader);
	sink->columns = (text->columns ? text->columns : KTR__TEXT_USUAL) | text->more;
	sink->time = text->time;
	sink->raw = text->raw;
	if (!text->no_header)
		ktr__sink_text_header(sink);
}
