/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has to be seen in a picture is looked for in its pixels: PNGs of made-up traces with names that no font has,
 * and with what is short against a column.
 */
#include "tests/unit/suite.h"
#include "picture.h"
#include "png.h"

#include "conf/kit/hash.h"
#include "visualize/chart/chart_timeline.h"
#include "visualize/chart/glyphs.h"
#include "visualize/model/palette.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_LEFT  200u /* [pixels] where the rows begin and end */
#define SHOWN_RIGHT 980u

static struct picture picture;

static int have_gnuplot(void)
{
	static int have = -1;

	if (have < 0)
		have = system("command -v gnuplot >/dev/null") == 0;
	if (!have)
		printf("(no gnuplot: not drawn) ");
	return have;
}

/* Draws what tell() tells of so many milliseconds. */
static void draw(const char *path, double ms, void (*tell)(struct picture *))
{
	struct ktr__timeline_options o = { .by = KTR__BY_IDS, .n_columns = ktr__chart_timeline_columns(1200) };
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__timeline timeline;
	struct ktr__view view;
	struct ktr__frame frame;

	picture_open(&picture, ms);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &o), 0);
	picture.sink = &timeline.sink;
	tell(&picture);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, ktr__chart_timeline_lines(800)), 0);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	CU_ASSERT_EQUAL(ktr__chart_timeline(path, 1200, 800, &view, &frame, &err), 0);
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
}

static struct png drawn(double ms, void (*tell)(struct picture *))
{
	char path[] = "/tmp/ktr-shown-XXXXXX.png";
	int fd = mkstemps(path, 4);
	struct png png;

	CU_ASSERT_TRUE_FATAL(fd >= 0);
	close(fd);
	draw(path, ms, tell);
	CU_ASSERT_EQUAL_FATAL(png_read(&png, path), 0);
	unlink(path);
	return png;
}

/* One row and group of that name. */
static const char *name;
static void tell_name(struct picture *p)
{
	picture_state(p, 1, 1, name, name, "busy");
	picture_state(p, 50, 1, name, name, "idle");
}

/* Do two pictures have the same pixels from one column to another, from one line on? */
static int same(const struct png *a, const struct png *b, unsigned x0, unsigned x1, unsigned y0)
{
	for (unsigned y = y0; y < a->height; y++)
		if (memcmp(a->pixel + (size_t)y * a->width + x0, b->pixel + (size_t)y * b->width + x0,
			   (x1 - x0) * sizeof(*a->pixel)) != 0)
			return 0;
	return a->width == b->width && a->height == b->height;
}

/* ... a colour in the same pixels of the rows? */
static int same_colour(const struct png *a, const struct png *b, uint32_t colour)
{
	unsigned n = 0;

	for (unsigned y = 0; y < a->height && y < b->height; y++)
		for (unsigned x = SHOWN_LEFT; x < SHOWN_RIGHT; x++) {
			int is = a->pixel[(size_t)y * a->width + x] == colour;

			if (is != (b->pixel[(size_t)y * b->width + x] == colour))
				return 0;
			n += (unsigned)is;
		}
	return n > 0;
}

/* Plane 16 is for private use: no font of a distribution has a character of it. */
static void names_without_a_font(void)
{
	static const char *const pair[][2] = {
		{ "a \xf4\x8f\x84\xa3 b", "a [U+10F123] b" },
		{ "\xf4\x8f\x84\xa3\xf4\x8f\x84\xa4", "[U+10F123 10F124]" },
		{ "z\xcc\x81\xcc\x82\xcc\x83\xcc\x84", "z\xcc\x81\xcc\x82[U+0303 0304]" },
	};

	for (size_t i = 0; have_gnuplot() && i < sizeof(pair) / sizeof(pair[0]); i++) {
		struct png odd, plain;

		name = pair[i][0];
		odd = drawn(100, tell_name);
		name = pair[i][1];
		plain = drawn(100, tell_name);
		CU_ASSERT_TRUE(same(&odd, &plain, 0, 1200, 0));
		png_free(&odd);
		png_free(&plain);
	}
}

/* An SVG is drawn with the fonts of whoever looks at it. */
static void names_in_an_svg(void)
{
	char path[] = "/tmp/ktr-shown-XXXXXX.svg", command[200];
	int fd = mkstemps(path, 4);

	CU_ASSERT_TRUE_FATAL(fd >= 0);
	close(fd);
	if (have_gnuplot()) {
		name = "a \xf0\x9f\x90\x9b b";
		draw(path, 100, tell_name);
		snprintf(command, sizeof(command), "[ $(grep -c '%s' %s) -ge 3 ]", name, path);
		CU_ASSERT_EQUAL(system(command), 0);
	}
	unlink(path);
}

/* The rows stay where they are, and the name begins where others begin. */
static void names_from_right_to_left(void)
{
	uint32_t taken = 0, busy = ktr__palette_name("busy", ktr__hash_bytes(0, "busy", 4), &taken);
	struct png rtl, plain;

	if (!have_gnuplot())
		return;
	name = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d 7";
	rtl = drawn(100, tell_name);
	name = "plain 7";
	plain = drawn(100, tell_name);
	CU_ASSERT_EQUAL(png_count(&rtl, 0, 20, 0, 800, 0xffffff), 20 * rtl.height);
	CU_ASSERT_NOT_EQUAL(png_count(&rtl, 30, 60, 120, 300, 0xffffff), 30 * 180);
	CU_ASSERT_TRUE(same_colour(&rtl, &plain, busy));
	png_free(&rtl);
	png_free(&plain);
}

static void fonts_are_asked(void)
{
	struct ktr__glyphs glyphs = { 0 };
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_TRUE(ktr__glyphs_have(&glyphs, 'a'));
	CU_ASSERT_FALSE(glyphs.asked);
	CU_ASSERT_TRUE(ktr__glyphs_have(&glyphs, 0xe9));
	CU_ASSERT_TRUE(glyphs.asked);
	CU_ASSERT_FALSE(ktr__glyphs_have(&glyphs, 0x10f123));
	ktr__glyphs_write(&glyphs, to, "\xc3\xa9 \xf4\x8f\x84\xa3", 7);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(text, "\xc3\xa9 [U+10F123]");
	free(text);
	ktr__glyphs_free(&glyphs);
	CU_ASSERT_PTR_NULL(glyphs.range);
}

/* What fontconfig says is as good as what it would say where other fonts are. */
static void coloured_fonts_are_none(void)
{
	struct ktr__glyphs_range range[] = {
		{ 0x20, 0x7e, 0 }, { 0x25b6, 0x25b6, 0 }, { 0x23, 0x39, 1 }, { 0xa9, 0xa9, 1 },
		{ 0x25b6, 0x1f41b, 1 }
	};
	struct ktr__glyphs glyphs = { range, 5, 5, 1 };

	CU_ASSERT_TRUE(ktr__glyphs_have(&glyphs, '7'));
	CU_ASSERT_FALSE(ktr__glyphs_have(&glyphs, 0xa9));
	CU_ASSERT_FALSE(ktr__glyphs_have(&glyphs, 0x25b6));
	CU_ASSERT_FALSE(ktr__glyphs_have(&glyphs, 0x1f41b));
	glyphs.n = 0; /* fontconfig is not there */
	CU_ASSERT_TRUE(ktr__glyphs_have(&glyphs, 0xa9));
	CU_ASSERT_FALSE(ktr__glyphs_have(&glyphs, 0x5d0));
}

SUITE(shown, TEST(names_without_a_font), TEST(names_in_an_svg), TEST(names_from_right_to_left),
      TEST(fonts_are_asked), TEST(coloured_fonts_are_none));
