/* SPDX-License-Identifier: BSD-2-Clause */
/* A page's own text, page.html or compare.html, with what stands for its marks "@@name@@". */
#ifndef VISUALIZE_PAGE_FILL_H
#define VISUALIZE_PAGE_FILL_H

#include <stdio.h>

struct ktr__page_text {
	const char *mark, *text;
	int as_it_is; /* it is HTML, a style or a program of ours; else it is escaped */
};

/*
 * Writes the text; texts ends with a NULL mark, and what it does not have is put by rest(). 0, or what that
 * returned; the caller looks at ferror().
 */
int ktr__page_fill(FILE *to, const char *html, const struct ktr__page_text *texts,
		   int (*rest)(void *context, const char *mark, FILE *to), void *context);

#endif
