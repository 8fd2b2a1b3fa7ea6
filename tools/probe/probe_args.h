/* SPDX-License-Identifier: BSD-2-Clause */
/* `ktr probe --args`: the arguments and results of functions (ktr_fbt(3)). */
#ifndef TOOLS_PROBE_ARGS_H
#define TOOLS_PROBE_ARGS_H

#include "ktr/provider/session/specs.h"
#include "tools/probe/probes.h"

#define PROBE_ARGS_SPEC 4096 /* [bytes] */

/* The SPEC of their arguments' probes: "fbt_args:MODULE:FUNCTION:". false: it is none for functions. */
bool probe_args_spec(const char *spec, char args[PROBE_ARGS_SPEC]);

/* And the other way: of a SPEC for arguments, or for members, that of their functions. false: it is neither. */
bool probe_args_functions(const char *spec, char functions[PROBE_ARGS_SPEC]);

/*
 * Sees to it that the processes of a session find the types of the objects that have functions which fit. A line
 * for each that has none.
 */
void probe_args_types(const char *command, const struct ktr__specs *all, const struct probes *probes,
		      const char *spec);

#endif
