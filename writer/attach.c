/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draining from outside. Rings are read by pread(2): a session file cut short under our hands is a
 * short read then. Whether anybody is left is asked a few times a second, and once more before the
 * last round, which therefore finds all that the last of them has committed.
 */
#include "writer/attach.h"

#include "writer/keep.h"
#include "writer/resume.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_ALIVE_NS 250000000ull /* between two questions whether the session lives */

static int attach_open(const struct ktr__attach *attach, const struct ktr__session_map *map,
		       struct ktr__drain **drain, struct ktr_error *err)
{
	struct ktr__drain_plan plan = {
		.map = map,
		.sys = &ktr__sys,
		.path = attach->trace,
		.from = attach->from,
		.resume = ktr__resume,
		.max_bytes = attach->max_bytes,
		.max_ns = attach->max_ns,
		.n_keep = attach->n_keep,
		.follow = attach->follow,
		.say = attach->say,
		.context = attach->context,
	};

	return ktr__drain_open(drain, &plan, err);
}

static int attach_error(const struct ktr__attach *attach, const struct ktr__session_map *map,
			const struct ktr__drain_stats *stats, int rc, struct ktr_error *err)
{
	const char *name = map->header.name;

	if (!stats->unwritten || stats->limit)
		return ktr_error_set(err, rc, "%s: cannot write: %m", attach->trace);
	if (stats->named)
		return ktr_error_set(err, rc, "%s: cannot write: %m; %llu events stay in session %s: ktr salvage %s",
				     attach->trace, (unsigned long long)stats->unwritten, name, attach->trace);
	return ktr_error_set(err, rc, "%s: cannot write: %m; %llu events stay in session %s: ktr snapshot -s %s",
			     attach->trace, (unsigned long long)stats->unwritten, name, name);
}

/* keeps: the session is there as long as we write it, and for what could not be written. */
static int attach_close(const struct ktr__attach *attach, struct ktr__session_map *map, struct ktr__drain *drain,
			bool keeps, struct ktr__drain_stats *stats, struct ktr_error *err)
{
	struct ktr__drain_stats own;
	uint64_t pause_ns = 0;
	int rc;

	if (attach->kernel_events)
		ktr__kernel_events_round(attach->kernel_events, &pause_ns);
	rc = ktr__drain_close(drain, &own);
	if (stats)
		*stats = own;
	if (rc)
		attach_error(attach, map, &own, rc, err);
	if (keeps && (!rc || own.limit))
		ktr__keep_end(map, attach->session, attach->over);
	ktr__map_close(map);
	return rc;
}

/* Tells that we write the session from now on, or that nobody does. */
static void attach_tell(const struct ktr__attach *attach, const struct ktr__session_map *map, bool writes)
{
	ktr__keep_put(map, attach->session, offsetof(struct ktr_control, writer), writes ? (uint32_t)getpid() : 0);
	if (writes)
		ktr__keep_put(map, attach->session, offsetof(struct ktr_control, writer_ends), 0);
}

/* Nobody is left, or it cannot be told: who holds no lock on a file that was cut short is not in it any more. */
static int attach_over(const struct ktr__attach *attach, const struct ktr__session_map *map)
{
	struct ktr_control control;
	int alive = attach->writes ? ktr__map_inhabited(map) : ktr__map_alive(map);

	if (attach->writes && ktr__map_control(map, &control) == 0 && !control.alq_enable)
		return 1;
	if (alive < 0 && attach->say)
		attach->say(attach->context, "the session's file cannot be read any more: it has been cut short");
	return alive <= 0;
}

static void attach_loop(const struct ktr__attach *attach, const struct ktr__session_map *map,
			struct ktr__drain *drain)
{
	uint64_t begun = ktr__drain_now(), asked = begun, now = begun, pause_ns = 0, kernel_ns;

	while (!(attach->stop && *attach->stop) &&
	       !(attach->for_ns && now - begun >= attach->for_ns)) {
		struct timespec ts = { 0, (long)pause_ns };

		/* A signal that asks us to stop cuts the sleep short. */
		if (pause_ns)
			nanosleep(&ts, NULL);
		kernel_ns = UINT64_MAX;
		if (attach->kernel_events)
			ktr__kernel_events_round(attach->kernel_events, &kernel_ns);
		ktr__drain_round(drain, 0, &pause_ns);
		if (kernel_ns < pause_ns)
			pause_ns = kernel_ns;
		now = ktr__drain_now();
		if (now - asked >= ATTACH_ALIVE_NS) {
			if (attach_over(attach, map))
				return;
			asked = now;
		}
	}
}

int ktr__record_session(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			struct ktr_error *err)
{
	struct ktr__session_map map;
	struct ktr__drain *drain;
	bool keeps = false;
	int rc = ktr__map_open(attach->session, KTR__MAP_OWN, &map, err);

	if (!rc)
		keeps = ktr__keep_begin(&map, attach->session);
	if (!rc && (attach->writes ? ktr__map_inhabited(&map) : ktr__map_alive(&map)) == 0)
		rc = ktr_error_set(err, ENODEV,
				   "%s: its processes have ended; ktr snapshot saves what it holds",
				   attach->session);
	if (!rc)
		rc = attach_open(attach, &map, &drain, err);
	if (rc) {
		if (keeps)
			ktr__keep_end(&map, attach->session, attach->over);
		ktr__map_close(&map);
		return rc;
	}
	if (attach->writes)
		attach_tell(attach, &map, true);
	attach_loop(attach, &map, drain);
	if (attach->writes)
		attach_tell(attach, &map, false);
	return attach_close(attach, &map, drain, keeps || attach->over, stats, err);
}

int ktr__snapshot_session(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			  struct ktr_error *err)
{
	struct ktr__session_map map;
	struct ktr__drain *drain;
	int rc = ktr__map_open(attach->session, KTR__MAP_OWN, &map, err);

	if (rc)
		return rc;
	rc = attach_open(attach, &map, &drain, err);
	if (!rc)
		return attach_close(attach, &map, drain, attach->over || attach->from == KTR__DRAIN_RESUME, stats,
				    err);
	ktr__map_close(&map);
	return rc;
}
