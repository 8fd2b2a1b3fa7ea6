/* SPDX-License-Identifier: BSD-2-Clause */
/* See export_walk.h. */
#include "tools/read/export_walk.h"

#include "analyze/derive/derive.h"
#include "tools/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Rows of locks and memory, which know what came before a window: so the walk begins with the source. 0, or 1 after
 * a complaint.
 */
static int export_derive(struct walk *walk, struct ktr_sink **sink, struct ktr__derive **derive)
{
	if (ktr__derive_new(derive, walk->reader, *sink, 0) != 0 || ktr__derive_sink(*derive) == *sink)
		return 0;
	*sink = ktr__derive_sink(*derive);
	if (walk->from_ns == 0)
		return 0;
	ktr__derive_from(*derive, walk->from_ns);
	walk->from_ns = 0;
	return ktr_reader_window(walk->reader, 0, walk->to_ns) != 0 ?
		       fail_with(walk->find.command, ktr_reader_error(walk->reader)) : 0;
}

int export_walk(struct walk *walk, const struct ktr__export_format *format, const char *output)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char note[sizeof(((struct ktr__export *)NULL)->note)];
	struct ktr__derive *derive = NULL;
	struct ktr__export *e;
	struct ktr_sink *sink;
	int walked, printed = 0, rc;

	if (ktr__export_begin(&e, format, walk->reader, output, &err) != 0) {
		fail_with(walk->find.command, &err);
		walk_close(walk);
		return 1;
	}
	e->n_threads = ktr__crew_threads(walk->n_threads);
	sink = &e->sink;
	/* What has tracks has those of locks and memory, too. */
	if (format->slices != NULL)
		e->error = export_derive(walk, &sink, &derive) != 0 ? -EIO : 0;
	if (strcmp(output, "-") == 0)
		progress_prints();
	/* Rows that are derived come between the others: they are of one thread. */
	if (ktr__export_trade(format) != NULL && sink == &e->sink)
		walked = walk_print(walk, ktr__export_trade(format), e, sink, &printed);
	else
		walked = walk_run(walk, &sink, 1);
	if (walked == 0 && derive != NULL)
		walked = ktr__derive_end(derive);
	if (derive != NULL)
		walk->n_events -= ktr__derive_n_before(derive);
	e->error = e->error != 0 ? e->error : printed;
	progress_phase(walk->find.command, "writing");
	/* A source that fails half-way gives what it has; that is partial, and said so. */
	if (walked < 0 && e->error == 0)
		walked = 0;
	rc = ktr__export_end(e, walked, note, &err) != 0;
	ktr__derive_free(derive);
	progress_end();
	if (rc != 0 && err.code == EPIPE)
		rc = 0; /* nobody reads on */
	else if (rc != 0)
		fail_with(walk->find.command, &err);
	else if (note[0] != '\0')
		fprintf(stderr, "%s: %s\n", walk->find.command, note);
	return walk_close(walk) || rc;
}
