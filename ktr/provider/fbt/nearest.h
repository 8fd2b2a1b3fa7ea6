/* SPDX-License-Identifier: BSD-2-Clause */
/* A function that a misspelt SPEC may have meant. */
#ifndef KTR_FBT_NEAREST_H
#define KTR_FBT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The SPEC, mended so that it fits the function that is nearest to it. false: none is near. */
bool ktr__fbt_nearest(const char *spec, char *mended, size_t size);

#endif
