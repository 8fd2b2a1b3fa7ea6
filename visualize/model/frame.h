/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words around a picture: a title that says what is seen, a line below it, what was lost, what
 * was left out, and a caption with program, host, time span and the command that makes it again.
 * All texts are clean (visualize/model/label.h); "" where there is nothing to say. A subtitle may hold a
 * newline.
 */
#ifndef VISUALIZE_FRAME_H
#define VISUALIZE_FRAME_H

#include "visualize/model/view.h"

#include <ktr/reader.h>

struct ktr__frame {
	char title[512];
	char also[512]; /* what else is seen */
	char subtitle[512];
	char lost[160];
	char note[512];
	char source[512];  /* caption: program, host, time span */
	char command[512]; /* caption: how to make this picture again */
	char program[64];
	/* What title and also are about: the row, its longest stay in that state. NULL: nothing stands out. */
	struct ktr__frame_said {
		const struct ktr__row *row;
		uint64_t from_ns, to_ns;
	} said[2];
};

/* Fills source and program from the trace, and command by copying. */
void ktr__frame_init(struct ktr__frame *frame, const struct ktr_reader_info *info,
		     const char *command);

/* Says how many events are missing, of how many. */
void ktr__frame_lost(struct ktr__frame *frame, const struct ktr_reader_info *info,
		     const struct ktr__losses *losses, uint64_t n_events);

/* Adds a sentence to the note. */
void ktr__frame_note(struct ktr__frame *frame, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Title and what else is seen, from what stands out in a view; nothing where nothing does. */
void ktr__frame_findings(struct ktr__frame *frame, const struct ktr__view *view);

/* Title, subtitle, loss and notes of a timeline. */
void ktr__frame_timeline(struct ktr__frame *frame, const struct ktr__view *view);

/*
 * Why a picture of that timeline would be empty: 0 when it would not be, else 1 and one sentence
 * that names the reason: nothing recorded, the window, the selection, or losses.
 */
int ktr__frame_empty(const struct ktr__timeline *timeline, char *why, size_t size);

/* An offset in time since the trace began, "3.21 s". */
struct ktr__label_text ktr__frame_since(const struct ktr_reader_info *info, uint64_t ns);

#endif
