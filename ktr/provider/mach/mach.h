/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of ktr/dtrace.h, as the files of this folder see them.
 *
 * A struct of a probe, once made, stays as long as the process: whoever fires reads it without a lock. Of what
 * changes in it, the comment says who writes; all of that is atomic.
 *
 *	operation x operation	fire by a point		fire by name		register, remove, attach, detach
 *	any			safe			safe			the lock
 *	remove			a probe that has had	waited for: the probe	the lock
 *				points stays offered	is in the thread's
 *							flights (handler.h)
 *	detach			by nobody, or at exit:	safe			the lock
 *				what it reads stays
 */
#ifndef KTR_MACH_H
#define KTR_MACH_H

/* ktr starts when a program's module attaches or a probe is made, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include "ktr/record/record.h"

#include <ktr/dtrace.h>
#include <ktr/provider.h>

#include <stdbool.h>

#define KTR__MACH_COUNTS 8 /* a thread adds to one of so many, which lie apart */

/* Written by who fires. */
struct ktr__mach_count {
	uint64_t fires;
	uint64_t filtered; /* of these, class mach was off */
	uint64_t ns;	   /* spent, by samples */
	uint64_t pad[5];
};

/* What functions a probe was registered with: whoever has been told of one may look at it later. */
struct ktr__mach_function {
	struct ktr__mach_function *next;
	char text[];
};

struct ktr__mach_probe {
	struct ktr__mach_count count[KTR__MACH_COUNTS] __attribute__((aligned(64)));
	struct ktr__mach_probe *chain; /* of its bucket; written before it is there */
	uint32_t type;
	uint32_t index; /* among all of the process, from 1 */
	const char *name;	  /* owned */
	const char *function;	  /* as it was registered last. Under the lock, as is */
	struct ktr__mach_function *functions; /* owned: this and older ones */
	uint32_t id;		  /* 0: not registered. Under the lock */
	uint32_t n_args;	  /* the most it was fired with. Who fires */
	dtrace_handler_t handler; /* under the lock, seq_cst */
	struct ktr_provider_probe *offered; /* NULL: nobody can enable it. Under the lock, seq_cst */
	struct ktr__dtrace_point *points; /* under the lock, as the next two are: */
	uint32_t *site; /* owned: call sites of points that there are or were, for their events stay */
	uint32_t n_sites;
	bool changing;			  /* its handler is being waited for. Under the lock */
	bool had_points;		  /* whoever fires may hold on to what is offered. Under the lock */
};

/* Takes the lock, and offers the provider if that has not been done. unlock() keeps errno. */
int ktr__mach_enter(void);
void ktr__mach_unlock(void);

/* Under the lock. make() offers it, too; 0 or -errno. */
int ktr__mach_make(uint32_t type, const char *name, const char *function, struct ktr__dtrace_point *point,
		   struct ktr__mach_probe **out);

/* Without: the probe of this type and name, of this index; NULL: none. */
struct ktr__mach_probe *ktr__mach_find(uint32_t type, const char *name);
struct ktr__mach_probe *ktr__mach_at(uint32_t index);
uint32_t ktr__mach_n(void); /* indexes there are, and one more */

bool ktr__mach_enabled(const struct ktr__mach_probe *probe);
void ktr__mach_view(const struct ktr__mach_probe *probe, dtrace_probe_t *view);

#endif
