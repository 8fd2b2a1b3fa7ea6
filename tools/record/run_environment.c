/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_environment.h"

#include "ktr/session/kernel_event.h"
#include "tools/ask/ask_functions.h"
#include "tools/ask/ask_heap.h"
#include "tools/ask/ask_locks.h"
#include "tools/record/run_filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number that was asked for. */
static void environment_set(const char *name, uint64_t number, const char *unit)
{
	char text[32];

	if (number == UINT64_MAX)
		return;
	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)number, unit);
	setenv(name, text, 1);
}

/* Without a function: of those that are asked for. */
static void environment_members(FILE *to, const char *members, const char **before)
{
	size_t length;

	for (; *members; members += length + (members[length] == ',')) {
		length = strcspn(members, ",");
		if (!length)
			continue;
		fprintf(to, "%sfbt_member:::%.*s", *before, (int)length, members);
		*before = ",";
	}
}

/* The list is handed on whole: libktr says what it does not take. 0, or -1 and errno. */
static int environment_probes(const struct run *run)
{
	const char *before = run->probes ? "," : "";
	char *probes = NULL;
	size_t n = 0;
	FILE *to;
	int rc;

	if (!run->probes && !run->functions && !run->statics && !run->locks && !run->heap && !run->profile)
		return 0;
	to = open_memstream(&probes, &n);
	if (!to)
		return -1;
	fputs(run->probes ? run->probes : "", to);
	if (run->functions)
		ask_functions_probes(to, "fbt", run->functions, "", &before);
	if (run->functions && run->args)
		ask_functions_probes(to, "fbt_args", run->functions, "args", &before);
	if (run->functions && run->members)
		environment_members(to, run->members, &before);
	if (run->callers)
		ask_functions_probes(to, "fbt_caller", run->callers, "within", &before);
	if (run->statics)
		ask_statics_probes(to, run->statics, &before);
	if (run->locks) {
		fputs(before, to);
		ask_locks_probes(to, run->locks);
		before = ",";
	}
	if (run->heap) {
		fputs(before, to);
		ask_heap_probes(to, run->heap);
		before = ",";
	}
	if (run->profile)
		fprintf(to, "%s%s", before, run->profile);
	rc = ferror(to) ? -1 : 0;
	rc |= fclose(to);
	if (!rc && probes && n)
		rc = setenv("KTR_PROBES", probes, 1);
	free(probes);
	return rc;
}

int run_environment(const struct run *run)
{
	uint64_t filters;

	if (environment_probes(run))
		return -1;
	environment_set("KTR_ROTATE_SIZE", run->rotate.bytes, "");
	environment_set("KTR_ROTATE_TIME", run->rotate.ns, "ns");
	environment_set("KTR_ROTATE_KEEP", run->rotate.keep, "");
	environment_set("KTR_FREEZE_AFTER", run->after, "");
	environment_set("KTR_FBT_LONGER", run->longer_ns, "ns");
	environment_set("KTR_PROFILE_SOURCE", run->profile_source ? run->profile_source : UINT64_MAX, "");
	filters = run->profile ? run_filters_spare() : 0;
	environment_set("KTR_PROFILE_FILTERS", filters ? filters : UINT64_MAX, "");
	environment_set("KTR_FBT_DEPTH", run->depth, "");
	if (run->callers)
		setenv("KTR_FBT_WITHIN", "1", 1);
	if (run->trigger.made)
		setenv("KTR_TRIGGER", run->trigger.made, 1);
	if (run->kernel)
		setenv("KTR_KERNEL", "all", 1);
	if (run->mask && run->kernel) {
		char mask[4096];

		snprintf(mask, sizeof(mask), "%s," KTR_KERNEL_SWITCH_CLASS "," KTR_KERNEL_FAULT_CLASS, run->mask);
		setenv("KTR_MASK", mask, 1);
	} else if (run->mask)
		setenv("KTR_MASK", run->mask, 1);
	else
		setenv("KTR_MASK", "all", 0);
	setenv("KTR_FILE", run->path, 1);
	if (run->entries)
		setenv("KTR_ENTRIES", run->entries, 1);
	setenv("KTR_SESSION", run->session, 1);
	unsetenv("KTR_DISABLE");
	if (run->preload.needed)
		setenv("LD_PRELOAD", run->preload.preload, 1);
	if (run->children)
		setenv("KTR_AGENT_CHILDREN", "1", 1);
	else
		unsetenv("KTR_AGENT_CHILDREN");
	return 0;
}
