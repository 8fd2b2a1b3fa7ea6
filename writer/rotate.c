/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rotation: the present trace becomes NAME.1, NAME.2, ... and another is begun, when it has become so
 * large or so old, or when somebody asks. How large, how old and how many are kept is what the drain was
 * opened with, or what the session's knobs say at the moment.
 *
 * Only what this drain has rotated away is ever removed; numbers begin above those that are there. A
 * trace that may not be moved (the host has dropped its rights, or a directory is sticky) is gone on
 * with, but for one that has reached its size.
 */
#include "writer/drain.h"

#include <errno.h>
#include <string.h>

#define ROTATE_LOOK_NS 50000000ull /* between two looks at the control page: a request waits so long */

void ktr__rotate_follow(struct ktr__drain *drain, uint64_t now, int all)
{
	struct ktr__drain_plan *plan = &drain->plan;
	struct ktr_control control;

	if (!plan->follow || (!all && now - drain->asked_ns < ROTATE_LOOK_NS))
		return;
	if (ktr__map_control(drain->plan.map, &control))
		return;
	drain->asked_ns = now;
	if (plan->follow & KTR__FOLLOW_BYTES)
		plan->max_bytes = control.rotate_bytes;
	if (plan->follow & KTR__FOLLOW_NS)
		plan->max_ns = control.rotate_ns;
	if (plan->follow & KTR__FOLLOW_KEEP)
		plan->n_keep = control.rotate_keep < UINT32_MAX ? (uint32_t)control.rotate_keep : UINT32_MAX;
	drain->wanted = plan->follow & KTR__FOLLOW_ASKED ? control.rotate_asked : 0;
	if (all)
		drain->asked = drain->wanted;
}

int ktr__rotate_due(const struct ktr__drain *drain, uint64_t now)
{
	const struct ktr__drain_plan *plan = &drain->plan;

	if (!drain->begun)
		return 0;
	if (drain->wanted != drain->asked)
		return 1;
	/* Nothing is gained by rotating what describes the events alone, however much that is. */
	if (drain->stats.events == drain->begun_events)
		return 0;
	return (plan->max_bytes && plan->n_keep && drain->trace.bytes >= plan->max_bytes &&
		drain->trace.bytes - drain->begun_bytes >= plan->max_bytes / 2) ||
	       (plan->max_ns && now > drain->begun_ns && now - drain->begun_ns >= plan->max_ns);
}

/* The trace cannot be moved: it is gone on with, and the next reason is waited for. */
static int rotate_stuck(struct ktr__drain *drain, int rc, uint64_t now)
{
	if (!drain->stuck)
		ktr__drain_say(drain, "%s: cannot be rotated: %s", drain->trace.name, strerror(-rc));
	drain->stuck = 1;
	drain->begun_ns = now;
	return 0;
}

static void rotate_remove(struct ktr__drain *drain)
{
	const uint32_t n_keep = drain->plan.n_keep;

	if (!drain->oldest)
		drain->oldest = drain->retired;
	for (; n_keep && drain->retired - drain->oldest >= n_keep; drain->oldest++) {
		if (!drain->removed++)
			ktr__drain_say(drain, "%s.%u is removed: %u older traces are kept",
				       drain->trace.name, drain->oldest, n_keep);
		ktr__trace_remove(&drain->trace, drain->oldest);
	}
}

int ktr__rotate(struct ktr__drain *drain, uint64_t now)
{
	uint32_t number = ktr__trace_free_number(&drain->trace);
	int rc = ktr__trace_retire(&drain->trace, number);

	drain->asked = drain->wanted;
	if (rc && rc != -ENOENT)
		return rotate_stuck(drain, rc, now);
	ktr__describe_all(&drain->describe);
	ktr__describe_end(&drain->describe, now, drain->stats.events - drain->begun_events,
			  drain->stats.lost - drain->begun_lost);
	ktr__describe_flush(&drain->describe, &drain->trace);
	ktr__trace_close(&drain->trace);
	drain->begun = drain->stuck = drain->full = 0;
	drain->partial = 1;
	if (!rc) {
		drain->retired = number;
		rotate_remove(drain);
	}
	rc = ktr__trace_create(&drain->trace, NULL);
	if (!rc)
		rc = ktr__drain_publish(drain);
	drain->begun = !rc; /* the clock is the one there was */
	return rc;
}
