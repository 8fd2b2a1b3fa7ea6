/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the objects of a process import, led elsewhere while it runs: for providers that stand before functions of
 * the C library, in programs that run already. Calls through pointers that the program has taken down before are
 * not seen, nor those within the library that has the function and does not import it itself.
 *
 * All here is called under the registry's lock, and asks nothing of the loader but dl_iterate_phdr(3): who waits
 * for that lock as it forks may have the loader's.
 */
#ifndef KTR_IMPORTS_H
#define KTR_IMPORTS_H

#include <ktr/error.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__import {
	const void *ours;
	void *const *real; /* where the address is of what is called otherwise; not NULL when they are led */
	const char *name;  /* where n_first is not 0 */
};

struct ktr__imports {
	struct ktr__import *import;
	unsigned n;
	bool spares_owner; /* what the object that has the real ones calls of its own stays so */
	bool may_be_none;  /* nothing that is loaded need import any of them */
	/*
	 * Of what is loaded the first so many were there when the program began, and call the real ones: their
	 * pointers are led also before a first call has bound them.
	 */
	unsigned n_first;
	bool is_on;
};

/*
 * From now on calls of everything that is loaded, but of ktr itself and of the loader, go to ours. 0, or -errno and
 * why: what the process may read of itself does not tell what may be written to, or nothing imports any of them.
 */
int ktr__imports_lead(struct ktr__imports *imports, struct ktr_error *why);

/* How much is loaded now: for n_first, before anything else of the program runs. */
unsigned ktr__imports_n_loaded(void);

/* The same of a program that runs, or less: what the loader has before itself in its list. */
unsigned ktr__imports_n_began(void);

/* The same for what has been loaded, or bound by a first call, since. Once a second. */
void ktr__imports_look(struct ktr__imports *imports);

/* They are as they were. A call that is in one of ours goes on there. */
void ktr__imports_restore(struct ktr__imports *imports);

#endif
