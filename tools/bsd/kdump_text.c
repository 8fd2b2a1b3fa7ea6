/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/bsd/kdump_text.h"

#include "conf/kit/utf8.h"

#define KDUMP_TEXT_PART 1024

void kdump_text(FILE *out, const char *text, size_t n)
{
	char clean[4 * KDUMP_TEXT_PART];
	size_t part;

	for (; n; text += part, n -= part) {
		part = n;
		/* No part ends within a character. */
		if (part > KDUMP_TEXT_PART)
			for (part = KDUMP_TEXT_PART;
			     part > KDUMP_TEXT_PART - 4 && ((unsigned char)text[part] & 0xc0) == 0x80;)
				part--;
		fwrite(clean, 1, ktr__utf8_visible(clean, text, part), out);
	}
}
