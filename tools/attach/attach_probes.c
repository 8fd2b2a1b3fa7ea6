/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/attach_probes.h"

#include "ktr/control/session_join.h"
#include "ktr/provider/session/specs.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PROBES_WAIT_MS 5000

static int probes_failed(void *context, const struct ktr__spec_probe *probe)
{
	if (!probe->failed)
		return 0;
	return ktr_error_set(context, ENOTSUP, "%s: %s", probe->name, probe->detail);
}

static int probes_on(const struct ktr__specs *specs, const char *spec, struct ktr_error *err)
{
	struct ktr__specs_done done;
	int rc;

	ktr__specs_ask(specs, spec, PROBES_WAIT_MS);
	rc = ktr__specs_switch(specs, spec, true, &done, err);
	if (rc)
		return rc;
	if (ktr__specs_wait(specs, done.change, PROBES_WAIT_MS))
		return ktr_error_set(err, ETIMEDOUT, "%s is not on yet after %d s", spec, PROBES_WAIT_MS / 1000);
	return ktr__specs_walk(specs, spec, probes_failed, err);
}

int attach_probes_on(const char *session, const char *list, struct ktr_error *err)
{
	struct ktr__session_rw joined;
	struct ktr__specs specs = { &joined, NULL };
	char spec[256];
	int rc = ktr__session_join(session, &joined, err);

	if (rc)
		return rc;
	while (*list && !rc) {
		size_t n = strcspn(list, ",");

		snprintf(spec, sizeof(spec), "%.*s", (int)n, list);
		list += n + (list[n] == ',');
		rc = probes_on(&specs, spec, err);
	}
	ktr__session_detach(&joined);
	ktr__table_forget(); /* it is mapped again, maybe at the same place */
	return rc;
}
