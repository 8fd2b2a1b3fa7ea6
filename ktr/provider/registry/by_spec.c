/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switching by SPEC in the process itself: the words are stored as from outside, and what this process has to do is
 * done at once, on the calling thread; other processes of the session do theirs.
 */
#include "ktr/provider/registry/agent.h"
#include "ktr/provider/registry/registry.h"
#include "ktr/provider/session/offers.h"
#include "ktr/provider/session/specs.h"
#include "ktr/record/own.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <string.h>

/* The session as it is, with a copy of what describes it: ours to hand on. */
static int by_spec_session(struct ktr__session_rw *session, struct ktr_error *err)
{
	ktr__agent_begin();
	*session = *ktr__own_session();
	return session->map ? 0 : ktr_error_set(err, ENXIO, "no session");
}

static int by_spec_switch(const char *spec, bool on, struct ktr_error *err)
{
	struct ktr_error none = KTR_ERROR_NONE;
	struct ktr__session_rw session;
	struct ktr__specs specs = { &session, ktr_conf() };
	struct ktr__specs_done done;
	int rc = by_spec_session(&session, err), looked;

	if (rc)
		return rc;
	ktr__registry_lock();
	if (on)
		ktr__registry_provide(spec);
	rc = ktr__specs_switch(&specs, spec, on, &done, &none);
	looked = ktr__registry_look(rc ? NULL : &none);
	ktr__registry_unlock();
	if (err && !err->text[0])
		*err = none;
	return rc ? rc : looked;
}

int ktr_provider_enable(const char *spec, struct ktr_error *err)
{
	return by_spec_switch(spec, true, err);
}

int ktr_provider_disable(const char *spec, struct ktr_error *err)
{
	return by_spec_switch(spec, false, err);
}

int ktr_provider_switch(struct ktr_provider_probe *probe, int on, struct ktr_error *err)
{
	struct ktr_error why = KTR_ERROR_NONE;
	struct ktr__session_rw session = *ktr__own_session();
	struct ktr__offered *offered = (struct ktr__offered *)(void *)probe;
	int rc = 0;

	ktr__registry_lock();
	if (offered->row && session.map) {
		rc = ktr__offer_switch(&session, offered->row, on, &why);
		ktr__offers_changed(&session);
	} else {
		__atomic_store_n(&offered->own_on, on != 0, __ATOMIC_RELEASE);
	}
	if (!rc)
		rc = ktr__registry_look_at(offered, &why);
	ktr__registry_unlock();
	if (err && rc)
		*err = why;
	return rc;
}

int ktr_provider_enabled(const struct ktr_provider_probe *probe)
{
	const struct ktr__offered *offered = (const struct ktr__offered *)(const void *)probe;

	return __atomic_load_n(__atomic_load_n(&offered->word, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) != 0;
}

struct by_spec_walk {
	int (*found)(void *context, const char *name, int on);
	void *context;
};

static int by_spec_found(void *context, const struct ktr__spec_probe *probe)
{
	const struct by_spec_walk *walk = context;

	return walk->found(walk->context, probe->name, probe->on && !probe->failed);
}

int ktr_provider_walk(const char *spec, int (*found)(void *context, const char *name, int on), void *context)
{
	struct by_spec_walk walk = { found, context };
	struct ktr__session_rw session;
	struct ktr__specs specs = { &session, ktr_conf() };
	int rc = by_spec_session(&session, NULL);

	return rc ? rc : ktr__specs_walk(&specs, spec, by_spec_found, &walk);
}
