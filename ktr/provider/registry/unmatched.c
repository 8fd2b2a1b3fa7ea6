/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.ktr.probes as the process ends: what could not be enabled; of a SPEC that has fitted nothing but what can
 * be no probe, why not; and of a SPEC that no probe has fitted the nearest one. libktr complains of those that are
 * left, which are globs without a colon, and all where there are no providers.
 *
 * Of what fits no probe nothing is said where it fits one of another process that lives, or by who was started by
 * one that will say it: g++(1) starts three, and a word of each would be among what they print.
 *
 * Providers are asked for what they have not offered. exit(3) may have been called by one of them, or in a handler
 * of a signal: then nobody is asked.
 */
#include "conf/eval/spec.h"
#include "ktr/knob/probes_asked.h"
#include "ktr/provider/registry/registry.h"
#include "ktr/provider/session/specs.h"
#include "ktr/record/own.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool unmatched_is_child(const struct ktr__session_rw *session)
{
	uint32_t n = session->control->n_procs;

	for (uint32_t i = 1; i < n && i < session->header.region[KTR_REGION_proc].n_rows; i++) {
		const struct ktr_proc_row *row = ktr__session_at(session, KTR_REGION_proc, i);

		if (row && row->pid == (uint32_t)getppid())
			return true;
	}
	return false;
}

static void unmatched_tell(const struct ktr__specs *specs, const char *spec)
{
	char nearest[KTR_KNOB_STRING_BYTES];
	bool near;

	ktr__registry_provide(spec);
	near = ktr__specs_nearest(specs, spec, nearest, sizeof(nearest));
	/* As it is: it fits what another process has. */
	if ((near && strcmp(nearest, spec) == 0) || unmatched_is_child(specs->session))
		return;
	ktr__complain("debug.ktr.probes: no probe fits %s%s%s", spec, near ? ", the nearest is " : "",
		      near ? nearest : "");
}

/* A hundred thousand functions are more than a session has call sites for. */
static void unmatched_refused(void)
{
	const struct ktr_error *first;
	uint32_t n = ktr__registry_refused(&first);

	if (n == 1)
		ktr__complain("debug.ktr.probes: %s", first->text);
	else if (n)
		ktr__complain("debug.ktr.probes: %u probes could not be enabled, the first is %s", n, first->text);
}

/* The first of those that fit, where none of them can be on. NULL: one can, or none fits. */
static const struct ktr__offered *unmatched_excluded(const char *spec)
{
	const struct ktr__offered *first = NULL;
	char full[4 * KTR_PROVIDER_PART_MAX + 4];

	for (const struct ktr_provider *provider = ktr__registry_providers(); provider; provider = provider->next)
		for (const struct ktr__offered *at = provider->probes; at; at = at->next) {
			const struct ktr_provider_probe *probe = &at->probe;

			snprintf(full, sizeof(full), "%s:%s:%s:%s", provider->name, probe->module, probe->function,
				 probe->name);
			if (!ktr__spec_fits(spec, strlen(spec), full))
				continue;
			if (!at->excluded)
				return NULL;
			first = first ? first : at;
		}
	return first;
}

static void unmatched_tell_excluded(const char *spec)
{
	const struct ktr__offered *first = unmatched_excluded(spec);

	if (first)
		ktr__complain("debug.ktr.probes: nothing that fits %s can be a probe, the first is %s:%s:%s:%s: %s", spec,
			      first->probe.provider->name, first->probe.module, first->probe.function,
			      first->probe.name, first->excluded);
}

/* Before libktr's: this library is unloaded first, and where both are in the program by its number. */
__attribute__((destructor(102))) static void unmatched_exit(void)
{
	struct ktr__session_rw session = *ktr__own_session();
	const struct ktr__specs specs = { &session, NULL };
	char list[sizeof(ktr__probes_asked)], *at, *spec;
	unsigned i = 0;

	if (!session.map || session.sealed || !ktr__registry_any() || ktr__registry_inside() ||
	    !ktr__probes_asked[0] || !ktr__registry_trylock())
		return;
	unmatched_refused();
	memcpy(list, ktr__probes_asked, sizeof(list));
	for (spec = strtok_r(list, ",", &at); spec; spec = strtok_r(NULL, ",", &at)) {
		size_t n = strlen(spec += strspn(spec, " \t"));

		while (n && (spec[n - 1] == ' ' || spec[n - 1] == '\t'))
			spec[--n] = '\0';
		if (!n)
			continue;
		if (!strchr(spec, ':') || strncmp(spec, "ktr:", 4) == 0)
			;
		else if (__atomic_fetch_or(&ktr__probes_fit, 1ull << i % 64, __ATOMIC_RELAXED) & 1ull << i % 64)
			unmatched_tell_excluded(spec);
		else
			unmatched_tell(&specs, spec);
		i++;
	}
	ktr__registry_unlock();
}
