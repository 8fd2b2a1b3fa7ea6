/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes of a session, live or dead: what `ktr probe` lists and switches, and the knobs debug.ktr.probe.*. They
 * are read through the session's checked, read-only map; only switching maps it for writing.
 *
 * Besides the rows of the session's table there are two that the kernel feeds, thread_switch.kernel and
 * vm_fault.kernel, where the program has a writer thread that can read them (debug.ktr.kernel).
 */
#ifndef TOOLS_PROBES_H
#define TOOLS_PROBES_H

#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"

#include <ktr/conf.h>

#include <limits.h>

struct probes {
	struct ktr__session_map map;
	struct ktr__session_rw session; /* for switching; map NULL: not yet */
	struct ktr_control control;  /* as of opening */
	struct ktr_conf *conf;	     /* borrowed: switches what the kernel feeds, and the mask */
	struct ktr_knobs table;
	int alive;
	uint32_t n_rows;  /* in use, the one of none included */
	uint64_t *fires;  /* of each row, as of the first question; NULL: nobody has asked */
	char path[PATH_MAX];
};

/* A probe as it is shown. Its name is TYPE.NAME, printable. */
struct probe_shown {
	char name[KTR_NAME_BYTES + KTR_PROBE_ROW_NAME];
	char function[KTR_PROBE_ROW_FUNCTION];
	const char *fed;
	int on;
	int counted; /* fires are known */
};

/* Opens the session at path and adds its knobs to the tree. 0 or -errno, err filled. close() undoes it. */
int probes_open(struct probes *probes, const char *path, struct ktr_conf *conf, struct ktr_error *err);
void probes_close(struct probes *probes);

/* The probe of a number, from 0 on: 0; 1: there is none of this number; -ENOENT after the last. */
int probes_get(const struct probes *probes, unsigned idx, struct probe_shown *shown);
uint64_t probes_fires(struct probes *probes, unsigned idx);

/* Has processes that have providers look at the session's settings, and waits until they have, a while. */
void probes_settle(struct probes *probes);

/* Switches one. 0 or -errno, err filled. */
int probes_switch(struct probes *probes, unsigned idx, int on, struct ktr_error *err);

#endif
