/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session made by hand and its drain, for the tests of what a drain does.
 *
 *	made_open(&made);
 *	site = number_site();
 *	thread = made_thread(&made, 4712, 4711, "worker");
 *	burst(site, thread, 0, 100);
 *	begin(KTR__DRAIN_START);
 *	burst(site, thread, 100, 100);
 *	again();
 *	end();
 *	... made.trace ...
 *	made_close(&made);
 */
#ifndef TESTS_DRAINED_H
#define TESTS_DRAINED_H

#include "trace_look.h"

#include "writer/drain.h"
#include "writer/resume.h"

static struct made made;
static struct ktr__session_map map;
static struct ktr__drain *drain;

static inline void quiet(void *context, const char *line)
{
	(void)context;
	(void)line;
}

static inline int open_drain(enum ktr__drain_from from, uint64_t max_bytes, uint32_t n_keep)
{
	struct ktr__drain_plan plan = { .map = &map,
					.sys = &ktr__sys,
					.path = made.trace,
					.from = from,
					.resume = ktr__resume,
					.max_bytes = max_bytes,
					.n_keep = n_keep,
					.say = quiet };

	return ktr__drain_open(&drain, &plan, NULL);
}

static inline void begin(enum ktr__drain_from from)
{
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(from, 0, 0), 0);
}

/* Puts the image's present state into the session and drains it. */
static inline int again(void)
{
	uint64_t pause_ns;

	made_session(&made);
	return ktr__drain_round(drain, KTR__DRAIN_ALL, &pause_ns);
}

static inline struct ktr__drain_stats end(void)
{
	struct ktr__drain_stats stats = { 0 };

	CU_ASSERT_EQUAL(ktr__drain_close(drain, &stats), 0);
	ktr__map_close(&map);
	return stats;
}

static inline uint32_t number_site(void)
{
	return made_site(&made, KTR_NET, "net.c", 42, "got %d", "n", 1, KTR_ARG_I64);
}

/* Packs of a burst that a ring of 512 entries cannot hold. */
static inline void burst(uint32_t site, uint32_t thread, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		made_event(&made, 1, 1000 + i, site, thread, i);
}

static inline int there(const char *suffix)
{
	char path[400];

	snprintf(path, sizeof(path), "%s%s/metadata", made.trace, suffix);
	return access(path, F_OK) == 0;
}

#endif
