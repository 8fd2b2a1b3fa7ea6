/* SPDX-License-Identifier: BSD-2-Clause */
/* Points of the program's text, which come and go with their modules. */
#include "ktr/provider/mach/mach.h"

#include <stdlib.h>

/* A module that is loaded again has the numbers that it had. */
static void mach_points_site(struct ktr__mach_probe *probe, uint32_t site)
{
	uint32_t *grown;

	for (uint32_t i = 0; i < probe->n_sites; i++)
		if (probe->site[i] == site)
			return;
	grown = realloc(probe->site, (probe->n_sites + 1) * sizeof(*grown));
	if (!grown)
		return;
	grown[probe->n_sites++] = site;
	probe->site = grown;
}

static void mach_points_add(struct ktr__dtrace_point *point)
{
	struct ktr__mach_probe *probe;

	/* A function inlined twice lists its points twice. Without memory a point is off. */
	if (!point || point->probe ||
	    ktr__mach_make(point->type, point->name, point->site->func, point, &probe))
		return;
	__atomic_store_n(&point->probe, probe, __ATOMIC_RELEASE);
	mach_points_site(probe, point->site->id);
	__atomic_store_n(&point->on, (const uint32_t *const *)&probe->offered->on, __ATOMIC_RELEASE);
}

void ktr__dtrace_attach(struct ktr__dtrace_module *module)
{
	if (!module->begin || module->begin == module->end)
		return;
	if (!ktr__mach_enter() && !module->attached) {
		module->attached = 1;
		for (struct ktr__dtrace_point **at = module->begin; at != module->end; at++)
			mach_points_add(*at);
	}
	ktr__mach_unlock();
}

static void mach_points_drop(struct ktr__dtrace_point *point, const uint32_t *const *off)
{
	struct ktr__mach_probe *probe = point->probe;
	struct ktr__dtrace_point **link = &probe->points;

	while (*link && *link != point)
		link = &(*link)->next;
	if (*link)
		*link = point->next;
	__atomic_store_n(&point->probe, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&point->on, off, __ATOMIC_RELAXED);
}

/*
 * The module's text goes away: nobody runs in it any more. Or the process ends, and other threads still do: what
 * they may be about to read stays, so the probe is offered on.
 */
void ktr__dtrace_detach(struct ktr__dtrace_module *module)
{
	if (!module->attached)
		return;
	ktr__mach_enter();
	for (struct ktr__dtrace_point **at = module->begin; at != module->end; at++)
		if (*at && (*at)->probe)
			mach_points_drop(*at, &module->off);
	module->attached = 0;
	ktr__mach_unlock();
}
