/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of rows: their sites, and how one is handed on. */
#ifndef ANALYZE_DERIVE_TELL_H
#define ANALYZE_DERIVE_TELL_H

#include "analyze/derive/derive_parts.h"

/* Makes the sites. 0 or -ENOMEM. */
int ktr__derive_sites(struct ktr__derive *derive);

/* Hands on an event of a site of ours, at the moment and by the thread of another one. What the sink returned. */
int ktr__derive_state(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		      const char *ident, const char *state);
int ktr__derive_span(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		     const char *ident, uint64_t key);
int ktr__derive_number(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		       uint64_t number);

#endif
