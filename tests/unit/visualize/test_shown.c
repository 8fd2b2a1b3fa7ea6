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
#include "visualize/terminal/term.h"

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

#define HOUR 3600000.0 /* [ms] */
#define DAY  (24 * HOUR)

/* A day: 10 ms of a state in every other hour, of a span, a point and a loss now and then. */
static void tell_day(struct picture *p)
{
	picture_state(p, 0, 1, "state", "a", "idle");
	picture_state(p, 0, 1, "state", "b", "working");
	for (unsigned i = 0; i < 12; i++) {
		double ms = 2 * HOUR * i + HOUR / 2;

		picture_state(p, ms, 1, "state", "a", "busy");
		picture_state(p, ms + 1, 1, "state", "b", "stalled");
		picture_start(p, ms + 2, 1, "span", "s", i);
		picture_state(p, ms + 10, 1, "state", "a", "idle");
		picture_state(p, ms + 11, 1, "state", "b", "closing");
		picture_stop(p, ms + 12, 1, "span", "s", i);
		picture_state(p, ms + 13, 1, "state", "b", "working");
		picture_point(p, ms + 14, 1, "point", "p");
		if (i == 6)
			picture_loss(p, 0, ms + 20, ms + 21, 3);
		if (i == 6) {
			/* Else nobody knew what they did from then on. */
			picture_state(p, ms + 22, 1, "state", "a", "idle");
			picture_state(p, ms + 22, 1, "state", "b", "working");
		}
	}
	picture_state(p, DAY - 1, 1, "state", "a", "idle");
}

/* The colour that a name has in tell_day(): names come in this order. */
static uint32_t day_colour(const char *wanted)
{
	static const char *const names[] = { "working", "busy", "stalled", "closing" };
	uint32_t taken = 0, colour = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		colour = ktr__palette_name(names[i], ktr__hash_bytes(0, names[i], n), &taken);
		if (strcmp(names[i], wanted) == 0)
			break;
	}
	return colour;
}

/* 10 ms are a ten-thousandth of a column, and have their pixels in theirs, twelve times, and nowhere else. */
static void expect_twelve(const struct png *png, uint32_t colour, unsigned y1)
{
	unsigned n_columns = 0;

	for (unsigned i = 0; i < 12; i++) {
		unsigned x = SHOWN_LEFT + (unsigned)((2 * i + 0.5) / 24 * (SHOWN_RIGHT - SHOWN_LEFT));

		CU_ASSERT_TRUE(png_count(png, x - 1, x + 2, 60, y1, colour) >= 4);
	}
	for (unsigned x = SHOWN_LEFT; x < SHOWN_RIGHT; x++)
		n_columns += png_count(png, x, x + 1, 60, y1, colour) > 0;
	CU_ASSERT_TRUE(n_columns >= 12 && n_columns <= 36);
}

static void short_in_a_day(void)
{
	unsigned rows_end;
	struct png png;

	if (!have_gnuplot())
		return;
	png = drawn(DAY, tell_day);
	/* The line below the rows ends them: what has these colours further down is the legend. */
	for (rows_end = 100; rows_end < png.height; rows_end++)
		if (png_count(&png, SHOWN_LEFT, SHOWN_RIGHT, rows_end, rows_end + 1, 0x808080) > 400)
			break;
	CU_ASSERT_TRUE_FATAL(rows_end < png.height);
	expect_twelve(&png, day_colour("busy"), rows_end);
	expect_twelve(&png, day_colour("stalled"), rows_end);
	expect_twelve(&png, KTR__GREY, rows_end); /* a third state */
	expect_twelve(&png, ktr__palette_ramp(1), rows_end);
	expect_twelve(&png, KTR__FAINT, rows_end); /* points */
	/* The loss of a millisecond is hatched, on the white of the rows, too. */
	CU_ASSERT_TRUE(png_count(&png, SHOWN_LEFT + 406, SHOWN_LEFT + 411, 60, rows_end, 0xffffff) + 20 <
		       png_count(&png, SHOWN_LEFT + 426, SHOWN_LEFT + 431, 60, rows_end, 0xffffff));
	png_free(&png);
}

/* How often a text is in the line of row a of the day, as a terminal shows it. */
static unsigned day_on_terminal(const struct ktr__term_options *options, const char *wanted)
{
	struct ktr__timeline_options o = { .by = KTR__BY_IDS, .n_columns = ktr__term_columns(options) };
	struct ktr__timeline timeline;
	struct ktr__view view;
	struct ktr__frame frame;
	char *text = NULL, *line;
	unsigned n = 0;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	picture_open(&picture, DAY);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &o), 0);
	picture.sink = &timeline.sink;
	tell_day(&picture);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, ktr__term_lines(options)), 0);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	ktr__term_draw(to, &view, &frame, options);
	fclose(to);
	line = strstr(text, "\n  a ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	line[1 + strcspn(line + 1, "\n")] = '\0';
	for (line = strstr(line + 5, wanted); line != NULL; line = strstr(line + strlen(wanted), wanted))
		n++;
	free(text);
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
	return n;
}

static void short_on_terminals(void)
{
	static const unsigned width[] = { 80, 120, 200 };
	uint32_t colour = day_colour("busy");
	char block[40];

	snprintf(block, sizeof(block), "\033[0;38;2;%u;%u;%um\u2582\033", colour >> 16, colour >> 8 & 255, colour & 255);
	for (size_t i = 0; i < sizeof(width) / sizeof(width[0]); i++) {
		struct ktr__term_options o = { .width = width[i], .ascii = 1 };

		/* In a narrow window they are in too many cells to have them all. */
		CU_ASSERT_EQUAL(day_on_terminal(&o, width[i] < 200 ? ":" : "B"), 12);
		o.ascii = 0;
		o.colour = KTR__TERM_RGB;
		CU_ASSERT_EQUAL(day_on_terminal(&o, block), 12);
	}
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
      TEST(short_in_a_day), TEST(short_on_terminals),
      TEST(fonts_are_asked), TEST(coloured_fonts_are_none));
