/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours that people with any kind of colour vision can tell apart: those of Okabe and Ito, "Color
 * Universal Design" (2008), https://jfly.uni-koeln.de/color/, and tints of them where a picture
 * needs more. Colours are 0xRRGGBB.
 */
#ifndef VISUALIZE_PALETTE_H
#define VISUALIZE_PALETTE_H

#include "visualize/model/keymap.h"

#include <ktr/reader.h>

#include <stdint.h>

#define KTR__BLACK           0x000000u
#define KTR__ORANGE          0xe69f00u
#define KTR__SKY             0x56b4e9u
#define KTR__GREEN           0x009e73u
#define KTR__YELLOW          0xf0e442u
#define KTR__BLUE            0x0072b2u
#define KTR__VERMILLION      0xd55e00u
#define KTR__PURPLE          0xcc79a7u
#define KTR__PALE            0xdfdfdfu /* nothing happens here: idle, free */
#define KTR__GREY            0x999999u /* what is not told apart any more */
#define KTR__INK             0x202020u /* text */
#define KTR__FAINT           0x606060u /* text that explains */

/*
 * Colours for things: 0, 1, 2... The first KTR__PALETTE_BEST of them differ most, then as many more. From
 * KTR__PALETTE_COLOURS on all are grey. Vermillion is not among them: it is for what stands out.
 */
#define KTR__PALETTE_BEST    6
#define KTR__PALETTE_COLOURS 24
uint32_t ktr__palette(unsigned i);

/*
 * The colour of a name, by its hash. taken has a bit for each colour of the palette that another name has: of two
 * names with one hash modulo the palette the later one gets the next colour that is free. Where all are taken names
 * share colours. Idle states are pale.
 */
uint32_t ktr__palette_name(const char *name, uint64_t hash, uint32_t *taken);

/* The colour is one of the palette's: no further name is to have it. */
void ktr__palette_take(uint32_t colour, uint32_t *taken);

/* The colour of a number from 1 on: one hue that gets darker, more slowly the higher the number is. */
uint32_t ktr__palette_ramp(unsigned number);

/* A state in which nothing is done or held, by its name: "idle", "free", "done", "sleeping"... */
int ktr__palette_is_idle(const char *state);

/* The nearest of the 240 fixed colours that xterm has at 16 to 255. */
unsigned ktr__palette_xterm(uint32_t colour);

/* Black or white, whichever is legible on the colour. */
uint32_t ktr__palette_on(uint32_t colour);

/*
 * The colours of a trace's names, the same in all that is drawn of it, whatever a picture shows. Those of spans and
 * of classes are settled by its table of call sites, which no window changes: of each kind the first
 * KTR__PALETTE_COLOURS have a colour of their own. States are known only when they come: rows.h settles theirs, and
 * asks here first whether the name is known; it may be one that another state has by then. Whatever else has a
 * name has the colour of its hash. Names are told apart by what a label shows of them.
 */
struct ktr__colours {
	struct ktr__keymap of; /* hash to colour, + 1 */
};

/* Of the trace or session that is read. 0 or -ENOMEM; ktr__colours_free() is due in any case. */
int ktr__colours_init(struct ktr__colours *colours, const struct ktr_reader *reader);
void ktr__colours_free(struct ktr__colours *colours);

/* 0xRRGGBB of a name that the table of call sites has; 0 or 1. colours may be NULL: nothing is known. */
int ktr__colours_known(struct ktr__colours *colours, const char *name, uint32_t *colour);

/* 0xRRGGBB of any name. */
uint32_t ktr__colours_name(struct ktr__colours *colours, const char *name);

#endif
