/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader had to note, kept until all else is shown: lines on standard error. */
#ifndef TOOLS_NOTES_H
#define TOOLS_NOTES_H

#include <ktr/reader.h>

#define NOTES_KEPT 32 /* lines; more are counted */

struct notes {
	struct ktr_sink sink; /* first; takes notes alone */
	int partial;	      /* one was of damage: something could not be read */
	unsigned n;
	char *line[NOTES_KEPT]; /* owned */
};

void notes_init(struct notes *notes);

void notes_add(struct notes *notes, const struct ktr_note *note);

/* Prints them after the command's name, and forgets them. 1 if one was of damage, else 0. */
int notes_tell(struct notes *notes, const char *command);

void notes_free(struct notes *notes);

#endif
