/* SPDX-License-Identifier: BSD-2-Clause */
/* Which probes a SPEC means. */
#ifndef CONF_SPEC_H
#define CONF_SPEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does a probe, written provider:module:function:name, fit a SPEC of n bytes? That is as many globs as it has
 * parts, the first for the provider; one that is empty or left out fits anything. Neither provider, module nor
 * function has a colon, a name may.
 */
bool ktr__spec_fits(const char *spec, size_t n, const char *probe);

#define KTR__SPEC_FAR 0xffffu

/*
 * How far a SPEC that does not fit a probe is from it: letters to be changed in the parts that do not, where a star
 * takes any for nothing, and the beginning of a word is as near as can be. KTR__SPEC_FAR: a part has not much in
 * common.
 */
unsigned ktr__spec_apart(const char *spec, size_t n, const char *probe);

/* The SPEC, with the parts that do not fit as the probe has them. */
void ktr__spec_mend(const char *spec, size_t n, const char *probe, char *mended, size_t size);

#endif
