/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats made ready for printing: one step per piece of text or conversion, found once per call site.
 */
#ifndef ANALYZE_RENDER_H
#define ANALYZE_RENDER_H

#include "analyze/arena.h"

#include <ktr/reader.h>

struct ktr__render;

/*
 * Prepares the site's format, so that ktr_event_text() need not parse it for each event: sets
 * site->render, which lives as long as the arena and the format. 0 or -ENOMEM.
 */
int ktr__render_prepare(struct ktr_reader_site *site, struct ktr__arena *arena);

#endif
