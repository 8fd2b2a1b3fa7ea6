/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists and switches probes by SPEC. Where a process of the session has something to do for it, that is waited for,
 * a while, so that what could not be done is told here.
 */
#include "tools/probe/probe_specs.h"

#include "conf/eval/spec.h"
#include "ktr/control/session_join.h"
#include "ktr/provider/session/offers.h"
#include "ktr/provider/session/specs.h"
#include "tools/probe/probe_args.h"
#include "tools/probe/probe_count.h"
#include "tools/options.h"
#include "tools/report/session_info.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPECS_TOLD    10   /* probes that could not be, with their reasons; of a hundred thousand */
#define SPECS_WAIT_MS 2000 /* for processes to go on with what they have to do; one that is stopped does it later */

struct specs_list {
	const struct probe_specs *specs;
	int width;
	unsigned n, n_excluded;
	bool print;
	struct probe_count *count;
};

static bool specs_meant(const struct probe_specs *specs, const char *name)
{
	for (int i = 0; i < specs->n; i++)
		if (ktr__spec_fits(specs->spec[i], strlen(specs->spec[i]), name))
			return true;
	return false;
}

static int specs_show(void *context, const struct ktr__spec_probe *probe)
{
	struct specs_list *list = context;
	struct ktr__spec_probe shown;

	if (!specs_meant(list->specs, probe->name))
		return 0;
	if (probe->excluded && !list->specs->verbose) {
		list->n_excluded++;
		return 0;
	}
	shown = *probe;
	session_disarm(shown.name);
	session_disarm(shown.detail);
	if (!list->print) {
		if ((int)strlen(shown.name) > list->width)
			list->width = (int)strlen(shown.name);
		return 0;
	}
	if (!list->n++)
		printf("%-*s  STATE   DETAIL\n", list->width, "PROBE");
	printf("%-*s  %-*s%s%s\n", list->width, shown.name, shown.detail[0] ? 6 : 0,
	       shown.failed ? "failed" : shown.on ? "on" : "off", shown.detail[0] ? "  " : "", shown.detail);
	return 0;
}

static int specs_tell_lost(const struct probe_specs *specs, const struct ktr__specs *all)
{
	uint32_t n = ktr__specs_lost(all);

	if (n)
		fprintf(stderr, "%s: the session has no room for %u more probe%s of its programs\n", specs->command, n,
			n == 1 ? "" : "s");
	return n != 0;
}

/* Of who has not offered all that he was asked for. */
static void specs_tell_late(const struct probe_specs *specs, unsigned n_late)
{
	if (n_late)
		fprintf(stderr, "%s: %u process%s not told of all that fits yet: ask again for the rest\n", specs->command,
			n_late, n_late == 1 ? " has" : "es have");
}

/* A process knows only the types that are in the cache; members are offered by them. */
static void specs_types(const struct probe_specs *specs, const struct ktr__specs *all, const struct probes *probes,
			const char *spec)
{
	char functions[PROBE_ARGS_SPEC];

	if (!probe_args_functions(spec, functions))
		return;
	ktr__specs_ask(all, functions, SPECS_WAIT_MS);
	probe_args_types(specs->command, all, probes, functions);
}

static void specs_print(const struct ktr__specs *all, struct specs_list *list)
{
	ktr__specs_walk(all, NULL, specs_show, list);
	list->print = true;
	list->n_excluded = 0;
	ktr__specs_walk(all, NULL, specs_show, list);
}

static int specs_add(void *context, const struct ktr__spec_probe *probe)
{
	struct specs_list *list = context;
	struct ktr__spec_probe shown;

	if (!specs_meant(list->specs, probe->name))
		return 0;
	shown = *probe;
	session_disarm(shown.name);
	session_disarm(shown.detail);
	return probe_count_add(list->count, &shown);
}

static int specs_count(const struct ktr__specs *all, struct specs_list *list)
{
	int rc;

	list->count = probe_count_new();
	rc = list->count ? ktr__specs_walk(all, NULL, specs_add, list) : -ENOMEM;
	if (rc)
		rc = fail(list->specs->command, "out of memory");
	else
		list->n = probe_count_print(list->count);
	probe_count_free(list->count);
	return rc;
}

/* A program that was not asked for its probes when it began has no providers. */
static const char *specs_hint(const struct ktr__specs *all, const char *spec)
{
	static const char *const others[] = { "ktr:", "probe:", "sched:", "vminfo:" };

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(spec, others[i], strlen(others[i])) == 0)
			return "";
	if (ktr__offers_n_hosts(all->session))
		return "";
	return ", and no process of the session has providers: ktr attach -p PID brings them";
}

static int specs_list(const struct probe_specs *specs, const struct ktr__specs *all)
{
	struct specs_list list = { .specs = specs, .width = 5 };
	unsigned n_late = 0;

	/* Who is late is not waited for again. */
	for (int i = 0; i < specs->n; i++)
		n_late = ktr__specs_ask(all, specs->spec[i], n_late ? 0 : SPECS_WAIT_MS);
	if (!specs->count)
		specs_print(all, &list);
	else if (specs_count(all, &list))
		return 1;
	specs_tell_lost(specs, all);
	specs_tell_late(specs, n_late);
	if (!list.n)
		fprintf(stderr, "%s: no probe fits%s\n", specs->command,
			list.n_excluded ? " but what is excluded: -v lists that" : specs_hint(all, specs->spec[0]));
	return !list.n;
}

/* What a process could not do. */
struct specs_failed {
	const struct probe_specs *specs;
	unsigned n;
};

static int specs_tell_failed(void *context, const struct ktr__spec_probe *probe)
{
	struct specs_failed *failed = context;
	struct ktr__spec_probe shown = *probe;

	if (!shown.failed || failed->n++ >= SPECS_TOLD)
		return 0;
	session_disarm(shown.name);
	session_disarm(shown.detail);
	fail(failed->specs->command, "%s: %s", shown.name, shown.detail);
	return 0;
}

static int specs_switch(const struct probe_specs *specs, const struct ktr__specs *all, const char *spec, bool on)
{
	struct specs_failed failed = { specs, 0 };
	struct ktr_error err = KTR_ERROR_NONE;
	unsigned n_asked = on ? ktr__specs_ask(all, spec, SPECS_WAIT_MS) : 0, n_late, n;
	struct ktr__specs_done done;

	specs_tell_late(specs, n_asked);
	if (ktr__specs_switch(all, spec, on, &done, &err)) {
		const char *hint = done.n ? "" : specs_hint(all, spec);

		fail(specs->command, "%s%s", err.text, hint);
		if (!done.n)
			return 1;
	}
	n_late = ktr__specs_wait(all, done.change, n_asked ? 0 : SPECS_WAIT_MS);
	if (on && done.change)
		ktr__specs_walk(all, spec, specs_tell_failed, &failed);
	if (failed.n > SPECS_TOLD)
		fail(specs->command, "and %u more: ktr probe list tells why", failed.n - SPECS_TOLD);
	n = done.n_failed + failed.n + done.n_were;
	n = done.n > n ? done.n - n : 0;
	printf("%u probe%s %s", n, n == 1 ? "" : "s", on ? "enabled" : "disabled");
	printf(done.n_were ? ", %u already so\n" : "\n", done.n_were);
	if (n_late)
		fprintf(stderr, "%s: %u process%s not done so yet\n", specs->command, n_late,
			n_late == 1 ? " has" : "es have");
	/* What it would have switched may be among them. */
	return (on && done.change && specs_tell_lost(specs, all)) || err.text[0] || failed.n || n_asked;
}

/* Without a word about those that cannot be, which what is said of their types' files explains. */
static int specs_args(const struct probe_specs *specs, const struct ktr__specs *all, const struct probes *probes,
		      const char *spec, bool on)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__specs_done done;
	char args[PROBE_ARGS_SPEC];

	if (!probe_args_spec(spec, args))
		return usage_error(specs->command, "--args is for functions, fbt:MODULE:FUNCTION, not for %s", spec);
	if (on) {
		ktr__specs_ask(all, spec, SPECS_WAIT_MS);
		probe_args_types(specs->command, all, probes, spec);
		ktr__specs_ask(all, args, SPECS_WAIT_MS);
	}
	if (ktr__specs_switch(all, args, on, &done, &err) && done.n)
		return fail_with(specs->command, &err);
	ktr__specs_wait(all, done.change, SPECS_WAIT_MS);
	return 0;
}

int probe_specs_run(const struct probe_specs *specs, struct probes *probes, const char *verb)
{
	struct ktr__specs all = { &probes->session, probes->conf };
	struct ktr_error err = KTR_ERROR_NONE;
	bool list = strcmp(verb, "list") == 0;
	int rc = 0;

	if (!list && !probes->alive)
		return fail(specs->command, "session %s is dead: nobody is there to obey", probes->map.header.name);
	if (!probes->session.map && ktr__session_join(probes->path, &probes->session, &err))
		return fail_with(specs->command, &err);
	for (int i = 0; i < specs->n && strcmp(verb, "disable") != 0; i++)
		specs_types(specs, &all, probes, specs->spec[i]);
	if (list)
		return specs_list(specs, &all);
	for (int i = 0; specs->args && i < specs->n; i++)
		rc |= specs_args(specs, &all, probes, specs->spec[i], strcmp(verb, "enable") == 0);
	for (int i = 0; rc != 2 && i < specs->n; i++)
		rc |= specs_switch(specs, &all, specs->spec[i], strcmp(verb, "enable") == 0);
	return rc;
}
