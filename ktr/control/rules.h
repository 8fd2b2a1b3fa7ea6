/* SPDX-License-Identifier: BSD-2-Clause */
/* Single call sites, on or off by debug.ktr.sites. */
#ifndef KTR_RULES_H
#define KTR_RULES_H

#include <ktr/error.h>
#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

/* Adds rules to those there are; with check, a pattern that fits no site is -ENOENT with the nearest. */
int ktr__rules_set(struct ktr__session_rw *session, const char *text, bool check, struct ktr_error *err);

/* Finds such a pattern among the rules there are: -ENOENT, or 0. */
int ktr__rules_check(const struct ktr__session_rw *session, struct ktr_error *err);

/* Makes a site that has just been registered what they say. */
void ktr__rules_site(struct ktr__session_rw *session, uint32_t index);

/* A site as a probe, as SPECs are for: ktr:MODULE:FUNCTION:FILE:LINE, without directories. */
#define KTR__RULES_PROBE 512 /* [bytes] */
void ktr__rules_probe(const struct ktr__session_rw *session, const struct ktr_site_row *row,
		      char name[KTR__RULES_PROBE]);

void ktr__rules_text(const struct ktr__session_rw *session, char text[KTR_SITES_MAX]);

#endif
