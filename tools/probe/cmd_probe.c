/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr probe: lists the probes of a session and switches them while its programs run. What has no colon is a glob
 * for TYPE.NAME of a run-time probe, or for the name alone; what has one is a SPEC, provider:module:function:name.
 */
#include "conf/nearest.h"
#include "tools/probe/probe_specs.h"
#include "tools/probe/probes.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe_command {
	const char *command;
	struct find find;
	struct probes probes;
	char **patterns;
	int n_patterns;
	int args, count, verbose;
};

static int probe_fits(const struct probe_shown *shown, char *const *pattern)
{
	return find_matches(pattern, 1, shown->name) || find_matches(pattern, 1, strchr(shown->name, '.') + 1);
}

/* Is it meant? No pattern means all. */
static int probe_meant(const struct probe_command *p, const struct probe_shown *shown)
{
	for (int i = 0; i < p->n_patterns; i++)
		if (probe_fits(shown, &p->patterns[i]))
			return 1;
	return !p->n_patterns;
}

/* What a pattern may have meant: names with their type, and without. */
static int probe_name(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct probe_shown shown;
	int rc = probes_get(context, idx / 2, &shown);

	*value = idx;
	if (rc == 0)
		snprintf(name, size, "%s", idx % 2 ? shown.name : strchr(shown.name, '.') + 1);
	return rc;
}

/* Complains about patterns that fit nothing: how many there are. */
static int probe_unknown(struct probe_command *p)
{
	int n = 0;

	for (int i = 0; i < p->n_patterns; i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		struct probe_shown shown;
		int rc, found = 0;

		for (unsigned k = 0; !found && (rc = probes_get(&p->probes, k, &shown)) >= 0; k++)
			found = rc == 0 && probe_fits(&shown, &p->patterns[i]);
		if (found)
			continue;
		ktr__unknown_word("probe", p->patterns[i], strlen(p->patterns[i]), 0, ENOENT, probe_name, &p->probes,
			     &err);
		fail_with(p->command, &err);
		n++;
	}
	return n;
}

static int probe_list(struct probe_command *p)
{
	struct probe_shown shown;
	int rc, width = 5, n = 0;

	for (unsigned i = 0; (rc = probes_get(&p->probes, i, &shown)) >= 0; i++)
		if (rc == 0 && probe_meant(p, &shown) && (int)strlen(shown.name) > width)
			width = (int)strlen(shown.name);
	for (unsigned i = 0; (rc = probes_get(&p->probes, i, &shown)) >= 0; i++) {
		char fires[24] = "-";

		if (rc || !probe_meant(p, &shown))
			continue;
		if (!n++)
			printf("%-*s  STATE %12s  %-14s  FUNCTION\n", width, "PROBE", "FIRES", "FED BY");
		if (shown.counted)
			snprintf(fires, sizeof(fires), "%llu", (unsigned long long)probes_fires(&p->probes, i));
		printf("%-*s  %-5s %12s  %-*s%s%s\n", width, shown.name, shown.on ? "on" : "off", fires,
		       shown.function[0] ? 14 : 0, shown.fed, shown.function[0] ? "  " : "", shown.function);
	}
	if (!p->probes.alive)
		fprintf(stderr, "%s: session %s is dead, its probes are shown as they were last\n", p->command,
			p->probes.map.header.name);
	else if (!n && !p->n_patterns)
		fprintf(stderr, "%s: session %s has no probes%s\n", p->command, p->probes.map.header.name,
			p->probes.map.header.region[KTR_REGION_probe].n_rows ?
				"" : " that can be seen from outside: it is of an older version");
	return 0;
}

static int probe_switch(struct probe_command *p, int on)
{
	unsigned n = 0, n_were = 0, n_failed = 0;
	struct probe_shown shown;
	int rc;

	if (!p->probes.alive)
		return fail(p->command, "session %s is dead: nobody is there to obey", p->probes.map.header.name);
	for (unsigned i = 0; (rc = probes_get(&p->probes, i, &shown)) >= 0 && !n_failed; i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		if (rc || !probe_meant(p, &shown))
			continue;
		n++;
		n_were += !shown.on == !on;
		if (probes_switch(&p->probes, i, on, &err)) {
			fail(p->command, "%s: %s", shown.name, err.text);
			n_failed++;
		}
	}
	if (!n && !p->n_patterns)
		return fail(p->command, "session %s has no probes", p->probes.map.header.name);
	n -= n_failed + n_were;
	printf("%u probe%s %s", n, n == 1 ? "" : "s", on ? "enabled" : "disabled");
	printf(n_were ? ", %u already so\n" : "\n", n_were);
	return n_failed != 0;
}

static const struct option_row probe_rows[] = {
	OPTIONS_SOURCE(struct probe_command, find),
	OPTION_FLAG('v', "verbose", struct probe_command, verbose, "list also what can never be on, and why"),
	OPTION_FLAG(0, "count", struct probe_command, count,
		    "of a SPEC list how many there are of each object, how many can be on, and why others cannot"),
	OPTION_FLAG(0, "args", struct probe_command, args,
		    "of functions (fbt:) also whether their arguments and results are recorded"),
};

static const struct options probe_options = {
	.operands = "list|enable|disable [SPEC...]",
	.about = "Lists the probes of a session, or switches them. A SPEC is a glob for TYPE.NAME, or for the\n"
		 "name, of run-time probes; or provider:module:function:name, a glob in each part, and what\n"
		 "is left out fits anything. Without one, all run-time probes.",
	.examples = "ktr probe list\n"
		    "ktr probe list '*:'\n"
		    "ktr probe list -v fbt:::\n"
		    "ktr probe list --count -p 4711 fbt:::entry\n"
		    "ktr probe enable 'ktr::parse_*'\n"
		    "ktr probe enable -p 4711 'ipc_*' depth\n"
		    "ktr probe enable --args 'fbt::parse_*:'\n"
		    "ktr probe disable custom.depth\n"
		    "ktr sysctl debug.ktr.probe.custom.depth.enabled=1\n",
	OPTIONS_ROWS(probe_rows),
};

static int probe_run_globs(struct probe_command *p, const char *verb)
{
	int unknown = probe_unknown(p), rc;

	if (strcmp(verb, "list") == 0)
		rc = probe_list(p);
	else if (unknown && unknown == p->n_patterns)
		rc = 1;
	else
		rc = probe_switch(p, strcmp(verb, "enable") == 0);
	return rc || unknown;
}

/* Takes the SPECs off the patterns. */
static void probe_take_specs(struct probe_command *p, struct probe_specs *specs)
{
	int n = 0;

	specs->n = 0;
	for (int i = 0; i < p->n_patterns; i++)
		if (strchr(p->patterns[i], ':'))
			specs->spec[specs->n++] = p->patterns[i];
		else
			p->patterns[n++] = p->patterns[i];
	p->n_patterns = n;
}

static int probe_run(struct probe_command *p, const char *verb)
{
	struct probe_specs specs = { .command = p->command, .args = p->args, .count = p->count,
				    .verbose = p->verbose };
	int rc = 0, specs_rc = 0;

	specs.spec = calloc((size_t)p->n_patterns + 1, sizeof(char *));
	if (!specs.spec)
		return fail(p->command, "out of memory");
	probe_take_specs(p, &specs);
	if (!specs.n || p->n_patterns)
		rc = probe_run_globs(p, verb);
	if (specs.n)
		specs_rc = probe_specs_run(&specs, &p->probes, verb);
	free(specs.spec);
	return rc || specs_rc;
}

static int cmd_probe(int argc, char **argv)
{
	static struct probe_command p; /* some pages */
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_session *session;
	const char *verb;
	char path[PATH_MAX];
	int rc;

	p.command = p.find.command = argv[0];
	if (!options_parse(&probe_options, argc, argv, &p, &rc))
		return rc;
	verb = optind < argc ? argv[optind] : "";
	p.patterns = argv + optind + 1;
	p.n_patterns = optind < argc ? argc - optind - 1 : 0;
	if (strcmp(verb, "list") != 0 && strcmp(verb, "enable") != 0 && strcmp(verb, "disable") != 0)
		return usage_error(argv[0],
				   *verb ? "\"%s\" is none of list, enable, disable" : "list, enable or disable?%s",
				   verb);
	rc = find_session(&p.find, path, sizeof(path));
	if (rc)
		return rc;
	if (ktr_session_attach(path, &session, &err))
		return fail_with(argv[0], &err);
	if (probes_open(&p.probes, path, ktr_session_conf(session), &err)) {
		rc = fail_with(argv[0], &err);
	} else {
		rc = probe_run(&p, verb);
		probes_close(&p.probes);
	}
	ktr_session_close(session);
	return rc;
}

COMMAND(probe, "list and switch the probes of a session", cmd_probe);
