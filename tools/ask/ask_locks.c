/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/ask/ask_locks.h"

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

/* The probes of a kind, whose name has so many bytes. NULL: it is none. */
static const char *ask_locks_of(const char *kind, size_t n_bytes)
{
	for (unsigned i = 0; i < sizeof(locks_kinds) / sizeof(locks_kinds[0]); i++)
		if (strlen(locks_kinds[i].kind) == n_bytes && strncmp(locks_kinds[i].kind, kind, n_bytes) == 0)
			return locks_kinds[i].probes;
	return NULL;
}

int ask_locks_take(void *to, const char *what, const char *kinds, char **argv)
{
	size_t length;

	for (const char *at = kinds;; at += length + 1) {
		length = strcspn(at, ",");
		if (!ask_locks_of(at, length))
			return usage_error(argv[0], "%s %s: of contention, hold, errors, signals, inversions, stacks, all, "
					   "separated by commas", what, kinds);
		if (!at[length])
			break;
	}
	*(const char **)to = kinds;
	return 0;
}

void ask_locks_probes(FILE *to, const char *kinds)
{
	const char *before = "";
	size_t length;

	for (; *kinds; kinds += length + (kinds[length] == ',')) {
		length = strcspn(kinds, ",");
		fprintf(to, "%s%s", before, ask_locks_of(kinds, length));
		before = ",";
	}
}
