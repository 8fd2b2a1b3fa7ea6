/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a format. */
#ifndef ANALYZE_RENDER_PLAN_H
#define ANALYZE_RENDER_PLAN_H

#include "analyze/print/render.h"
#include "conf/kit/arena.h"
#include "ktr/session/format.h"

#include <ktr/reader.h>

/*
 * Prepares the site's format, so that ktr_event_text() need not parse it for each event: sets site->render,
 * which lives as long as the arena and the format. Returns 0 or -ENOMEM.
 */
int ktr__render_prepare(struct ktr_reader_site *site, struct ktr__arena *arena);

/* Makes one item of the site's format a step, whose text is borrowed from the format. */
void ktr__render_plan(const struct ktr_reader_site *site, const struct ktr__format_item *item,
		      struct ktr__render_step *step);

#endif
