/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes found, walked over and counted. The lock is free while somebody is called back. */
#include "ktr/provider/probe/look.h"

#include "ktr/provider/probe/fire.h"
#include "ktr/provider/probe/registry.h"
#include "ktr/provider/probe/table.h"

static uint64_t look_overhead_ns; /* under the lock; 0: nobody has asked yet */

const char *ktr_probe_type_name(enum ktr_probe_type type)
{
	static const char names[][16] = { "",
#define LOOK_NAME(NAME, name) name,
					  KTR_PROBE_TYPES(LOOK_NAME)
#undef LOOK_NAME
	};

	return type > KTR_PROBE_NONE && type < KTR_PROBE_TYPES_END ? names[type] : "";
}

struct ktr_probe *ktr_probe_by_id(uint32_t id)
{
	struct ktr_probe *probe;

	ktr__probe_lock();
	probe = ktr__probe_table_of_id(id);
	ktr__probe_unlock();
	return probe;
}

struct ktr_probe *ktr_probe_find(enum ktr_probe_type type, const char *name)
{
	struct ktr_probe *probe;

	ktr__probe_lock();
	probe = ktr__probe_table_find(type, name);
	if (probe && !ktr__probe_there(probe))
		probe = NULL;
	ktr__probe_unlock();
	return probe;
}

uint64_t ktr_probe_fires(const struct ktr_probe *probe)
{
	return ktr__probe_count(probe);
}

int ktr_probe_walk(int (*found)(void *context, struct ktr_probe *probe), void *context)
{
	struct ktr_probe *probe = NULL;
	int code = 0;

	while (!code) {
		bool there;

		ktr__probe_lock();
		probe = ktr__probe_table_next(probe);
		there = probe && ktr__probe_there(probe);
		ktr__probe_unlock();
		if (!probe)
			break;
		if (there)
			code = found(context, probe);
	}
	return code;
}

void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns)
{
	struct ktr_probe *probe = NULL;

	*n_probes = *n_enabled = *n_fired = 0;
	ktr__probe_lock();
	while ((probe = ktr__probe_table_next(probe))) {
		*n_probes += ktr__probe_there(probe);
		*n_enabled += ktr_probe_enabled(probe) != 0;
		*n_fired += ktr__probe_count(probe);
	}
	if (!look_overhead_ns)
		look_overhead_ns = ktr__probe_calibrate();
	*overhead_ns = look_overhead_ns;
	ktr__probe_unlock();
}

static bool look_has_site(const struct ktr_probe *probe, uint32_t site)
{
	if (probe->site.id == site)
		return true;
	for (const struct ktr__probe_point *point = probe->points; point; point = point->next)
		if (point->site->id == site)
			return true;
	return false;
}

uint32_t ktr__probe_of_site(uint32_t site)
{
	struct ktr_probe *probe = NULL;
	uint32_t index = 0;

	ktr__probe_lock();
	while (!index && (probe = ktr__probe_table_next(probe)))
		if (look_has_site(probe, site))
			index = probe->index;
	ktr__probe_unlock();
	return index;
}

uint32_t ktr__probe_id(uint32_t index)
{
	const struct ktr_probe *probe;
	uint32_t id;

	ktr__probe_lock();
	probe = ktr__probe_table_at(index);
	id = probe ? probe->id : 0;
	ktr__probe_unlock();
	return id;
}
