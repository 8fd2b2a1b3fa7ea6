/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiler of a session, as kgmon has it: its state, and what there is of it. */
#ifndef TOOLS_KGMON_SESSION_H
#define TOOLS_KGMON_SESSION_H

#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"

#include <ktr/ctl.h>
#include <ktr/reader.h>

#include <limits.h>
#include <stdbool.h>

enum kgmon_state { KGMON_OFF, KGMON_ON, KGMON_HIRES };

struct kgmon_session {
	struct ktr__session_map map;
	struct ktr__session_rw session;
	struct ktr_session *own; /* whose knobs there are */
	enum kgmon_state state;
	unsigned long rate_hz; /* 0: it is off */
	bool alive;
	bool samples; /* a process has, or had, the profiler */
	bool counts; /* ... functions that can count who calls them */
	bool all_count; /* ... and all of them do */
	bool is_later; /* ... and those of what is loaded later will */
	bool has_none; /* it lives, and there is neither */
	char path[PATH_MAX];
};

/* 0, or -errno with err filled and nothing left open. */
int kgmon_session_open(struct kgmon_session *session, const char *path, struct ktr_error *err);
void kgmon_session_close(struct kgmon_session *session);

/* 0, or -errno: the process has not done so, or not yet. */
int kgmon_session_switch(struct kgmon_session *session, enum kgmon_state wanted);

/*
 * Threads that have no samples, where these are by timers: they block the signals that a timer may send. Who begins
 * while it is on lets them through.
 */
unsigned kgmon_session_deaf(const struct kgmon_session *session);

/* Are they by timers because the resolution is low, and nobody has asked for them? */
bool kgmon_session_chose(const struct kgmon_session *session);

/* Forgets what the rings hold, and what a trace has up to now. */
void kgmon_session_reset(struct kgmon_session *session);

/*
 * The trace that the session is written to, if it is one of this session, else the session's rings, since the last
 * reset. 0 with an owned reader in *reader, or -errno.
 */
int kgmon_session_reader(struct kgmon_session *session, struct ktr_reader **reader, struct ktr_error *err);

#endif
