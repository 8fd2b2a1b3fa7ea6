/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes of a session by SPEC (conf/eval/spec.h), whoever asks: the process itself, or somebody outside. Of
 * four kinds:
 *
 *	ktr:MODULE:FUNCTION:FILE:LINE	call sites; a SPEC is a rule of debug.ktr.sites
 *	probe:TYPE:FUNCTION:NAME	run-time probes: their word
 *	sched:kernel::switch		debug.ktr.kernel, where somebody feeds it
 *	vminfo:kernel::fault
 *	PROVIDER:...			what the providers of ktr/provider.h offer: their word, and a change
 */
#ifndef KTR_SPECS_H
#define KTR_SPECS_H

#include "ktr/session/session_rw.h"

#include <ktr/conf.h>

#include <stdbool.h>

struct ktr__spec_probe {
	char name[2048]; /* whole; as the program has given it */
	char detail[512]; /* of what class, or fed by what; its arguments; why it failed, or what it took */
	bool on;
	bool failed; /* detail says why */
	bool excluded; /* is never on; detail says why */
	bool there;  /* false: no process has it any more */
	uint32_t row; /* in the table of its kind */
};

/* A session, and its tree of knobs; borrowed. */
struct ktr__specs {
	struct ktr__session_rw *session;
	struct ktr_conf *conf;
};

/* Calls back for each probe that fits; NULL: for all. A nonzero answer ends it and is returned. */
typedef int ktr__spec_found(void *context, const struct ktr__spec_probe *probe);
int ktr__specs_walk(const struct ktr__specs *specs, const char *spec, ktr__spec_found *found, void *context);

/*
 * Has processes offer what a SPEC may fit, before it is looked for, as long as they go on every so many ms: how
 * many have not offered all of it. In the process itself providers are asked directly.
 */
unsigned ktr__specs_ask(const struct ktr__specs *specs, const char *spec, unsigned ms);

/* What a SPEC that fits no probe may have meant: another SPEC. false: nothing is near. */
bool ktr__specs_nearest(const struct ktr__specs *specs, const char *spec, char *nearest, size_t size);

/* How a switch went. */
struct ktr__specs_done {
	unsigned n;	   /* that fit, without those that are excluded */
	unsigned n_were;   /* of these, so already */
	unsigned n_failed;
	uint32_t change; /* to wait for; 0: nothing to be done by a process */
};

/*
 * Switches all that fit. 0 or -errno, err filled with the first that failed; -ENOENT: none fits, err names the
 * nearest; -ENOTSUP: all that fit are excluded.
 */
int ktr__specs_switch(const struct ktr__specs *specs, const char *spec, bool on, struct ktr__specs_done *done,
		      struct ktr_error *err);

/* Waits until the processes that have providers have seen a change, so long: how many have not. */
unsigned ktr__specs_wait(const struct ktr__specs *specs, uint32_t change, unsigned ms);

/* Probes of processes that cannot be found, since the session had no room for them. */
uint32_t ktr__specs_lost(const struct ktr__specs *specs);

#endif
