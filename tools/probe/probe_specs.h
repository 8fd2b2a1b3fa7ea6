/* SPDX-License-Identifier: BSD-2-Clause */
/* `ktr probe` for SPECs: the probes of all providers. */
#ifndef TOOLS_PROBE_SPECS_H
#define TOOLS_PROBE_SPECS_H

#include "tools/probe/probes.h"

struct probe_specs {
	const char *command;
	const char **spec; /* owned by the caller */
	int n;
	int verbose; /* list what is excluded, too */
	int count;   /* list how many there are, not which */
	int args; /* and the arguments of the functions that they are for */
};

/* list, enable or disable. Returns the exit status, after complaints. */
int probe_specs_run(const struct probe_specs *specs, struct probes *probes, const char *verb);

#endif
