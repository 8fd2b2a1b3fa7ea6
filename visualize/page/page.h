/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline as one HTML page that needs nothing but a browser: rows, levels of detail, and every
 * event, packed (visualize/page/packer.h), with the program that draws them (visualize/page/program/).
 *
 *	ktr__page_new(&page, reader, &options, err);
 *	sink = &page->sink;
 *	ktr_reader_walk(reader, &sink, 1);
 *	ktr__page_write(page, "trace.html", command, err);
 *	ktr__page_free(page);
 *
 * Nothing of a trace gets into the page as HTML or as a program: its strings are cleaned, escaped in
 * the title and the caption, and packed as data everywhere else.
 */
#ifndef VISUALIZE_PAGE_H
#define VISUALIZE_PAGE_H

#include "visualize/model/timeline.h"

#include <ktr/error.h>
#include <ktr/reader.h>

#include <stdio.h>

/*
 * [events] What a page holds unless asked otherwise: about 120 MB, which a browser opens in two
 * seconds. Behind them only the overview goes on.
 */
#define KTR__PAGE_EVENTS 20000000u

struct ktr__page;

/* Options: by, window and groups; n_columns is chosen here. Owned page, or -errno with err filled. */
int ktr__page_new(struct ktr__page **page, struct ktr_reader *reader,
		  const struct ktr__timeline_options *options, uint64_t max_events,
		  struct ktr_error *err);
void ktr__page_free(struct ktr__page *page);

/* The page opens with these moments in sight, instead of everything. */
void ktr__page_look(struct ktr__page *page, uint64_t from_ns, uint64_t to_ns);

/* Ends what the walk has shown and writes the file. 0 or -errno with err filled. */
int ktr__page_write(struct ktr__page *page, const char *path, const char *command,
		    struct ktr_error *err);

/* The same into a file that is open. */
int ktr__page_print(struct ktr__page *page, FILE *to, const char *command, struct ktr_error *err);

#endif
