/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.ktr.probes: run-time probes that are on from the start. It is read before there are any; libktr-probe asks
 * about each one that it makes.
 */
#include "ktr/knob/probes_asked.h"

#include "conf/eval/glob.h"
#include "conf/eval/spec.h"
#include "ktr/control/rules.h"
#include "ktr/knob/knob_rows.h"
#include "ktr/record/own.h"

#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) char ktr__probes_asked[KTR_KNOB_STRING_BYTES + 4];
__attribute__((visibility("default"))) uint64_t ktr__probes_fit;

/* The next pattern, without the blanks around it. NULL: there is none. */
static char *asked_next(char **at, size_t *length)
{
	char *pattern = *at + strspn(*at, ", \t"), *end = pattern + strcspn(pattern, ",");

	*at = end;
	while (end > pattern && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*length = (size_t)(end - pattern);
	return *length ? pattern : NULL;
}

/* Is it a SPEC for call sites? There are as many bytes behind each pattern. */
static bool asked_sites(const char *pattern)
{
	return memcmp(pattern, "ktr:", 4) == 0;
}

/*
 * Call sites are probes of libktr's own: a SPEC for them is a rule of debug.ktr.sites, which tells of what fits
 * none.
 */
int ktr__knob_set_probes(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	static const char kernel[][24] = { "sched:kernel::switch", "vminfo:kernel::fault" };
	struct ktr__session_rw *session = ktr__knob_session(at);
	char *from = ktr__probes_asked, *pattern, after;
	size_t length;
	int code = 0;

	strncpy(ktr__probes_asked, strcmp(value->text, "none") == 0 ? "" : value->text, KTR_KNOB_STRING_BYTES - 1);
	ktr__knob_context(at)->early_sites |= ktr__probes_asked[0] != '\0';
	if (!session)
		return 0;
	while (!code && (pattern = asked_next(&from, &length))) {
		if (!asked_sites(pattern))
			continue;
		after = pattern[length];
		pattern[length] = '\0';
		code = ktr__rules_set(session, pattern, false, err);
		pattern[length] = after;
	}
	/* What the kernel tells are probes as well. */
	for (unsigned k = 2; k-- > 0;)
		if (ktr__probe_asked("", kernel[k]))
			__atomic_fetch_or(&session->control->kernel,
					  (KTR_KERNEL_SWITCH | KTR_KERNEL_SWITCH_PROBE) << k, __ATOMIC_RELAXED);
	return code;
}

__attribute__((visibility("default"))) bool ktr__probe_asked(const char *type, const char *name)
{
	char *at = ktr__probes_asked, *pattern;
	size_t length, n_name = strlen(name);
	uint64_t fits = 0;
	char full[128];
	int n_full;

	if (!ktr__probes_asked[0] || !*name)
		return ktr__probes_asked[0];
	n_full = snprintf(full, sizeof(full), "%s.%s", type, name);
	for (uint64_t bit = 1; (pattern = asked_next(&at, &length)); bit = bit << 1 | bit >> 63)
		if (memchr(pattern, ':', length) ? !*type && ktr__spec_fits(pattern, length, name) :
						   *type && (ktr__glob(pattern, length, name, n_name) ||
							     ktr__glob(pattern, length, full, (size_t)n_full)))
			fits |= bit;
	__atomic_fetch_or(&ktr__probes_fit, fits, __ATOMIC_RELAXED);
	return fits != 0;
}

const char *ktr__probes_list(void)
{
	return ktr__probes_asked;
}

void ktr__probes_unmatched(void)
{
	uint64_t fits = __atomic_load_n(&ktr__probes_fit, __ATOMIC_RELAXED);
	char *at = ktr__probes_asked, *pattern;
	size_t length;

	for (uint64_t bit = 1; (pattern = asked_next(&at, &length)); bit = bit << 1 | bit >> 63)
		if (!(fits & bit) && !asked_sites(pattern))
			ktr__complain("debug.ktr.probes: no probe fits %.*s", (int)length, pattern);
}
