/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rotation: the present trace becomes NAME.1, NAME.2, ... and another is begun, when it has become so
 * large or so old, or when somebody asks. How large, how old and how many are kept is what the drain was
 * opened with, or what the session's knobs say at the moment.
 *
 * The next trace is complete before the present one is moved, and takes its name in one step; until then nothing
 * has happened to that, so that any failure leaves it as it was. Whoever is killed in between leaves a trace of the
 * name.
 *
 * Only what this drain, or one whose trace it goes on with, has rotated away is ever removed; numbers begin above
 * those that are there. A trace that may not be moved (the host has dropped its rights, or a directory is sticky)
 * is gone on with, however large it gets: nothing is lost for that.
 */
#include "writer/rotate.h"

#include "writer/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROTATE_LOOK_NS	50000000ull   /* between two looks at the control page: a request waits so long */
#define ROTATE_STUCK_NS 1000000000ull /* before it is tried again to move a trace that could not be */

void ktr__rotate_follow(struct ktr__drain *drain, uint64_t now, int all)
{
	struct ktr__drain_plan *plan = &drain->plan;
	struct ktr_control control;

	if (!plan->follow || (!all && now - drain->asked_ns < ROTATE_LOOK_NS))
		return;
	if (ktr__map_control(drain->plan.map, &control))
		return;
	drain->asked_ns = now;
	drain->kernel = control.kernel != 0;
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
	if (drain->stuck && now - drain->stuck_ns < ROTATE_STUCK_NS)
		return 0;
	/* Nothing is gained by rotating what describes the events alone, however much that is. */
	if (drain->stats.events == drain->begun_events)
		return 0;
	return (plan->max_bytes && plan->n_keep && drain->trace.bytes >= plan->max_bytes &&
		drain->trace.bytes - drain->begun_bytes >= plan->max_bytes / 2) ||
	       (plan->max_ns && now > drain->begun_ns && now - drain->begun_ns >= plan->max_ns);
}

/* The trace cannot be moved: it is gone on with, however large it gets, and the next reason is waited for. */
static int rotate_stuck(struct ktr__drain *drain, int rc, uint64_t now)
{
	if (!drain->stuck)
		ktr__drain_refused(drain, rc, now, "%s: cannot be rotated: %s; all goes on into this one",
				   drain->trace.name, strerror(-rc));
	drain->stuck = 1;
	drain->begun_ns = drain->stuck_ns = now;
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

/* The trace that is next: made as a whole before the present one is touched. */
struct rotate_next {
	struct ktr__trace trace;
	struct ktr__describe describe;
};

static void rotate_drop(struct ktr__drain *drain, struct rotate_next *next)
{
	ktr__describe_swap_words(&drain->describe, &next->describe);
	ktr__describe_fini(&next->describe);
	ktr__trace_close(&next->trace);
	free(next->trace.stream);
	free(next);
}

static int rotate_prepare(struct ktr__drain *drain, struct rotate_next **out)
{
	struct rotate_next *next = calloc(1, sizeof(*next));
	int rc = next ? ktr__describe_init(&next->describe, drain->plan.map) : -ENOMEM;

	if (!rc && (rc = ktr__trace_next(&next->trace, &drain->trace)))
		ktr__describe_fini(&next->describe);
	if (rc) {
		free(next);
		return rc;
	}
	ktr__describe_swap_words(&drain->describe, &next->describe);
	rc = ktr__drain_head(drain, &next->describe, &next->trace);
	if (rc)
		rotate_drop(drain, next);
	else
		*out = next;
	return rc;
}

/* The present trace has its end, and the next one its place. */
static void rotate_turn(struct ktr__drain *drain, struct rotate_next *next, uint64_t now)
{
	struct ktr__trace trace = drain->trace;
	struct ktr__describe describe = drain->describe;

	ktr__describe_end(&describe, now, drain->stats.events - drain->begun_events,
			  drain->stats.lost - drain->begun_lost);
	ktr__describe_flush(&describe, &trace);
	ktr__trace_close(&trace);
	ktr__describe_fini(&describe);
	free(trace.stream);
	drain->trace = next->trace;
	drain->describe = next->describe;
	free(next);
	drain->stuck = drain->full = drain->moved = 0;
	drain->refused_ns = 0;
	drain->refusal[0] = 0;
	ktr__drain_restart(drain);
}

/* Somebody has moved the trace away, or removed it: it stays what it is, and the next one takes the name. */
static int rotate_apart(struct ktr__drain *drain, struct rotate_next *next, uint64_t now)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = ktr__trace_publish(&next->trace, &err);

	if (!rc)
		rotate_turn(drain, next, now);
	return rc;
}

int ktr__rotate(struct ktr__drain *drain, uint64_t now)
{
	uint32_t number = ktr__trace_free_number(&drain->trace);
	struct rotate_next *next = NULL; /* which gcc does not see set where all is one file */
	int rc;

	drain->asked = drain->wanted;
	ktr__describe_all(&drain->describe);
	rc = ktr__describe_flush(&drain->describe, &drain->trace);
	if (rc)
		return rc;
	drain->partial = 1; /* for the next one's head */
	rc = rotate_prepare(drain, &next);
	if (rc)
		return rotate_stuck(drain, rc, now);
	rc = ktr__trace_succeed(&drain->trace, &next->trace, number);
	if (!rc) {
		rotate_turn(drain, next, now);
		drain->retired = number;
		rotate_remove(drain);
		return 0;
	}
	if (rc == -ENOENT)
		rc = rotate_apart(drain, next, now);
	if (rc) {
		rotate_drop(drain, next);
		rotate_stuck(drain, rc, now);
	}
	return 0;
}
