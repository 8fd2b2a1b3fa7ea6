/* SPDX-License-Identifier: BSD-2-Clause */
/* See markup.h. */
#include "visualize/chart/markup.h"

#include <string.h>

void ktr__markup_text(FILE *to, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0) {
			fputs("\xef\xbf\xbd", to);
			text += 2;
		} else if (strchr("<>&\"'", *text) != NULL) {
			fprintf(to, "&#%d;", *text);
		} else {
			putc(*text, to);
		}
	}
}

void ktr__markup_json(FILE *to, const char *json)
{
	for (; *json != '\0'; json++) {
		if (strchr("<>&", *json) != NULL)
			fprintf(to, "\\u%04x", *json);
		else
			putc(*json, to);
	}
}
