/* SPDX-License-Identifier: BSD-2-Clause */
/* What --fbt and --usdt of `ktr run` and `ktr attach` stand for. *before parts a SPEC from the one before. */
#ifndef TOOLS_ASK_FUNCTIONS_H
#define TOOLS_ASK_FUNCTIONS_H

#include <stdio.h>

/* SPECs of what a provider has of functions, by globs of their names; name "": both probes of each. */
void ask_functions_probes(FILE *to, const char *provider, const char *globs, const char *name, const char **before);

/* Static probes of whichever object, as PROVIDER or PROVIDER:NAME; of a provider without a name all that it has. */
void ask_statics_probes(FILE *to, const char *probes, const char **before);

#endif
