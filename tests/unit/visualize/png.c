/* SPDX-License-Identifier: BSD-2-Clause */
/* A PNG as pixels: RFC 2083, its chunks, and the filters of its lines (section 6). */
#include "png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t png_word(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int png_paeth(int a, int b, int c)
{
	int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Undoes a line's filter in place; up is the line above. */
static void png_line(unsigned filter, unsigned char *line, const unsigned char *up, size_t n, unsigned bytes)
{
	for (size_t i = 0; i < n; i++) {
		int left = i >= bytes ? line[i - bytes] : 0, corner = i >= bytes && up ? up[i - bytes] : 0;
		int above = up ? up[i] : 0;

		line[i] = (unsigned char)(line[i] + (filter == 1   ? left
						     : filter == 2 ? above
						     : filter == 3 ? (left + above) / 2
						     : filter == 4 ? png_paeth(left, above, corner)
								   : 0));
	}
}

static int png_unpack(struct png *png, const unsigned char *packed, size_t n, unsigned bytes)
{
	size_t line = 1 + (size_t)png->width * bytes;
	uLongf size = line * png->height;
	unsigned char *raw = malloc(size);

	png->pixel = calloc((size_t)png->width * png->height, sizeof(*png->pixel));
	if (raw == NULL || png->pixel == NULL || uncompress(raw, &size, packed, n) != Z_OK) {
		free(raw);
		return -1;
	}
	for (unsigned y = 0; y < png->height; y++) {
		unsigned char *at = raw + y * line;

		png_line(at[0], at + 1, y > 0 ? at + 1 - line : NULL, line - 1, bytes);
		for (unsigned x = 0; x < png->width; x++)
			png->pixel[(size_t)y * png->width + x] = png_word(at + (size_t)x * bytes) & 0xffffff;
	}
	free(raw);
	return 0;
}

/* Puts the IDAT chunks together. */
static int png_chunks(struct png *png, unsigned char *file, size_t n)
{
	unsigned char *packed = file;
	size_t n_packed = 0, at = 8;
	unsigned bytes = 0;

	while (at + 12 <= n && at + 12 + png_word(file + at) <= n) {
		size_t size = png_word(file + at);
		int is_head = memcmp(file + at + 4, "IHDR", 4) == 0;
		int is_data = memcmp(file + at + 4, "IDAT", 4) == 0;

		if (is_head && size >= 13) {
			png->width = png_word(file + at + 8);
			png->height = png_word(file + at + 12);
			bytes = file[at + 17] == 2 ? 3 : file[at + 17] == 6 ? 4 : 0;
		}
		if (is_data) {
			memmove(packed + n_packed, file + at + 8, size);
			n_packed += size;
		}
		at += 12 + size;
	}
	return bytes > 0 ? png_unpack(png, packed, n_packed, bytes) : -1;
}

int png_read(struct png *png, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t room = 8u << 20, n = 0;
	unsigned char *file = malloc(room);
	int result = -1;

	memset(png, 0, sizeof(*png));
	if (f != NULL && file != NULL)
		n = fread(file, 1, room, f);
	if (n > 8 && n < room && memcmp(file, "\x89PNG\r\n\x1a\n", 8) == 0)
		result = png_chunks(png, file, n);
	free(file);
	if (f != NULL)
		fclose(f);
	return result;
}

void png_free(struct png *png)
{
	free(png->pixel);
	memset(png, 0, sizeof(*png));
}

/* The edges of boxes are anti-aliased, by a hundredth of a pixel too. */
static int png_near(uint32_t a, uint32_t b)
{
	for (unsigned shift = 0; shift < 24; shift += 8)
		if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 16)
			return 0;
	return 1;
}

unsigned png_count(const struct png *png, unsigned x0, unsigned x1, unsigned y0, unsigned y1, uint32_t colour)
{
	unsigned n = 0;

	for (unsigned y = y0; y < y1 && y < png->height; y++)
		for (unsigned x = x0; x < x1 && x < png->width; x++)
			n += (unsigned)png_near(png->pixel[(size_t)y * png->width + x], colour);
	return n;
}
