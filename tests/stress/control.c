/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns knobs of a live session from outside, as `ktr sysctl` does. Being refused because another
 * controller is at it, or because the session's path does not allow it, is an answer like any other.
 */
#include "tests/stress/control.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static int control_set(struct ktr_conf *conf, const char *knob, unsigned value)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char text[16];
	int code;

	snprintf(text, sizeof(text), "%u", value);
	code = ktr_conf_set(conf, knob, text, &err);
	if (!code || code == -EBUSY || code == -EAGAIN)
		return 0;
	fprintf(stderr, "control: %s=%s: %s\n", knob, text, err.text);
	return 1;
}

int control_run(const char *path, const uint32_t *done, uint64_t seed, uint64_t *changes)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_session *session;
	struct ktr_conf *conf;
	int failed = 0;

	if (ktr_session_attach(path, &session, &err)) {
		fprintf(stderr, "control: %s\n", err.text);
		return 1;
	}
	conf = ktr_session_conf(session);
	if (nice(-10) == -1)
		sched_yield(); /* not allowed: fewer changes */
	while (!failed && !__atomic_load_n(done, __ATOMIC_ACQUIRE)) {
		unsigned random;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		random = (unsigned)(seed >> 40);
		if (random % 8 == 0)
			failed = control_set(conf, "debug.ktr.clear", 1);
		else if (random % 8 == 1)
			failed = control_set(conf, "debug.ktr.clock", 1u << (random / 8 % 2 * 3));
		else
			failed = control_set(conf, "debug.ktr.entries", 256u << (random / 8 % 6));
		__atomic_fetch_add(changes, 1, __ATOMIC_RELAXED);
		sched_yield();
	}
	ktr_session_close(session);
	return failed;
}
