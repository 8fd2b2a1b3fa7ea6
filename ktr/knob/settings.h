/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's own knobs, and what files and the environment say of them. */
#ifndef KTR_SETTINGS_H
#define KTR_SETTINGS_H

#include "ktr/knob/knobs.h"

#include <ktr/conf.h>
#include <ktr/error.h>

struct ktr__settings {
	struct ktr__knob_context context;
	struct ktr_knobs knobs;
	struct ktr_conf conf;
	struct ktr_error pending; /* the error of settings that were refused at start */
	bool unresolved;	  /* one that may be right later: a mask of classes not known yet */
};

extern struct ktr__settings ktr__settings;

void ktr__settings_begin(void); /* once: the knobs get into the tree */

/* Reads loader.conf files and the environment into the knobs; of errors it tells when asked to. */
void ktr__settings_read(bool tell);

/* A class was bound: once more, if something was unresolved. last: the executable has attached. */
void ktr__settings_retry(bool last);

/* The session has origins of knobs; NULL: there is no session. */
void ktr__settings_origins(struct ktr_origin *origins);

struct ktr_conf *ktr__own_conf(void);

#endif
