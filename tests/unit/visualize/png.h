/* SPDX-License-Identifier: BSD-2-Clause */
/* A PNG as pixels. */
#ifndef TESTS_PNG_H
#define TESTS_PNG_H

#include <stdint.h>

struct png {
	unsigned width, height;
	uint32_t *pixel; /* 0xRRGGBB, from the top left */
};

/* Reads the PNGs that cairo writes: 8 bits, RGB or RGBA, not interlaced. 0, or -1 where it is none. */
int png_read(struct png *png, const char *path);
void png_free(struct png *png);

/* How many pixels of a rectangle, ends not in it, have about that colour. */
unsigned png_count(const struct png *png, unsigned x0, unsigned x1, unsigned y0, unsigned y1, uint32_t colour);

#endif
