/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr top shows: how many events of each call site a session records, second by second, and the
 * last ones of one of them.
 *
 * Every ring has a cursor, and a look counts what was recorded since the look before. How many events
 * there were in all is exact; which sites they were of is told by those that were still there to be
 * read, at most TOP_LOOK of a ring, and the rates of sites are scaled up to the whole.
 */
#ifndef TOOLS_TOP_MODEL_H
#define TOOLS_TOP_MODEL_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

#include <ktr/ctl.h>
#include <ktr/reader.h>

#define TOP_LOOK (1u << 18) /* [slots] of a ring that one look reads at most */
#define TOP_LAST 64         /* events kept for the list */

struct top_site {
	uint32_t id;
	double rate; /* [events/s] */
	uint64_t n;  /* since the first look */
};

struct top_class {
	char name[KTR_CLASS_NAME_MAX];
	uint64_t mask;
	int on;
	double rate;
};

struct top {
	struct ktr__session_map map;
	char path[4096];
	struct ktr_session *session; /* for switching */
	struct ktr_reader *reader;   /* of this look; names and last events */
	struct ktr__ring_cursor *cursor;
	uint32_t n_rings;
	struct ktr_entry *buffer;
	uint64_t *seen; /* by site, since the look before */
	uint64_t *sum;  /* by site, since the first look, scaled */
	uint32_t n_seen, n_sum;
	/* What the last look found. */
	int alive;
	struct ktr_control control;
	uint64_t events, dropped; /* in all, exactly */
	double rate, drop_rate;   /* [events/s] */
	double seconds;           /* that the rates are of */
	int has_writer;
	uint64_t written, writer_lost, behind;
	double write_rate;
	struct top_site *site; /* those with events, the busiest first */
	uint32_t n_sites;
	struct top_class class_[64];
	unsigned n_classes;
	char *last[TOP_LAST]; /* events of the site that was asked for, the latest first */
	unsigned n_last;
	uint64_t at_ns, base;
};

/* 0, or -errno with err filled. top_close() is due in any case. */
int top_open(struct top *top, const char *path, struct ktr_error *err);
void top_close(struct top *top);

/* Looks again; site: whose events to list, 0 for none. 0 or -errno. */
int top_look(struct top *top, uint32_t site);

/* [ns] since the last look. */
uint64_t top_age_ns(const struct top *top);

/* Switches a class on or off, from the next event on. 0, or -errno with err filled. */
int top_switch(struct top *top, const struct top_class *class_, struct ktr_error *err);

#endif
