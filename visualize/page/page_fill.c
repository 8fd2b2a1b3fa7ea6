/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills in what a page's own text leaves open. */
#include "visualize/page/page_fill.h"

#include "visualize/chart/markup.h"

#include <string.h>

static const struct ktr__page_text *fill_find(const struct ktr__page_text *text, const char *mark, size_t n)
{
	while (text->mark != NULL && (strlen(text->mark) != n || memcmp(text->mark, mark, n) != 0))
		text++;
	return text->mark != NULL ? text : NULL;
}

int ktr__page_fill(FILE *to, const char *html, const struct ktr__page_text *texts,
		   int (*rest)(void *context, const char *mark, FILE *to), void *context)
{
	const char *mark, *end;
	int rc = 0;

	while (rc == 0 && (mark = strstr(html, "@@")) != NULL) {
		const struct ktr__page_text *text;

		fwrite(html, 1, (size_t)(mark - html), to);
		mark += 2;
		end = strstr(mark, "@@");
		text = fill_find(texts, mark, (size_t)(end - mark));
		if (text == NULL)
			rc = rest(context, mark, to);
		else if (text->as_it_is)
			fputs(text->text, to);
		else
			ktr__markup_text(to, text->text);
		html = end + 2;
	}
	fputs(html, to);
	return rc;
}
