/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of debug.ktr.*: the session itself, its rings and its clock. */
#include "ktr/arch/arch.h"
#include "ktr/control/rings.h"
#include "ktr/control/stats.h"
#include "ktr/knob/knob_rows.h"
#include "ktr/load/resize.h"
#include "ktr/session/session_rw.h"

#include <errno.h>
#include <stdio.h>

struct ktr__session_rw *ktr__knob_session(const struct ktr_knob_at *at)
{
	struct ktr__session_rw *session = ktr__knob_context(at)->session;

	return session->map ? session : NULL;
}

int ktr__knob_get_version(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = 2; /* FreeBSD's KTR_VERSION, whose entries ours carry on */
	return 0;
}

int ktr__knob_get_session(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	snprintf(value->text, value->text_size, "%s", session->header.name);
	return 0;
}

/* The name is asked for before there is a session, and means nothing to one that there is. */
int ktr__knob_set_session(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (!session)
		snprintf(ktr__knob_context(at)->name, KTR_SESSION_NAME_MAX, "%s", value->text);
	return 0;
}

int ktr__knob_set_keep_session(const struct ktr_knob_at *at, const struct ktr_value *value,
			       struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (session)
		__atomic_store_n(&session->control->keep_session, value->number != 0,
				 __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_get_entries(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);
	uint32_t log2;

	if (!session)
		return -ENXIO;
	log2 = __atomic_load_n(&session->control->ring_log2, __ATOMIC_RELAXED);
	value->number = log2 ? 1ull << (log2 & 63) : 0;
	return 0;
}

int ktr__knob_set_entries(const struct ktr_knob_at *at, const struct ktr_value *value,
			  struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);
	unsigned log2 = KTR_RING_LOG2_MIN;

	if (!session)
		return 0;
	while ((1ull << log2) < value->number)
		log2++;
	if (log2 > session->header.ring_log2_max)
		return ktr_error_set(err, ERANGE, "at most %llu entries in this session",
				     1ull << session->header.ring_log2_max);
	if (log2 == __atomic_load_n(&session->control->ring_log2, __ATOMIC_RELAXED))
		return 0;
	if (__atomic_load_n(&session->control->rings_open, __ATOMIC_ACQUIRE)) {
		/* A process that joins a session takes its rings as they are. */
		if (at->origin == KTR_ORIGIN_FILE || at->origin == KTR_ORIGIN_ENVIRONMENT)
			return 0;
		return ktr__resize(session, log2, err);
	}
	__atomic_store_n(&session->control->ring_log2, log2, __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_get_clock(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = (__atomic_load_n(&session->control->clock_slots, __ATOMIC_RELAXED) >> 1) + 1ull;
	return 0;
}

int ktr__knob_set_clock(const struct ktr_knob_at *at, const struct ktr_value *value,
			struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return 0;
	if (value->number & (value->number - 1))
		return ktr_error_set(err, EINVAL, "not a power of two");
	__atomic_store_n(&session->control->clock_slots, (uint32_t)(value->number - 1) << 1, __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_clock_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "tsc", "cntvct", "monotonic" };

	(void)context;
	if (idx >= 3)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx + KTR_CLOCK_TSC;
	return 0;
}

int ktr__knob_get_clock_source(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = session->header.clock;
	return 0;
}

/* Asked for before there is a session; one that there is keeps its own. */
int ktr__knob_set_clock_source(const struct ktr_knob_at *at, const struct ktr_value *value,
			       struct ktr_error *err)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (value->number != KTR_ARCH_CLOCK && value->number != KTR_CLOCK_MONOTONIC)
		return ktr_error_set(err, EINVAL, "this machine has no such clock");
	if (!session)
		ktr__knob_context(at)->clock = (uint32_t)value->number;
	return 0;
}

int ktr__knob_follow_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char names[][5] = { "same", "own", "none" };

	(void)context;
	if (idx > KTR_FOLLOW_NONE)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = idx;
	return 0;
}

int ktr__knob_get_clear(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = 0;
	return 0;
}

/* Clearing raises each ring's first valid slot; heads are never reset. */
int ktr__knob_set_clear(const struct ktr_knob_at *at, const struct ktr_value *value,
			struct ktr_error *err)
{
	struct ktr__session_rw *session = ktr__knob_session(at);

	(void)err;
	if (!value->number || !session)
		return 0;
	for (uint32_t i = 0; i < KTR_RING_KINDS * session->header.n_rings; i++) {
		struct ktr_ring *ring = &session->rings[i];
		uint64_t conts, slots = ktr__ring_moment(ring, &conts);

		__atomic_store_n(&ring->cleared, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->cleared_conts, conts, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->cleared, slots, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->first, slots, __ATOMIC_RELEASE);
	}
	return 0;
}

int ktr__knob_get_recorded(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = ktr__session_recorded(session);
	return 0;
}

int ktr__knob_get_dropped(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__session_rw *session = ktr__knob_session(at);

	if (!session)
		return -ENXIO;
	value->number = ktr__session_dropped(session);
	return 0;
}
