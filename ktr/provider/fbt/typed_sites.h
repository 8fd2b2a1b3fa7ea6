/* SPDX-License-Identifier: BSD-2-Clause */
/* Call sites of functions whose arguments and results are recorded. */
#ifndef KTR_FBT_TYPED_SITES_H
#define KTR_FBT_TYPED_SITES_H

#include "ktr/provider/fbt/typed.h"

#define KTR__FBT_FORMAT 1024 /* [bytes] what is longer is cut */

/* The format of an end of a scope, verb: "start" or "stop". */
void ktr__fbt_scope_format(char format[KTR__FBT_FORMAT], const char *name, const char *verb,
			     const char *attributes);

/*
 * Makes those that a function needs whose probes are wanted (a bit each), if they are not there.
 * Without room in the session they are not, and its events are without arguments.
 */
void ktr__fbt_typed_sites(struct ktr__fbt_typed *typed, const char *module, const struct ktr_class *cls,
			  uint32_t wanted);

#endif
