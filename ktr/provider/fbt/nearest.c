/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who looks for the nearest name (ktr/provider/session/specs.c) knows what is offered, and functions are not until
 * they are asked for. So of those of a SPEC that fits nothing the nearest one is looked for here, and offered.
 */
#include "ktr/provider/fbt/nearest.h"

#include "ktr/provider/fbt/members.h"
#include "ktr/provider/fbt/object.h"

#include "conf/eval/spec.h"

#include <stdio.h>
#include <string.h>

struct nearest {
	const char *spec;
	unsigned apart;
	char *mended;
	size_t size;
};

static void nearest_look(void *context, struct ktr__fbt_object *object, uint32_t number, const char *name)
{
	static const struct {
		char provider[12], end[8];
	} offered[] = {
		{ "fbt", "entry" }, { "fbt", "return" }, { "fbt_args", "args" }, { "fbt_caller", "within" },
		{ "fbt_member", "" }, /* of whatever name is asked for */
	};
	char full[3 * KTR_PROVIDER_PART_MAX], part[KTR_PROVIDER_PART_MAX + 1];
	struct nearest *nearest = context;
	const char *member = strncmp(nearest->spec, "fbt_m", 5) == 0 ? ktr__fbt_members_glob(nearest->spec) : NULL;

	if (ktr__fbt_object_gone(object) || ktr__fbt_is_excluded(ktr__fbt_function(number)))
		return;
	ktr__fbt_part(part, name);
	for (unsigned i = 0; i < sizeof(offered) / sizeof(offered[0]); i++) {
		const char *end = *offered[i].end ? offered[i].end : member;
		unsigned apart;

		if (!end)
			continue;
		snprintf(full, sizeof(full), "%s:%s:%s:%s", offered[i].provider, object->name, part, end);
		apart = ktr__spec_apart(nearest->spec, strlen(nearest->spec), full);
		if (apart >= nearest->apart)
			continue;
		nearest->apart = apart;
		ktr__spec_mend(nearest->spec, strlen(nearest->spec), full, nearest->mended, nearest->size);
	}
}

bool ktr__fbt_nearest(const char *spec, char *mended, size_t size)
{
	struct nearest nearest = { spec, KTR__SPEC_FAR, mended, size };

	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		ktr__fbt_object_names(at, nearest_look, &nearest);
	return nearest.apart != KTR__SPEC_FAR;
}
