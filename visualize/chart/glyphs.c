/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fonts cover, as fontconfig says: "fc-match --sort" lists the fonts that pango falls back to, in which it looks
 * for a character that the first one lacks, and of each the characters it has. It comes with the libraries that
 * gnuplot's cairo terminals need. Where it is not there, what every font has is all that counts as covered.
 */
#include "visualize/chart/glyphs.h"

#include "conf/kit/array.h"
#include "visualize/model/label.h"

#include <stdlib.h>
#include <string.h>

#define GLYPHS_ASK   "fc-match --sort --format '%{color}|%{charset}\\n' sans 2>/dev/null"
#define GLYPHS_LATIN 0x17fu /* fonts for western languages have what comes up to here */
#define GLYPHS_EMOJI 0x2300u /* the first that is drawn as an emoji by itself comes after it (UTS #51) */
#define GLYPHS_MARKS 2u     /* combining marks on one character; more reach into the lines above and below */

/* One line of ranges: "False|20-7e a0 ac-ae". */
static void glyphs_line(struct ktr__glyphs *glyphs, const char *line)
{
	struct ktr__glyphs_range range = { 0, 0, strncmp(line, "True|", 5) == 0 };
	char *end;

	for (line += strcspn(line, "|") + (strchr(line, '|') != NULL);; line = end) {
		range.first = range.last = (uint32_t)strtoul(line, &end, 16);
		if (end == line)
			return;
		if (*end == '-')
			range.last = (uint32_t)strtoul(end + 1, &end, 16);
		if (ktr__array_grow(&glyphs->range, &glyphs->n_room, glyphs->n, sizeof(*glyphs->range)) != 0)
			return;
		glyphs->range[glyphs->n++] = range;
	}
}

static void glyphs_ask(struct ktr__glyphs *glyphs)
{
	FILE *from = popen(GLYPHS_ASK, "re");
	char *line = NULL;
	size_t room = 0;

	glyphs->asked = 1;
	if (from == NULL)
		return;
	while (getline(&line, &room, from) > 0)
		glyphs_line(glyphs, line);
	free(line);
	pclose(from);
}

int ktr__glyphs_have(struct ktr__glyphs *glyphs, uint32_t code)
{
	int have = 0;

	/* The mark that sets the direction has no glyph, and needs none. */
	if (code < 0x80 || code == KTR__LABEL_LTR)
		return 1;
	if (!glyphs->asked)
		glyphs_ask(glyphs);
	for (unsigned i = 0; i < glyphs->n; i++) {
		const struct ktr__glyphs_range *range = &glyphs->range[i];

		if (code < range->first || code > range->last)
			continue;
		/* Where both have it pango may take the coloured one. */
		if (range->is_colour && code >= GLYPHS_EMOJI)
			return 0;
		have = have || !range->is_colour;
	}
	return glyphs->n > 0 ? have : code <= GLYPHS_LATIN;
}

void ktr__glyphs_write(struct ktr__glyphs *glyphs, FILE *to, const char *text, size_t n)
{
	unsigned n_marks = 0;
	int within = 0; /* brackets */

	for (size_t at = 0; at < n;) {
		uint32_t code = (unsigned char)text[at];
		unsigned length = ktr__label_char(text + at, n - at, &code);
		int good;

		n_marks = ktr__label_is_mark(code) ? n_marks + 1 : 0;
		length += length == 0;
		good = n_marks <= GLYPHS_MARKS && ktr__glyphs_have(glyphs, code);
		/* What joins characters goes with those before it. */
		if (ktr__label_is_joint(code)) {
			if (!good && !within) {
				at += length;
				continue;
			}
			good = !within;
		}
		if (good && within)
			putc(']', to);
		if (good)
			fwrite(text + at, 1, length, to);
		else
			fprintf(to, "%s%04X", within ? " " : "[U+", code);
		within = !good;
		at += length;
	}
	if (within)
		putc(']', to);
}

void ktr__glyphs_free(struct ktr__glyphs *glyphs)
{
	free(glyphs->range);
	memset(glyphs, 0, sizeof(*glyphs));
}
