/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What takes more of a thread's time than debug.ktr.budget is switched off. Firing does nothing for it: ten times
 * a second it is looked at how far the rings' heads went, and as long as the price of so many events is within the
 * budget of one thread, that is all. Otherwise some thousand of the events that are still there are counted by
 * thread and function, and stand for all: rings hold events of every class, those of CTR points too.
 *
 * A function's probes go together: their shares are added, and all of them are switched off, by the words of the
 * session, for all its processes. Who finds it first says so, in the rows, and by an event of the provider's class.
 *
 * Call sites are told apart by class, module and function, for a provider may have more of them than it has told
 * us of; those of functions of the same name in one module count as one.
 */
#include "ktr/provider/registry/budget.h"

#include "ktr/provider/registry/registry.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/provider/session/offers.h"
#include "ktr/record/own.h"
#include "ktr/session/clock.h"
#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"
#include "ktr/start/attach.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * [1/100] A firing in readings of the clock: 105 in the loop of build/bench/fbt (entry 9.5 ns, rdtsc 9.1 ns), 103
 * and 136 in two runs of sqlite3's shell with all functions on (197 million events, against the CPU time without).
 * A larger one switches probes off that take less than they may. CLOCK_MONOTONIC is read from C,
 * with vectors kept: 210 in the loop of tests/programs/provider/budget_host.c, by perf.
 */
#define BUDGET_PRICE	125
#define BUDGET_PRICE_C	210
#define BUDGET_READINGS 256 /* of the clock, of which */
#define BUDGET_ROUNDS	8   /* the fastest round counts */
#define BUDGET_PLACES	4   /* of a ring that are looked at, if it went further than they reach */

/* ---- the price ---- */

static uint64_t budget_now(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

uint32_t ktr__budget_price(void)
{
	static uint32_t price; /* of this process: its clock stays */
	uint32_t clock = ktr__own_session()->header.clock;
	uint64_t best = UINT64_MAX;

	for (int round = 0; !price && round < BUDGET_ROUNDS; round++) {
		uint64_t began = budget_now(), took;

		for (int i = 0; i < BUDGET_READINGS; i++)
			(void)ktr__clock_now(clock);
		took = budget_now() - began;
		if (took < best)
			best = took;
	}
	if (!price)
		price = (uint32_t)(best * 10 * (clock == KTR_CLOCK_MONOTONIC ? BUDGET_PRICE_C : BUDGET_PRICE) /
				   BUDGET_READINGS) + 1;
	return price;
}

/* ---- heads ---- */

static uint64_t budget_allowed(void)
{
	const struct ktr_control *control = ktr__own_session()->control;

	return control ? __atomic_load_n(&control->budget, __ATOMIC_RELAXED) : 0;
}

void ktr__budget_end(struct ktr__budget *budget)
{
	/* The two take turns in one allocation. */
	free(budget->base < budget->head ? budget->base : budget->head);
	free(budget->what);
	free(budget->shares);
	free(budget->entry);
	memset(budget, 0, sizeof(*budget));
}

/* Another session than before has other rings and sites. */
static bool budget_follow(struct ktr__budget *budget, const struct ktr__session_rw *own)
{
	if (budget->base && budget->ino == own->ino && budget->dev == own->dev)
		return true;
	ktr__budget_end(budget);
	if (!own->map)
		return false;
	budget->ino = own->ino;
	budget->dev = own->dev;
	budget->n_rings = own->header.n_rings;
	budget->base = calloc(budget->n_rings, 2 * sizeof(*budget->base));
	budget->head = budget->base ? budget->base + budget->n_rings : NULL;
	return budget->base != NULL;
}

/* How many slots all heads together went since the last look. */
static uint64_t budget_heads(struct ktr__budget *budget, const struct ktr__session_rw *own)
{
	const struct ktr__ring_source source = { .header = &own->header, .base = own->map, .fd = -1 };
	uint64_t n = 0;

	for (uint32_t i = 0; i < budget->n_rings; i++) {
		budget->head[i] = ktr__ring_head(&source, i, NULL);
		if (budget->head[i] > budget->base[i])
			n += budget->head[i] - budget->base[i];
	}
	return n;
}

bool ktr__budget_begin(struct ktr__budget *budget)
{
	const struct ktr__session_rw *own = ktr__own_session();
	bool is_on = ktr__registry_any_on() && budget_allowed() && !own->sealed && budget_follow(budget, own);

	if (!is_on) {
		budget->began_ns = 0;
	} else if (!budget->began_ns) {
		budget_heads(budget, own);
		memcpy(budget->base, budget->head, budget->n_rings * sizeof(*budget->base));
		budget->began_ns = budget_now();
	}
	return is_on;
}

unsigned ktr__budget_left(const struct ktr__budget *budget)
{
	uint64_t ms = (budget_now() - budget->began_ns) / 1000000;

	return ms < KTR__BUDGET_MS ? KTR__BUDGET_MS - (unsigned)ms : 0;
}

/* ---- who fires ---- */

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t budget_hash(uint64_t hash, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

/* Both texts as a call site of the probe has them, ktr/provider/registry/describe.c. */
static uint64_t budget_what(uint64_t mask, const char *file, size_t n_file, const char *func, size_t n_func)
{
	uint64_t hash = budget_hash(0xcbf29ce484222325ull ^ mask, file, n_file);

	return budget_hash(hash, func, n_func) | 1;
}

static uint64_t budget_of_probe(const struct ktr_provider_probe *probe)
{
	const struct ktr_site *site = &probe->site;

	return budget_what(probe->provider->cls.mask, site->file, strlen(site->file), site->func,
			   strlen(site->func));
}

static uint64_t budget_of_site(struct ktr__budget *budget, uint32_t site)
{
	const struct ktr__session_rw *own = ktr__own_session();
	const struct ktr_site_row *row;
	const char *file, *func;
	size_t n_file, n_func;

	if (site >= budget->n_sites)
		return 0;
	if (budget->what[site])
		return budget->what[site];
	row = ktr__session_ready(own, KTR_REGION_site, site);
	if (!row)
		return 0;
	file = ktr__session_bytes(own, row->file, &n_file);
	func = ktr__session_bytes(own, row->func, &n_func);
	budget->what[site] = budget_what(row->mask, file, n_file, func, n_func);
	return budget->what[site];
}

static bool budget_room(struct ktr__budget *budget)
{
	budget->n_sites = ktr__own_session()->header.region[KTR_REGION_site].n_rows;
	if (!budget->what)
		budget->what = calloc(budget->n_sites, sizeof(*budget->what));
	if (!budget->shares)
		budget->shares = calloc(1, sizeof(*budget->shares));
	if (!budget->entry)
		budget->entry = calloc(KTR__BUDGET_BATCH, sizeof(*budget->entry));
	return budget->what && budget->shares && budget->entry;
}

/* ---- counting ---- */

/* Entries are read through the file: of other CPUs' rings this process may have nothing mapped. -1: it is gone. */
static int budget_open(const struct ktr__session_rw *own)
{
	int fd = open(own->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != own->ino || st.st_dev != own->dev)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void budget_count(struct ktr__budget *budget, const struct ktr__ring_source *source, uint32_t ring,
			 uint64_t first, uint64_t stop, uint64_t each)
{
	/* Only what is there matters, so nothing is asked about continuations before it. */
	struct ktr__ring_cursor cursor = { ring, 1, first, 0, UINT64_MAX, 0 };
	struct ktr__ring_batch batch;

	while (cursor.next < stop &&
	       ktr__ring_read(source, &cursor, stop, budget->entry, KTR__BUDGET_BATCH, &batch) > 0)
		for (uint32_t i = 0; i < batch.n; i++) {
			const struct ktr_entry *entry = &batch.entry[i];
			uint64_t what = ktr__slot_is_cont(entry) ? 0 : budget_of_site(budget, entry->site);

			if (what)
				ktr__shares_add(budget->shares, entry->thread & KTR_THREAD_INDEX, what, each);
		}
}

/* What a ring took since the last look: all of it, or some at places equally far from each other. */
static void budget_count_ring(struct ktr__budget *budget, const struct ktr__ring_source *source, uint32_t ring)
{
	uint64_t head = budget->head[ring], went = head - budget->base[ring], geom, there, n;

	ktr__ring_head(source, ring, &geom);
	there = geom ? (1ull << KTR_GEOM_LOG2(geom)) - KTR_SLOTS_MAX : 0;
	there = went < there ? went : there;
	n = there < BUDGET_PLACES * KTR__BUDGET_BATCH ? there : BUDGET_PLACES * KTR__BUDGET_BATCH;
	for (uint64_t at = 0; at < n; at += KTR__BUDGET_BATCH) {
		uint64_t first = head - there + (there - n) * at / n + at;
		uint64_t stop = first + KTR__BUDGET_BATCH;

		budget_count(budget, source, ring, first, stop < head ? stop : head, went * KTR__SHARES_ONE / n);
	}
}

/* ---- switching off ---- */

static uint32_t budget_tid(const struct ktr__ring_source *source, uint32_t thread)
{
	const struct ktr_region *threads = &source->header->region[KTR_REGION_thread];
	struct ktr_thread_row row;
	bool is_there = thread < threads->n_rows &&
			!ktr__read_at(source->fd, threads->offset + (uint64_t)thread * threads->row_bytes, &row,
				      sizeof(row));

	return is_there ? row.tid : 0;
}

/* An event of the provider's class, at a call site of its own. */
static void budget_tell(struct ktr_provider *provider, const char *name, uint32_t percent, uint32_t tid)
{
	struct ktr_site *site = &provider->spent;

	if (!site->id) {
		*site = (struct ktr_site){
			.cls = &provider->cls, .file = provider->name, .func = "debug.ktr.budget",
			.format = "%s is off: it took %u %% of thread %u", .names = "probe,percent,thread",
			.n_args = 3, .type = { KTR_ARG_STR, KTR_ARG_U32, KTR_ARG_U32 },
		};
		if (ktr__site_make(site))
			return;
	}
	if (KTR__GATE() & site->mask)
		ktr__record3(site, (uint64_t)(uintptr_t)name, percent, tid);
}

/* All probes of a function, but those that somebody has switched off meanwhile. */
static bool budget_switch(const struct ktr__share *share, uint32_t percent, uint32_t tid)
{
	char name[4 * KTR_PROVIDER_PART_MAX], why[64];
	bool is_off = false;

	snprintf(why, sizeof(why), "took %u %% of thread %u", percent, tid);
	for (struct ktr_provider *provider = ktr__registry_providers(); provider; provider = provider->next)
		for (struct ktr__offered *at = provider->probes; at; at = at->next) {
			const struct ktr_provider_probe *probe = &at->probe;

			if (!at->enabled || !at->row || budget_of_probe(probe) != share->what ||
			    !ktr__rows_spent(at->row, why))
				continue;
			is_off = true;
			snprintf(name, sizeof(name), "%s:%s:%s:%s", provider->name, probe->module, probe->function,
				 probe->name);
			budget_tell(provider, name, percent, tid);
		}
	return is_off;
}

/* What is allowed may be changed meanwhile: none is switched off any more where the budget is. */
static bool budget_over(struct ktr__budget *budget, const struct ktr__ring_source *source, uint64_t ns)
{
	bool is_off = false;

	for (uint32_t i = 0; i < sizeof(budget->shares->share) / sizeof(budget->shares->share[0]); i++) {
		const struct ktr__share *share = &budget->shares->share[i];
		uint32_t percent = ktr__shares_percent(share->events, ktr__budget_price(), ns);
		uint64_t allowed = budget_allowed();

		if (share->what && allowed && percent >= allowed)
			is_off |= budget_switch(share, percent, budget_tid(source, share->thread));
	}
	return is_off;
}

/* Under the lock: what probes there are. */
static bool budget_closer(struct ktr__budget *budget, const struct ktr__session_rw *own, uint64_t ns)
{
	struct ktr__ring_source source = { .header = &own->header, .base = own->map, .fd = budget_open(own) };
	struct ktr__session_rw session = *own;
	bool is_off = false;

	if (source.fd < 0)
		return false;
	ktr__registry_lock();
	if (budget_room(budget)) {
		ktr__shares_clear(budget->shares);
		for (uint32_t i = 0; i < budget->n_rings; i++)
			if (budget->head[i] > budget->base[i])
				budget_count_ring(budget, &source, i);
		is_off = budget_over(budget, &source, ns);
	}
	ktr__registry_unlock();
	close(source.fd);
	if (is_off)
		ktr__offers_changed(&session);
	return is_off;
}

bool ktr__budget_look(struct ktr__budget *budget)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint64_t allowed = budget_allowed(), now = budget_now(), ns = now - budget->began_ns, slots, *head;
	bool is_off = false;

	/* It has left the session, or gone into a sandbox. */
	if (!own->map || own->sealed || own->ino != budget->ino || own->dev != budget->dev)
		return false;
	slots = budget_heads(budget, own);
	if (allowed && ktr__shares_percent(slots * KTR__SHARES_ONE, ktr__budget_price(), ns) >= allowed)
		is_off = budget_closer(budget, own, ns);
	head = budget->head;
	budget->head = budget->base;
	budget->base = head;
	budget->began_ns = now;
	return is_off;
}
