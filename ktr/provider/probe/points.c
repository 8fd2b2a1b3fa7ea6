/* SPDX-License-Identifier: BSD-2-Clause */
/* Points in the text of modules, which lead to their probes while the module is there. */
#include "ktr/provider/probe/registry.h"
#include "ktr/provider/probe/table.h"

#include <errno.h>

int ktr__probe_attach(struct ktr__probe_module *module)
{
	int code = 0;

	if (!module->begin || module->begin == module->end)
		return 0;
	ktr__probe_enter();
	if (module->attached) {
		ktr__probe_unlock();
		return 0;
	}
	module->attached = 1;
	for (struct ktr__probe_point **at = module->begin; at != module->end; at++) {
		struct ktr__probe_point *point = *at;
		struct ktr_probe *probe;
		bool made;

		/* A function inlined twice lists its points twice. */
		if (!point || point->probe || !ktr_probe_type_name(point->type)[0])
			continue;
		probe = ktr__probe_table_find(point->type, point->name);
		made = !probe;
		if (made)
			probe = ktr__probe_table_make(point->type, point->name, point->function);
		if (!probe) {
			code = -ENOMEM;
			continue;
		}
		point->probe = probe;
		point->next = probe->points;
		probe->points = point;
		ktr__probe_update(probe);
		if (made)
			ktr__probe_made(probe);
	}
	ktr__probe_unlock();
	return code;
}

/* The module's text goes away: nobody runs in it any more. */
void ktr__probe_detach(struct ktr__probe_module *module)
{
	ktr__probe_lock();
	for (struct ktr__probe_point **at = module->begin; module->attached && at != module->end; at++) {
		struct ktr_probe *probe = *at ? (*at)->probe : NULL;

		for (struct ktr__probe_point **link = probe ? &probe->points : NULL; link && *link;
		     link = &(*link)->next)
			if (*link == *at) {
				*link = (*at)->next;
				break;
			}
		if (!probe)
			continue;
		(*at)->probe = NULL;
		__atomic_store_n(&(*at)->on, &(*at)->zero, __ATOMIC_RELAXED);
		ktr__probe_update(probe);
	}
	module->attached = 0;
	ktr__probe_unlock();
}
