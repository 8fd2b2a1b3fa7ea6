/* SPDX-License-Identifier: BSD-2-Clause */
/* pthread_create(3), as programs call it: a thread tells of itself where it begins and where it ends. */
#ifndef KTR_PROFILE_CREATE_H
#define KTR_PROFILE_CREATE_H

#include <stdbool.h>

/* What the calling thread does as it begins, or is met; NULL: nothing. Atomic. */
extern void (*ktr__create_begins)(void);

/* What it does before that, likewise, but for threads of ktr's own. */
extern void (*ktr__create_asks)(void);

/* Is the calling thread one that ktr has made? */
extern __thread bool ktr__create_is_own __attribute__((tls_model("initial-exec")));

/* Before any of the following: whose it would be without us. Asks the loader. */
void ktr__create_begin(void);

/* Does the program call ours? Not where it was there before. */
bool ktr__create_is_called(void);

/*
 * Who is there before is led to ours by the pointers of what is loaded, for as long as somebody wants that, and
 * back; look: of what has been loaded since, too, once a second. By operations of providers. Where the process may
 * not read what may be written to, nobody is led.
 */
void ktr__create_lead(void);
void ktr__create_look(void);
void ktr__create_restore(void);

#endif
