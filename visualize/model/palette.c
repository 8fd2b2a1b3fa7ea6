/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The palette: Okabe and Ito's colours first, then tints of the same hues, which differ from them
 * in lightness and so stay apart in every kind of colour vision and in print.
 */
#include "visualize/model/palette.h"

#include "visualize/model/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

uint32_t ktr__palette(unsigned i)
{
	static const uint32_t colours[KTR__PALETTE_COLOURS] = {
		KTR__BLUE, KTR__GREEN, KTR__ORANGE, KTR__SKY,  KTR__PURPLE, KTR__YELLOW,
		0x00405fu, 0x7fd6bbu,  0x8a5f00u,   0xe8bcd3u, 0x00543du,   0x6e3a57u,
		0x3a8fc7u, 0x3fbf97u,  0xf4c95du,   0xa9d8f3u, 0xb3548au,   0xb8ad1fu,
		0x2f5d8au, 0x1f7a5cu,  0xb97d14u,   0x86cdf0u, 0x93567au,   0x7d7610u,
	};

	return i < KTR__PALETTE_COLOURS ? colours[i] : KTR__GREY;
}

int ktr__palette_is_idle(const char *state)
{
	static const char *const idle[] = { "idle", "free",  "done",     "none",
					    "off",  "empty", "finished", "sleeping",
					    "not waiting", "nobody waits" };

	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (strcasecmp(state, idle[i]) == 0)
			return 1;
	return 0;
}

uint32_t ktr__palette_name(const char *name, uint64_t hash, uint32_t *taken)
{
	static const unsigned tier[] = { 0, KTR__PALETTE_BEST, 2 * KTR__PALETTE_BEST, KTR__PALETTE_COLOURS };

	if (ktr__palette_is_idle(name))
		return KTR__PALE;
	for (size_t t = 0; t + 1 < sizeof(tier) / sizeof(tier[0]); t++) {
		unsigned n = tier[t + 1] - tier[t];

		for (unsigned i = 0; i < n; i++) {
			unsigned colour = tier[t] + (unsigned)((hash + i) % n);

			if (*taken >> colour & 1)
				continue;
			*taken |= 1u << colour;
			return ktr__palette(colour);
		}
	}
	return ktr__palette((unsigned)(hash % KTR__PALETTE_COLOURS));
}

void ktr__palette_take(uint32_t colour, uint32_t *taken)
{
	for (unsigned i = 0; i < KTR__PALETTE_COLOURS; i++)
		if (ktr__palette(i) == colour)
			*taken |= 1u << i;
}

uint32_t ktr__palette_ramp(unsigned number)
{
	/* 1, 2, 3 and 4, 5 to 8, ... 65 and more; of one lightness step each. */
	static const uint32_t step[] = { 0x9ecae1u, 0x74b2d7u, 0x4f97c7u, 0x3079b3u,
					 0x195e9bu, 0x0d447bu, 0x0a2f5au, 0x081d3au };
	unsigned i = 0;

	while (i + 1 < sizeof(step) / sizeof(step[0]) && 1u << i < number)
		i++;
	return step[i];
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

static uint64_t palette_hash(const char *name)
{
	char label[KTR__LABEL_BYTES];

	return ktr__hash_bytes(0, label, ktr__label_clean(label, sizeof(label), name, strlen(name)));
}

static int palette_add(struct ktr__colours *colours, const char *name, uint32_t *taken)
{
	uint64_t hash = palette_hash(name);
	uint32_t *value = ktr__keymap_at(&colours->of, hash);

	if (value == NULL)
		return -ENOMEM;
	if (*value == 0)
		*value = ktr__palette_name(name, hash, taken) + 1;
	return 0;
}

int ktr__colours_init(struct ktr__colours *colours, const struct ktr_reader *reader)
{
	uint32_t spans = 0, classes = 0;
	int rc = 0;

	memset(colours, 0, sizeof(*colours));
	for (unsigned i = 0; i < ktr_reader_n_sites(reader) && rc == 0; i++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, i);

		if (site == NULL)
			continue;
		if (site->kind == KTR_KIND_START && site->group != NULL)
			rc = palette_add(colours, site->ident != NULL ? site->ident : site->group, &spans);
		if (rc == 0 && site->class_name != NULL)
			rc = palette_add(colours, site->class_name, &classes);
	}
	return rc;
}

void ktr__colours_free(struct ktr__colours *colours)
{
	ktr__keymap_free(&colours->of);
}

int ktr__colours_known(struct ktr__colours *colours, const char *name, uint32_t *colour)
{
	uint32_t *value = colours != NULL ? ktr__keymap_at(&colours->of, palette_hash(name)) : NULL;

	if (value == NULL || *value == 0)
		return 0;
	*colour = *value - 1;
	return 1;
}

uint32_t ktr__colours_name(struct ktr__colours *colours, const char *name)
{
	uint32_t colour;

	if (ktr__colours_known(colours, name, &colour))
		return colour;
	return ktr__palette_is_idle(name) ? KTR__PALE
					  : ktr__palette((unsigned)(palette_hash(name) % KTR__PALETTE_COLOURS));
}
