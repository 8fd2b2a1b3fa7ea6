/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dumps as FreeBSD's kdump makes them. What vis(3) does there with VIS_CSTYLE is a dozen lines here: of the bytes
 * of text it changes a backslash, \r and \0 alone, and libbsd, which has it, would be needed for these.
 */
#include "tools/bsd/kdump_data.h"

#include <string.h>

static int kdump_data_is_text(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((bytes[i] < 32 || bytes[i] > 126) && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t' &&
		    bytes[i])
			return 0;
	return 1;
}

/* The greatest even count whose line is narrower than the screen; see kdump_data_hex() for what is in one. */
static int kdump_data_width(int screen)
{
	int width = 2;

	while (13 + (width / 2 + 1) + 2 * width + 3 + width + 1 < screen)
		width += 2;
	return width > 2 ? width - 2 : 2;
}

static void kdump_data_hex(const struct kdump_format *format, const unsigned char *bytes, size_t n)
{
	size_t width = (size_t)kdump_data_width(format->width);

	for (size_t line = 0; line < n; line += width) {
		fprintf(format->out, "       0x%04zx", line);
		for (size_t i = line; i < line + width; i++) {
			if (i % 2 == 0)
				fputc(' ', format->out);
			if (i < n)
				fprintf(format->out, "%02x", bytes[i]);
			else
				fputs("  ", format->out);
		}
		fputs("  |", format->out);
		for (size_t i = line; i < line + width && i < n; i++)
			fputc(bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '.', format->out);
		fputs("|\n", format->out);
	}
	/* FreeBSD's leaves a line free after one that is not full. */
	if (n % width)
		fputc('\n', format->out);
}

/* A byte in C's style; next: what follows, which a \0 must not swallow. */
static const char *kdump_data_vis(char text[5], char byte, char next)
{
	switch (byte) {
	case '\\': return "\\\\";
	case '\r': return "\\r";
	case '\0': return next >= '0' && next <= '7' ? "\\000" : "\\0";
	default:
		text[0] = byte;
		text[1] = '\0';
		return text;
	}
}

/* How many columns a tab takes reaches to the next multiple of eight; a real line's end is kept. */
static void kdump_data_text(const struct kdump_format *format, const char *bytes, size_t n)
{
	int column = 8, width;
	char one[5];

	fputs("       \"", format->out);
	for (size_t i = 0; i < n; i++) {
		const char *text = kdump_data_vis(one, bytes[i], i + 1 < n ? bytes[i + 1] : '\0');

		if (column == 0) {
			fputc('\t', format->out);
			column = 8;
		}
		if (*text == '\n') {
			column = 0;
			fputc('\n', format->out);
			continue;
		}
		width = *text == '\t' ? 8 - column % 8 : (int)strlen(text);
		if (column + width > format->width - 2) {
			fputs("\\\n\t", format->out);
			column = 8;
		}
		column += width;
		fputs(text, format->out);
	}
	fputs(column == 0 ? "       \"\n" : "\"\n", format->out);
}

void kdump_data(const struct kdump_format *format, const char *bytes, size_t n)
{
	if (kdump_data_is_text(bytes, n))
		kdump_data_text(format, bytes, n);
	else
		kdump_data_hex(format, (const unsigned char *)bytes, n);
}
