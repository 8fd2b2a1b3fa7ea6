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

#endif
