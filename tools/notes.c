/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps notes for the end. */
#include "tools/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int notes_take(struct ktr_sink *sink, const struct ktr_note *note)
{
	notes_add((struct notes *)sink, note);
	return 0;
}

void notes_init(struct notes *notes)
{
	memset(notes, 0, sizeof(*notes));
	notes->sink.note = notes_take;
}

void notes_add(struct notes *notes, const struct ktr_note *note)
{
	if (note->damaged)
		notes->partial = 1;
	if (notes->n < NOTES_KEPT)
		notes->line[notes->n] = strdup(note->text);
	notes->n++;
}

int notes_tell(struct notes *notes, const char *command)
{
	int partial = notes->partial;

	for (unsigned i = 0; i < notes->n && i < NOTES_KEPT; i++)
		fprintf(stderr, "%s: %s\n", command, notes->line[i] ? notes->line[i] : "?");
	if (notes->n > NOTES_KEPT)
		fprintf(stderr, "%s: and %u more notes\n", command, notes->n - NOTES_KEPT);
	notes_free(notes);
	return partial;
}

void notes_free(struct notes *notes)
{
	for (unsigned i = 0; i < notes->n && i < NOTES_KEPT; i++)
		free(notes->line[i]);
	notes->n = 0;
	notes->partial = 0;
}
