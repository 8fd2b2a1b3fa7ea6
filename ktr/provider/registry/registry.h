/* SPDX-License-Identifier: BSD-2-Clause */
/* The providers of this process, as the files of this folder see them. */
#ifndef KTR_REGISTRY_H
#define KTR_REGISTRY_H

/* ktr starts when a program's module attaches or a provider registers, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include "ktr/record/record.h"

#include <ktr/error.h>
#include <ktr/provider.h>

#include <stdbool.h>

struct ktr_provider {
	struct ktr_provider *next;
	const struct ktr_provider_ops *ops;
	void *context;
	struct ktr_class cls;
	struct ktr_site spent; /* of events that say that a probe took too much, budget.c */
	char name[KTR_PROVIDER_NAME_MAX + 1];
	struct ktr__offered *probes;
	uint32_t suspended; /* times */
	bool masked; /* its class has been put into the mask, once */
	bool going;  /* it is being unregistered */
};

/* A probe, with what is the library's alone. Guarded by the lock, but for what firing reads. */
struct ktr__offered {
	struct ktr_provider_probe probe; /* first: what a provider has is a pointer to it */
	struct ktr__offered *next, **link; /* of its provider's */
	struct ktr__offered *chain; /* of its bucket, names.c */
	uint32_t *word;	 /* that says whether it is wanted: the session's, or own_on */
	uint32_t own_on;
	uint32_t row; /* in the session's table; 0: none */
	bool enabled; /* its provider has done so */
	bool failed;  /* or could not: not tried again until the row forgets it */
	bool refused; /* ... as it was offered */
	char *arguments; /* owned; NULL: not known */
	char *excluded; /* owned; why it is never to be enabled; NULL: it may be */
	char text[]; /* all strings */
};

/* The lock: an operation that calls back takes it again. */
void ktr__registry_lock(void);
void ktr__registry_unlock(void);
bool ktr__registry_trylock(void); /* false: somebody has it */

/* Has the providers look at their settings. Under the lock. */
void ktr__registry_settings(void);

/* Does what the words say, of all probes. Under the lock. err: the first that could not be enabled. */
int ktr__registry_look(struct ktr_error *err);
int ktr__registry_look_at(struct ktr__offered *offered, struct ktr_error *err); /* of one */

/* Is the session another one than it was? Then what was on is on there. Under the lock. */
bool ktr__registry_session(void);

/* The child of a fork, which its parent had the lock for. */
void ktr__registry_forked(void);
void ktr__registry_gone(void); /* the process ends */
bool ktr__registry_any(void);    /* are there providers? Under the lock */
bool ktr__registry_any_on(void); /* have they probes that are enabled? */
struct ktr_provider *ktr__registry_providers(void); /* the list. Under the lock */
bool ktr__registry_inside(void); /* is this thread in an operation of a provider? */
void ktr__registry_provide(const char *spec); /* has the providers offer what a SPEC asks for. Under the lock */

/* How many could not be enabled that were wanted as they were offered; what was said of the first. */
uint32_t ktr__registry_refused(const struct ktr_error **first);

#endif
