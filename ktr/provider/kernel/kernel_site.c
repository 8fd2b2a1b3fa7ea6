/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/kernel/kernel_site.h"

#include "ktr/session/kernel_event.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <string.h>

static const struct kernel_site {
	unsigned what; /* KTR_KERNEL_* */
	const char *func, *text;
	uint8_t n_args;
} kernel_sites[KTR__KERNEL_SITES_END] = {
#define KERNEL_SITE(name, what, func, text, n) [KTR__KERNEL_##name] = { KTR_KERNEL_##what, func, text, n },
	KTR_KERNEL_SITES(KERNEL_SITE)
#undef KERNEL_SITE
};

uint64_t ktr__kernel_mask(struct ktr__session_rw *session, unsigned what)
{
	return what == KTR_KERNEL_SWITCH ?
		       ktr__session_class(session, KTR_KERNEL_SWITCH_CLASS, KTR_KERNEL_SWITCH_HELP) :
		       ktr__session_class(session, KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT_HELP);
}

unsigned ktr__kernel_site_args(unsigned line)
{
	return kernel_sites[line].n_args;
}

uint32_t ktr__kernel_site_row(struct ktr__session_rw *session, unsigned line)
{
	struct ktr_site_row *row;
	const struct kernel_site *site = &kernel_sites[line];
	bool state = site->what == KTR_KERNEL_SWITCH;
	const char *format = state ? KTR_KERNEL_STATE_FORMAT : KTR_KERNEL_POINT_FORMAT;
	const char *names = state ? KTR_KERNEL_STATE_NAMES : KTR_KERNEL_POINT_NAMES;
	const uint64_t key = 0x6c656e72656b5bull; /* "[kernel" */
	uint32_t index;

	/* Rows are handed out in order: after one that cannot be there is none. */
	for (uint32_t i = 1, n = ktr__session_n_sites(session); i < n; i++) {
		row = session->sealed ? ktr__region_rows(session, site, struct ktr_site_row) + i :
					ktr__session_at(session, KTR_REGION_site, i);
		if (!row)
			break;
		if (row->key == key && row->offset == line &&
		    __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) >= KTR_ROW_READY)
			return session->sealed || ktr__session_touch(session, KTR_REGION_site_ctl, i, 1) ? i : 0;
	}
	index = ktr__session_row(session, &session->control->n_sites, KTR_REGION_site);
	row = ktr__region_rows(session, site, struct ktr_site_row) + index;
	if (!index || !ktr__session_touch(session, KTR_REGION_site_ctl, index, 1))
		return 0;
	row->line = line;
	row->mask = ktr__kernel_mask(session, site->what);
	row->key = key;
	row->offset = line;
	row->file = ktr__session_put(session, KTR_KERNEL_FILE, strlen(KTR_KERNEL_FILE));
	row->func = ktr__session_put(session, site->func, strlen(site->func));
	row->format = ktr__session_put(session, format, strlen(format));
	row->names = ktr__session_put(session, names, strlen(names));
	row->n_args = site->n_args;
	for (unsigned i = 0; i < site->n_args && i < KTR_ARGS_MAX; i++) {
		row->type[i] = i < 2 ? KTR_ARG_STR : KTR_ARG_PTR;
		row->how[i] = i == 0 ? KTR_HOW_COPY : i == 1 ? KTR_HOW_LITERAL : KTR_HOW_VALUE;
	}
	row->literal[1] = ktr__session_put(session, site->text, strlen(site->text));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return index;
}
