/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the session for what this process's providers offer. What others write there is believed as far as bounds
 * go: a word is 0 or not, a row's number lies in the table, a string in its region, and chains end.
 */
#include "ktr/provider/registry/rows.h"

#include "ktr/provider/view/view.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROWS_TRIES 1000 /* others link rows into the bucket that ours is for; each looks through a chain */
#define ROWS_CHAIN 65536 /* rows of one bucket that are looked at */

static const uint32_t rows_bytes[] = { sizeof(uint32_t), sizeof(struct ktr_offer_row),
				       sizeof(struct ktr_offer_host) };
static struct ktr__view rows_view = { .first = KTR_REGION_offer_hash, .n = 3, .row_bytes = rows_bytes };
static uint32_t rows_host; /* ours; 0: none. Atomic: the thread looks without the lock */
static uint32_t rows_asks; /* head.asks when last looked at */

/* Strings that many rows have: the last one of each is kept. */
static struct {
	char text[256];
	uint32_t at;
} rows_last[6];

bool ktr__rows_follow(bool *changed)
{
	bool there = ktr__view_follow(&rows_view, changed);

	if (*changed)
		memset(rows_last, 0, sizeof(rows_last));
	return there;
}

struct ktr_offer_row *ktr__rows_at(uint32_t row)
{
	return ktr__view_at(&rows_view, offer, struct ktr_offer_row) + row;
}

static struct ktr_offer_head *rows_head(void)
{
	struct ktr_offer_head *head = (struct ktr_offer_head *)(void *)ktr__rows_at(0);

	return rows_view.open && ktr__view_present(&rows_view, head, sizeof(*head)) ? head : NULL;
}

static uint32_t rows_put(const char *text)
{
	return text && *text ? ktr__session_put(ktr__own_session(), text, strlen(text)) : 0;
}

static uint32_t rows_put_again(const char *text, int which)
{
	if (strlen(text) >= sizeof(rows_last[0].text))
		return rows_put(text);
	if (!rows_last[which].at || strcmp(rows_last[which].text, text) != 0) {
		rows_last[which].at = rows_put(text);
		strcpy(rows_last[which].text, text);
	}
	return rows_last[which].at;
}

static bool rows_kept(uint32_t at, const char *text)
{
	return at || !*text;
}

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t rows_hash(const char *const part[4])
{
	uint32_t hash = 0x811c9dc5u;

	for (int i = 0; i < 4; i++)
		for (const char *at = part[i];; at++) {
			hash = (hash ^ (uint8_t)*at) * 0x01000193u;
			if (!*at)
				break;
		}
	return hash ^ hash >> 15;
}

static bool rows_is(uint32_t offset, const char *text)
{
	size_t n, length = strlen(text);
	const char *there = ktr__session_bytes(ktr__own_session(), offset, &n);

	return offset ? n == length && memcmp(there, text, n) == 0 : !length;
}

static uint32_t rows_find(uint32_t at, uint32_t hash, const char *const part[4])
{
	uint32_t n_rows = rows_view.header.region[KTR_REGION_offer].n_rows;

	for (uint32_t n = 0; at && at < n_rows && n < ROWS_CHAIN; n++) {
		const struct ktr_offer_row *row = ktr__rows_at(at);

		if (!ktr__view_present(&rows_view, row, sizeof(*row)))
			return 0;
		if (row->hash == hash && rows_is(row->provider, part[0]) && rows_is(row->module, part[1]) &&
		    rows_is(row->function, part[2]) && rows_is(row->name, part[3]))
			return at;
		at = __atomic_load_n(&row->next, __ATOMIC_RELAXED);
	}
	return 0;
}

/* Strings before the row is linked. */
static uint32_t rows_make(uint32_t hash, const char *const part[4], const char *arguments)
{
	struct ktr_offer_head *head = rows_head();
	uint32_t made = head ? ktr__view_next(&rows_view, &head->n_offers, KTR_REGION_offer, 1) : 0;
	struct ktr_offer_row *row = ktr__rows_at(made);

	if (!made || !ktr__view_present(&rows_view, row, sizeof(*row)))
		return 0;
	row->hash = hash;
	row->provider = rows_put_again(part[0], 0);
	row->module = rows_put_again(part[1], 1);
	row->function = rows_put(part[2]);
	row->name = rows_put_again(part[3], 2);
	row->arguments = rows_put_again(arguments ? arguments : "", 3);
	/* None without its name: one that is never ready is one more that had no room. */
	return rows_kept(row->provider, part[0]) && rows_kept(row->module, part[1]) &&
			       rows_kept(row->function, part[2]) && rows_kept(row->name, part[3]) ? made : 0;
}

uint32_t ktr__rows_of(const char *provider, const struct ktr_provider_probe *probe, const char *arguments)
{
	const char *const part[4] = { provider, probe->module, probe->function, probe->name };
	uint32_t hash = rows_hash(part), made = 0, found, first;
	uint32_t n_buckets = rows_view.header.region[KTR_REGION_offer_hash].n_rows;
	uint32_t *bucket = ktr__view_at(&rows_view, offer_hash, uint32_t) + hash % n_buckets;

	if (!ktr__view_present(&rows_view, bucket, sizeof(*bucket)))
		return 0;
	first = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
	for (int i = 0; !(found = rows_find(first, hash, part)); i++) {
		if (i == ROWS_TRIES)
			return 0;
		if (!made && !(made = rows_make(hash, part, arguments)))
			return 0;
		__atomic_store_n(&ktr__rows_at(made)->next, first, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(bucket, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			found = made;
			break;
		}
	}
	__atomic_store_n(&ktr__rows_at(found)->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return found;
}

void ktr__rows_failed(uint32_t row, const struct ktr_error *why, int code)
{
	struct ktr_offer_row *at = ktr__rows_at(row);

	__atomic_store_n(&at->why, rows_put_again(why->text, 5), __ATOMIC_RELAXED);
	__atomic_store_n(&at->failed, (uint32_t)code, __ATOMIC_RELEASE);
}

/* The reason first: who sees that it is off sees why. */
bool ktr__rows_spent(uint32_t row, const char *why)
{
	struct ktr_offer_row *at = ktr__rows_at(row);
	uint32_t on = __atomic_load_n(&at->on, __ATOMIC_RELAXED);

	if (!on)
		return false;
	__atomic_store_n(&at->why, rows_put(why), __ATOMIC_RELAXED);
	__atomic_store_n(&at->failed, KTR_OFFER_SPENT, __ATOMIC_RELEASE);
	if (__atomic_compare_exchange_n(&at->on, &on, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return true;
	__atomic_store_n(&at->failed, 0, __ATOMIC_RELAXED);
	return false;
}

bool ktr__rows_is_spent(uint32_t row)
{
	const struct ktr_offer_row *at = ktr__rows_at(row);

	return !__atomic_load_n(&at->on, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&at->failed, __ATOMIC_ACQUIRE) == KTR_OFFER_SPENT;
}

void ktr__rows_excluded(uint32_t row, const char *why)
{
	struct ktr_offer_row *at = ktr__rows_at(row);

	__atomic_store_n(&at->why, rows_put_again(why, 4), __ATOMIC_RELAXED);
	__atomic_store_n(&at->failed, KTR_OFFER_EXCLUDED, __ATOMIC_RELEASE);
	__atomic_store_n(&at->on, 0, __ATOMIC_RELEASE);
}

bool ktr__rows_asked(char *spec, size_t size)
{
	const struct ktr_offer_head *head = rows_head();
	uint32_t asks = head ? __atomic_load_n(&head->asks, __ATOMIC_ACQUIRE) : rows_asks;
	const char *text;
	size_t n;

	if (asks == rows_asks)
		return false;
	rows_asks = asks;
	text = ktr__session_bytes(ktr__own_session(), __atomic_load_n(&head->asked, __ATOMIC_RELAXED), &n);
	if (!n || n >= size)
		return false;
	memcpy(spec, text, n);
	spec[n] = '\0';
	return true;
}

/* ---- the process ---- */

static struct ktr_offer_host *rows_host_at(uint32_t host)
{
	struct ktr_offer_host *at = ktr__view_at(&rows_view, offer_host, struct ktr_offer_host) + host;

	return host && rows_view.open && ktr__view_present(&rows_view, at, sizeof(*at)) ? at : NULL;
}

void ktr__rows_host(void)
{
	struct ktr_offer_head *head = rows_head();
	struct ktr_offer_host *host;
	uint32_t row;

	if (__atomic_load_n(&rows_host, __ATOMIC_RELAXED) || !head)
		return;
	row = ktr__view_next(&rows_view, &head->n_hosts, KTR_REGION_offer_host, 1);
	__atomic_store_n(&rows_host, row, __ATOMIC_RELAXED);
	host = rows_host_at(row);
	if (!host)
		return;
	host->pid = (uint32_t)getpid();
	host->done = __atomic_load_n(&head->change, __ATOMIC_RELAXED);
	__atomic_store_n(&host->state, KTR_ROW_READY, __ATOMIC_RELEASE);
}

void ktr__rows_leave(void)
{
	struct ktr_offer_host *host = rows_host_at(__atomic_load_n(&rows_host, __ATOMIC_RELAXED));

	if (host)
		__atomic_store_n(&host->state, KTR_ROW_GONE, __ATOMIC_RELEASE);
	__atomic_store_n(&rows_host, 0, __ATOMIC_RELAXED);
}

void ktr__rows_forget(void)
{
	__atomic_store_n(&rows_host, 0, __ATOMIC_RELAXED);
}

uint32_t ktr__rows_change(void)
{
	const struct ktr_offer_head *head = rows_head();

	return head ? __atomic_load_n(&head->change, __ATOMIC_SEQ_CST) : 0;
}

void ktr__rows_done(uint32_t change)
{
	struct ktr_offer_host *host = rows_host_at(__atomic_load_n(&rows_host, __ATOMIC_RELAXED));

	if (host)
		__atomic_store_n(&host->done, change, __ATOMIC_RELEASE);
}

bool ktr__rows_wait(uint32_t change, unsigned ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000l };
	struct ktr_offer_head *head = rows_head();

	if (head)
		return !syscall(SYS_futex, &head->change, FUTEX_WAIT, change, &time, NULL, 0) || errno != ETIMEDOUT;
	nanosleep(&time, NULL);
	return false;
}

void ktr__rows_wake(void)
{
	struct ktr_offer_head *head = rows_head();

	if (head)
		syscall(SYS_futex, &head->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
