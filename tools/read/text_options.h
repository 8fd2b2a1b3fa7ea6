/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How events look as text: the options of the commands that print them so, and the sink that follows
 * them. The flags that choose columns are those of FreeBSD's ktrdump(8); without any of them the usual
 * columns are shown.
 */
#ifndef TOOLS_TEXT_OPTIONS_H
#define TOOLS_TEXT_OPTIONS_H

#include "analyze/print/sink_text.h"
#include "tools/options.h"
#include "tools/pager.h"

struct text_options {
	unsigned columns, more;
	int no_header, raw;
	enum ktr__text_time time;
	enum colour_when colour;
};

/* As the values of --time are called. */
extern const char *const text_times[];

/* member: a struct text_options. */
#define OPTIONS_TEXT(of, member)                                                                   \
	OPTION_WORD(0, "time", "FORM", of, member.time, 0, text_times, "relative (default), delta, utc or raw"), \
	OPTION_BITS('t', "timestamp", of, member.columns, KTR__TEXT_TIME,                          \
		    "show the time; with any of -tcHkfi only what they ask for"),                  \
	OPTION_BITS('c', "cpu", of, member.columns, KTR__TEXT_CPU, "show the CPU"),                \
	OPTION_BITS('H', "thread", of, member.columns, KTR__TEXT_THREAD, "show the thread's name and id"), \
	OPTION_BITS('k', "class", of, member.columns, KTR__TEXT_CLASS, "show the class"),          \
	OPTION_BITS('f', "where", of, member.columns, KTR__TEXT_WHERE, "show file and line"),      \
	OPTION_BITS('i', "index", of, member.columns, KTR__TEXT_INDEX,                             \
		    "show the running number of the event in its ring"),                           \
	OPTION_BITS(0, "function", of, member.more, KTR__TEXT_FUNC, "show the function as well"),  \
	OPTION_SET('r', "relative", of, member.time, KTR__TEXT_DELTA, "the same as --time=delta"), \
	OPTION_FLAG(0, "raw", of, member.raw, "states, spans and counters as FreeBSD's KTRGRAPH lines"), \
	OPTION_FLAG('q', "no-header", of, member.no_header, "leave out the line with the columns' names"), \
	OPTION_COLOUR(of, member.colour)

/* Has the sink print a reader's events as asked to out, and prints the header. */
void text_begin(const struct text_options *text, struct ktr__sink_text *sink, struct ktr__out *out,
		struct ktr_reader *reader);

#endif
