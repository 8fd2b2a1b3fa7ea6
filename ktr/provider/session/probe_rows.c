/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run-time probes, as the session has them. What recording one needs is made by who switches it on, since the
 * program may be in a handler of a signal when it finds out.
 */
#include "ktr/provider/session/probe_rows.h"

#include "ktr/control/counts.h"
#include "ktr/control/mask.h"
#include "ktr/control/rules.h"
#include "ktr/provider/probe/probe_site.h"
#include "ktr/session/table.h"

#include <ktr/probe_type.h>

#include <errno.h>
#include <string.h>

const char *ktr__probe_type_text(uint32_t type)
{
	static const char names[][16] = { "none",
#define PROBE_ROWS_TYPE(NAME, name) name,
					  KTR_PROBE_TYPES(PROBE_ROWS_TYPE)
#undef PROBE_ROWS_TYPE
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t probe_rows_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 0x100000001b3ull;
	return hash;
}

static uint32_t probe_rows_put(const struct ktr__session_rw *session, const char *text)
{
	return ktr__session_put(session, text, strlen(text));
}

/* The row of the call site of fires by handle; 0: there is no room. */
static uint32_t probe_rows_site(struct ktr__session_rw *session, const char *name, uint32_t type,
				uint64_t class_mask)
{
	uint32_t index = ktr__session_row(session, &session->control->n_sites, KTR_REGION_site);
	struct ktr_site_row *row = ktr__region_rows(session, site, struct ktr_site_row) + index;
	char format[KTR__PROBE_SITE_FORMAT];

	if (!index || !ktr__session_touch(session, KTR_REGION_site_ctl, index, 1))
		return 0;
	if (__atomic_load_n(&session->control->count, __ATOMIC_RELAXED) && ktr__counts_open(session, index + 1))
		return 0;
	ktr__probe_site_format(name, format);
	row->line = type;
	row->mask = class_mask;
	row->key = probe_rows_hash(KTR__PROBE_SITE_FILE) ^ probe_rows_hash(format) ^ type;
	row->file = probe_rows_put(session, KTR__PROBE_SITE_FILE);
	row->func = probe_rows_put(session, name);
	row->format = probe_rows_put(session, format);
	row->names = probe_rows_put(session, KTR__PROBE_SITE_NAMES);
	row->n_args = KTR_ARGS_MAX;
	memset(row->type, KTR_ARG_U64, sizeof(row->type));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_SEQ_CST);
	ktr__rules_site(session, index);
	return index;
}

/* What recording needs. */
static int probe_rows_prepare(struct ktr__session_rw *session, struct ktr_probe_row *row, struct ktr_error *err)
{
	uint64_t mask = ktr__session_class(session, KTR__PROBE_CLASS, KTR__PROBE_CLASS_HELP);
	uint64_t asked = __atomic_load_n(&session->control->asked, __ATOMIC_RELAXED);
	char name[KTR_PROBE_ROW_NAME];
	uint32_t site, none = 0;

	if (!mask)
		return ktr_error_set(err, ENOSPC, "the session has no class left for probes");
	memcpy(name, row->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	/* Points have call sites of their own. */
	if (__atomic_load_n(&row->fed, __ATOMIC_RELAXED) & KTR_PROBE_FED_HANDLE &&
	    !__atomic_load_n(&row->site, __ATOMIC_ACQUIRE)) {
		site = probe_rows_site(session, name, row->type, mask);
		if (!site)
			return ktr_error_set(err, ENOSPC, "the session has no room for another call site");
		__atomic_compare_exchange_n(&row->site, &none, site, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	return asked & mask ? 0 : ktr__session_mask_change(session, mask, 0, err);
}

int ktr__probe_row_switch(struct ktr__session_rw *session, uint32_t index, int on, struct ktr_error *err)
{
	struct ktr_probe_row *row = ktr__session_at(session, KTR_REGION_probe, index);
	int rc = 0;

	if (!row)
		return ktr_error_set(err, ENOSPC, "no memory: the file system of %s is full", session->path);
	if (on)
		rc = probe_rows_prepare(session, row, err);
	if (!rc)
		__atomic_store_n(&row->on, on != 0, __ATOMIC_RELEASE);
	return rc;
}
