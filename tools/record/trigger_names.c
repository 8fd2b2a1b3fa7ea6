/* SPDX-License-Identifier: BSD-2-Clause */
/* A trigger is an expression that a filter may be, too; filters know what call sites and arguments are called. */
#include "tools/record/trigger_names.h"

#include "tools/filter_option.h"

#include <ktr/reader.h>

/* 1 with the reader open and filtered; 0: there is nothing to look at, or a name is wrong, which has been said. */
static int trigger_names_open(const char *command, const char *what, const char *text, const char *path,
			      struct ktr_reader **reader)
{
	struct ktr_error err = KTR_ERROR_NONE;

	if (ktr_reader_open(path, NULL, reader, NULL))
		return 0;
	if (ktr_reader_n_sites(*reader) < 2 || ktr_reader_filter(*reader, text, &err) == 0)
		return 1;
	filter_complain(command, what, text, &err);
	ktr_reader_close(*reader);
	return 0;
}

void trigger_names_check(const char *command, const char *what, const char *text, const char *path)
{
	struct ktr_reader *reader;

	if (trigger_names_open(command, what, text, path, &reader))
		ktr_reader_close(reader);
}

int trigger_names_end(const char *command, const char *what, const char *text, const char *path)
{
	struct ktr_reader *reader;
	uint64_t n = 0, n_lost = 0;
	int found;

	if (!trigger_names_open(command, what, text, path, &reader))
		return 0;
	while ((found = ktr_reader_count(reader, &n)) > 0)
		if (found == KTR_READ_LOSS)
			n_lost += ktr_reader_loss(reader)->n_events;
	ktr_reader_close(reader);
	/* It may have held for what was lost. */
	if (!n && !n_lost && found >= 0)
		fail(command, "%s: it never held", what);
	return n > 0;
}
