/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/lock/lock_events.h"

#include "analyze/read/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum ktr__lock_kind kind;
	enum ktr__lock_what what;
} lock_probes[] = {
	{ "mutex-acquire", KTR__LOCK_MUTEX, KTR__LOCK_TAKE },
	{ "mutex-block", KTR__LOCK_MUTEX, KTR__LOCK_BLOCK },
	{ "mutex-blocked", KTR__LOCK_MUTEX, KTR__LOCK_BLOCKED },
	{ "mutex-release", KTR__LOCK_MUTEX, KTR__LOCK_GIVE },
	{ "mutex-error", KTR__LOCK_MUTEX, KTR__LOCK_FAIL },
	{ "mutex-inverted", KTR__LOCK_MUTEX, KTR__LOCK_INVERTED },
	{ "mutex-init", KTR__LOCK_MUTEX, KTR__LOCK_MADE },
	{ "rw-init", KTR__LOCK_RW, KTR__LOCK_MADE },
	{ "rw-acquire", KTR__LOCK_RW, KTR__LOCK_TAKE },
	{ "rw-block", KTR__LOCK_RW, KTR__LOCK_BLOCK },
	{ "rw-blocked", KTR__LOCK_RW, KTR__LOCK_BLOCKED },
	{ "rw-release", KTR__LOCK_RW, KTR__LOCK_GIVE },
	{ "rw-error", KTR__LOCK_RW, KTR__LOCK_FAIL },
	{ "cond-block", KTR__LOCK_COND, KTR__LOCK_BLOCK },
	{ "cond-blocked", KTR__LOCK_COND, KTR__LOCK_BLOCKED },
	{ "cond-signal", KTR__LOCK_COND, KTR__LOCK_WAKE },
	{ "sem-acquire", KTR__LOCK_SEM, KTR__LOCK_TAKE },
	{ "sem-block", KTR__LOCK_SEM, KTR__LOCK_BLOCK },
	{ "sem-blocked", KTR__LOCK_SEM, KTR__LOCK_BLOCKED },
	{ "sem-release", KTR__LOCK_SEM, KTR__LOCK_GIVE },
	{ "sem-error", KTR__LOCK_SEM, KTR__LOCK_FAIL },
	{ "spin-acquire", KTR__LOCK_SPIN, KTR__LOCK_TAKE },
	{ "spin-spin", KTR__LOCK_SPIN, KTR__LOCK_BLOCK },
	{ "spin-spun", KTR__LOCK_SPIN, KTR__LOCK_BLOCKED },
	{ "spin-release", KTR__LOCK_SPIN, KTR__LOCK_GIVE },
	{ "spin-error", KTR__LOCK_SPIN, KTR__LOCK_FAIL },
	{ "barrier-block", KTR__LOCK_BARRIER, KTR__LOCK_BLOCK },
	{ "barrier-blocked", KTR__LOCK_BARRIER, KTR__LOCK_BLOCKED },
	{ "futex-block", KTR__LOCK_FUTEX, KTR__LOCK_BLOCK },
	{ "futex-blocked", KTR__LOCK_FUTEX, KTR__LOCK_BLOCKED },
	{ "stack", KTR__LOCK_MUTEX, KTR__LOCK_STACK }, /* or of any other kind */
	{ "debug.ktr.budget", KTR__LOCK_MUTEX, KTR__LOCK_OFF }, /* likewise */
};

enum {
	LOCK_CALLER,
	LOCK_NS,
	LOCK_MUTEX,
	LOCK_OWNER,
	LOCK_ERROR,
	LOCK_WRITE,
	LOCK_RECURSIVE,
	LOCK_TRIED,
	LOCK_LAST,
	LOCK_ALL,
	LOCK_PRIORITY,
	LOCK_OWNER_PRIORITY,
	LOCK_ARGS
};

static const char *const lock_arg_names[LOCK_ARGS] = {
	"caller",    "ns",    "mutex", "owner", "error",    "write",
	"recursive", "tried", "last",  "all",	"priority", "owner_priority",
};

/* Of which probe a site is, and where in its events what stands. */
struct ktr__lock_site {
	uint8_t probe; /* from 1 */
	int8_t at[LOCK_ARGS]; /* -1: it has none */
};

static int lock_is_stack(const struct ktr_reader_site *site)
{
	return strcmp(site->func, "stack") == 0 && site->n_args == 2 && site->arg[1].type == KTR_ARG_STACK;
}

/* As ktr/provider/registry/budget.c has it. */
static int lock_is_off(const struct ktr_reader_site *site)
{
	return strcmp(site->func, "debug.ktr.budget") == 0 && site->n_args == 3 && site->arg[0].type == KTR_ARG_STR;
}

/* Is there what only the provider's have? */
static int lock_is_whole(const struct ktr__lock_site *to, const struct ktr_reader_site *site,
			 enum ktr__lock_what what)
{
	return what == KTR__LOCK_STACK ? lock_is_stack(site) :
	       what == KTR__LOCK_OFF   ? lock_is_off(site) :
					 to->at[LOCK_CALLER] >= 0;
}

/* Whether the caller is there decides: without one, or a stack, it is none of ours. */
static void lock_site(struct ktr__lock_site *to, const struct ktr_reader_site *site)
{
	memset(to->at, -1, sizeof(to->at));
	if (!site || strcmp(site->file, "lock") != 0 || strcmp(site->class_name, "lock") != 0 ||
	    (site->in_str && !lock_is_stack(site) && !lock_is_off(site)))
		return;
	for (unsigned i = 1; i < site->n_args; i++)
		for (unsigned k = 0; k < LOCK_ARGS; k++)
			if (strcmp(site->arg[i].name, lock_arg_names[k]) == 0)
				to->at[k] = (int8_t)i;
	for (unsigned i = 0; i < sizeof(lock_probes) / sizeof(lock_probes[0]); i++)
		if (strcmp(site->func, lock_probes[i].name) == 0 && lock_is_whole(to, site, lock_probes[i].what))
			to->probe = (uint8_t)(i + 1);
}

int ktr__lock_sites_init(struct ktr__lock_sites *sites, const struct ktr_reader *reader)
{
	*sites = (struct ktr__lock_sites){ .n = ktr_reader_n_sites(reader) };
	sites->site = calloc(sites->n + 1, sizeof(*sites->site));
	if (!sites->site)
		return -ENOMEM;
	for (unsigned i = 0; i < sites->n; i++) {
		lock_site(&sites->site[i], ktr_reader_site(reader, i));
		sites->n_probes += sites->site[i].probe != 0;
	}
	return 0;
}

void ktr__lock_sites_free(struct ktr__lock_sites *sites)
{
	free(sites->site);
	*sites = (struct ktr__lock_sites){ .site = NULL };
}

int ktr__lock_is_site(const struct ktr__lock_sites *sites, const struct ktr_reader_site *site)
{
	return site->id < sites->n && sites->site[site->id].probe;
}

static uint64_t lock_arg(const struct ktr__lock_site *site, const struct ktr_event *event, unsigned which)
{
	return site->at[which] >= 0 ? event->arg[site->at[which]] : 0;
}

/* "lock:::mutex-acquire" was switched off. 0: what that was is of no matter. */
static int lock_off(const struct ktr_event *event, struct ktr__lock_event *e)
{
	const struct ktr_event_bytes *name = &event->str[0];
	const char *colon = name->bytes ? memrchr(name->bytes, ':', name->n_bytes) : NULL;
	size_t n = colon ? name->n_bytes - (size_t)(colon + 1 - name->bytes) : 0;

	for (unsigned i = 0; i < sizeof(lock_probes) / sizeof(lock_probes[0]); i++)
		if (n && strlen(lock_probes[i].name) == n && memcmp(lock_probes[i].name, colon + 1, n) == 0) {
			e->kind = lock_probes[i].kind;
			e->off = lock_probes[i].what;
			e->lock = 0;
			return 1;
		}
	return 0;
}

/* A wait ends when it is woken, its time is up, or a handler interrupts it; with anything else it has not begun. */
static int lock_is_refused(uint32_t error)
{
	return error && error != ETIMEDOUT && error != EINTR;
}

int ktr__lock_event(const struct ktr__lock_sites *sites, const struct ktr_event *event, struct ktr__lock_event *e)
{
	const struct ktr__lock_site *site = event->site->id < sites->n ? &sites->site[event->site->id] : NULL;

	if (!site || !site->probe)
		return 0;
	*e = (struct ktr__lock_event){
		.event = event,
		.kind = lock_probes[site->probe - 1].kind,
		.what = lock_probes[site->probe - 1].what,
		.lock = event->arg[0],
		.caller = lock_arg(site, event, LOCK_CALLER),
		.ns = lock_arg(site, event, LOCK_NS),
		.mutex = lock_arg(site, event, LOCK_MUTEX),
		.proc = ktr__tables_proc(event->thread),
		.tid = event->thread->tid,
		.owner = (uint32_t)lock_arg(site, event, LOCK_OWNER),
		.error = (uint32_t)lock_arg(site, event, LOCK_ERROR),
		.write = lock_arg(site, event, LOCK_WRITE) != 0,
		.recursive = lock_arg(site, event, LOCK_RECURSIVE) != 0,
		.tried = lock_arg(site, event, LOCK_TRIED) != 0,
		.last = lock_arg(site, event, LOCK_LAST) != 0,
		.all = lock_arg(site, event, LOCK_ALL) != 0,
		.priority = (int32_t)lock_arg(site, event, LOCK_PRIORITY),
		.owner_priority = (int32_t)lock_arg(site, event, LOCK_OWNER_PRIORITY),
		.stack = lock_probes[site->probe - 1].what == KTR__LOCK_STACK ? &event->str[1] : NULL,
	};
	e->refused = e->kind == KTR__LOCK_FUTEX && lock_is_refused(e->error);
	return e->what != KTR__LOCK_OFF || lock_off(event, e);
}
