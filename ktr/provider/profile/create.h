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

/* Does the program call ours? Not where it was there before. Asks the loader. */
bool ktr__create_is_called(void);

#endif
