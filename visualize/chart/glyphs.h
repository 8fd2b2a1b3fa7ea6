/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which characters gnuplot can draw with the fonts of this machine. Its cairo terminals draw one that none has as
 * fragments of glyphs as large as the picture, and one of a font of coloured bitmaps in the bitmap's own size, 136
 * pixels, so no such character may reach them.
 */
#ifndef VISUALIZE_GLYPHS_H
#define VISUALIZE_GLYPHS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ktr__glyphs {
	struct ktr__glyphs_range {
		uint32_t first, last;
		int is_colour; /* of a font of coloured bitmaps */
	} *range; /* owned */
	uint32_t n, n_room;
	int asked; /* fontconfig has been */
};

/* Can it be drawn? Asks fontconfig the first time it matters. */
int ktr__glyphs_have(struct ktr__glyphs *glyphs, uint32_t code);

/*
 * Writes a clean text with what cannot be drawn, and combining marks that pile up, as "[U+1F41B]": of several in
 * a row "[U+1B05 1B13]".
 */
void ktr__glyphs_write(struct ktr__glyphs *glyphs, FILE *to, const char *text, size_t n);

void ktr__glyphs_free(struct ktr__glyphs *glyphs);

#endif
