/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_locks.h"

#include "tools/options.h"

#include <string.h>

/* Waiting is what costs nothing where nobody waits. */
static const struct {
	const char *kind, *probes;
} locks_kinds[] = {
	{ "contention", "lock:::*-block,lock:::*-blocked,lock:::spin-spin,lock:::spin-spun" },
	{ "hold", "lock:::*-acquire,lock:::*-release,lock:::*-init" },
	{ "errors", "lock:::*-error" },
	{ "signals", "lock:::cond-signal" },
	{ "inversions", "lock:::mutex-inverted" },
	{ "stacks", "lock:::stack" },
	{ "all", "lock:::*-*" }, /* but for stacks, whose name has no - */
};

const char *run_locks_probes(const char *kind, size_t n_bytes)
{
	for (unsigned i = 0; i < sizeof(locks_kinds) / sizeof(locks_kinds[0]); i++)
		if (strlen(locks_kinds[i].kind) == n_bytes && strncmp(locks_kinds[i].kind, kind, n_bytes) == 0)
			return locks_kinds[i].probes;
	return NULL;
}

int run_locks_check(const char *command, const char *kinds)
{
	size_t length;

	for (const char *at = kinds;; at += length + 1) {
		length = strcspn(at, ",");
		if (!run_locks_probes(at, length))
			return usage_error(command, "--lock %s: of contention, hold, errors, signals, inversions, stacks, all, "
					   "separated by commas", kinds);
		if (!at[length])
			return 0;
	}
}
