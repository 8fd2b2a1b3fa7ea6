/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the tables of a session for probes, and switches what it finds. Rows are others' memory: each is copied
 * once, with strings cut at the sizes of ours.
 */
#include "ktr/provider/session/specs.h"

#include "conf/eval/spec.h"
#include "ktr/control/rules.h"
#include "ktr/provider/session/offers.h"
#include "ktr/provider/session/probe_rows.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPECS_NEAREST 4096 /* probes that a misspelt SPEC is compared with */

/* Strings that many rows have are taken once in a row of them: each is a system call where it lies elsewhere. */
#define SPECS_TEXTS 4

struct specs_texts {
	uint32_t at[SPECS_TEXTS];
	char text[SPECS_TEXTS][256];
};

static void specs_string(const struct ktr__session_rw *session, uint32_t offset, char *text, size_t size)
{
	size_t n = 0;
	const char *from = offset ? ktr__session_bytes(session, offset, &n) : "";

	snprintf(text, size, "%.*s", (int)n, from);
}

static const char *specs_text(const struct ktr__session_rw *session, uint32_t offset, struct specs_texts *texts,
			      int i)
{
	if (texts->at[i] != offset || !offset)
		specs_string(session, offset, texts->text[i], sizeof(texts->text[i]));
	texts->at[i] = offset;
	return texts->text[i];
}

/* ---- how many rows each kind has, the first being none; and one as a probe: 0, or 1: there is none ---- */

static uint32_t specs_n_sites(const struct ktr__specs *specs)
{
	return ktr__session_n_sites(specs->session);
}

static int specs_site(const struct ktr__specs *specs, uint32_t index, struct specs_texts *texts,
		      struct ktr__spec_probe *probe)
{
	struct ktr__session_rw *session = specs->session;
	const struct ktr_site_row *row;
	const uint8_t *byte;

	(void)texts;
	row = ktr__session_ready(session, KTR_REGION_site, index);
	byte = ktr__session_at(session, KTR_REGION_site_ctl, index);
	/* One that is made at run time is a probe of somebody else's. */
	if (!row || !byte || !row->module)
		return 1;
	probe->on = *byte & KTR_SITE_ON;
	if (__atomic_load_n(&session->control->record, __ATOMIC_RELAXED) & row->mask)
		probe->on = !(*byte & KTR_SITE_OFF);
	ktr__rules_probe(session, row, probe->name);
	specs_string(session, row->format, probe->detail, sizeof(probe->detail));
	return 0;
}

static uint32_t specs_n_probes(const struct ktr__specs *specs)
{
	const struct ktr_probe_head *head = ktr__session_at(specs->session, KTR_REGION_probe, 0);
	uint32_t n = head ? __atomic_load_n(&head->n_probes, __ATOMIC_ACQUIRE) : 0;
	uint32_t room = specs->session->header.region[KTR_REGION_probe].n_rows;

	return n < room ? n : room;
}

static int specs_probe(const struct ktr__specs *specs, uint32_t index, struct specs_texts *texts,
		       struct ktr__spec_probe *probe)
{
	static const char fed[][16] = { "nothing", "macro", "run-time", "macro,run-time" };
	const struct ktr_probe_row *at;
	struct ktr_probe_row row;

	(void)texts;
	at = ktr__session_ready(specs->session, KTR_REGION_probe, index);
	if (!at)
		return 1;
	row = *at;
	row.name[sizeof(row.name) - 1] = row.function[sizeof(row.function) - 1] = '\0';
	probe->on = row.on != 0;
	probe->there = row.users != 0;
	snprintf(probe->name, sizeof(probe->name), "probe:%s:%s:%s", ktr__probe_type_text(row.type), row.function,
		 row.name);
	snprintf(probe->detail, sizeof(probe->detail), "fed by %s", fed[row.fed & 3]);
	return 0;
}

static const struct specs_kernel {
	char name[24];
	char knob[8];
	char class_name[8];
	uint64_t bit;
} specs_kernel[] = {
	{ "sched:kernel::switch", "switch", "kswitch", KTR_KERNEL_SWITCH },
	{ "vminfo:kernel::fault", "fault", "kfault", KTR_KERNEL_FAULT },
};

#define SPECS_KERNEL_ROWS (1 + sizeof(specs_kernel) / sizeof(specs_kernel[0]))

static uint32_t specs_n_kernel(const struct ktr__specs *specs)
{
	(void)specs;
	return SPECS_KERNEL_ROWS;
}

static int specs_of_kernel(const struct ktr__specs *specs, uint32_t index, struct specs_texts *texts,
			   struct ktr__spec_probe *probe)
{
	const struct ktr_control *control = specs->session->control;

	(void)texts;
	probe->on = (__atomic_load_n(&control->kernel, __ATOMIC_RELAXED) & specs_kernel[index - 1].bit) != 0;
	probe->there = probe->on || __atomic_load_n(&control->writer, __ATOMIC_RELAXED);
	snprintf(probe->name, sizeof(probe->name), "%s", specs_kernel[index - 1].name);
	snprintf(probe->detail, sizeof(probe->detail), "class %s, fed by the kernel",
		 specs_kernel[index - 1].class_name);
	return 0;
}

static uint32_t specs_n_offers(const struct ktr__specs *specs)
{
	return ktr__offers_n(specs->session);
}

static int specs_offer(const struct ktr__specs *specs, uint32_t index, struct specs_texts *texts,
		       struct ktr__spec_probe *probe)
{
	const struct ktr__session_rw *session = specs->session;
	const struct ktr_offer_row *at;
	struct ktr_offer_row row;
	char function[1024]; /* KTR_PROVIDER_PART_MAX + 1: the one part that is long */

	at = ktr__session_ready(session, KTR_REGION_offer, index);
	if (!at)
		return 1;
	row = *at;
	probe->on = row.on != 0;
	probe->there = row.users != 0;
	probe->excluded = row.failed == KTR_OFFER_EXCLUDED;
	probe->failed = row.on && row.failed && !probe->excluded;
	specs_string(session, row.function, function, sizeof(function));
	snprintf(probe->name, sizeof(probe->name), "%s:%s:%s:%s", specs_text(session, row.provider, texts, 0),
		 specs_text(session, row.module, texts, 1), function, specs_text(session, row.name, texts, 2));
	if (probe->failed || probe->excluded || (!row.on && row.failed == KTR_OFFER_SPENT))
		specs_string(session, row.why, probe->detail, sizeof(probe->detail));
	else
		snprintf(probe->detail, sizeof(probe->detail), "%s", specs_text(session, row.arguments, texts, 3));
	/* Where strings are full there is none for the reason. */
	if (probe->failed && !row.why)
		snprintf(probe->detail, sizeof(probe->detail), "%s",
			 row.failed == ENOSPC ? "the session has no room for it" : strerror((int)row.failed));
	return 0;
}

/* ---- walking ---- */

enum { SPECS_SITE, SPECS_PROBE, SPECS_KERNEL, SPECS_OFFER, SPECS_KINDS };

static const struct {
	uint32_t (*n)(const struct ktr__specs *specs);
	int (*get)(const struct ktr__specs *specs, uint32_t index, struct specs_texts *texts,
		   struct ktr__spec_probe *probe);
} specs_kinds[SPECS_KINDS] = {
	{ specs_n_sites, specs_site },
	{ specs_n_probes, specs_probe },
	{ specs_n_kernel, specs_of_kernel },
	{ specs_n_offers, specs_offer },
};

/* The probe of a row; false where there is none, or nobody has it any more. */
static bool specs_get(const struct ktr__specs *specs, int kind, uint32_t index, struct specs_texts *texts,
		      struct ktr__spec_probe *probe)
{
	probe->row = index;
	probe->there = true;
	probe->failed = probe->excluded = false;
	return !specs_kinds[kind].get(specs, index, texts, probe) && probe->there;
}

static int specs_walk_kind(const struct ktr__specs *specs, int kind, const char *spec, ktr__spec_found *found,
			   void *context)
{
	struct specs_texts texts = { { 0 }, { "" } };
	uint32_t n = specs_kinds[kind].n(specs);
	struct ktr__spec_probe probe;
	int rc = 0;

	for (uint32_t i = 1; i < n && !rc; i++)
		if (specs_get(specs, kind, i, &texts, &probe) &&
		    (!spec || ktr__spec_fits(spec, strlen(spec), probe.name)))
			rc = found(context, &probe);
	return rc;
}

int ktr__specs_walk(const struct ktr__specs *specs, const char *spec, ktr__spec_found *found, void *context)
{
	int rc = 0;

	for (int kind = 0; kind < SPECS_KINDS && !rc; kind++)
		rc = specs_walk_kind(specs, kind, spec, found, context);
	return rc;
}

/* ---- switching ---- */

struct specs_switch {
	const struct ktr__specs *specs;
	struct ktr__specs_done *done;
	struct ktr_error *err;
	int kind;
	bool on;
	int rc;
	char excluded[2600]; /* the first one, and why */
};

static int specs_switch_kernel(const struct specs_switch *s, const struct specs_kernel *kernel)
{
	char text[16];
	int rc;

	snprintf(text, sizeof(text), "%c%s", s->on ? '+' : '-', kernel->knob);
	rc = ktr_conf_set(s->specs->conf, "debug.ktr.kernel", text, s->err);
	snprintf(text, sizeof(text), "%c%s", s->on ? '+' : '-', kernel->class_name);
	return rc ? rc : ktr_conf_set(s->specs->conf, "debug.ktr.mask", text, s->err);
}

/* Call sites are switched together, by the rule that the SPEC is. */
static int specs_switch_one(void *context, const struct ktr__spec_probe *probe)
{
	struct specs_switch *s = context;
	int rc = 0;

	if (probe->excluded) {
		if (!s->excluded[0])
			snprintf(s->excluded, sizeof(s->excluded), "%s: %s", probe->name, probe->detail);
		return 0;
	}
	s->done->n++;
	s->done->n_were += probe->on == s->on && !probe->failed;
	if (s->kind == SPECS_PROBE)
		rc = ktr__probe_row_switch(s->specs->session, probe->row, s->on, s->err);
	else if (s->kind == SPECS_KERNEL)
		rc = specs_switch_kernel(s, &specs_kernel[probe->row - 1]);
	else if (s->kind == SPECS_OFFER)
		rc = ktr__offer_switch(s->specs->session, probe->row, s->on, s->err);
	s->done->n_failed += rc != 0;
	s->rc = s->rc ? s->rc : rc;
	return 0;
}

static int specs_switch_sites(const struct specs_switch *s, const char *spec)
{
	char rule[KTR_SITES_MAX];

	if ((size_t)snprintf(rule, sizeof(rule), "%cktr:%s", s->on ? '+' : '-', strchr(spec, ':') + 1) >= sizeof(rule))
		return ktr_error_set(s->err, ERANGE, "\"%s\" is too long", spec);
	return ktr_conf_set(s->specs->conf, "debug.ktr.sites", rule, s->err);
}

/* The last rows first: a provider that is asked for what it has not offers what is near. */
bool ktr__specs_nearest(const struct ktr__specs *specs, const char *spec, char *nearest, size_t size)
{
	unsigned least = KTR__SPEC_FAR, n_left = SPECS_NEAREST;
	struct specs_texts texts = { { 0 }, { "" } };
	struct ktr__spec_probe probe;

	for (int kind = SPECS_KINDS; kind-- > 0;)
		for (uint32_t i = specs_kinds[kind].n(specs); i-- > 1 && n_left; n_left--) {
			unsigned apart = specs_get(specs, kind, i, &texts, &probe) ?
						 ktr__spec_apart(spec, strlen(spec), probe.name) : KTR__SPEC_FAR;

			if (apart < least)
				ktr__spec_mend(spec, strlen(spec), probe.name, nearest, size);
			least = apart < least ? apart : least;
		}
	return least != KTR__SPEC_FAR;
}

static int specs_unknown(const struct ktr__specs *specs, const char *spec, struct ktr_error *err)
{
	char nearest[sizeof(((struct ktr__spec_probe *)0)->name)];

	if (ktr__specs_nearest(specs, spec, nearest, sizeof(nearest)))
		return ktr_error_set(err, ENOENT, "unknown probe \"%s\", the nearest is \"%s\"", spec, nearest);
	return ktr_error_set(err, ENOENT, "unknown probe \"%s\"", spec);
}

int ktr__specs_switch(const struct ktr__specs *specs, const char *spec, bool on, struct ktr__specs_done *done,
		      struct ktr_error *err)
{
	struct specs_switch s = { .specs = specs, .done = done, .err = err, .on = on };

	memset(done, 0, sizeof(*done));
	for (s.kind = 0; s.kind < SPECS_KINDS; s.kind++) {
		unsigned before = done->n;

		specs_walk_kind(specs, s.kind, spec, specs_switch_one, &s);
		if (s.kind == SPECS_SITE && done->n != before && !s.rc)
			s.rc = specs_switch_sites(&s, spec);
		if (s.kind == SPECS_OFFER && done->n != before)
			done->change = ktr__offers_changed(specs->session);
	}
	if (!done->n && s.excluded[0])
		return on ? ktr_error_set(err, ENOTSUP, "%s", s.excluded) : 0;
	if (!done->n)
		return specs_unknown(specs, spec, err);
	return s.rc;
}

/* Is it for providers? Those that every session has tell of all that they have. */
static bool specs_is_asked(const char *spec)
{
	static const char told[][8] = { "ktr:", "probe:", "sched:", "vminfo:" };

	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (strncmp(spec, told[i], strlen(told[i])) == 0)
			return false;
	return strchr(spec, ':') != NULL;
}

unsigned ktr__specs_ask(const struct ktr__specs *specs, const char *spec, unsigned ms)
{
	return specs_is_asked(spec) ? ktr__offers_ask(specs->session, spec, ms) : 0;
}

unsigned ktr__specs_wait(const struct ktr__specs *specs, uint32_t change, unsigned ms)
{
	return change ? ktr__offers_wait(specs->session, change, ms) : 0;
}

uint32_t ktr__specs_lost(const struct ktr__specs *specs)
{
	return ktr__offers_lost(specs->session);
}
