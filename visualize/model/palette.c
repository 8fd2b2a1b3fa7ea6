/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The palette: Okabe and Ito's colours first, then tints of the same hues, which differ from them
 * in lightness and so stay apart in every kind of colour vision and in print.
 */
#include "visualize/model/palette.h"

#include <stdlib.h>
#include <strings.h>

uint32_t ktr__palette(unsigned i)
{
	static const uint32_t colours[KTR__PALETTE_COLOURS] = {
		KTR__BLUE, KTR__GREEN, KTR__ORANGE, KTR__SKY,  KTR__PURPLE, KTR__YELLOW,
		0x00405fu, 0x7fd6bbu,  0x8a5f00u,   0xe8bcd3u, 0x00543du,   0x6e3a57u,
	};

	return i < KTR__PALETTE_COLOURS ? colours[i] : KTR__GREY;
}

int ktr__palette_is_idle(const char *state)
{
	static const char *const idle[] = { "idle", "free",  "done",     "none",
					    "off",  "empty", "finished", "sleeping" };

	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (strcasecmp(state, idle[i]) == 0)
			return 1;
	return 0;
}

static int palette_distance(uint32_t a, uint32_t b)
{
	int red = (int)(a >> 16 & 255) - (int)(b >> 16 & 255);
	int green = (int)(a >> 8 & 255) - (int)(b >> 8 & 255);
	int blue = (int)(a & 255) - (int)(b & 255);

	return red * red + green * green + blue * blue;
}

/* xterm's 256 colours: a cube of six levels from 16 on, and 24 greys from 232 on. */
static uint32_t palette_xterm_is(unsigned i)
{
	static const unsigned level[6] = { 0, 95, 135, 175, 215, 255 };
	unsigned cube = i - 16, grey = 8 + 10 * (i - 232);

	if (i >= 232)
		return grey << 16 | grey << 8 | grey;
	return level[cube / 36 % 6] << 16 | level[cube / 6 % 6] << 8 | level[cube % 6];
}

unsigned ktr__palette_xterm(uint32_t colour)
{
	unsigned best = 16;

	for (unsigned i = 17; i < 256; i++)
		if (palette_distance(colour, palette_xterm_is(i)) <
		    palette_distance(colour, palette_xterm_is(best)))
			best = i;
	return best;
}

uint32_t ktr__palette_on(uint32_t colour)
{
	/* Luma as ITU-R BT.601 weighs it; 150 of 255 is where black becomes the better one. */
	unsigned luma = ((colour >> 16 & 255) * 299 + (colour >> 8 & 255) * 587 +
			 (colour & 255) * 114) /
			1000;

	return luma > 150 ? KTR__BLACK : 0xffffffu;
}
