/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How events look as text: the options of the commands that print them so, and the sink that follows
 * them. The flags that choose columns are those of FreeBSD's ktrdump(8); without any of them the usual
 * columns are shown.
 */
#ifndef TOOLS_TEXT_OPTIONS_H
#define TOOLS_TEXT_OPTIONS_H

#include "tools/options.h"
#include "tools/pager.h"

#include "analyze/print/sink_text.h"

/* Options of these commands start here; those of walk.h and their own are below. */
#define TEXT_TIME  OPTION_LONG(80)
#define TEXT_FUNC  OPTION_LONG(81)
#define TEXT_COLOR OPTION_LONG(82)

#define OPTIONS_TEXT                                                                               \
	{ TEXT_TIME, "time", "FORM", "relative (default), delta, utc or raw" },                    \
		{ 't', "timestamp", NULL,                                                          \
		  "show the time; with any of -tcHkfi only what they ask for" },                   \
		{ 'c', "cpu", NULL, "show the CPU" },                                              \
		{ 'H', "thread", NULL, "show the thread's name and id" },                          \
		{ 'k', "class", NULL, "show the class" },                                          \
		{ 'f', "where", NULL, "show file and line" },                                      \
		{ 'i', "index", NULL, "show the running number of the event in its ring" },        \
		{ TEXT_FUNC, "function", NULL, "show the function as well" },                      \
		{ 'r', "relative", NULL, "the same as --time=delta" },                             \
		{ 'q', "no-header", NULL, "leave out the line with the columns' names" },          \
	{                                                                                          \
		TEXT_COLOR, "color", "WHEN", "always, never or auto (default): on a terminal"      \
	}

struct text_options {
	unsigned columns, more;
	int no_header;
	enum ktr__text_time time;
	enum colour_when colour;
};

/* 1 when the option was one of these, 0 when not, -2 after a complaint. */
int text_option(const char *command, struct text_options *text, int id, const char *value);

/* Has the sink print a reader's events as asked to out, and prints the header. */
void text_begin(const struct text_options *text, struct ktr__sink_text *sink, struct ktr__out *out,
		struct ktr_reader *reader);

#endif
