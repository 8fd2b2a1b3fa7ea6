/* SPDX-License-Identifier: BSD-2-Clause */
/* What providers offer, switched by a word, a count and a wake-up. */
#include "ktr/provider/session/offers.h"

#include "ktr/control/mask.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct ktr_offer_head *offers_head(const struct ktr__session_rw *session)
{
	return ktr__session_at(session, KTR_REGION_offer, 0);
}

static uint32_t offers_bounded(uint32_t n, uint32_t room)
{
	return n < room ? n : room;
}

uint32_t ktr__offers_n(const struct ktr__session_rw *session)
{
	const struct ktr_offer_head *head = offers_head(session);

	return head ? offers_bounded(__atomic_load_n(&head->n_offers, __ATOMIC_ACQUIRE),
				     session->header.region[KTR_REGION_offer].n_rows) : 1;
}

uint32_t ktr__offers_lost(const struct ktr__session_rw *session)
{
	const struct ktr_offer_head *head = offers_head(session);
	uint32_t n = ktr__offers_n(session), lost = 0;

	if (head)
		lost = __atomic_load_n(&head->n_offers, __ATOMIC_ACQUIRE) - n;
	for (uint32_t i = 1; i < n; i++)
		lost += !ktr__session_ready(session, KTR_REGION_offer, i);
	return lost;
}

int ktr__offer_switch(struct ktr__session_rw *session, uint32_t index, int on, struct ktr_error *err)
{
	struct ktr_offer_row *row = ktr__session_ready(session, KTR_REGION_offer, index);
	char provider[KTR_CLASS_NAME_MAX];
	uint64_t mask;
	size_t n;
	int rc;

	if (!row)
		return ktr_error_set(err, ENOSPC, "no memory: the file system of %s is full", session->path);
	if (__atomic_load_n(&row->failed, __ATOMIC_ACQUIRE) == KTR_OFFER_EXCLUDED) {
		const char *why = ktr__session_bytes(session, row->why, &n);

		return on ? ktr_error_set(err, ENOTSUP, "%.*s", (int)offers_bounded((uint32_t)n, 100), why) : 0;
	}
	if (on) {
		const char *name = ktr__session_bytes(session, row->provider, &n);

		snprintf(provider, sizeof(provider), "%.*s", (int)offers_bounded((uint32_t)n, sizeof(provider)), name);
		mask = ktr__session_class(session, provider, "");
		if (!mask)
			return ktr_error_set(err, ENOSPC, "the session has no class left for %s", provider);
		rc = __atomic_load_n(&session->control->asked, __ATOMIC_RELAXED) & mask ?
			     0 : ktr__session_mask_change(session, mask, 0, err);
		if (rc)
			return rc;
	}
	__atomic_store_n(&row->failed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&row->on, on != 0, __ATOMIC_RELEASE);
	return 0;
}

uint32_t ktr__offers_changed(struct ktr__session_rw *session)
{
	struct ktr_offer_head *head = offers_head(session);
	uint32_t change = 0;

	if (!head)
		return 0;
	while (!change)
		change = __atomic_add_fetch(&head->change, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &head->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return change;
}

/* That live, and of them those that have not seen the change. */
static unsigned offers_hosts(const struct ktr__session_rw *session, uint32_t change, unsigned *n_behind)
{
	const struct ktr_offer_head *head = offers_head(session);
	unsigned n_hosts = 0;
	uint32_t n = head ? offers_bounded(__atomic_load_n(&head->n_hosts, __ATOMIC_ACQUIRE),
					   session->header.region[KTR_REGION_offer_host].n_rows) : 0;

	*n_behind = 0;
	for (uint32_t i = 1; i < n; i++) {
		const struct ktr_offer_host *host = ktr__session_at(session, KTR_REGION_offer_host, i);

		if (!host || __atomic_load_n(&host->state, __ATOMIC_ACQUIRE) != KTR_ROW_READY ||
		    !ktr__proc_exists(host->pid))
			continue;
		n_hosts++;
		*n_behind += (int32_t)(__atomic_load_n(&host->done, __ATOMIC_ACQUIRE) - change) < 0;
	}
	return n_hosts;
}

static unsigned offers_behind(const struct ktr__session_rw *session, uint32_t change)
{
	unsigned n_behind;

	offers_hosts(session, change, &n_behind);
	return n_behind;
}

unsigned ktr__offers_n_hosts(const struct ktr__session_rw *session)
{
	unsigned n_behind;

	return offers_hosts(session, 0, &n_behind);
}

/* A process that offers one probe after the other is not given up, nor is it waited for without an end. */
#define OFFERS_PATIENCE 30

struct offers_patience {
	uint64_t until_ns; /* unless more is offered by then */
	uint64_t end_ns;
	uint32_t n; /* offered so far */
};

static bool offers_patient(struct offers_patience *patience, uint64_t now_ns, uint32_t n, uint64_t wait_ns)
{
	if (!patience->end_ns) {
		patience->end_ns = now_ns + OFFERS_PATIENCE * wait_ns;
		patience->until_ns = now_ns + wait_ns;
	} else if (n > patience->n) {
		patience->until_ns = now_ns + wait_ns;
	}
	patience->n = n > patience->n ? n : patience->n;
	return now_ns < patience->until_ns && now_ns < patience->end_ns;
}

unsigned ktr__offers_wait(struct ktr__session_rw *session, uint32_t change, unsigned ms)
{
	const struct timespec pause = { 0, 1000000 };
	struct offers_patience patience = { .end_ns = 0 };
	uint64_t wait_ns = ms * 1000000ull;
	unsigned n;

	while ((n = offers_behind(session, change)) &&
	       offers_patient(&patience, ktr__clock_now(KTR_CLOCK_MONOTONIC), ktr__offers_n(session), wait_ns))
		nanosleep(&pause, NULL);
	return n;
}

#define OFFERS_TRIES 3 /* another one may ask at the same time, and only the last is heard */

/* A SPEC as a string of the session; 0: there is no room. */
static uint32_t offers_text(struct ktr__session_rw *session, struct ktr_offer_head *head, const char *spec)
{
	uint32_t at;
	size_t n;

	for (unsigned i = 0; i < KTR_OFFER_ASKS; i++) {
		const char *text;

		at = __atomic_load_n(&head->recent[i], __ATOMIC_ACQUIRE);
		text = ktr__session_bytes(session, at, &n);
		if (at && n == strlen(spec) && memcmp(text, spec, n) == 0)
			return at;
	}
	at = ktr__session_put(session, spec, strlen(spec));
	n = __atomic_load_n(&head->asks, __ATOMIC_RELAXED) % KTR_OFFER_ASKS;
	__atomic_store_n(&head->recent[n], at, __ATOMIC_RELEASE);
	return at;
}

unsigned ktr__offers_ask(struct ktr__session_rw *session, const char *spec, unsigned ms)
{
	struct ktr_offer_head *head = offers_head(session);
	unsigned n_late = 0;
	uint32_t asked;

	for (int i = 0; head && i < OFFERS_TRIES; i++) {
		if (__atomic_load_n(&head->n_hosts, __ATOMIC_ACQUIRE) <= 1)
			break;
		asked = offers_text(session, head, spec);
		if (!asked)
			break;
		__atomic_store_n(&head->asked, asked, __ATOMIC_RELAXED);
		__atomic_add_fetch(&head->asks, 1, __ATOMIC_RELEASE);
		n_late = ktr__offers_wait(session, ktr__offers_changed(session), ms);
		if (n_late || __atomic_load_n(&head->asked, __ATOMIC_RELAXED) == asked)
			break;
	}
	return n_late;
}
