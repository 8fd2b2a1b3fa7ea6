/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe fires: it is counted, recorded as a CTR point is, and its handler called.
 *
 * Counts are each thread's own, so that firing shares no cache line: chunks of counts by the probe's row in the
 * session, where they lie too, so that they can be read from outside; those that the session has no row or no room
 * for are in memory of the process. A chunk is made present when first needed, by calls that signal handlers may
 * make. A count is one instruction where the CPU has one for it, so that a handler of a signal loses none. What a
 * thread counted is kept when it ends, in its struct, which the next thread takes over.
 *
 * One fire of so many is timed, to tell what probes cost: seldom enough that timing is not seen among the slowest
 * ten thousandth of fires.
 *
 * ktr__probe_fire0() to 6() do what most fires need, in so few instructions that they pass while the recorder
 * reads the clock: they call nothing but the recorder, last, with the arguments where they came in; the probe is
 * after them. Whoever does the rest takes them in the same places, so that nothing is moved on the way to either.
 */
#include "ktr/provider/probe/fire.h"

#include "ktr/provider/handler/handler.h"
#include "ktr/provider/probe/shared.h"
#include "ktr/record/own.h"
#include "ktr/record/record_words.h"
#include "ktr/session/clock.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#define FIRE_CHUNK    KTR_PROBE_COUNTS
#define FIRE_CHUNKS   1024u /* of the session's and of ours: half a million probes each; more are not counted */
#define FIRE_NONE     (2 * FIRE_CHUNKS) /* the chunk of those: never made */
#define FIRE_SHIFT    16    /* a place: which chunk, and which count of it */
#define FIRE_FIRST    64    /* which fire of a thread is timed first; then one after twice as many each time, */
#define FIRE_SAMPLE   65536 /* and in the end one of so many */
#define FIRE_ROUNDS   64
#define FIRE_PAGE     65536u /* [bytes] a multiple of all sizes of pages */
#define FIRE_CALIBRATE 32

struct fire_thread {
	struct fire_thread *next; /* of all, never removed */
	uint32_t used;		  /* 1: a thread has it */
	uint64_t fires;	 /* of all probes, recorded or not */
	uint64_t timed;	 /* the one after so many is timed, */
	uint64_t of;	 /* and stands for this number */
	struct ktr__probe_sums sums; /* captured: those of fires that are not filtered */
	uint64_t *chunk[FIRE_NONE + 1]; /* by row in the session; by index, of those that have none */
};

static struct fire_thread *fire_threads; /* release, acquire */
static struct fire_thread fire_none;	   /* of threads that have not fired yet: without chunks */
static __thread struct fire_thread *fire_self = &fire_none;
static pthread_key_t fire_key;
static bool fire_key_usable;

/* By the thread alone, and handlers of signals on it. */
static inline void fire_add(uint64_t *count, uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("addq %1, %0" : "+m"(*count) : "er"(n) : "cc");
#else
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
#endif
}

/* Not in a sandbox, ktr_sandbox(3): there a thread has what it had before. */
static bool fire_may_ask(void)
{
	return !ktr__own_session()->sealed;
}

static void *fire_map(size_t n_bytes)
{
	void *at;

	if (!fire_may_ask())
		return NULL;
	at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void fire_thread_end(void *value)
{
	struct fire_thread *self = value;

	fire_self = &fire_none;
	__atomic_store_n(&self->used, 0, __ATOMIC_RELEASE);
}

/* A struct that a thread that has ended left, or a new one; NULL: no memory. */
static __attribute__((noinline, cold)) struct fire_thread *fire_thread_new(void)
{
	struct fire_thread *self = __atomic_load_n(&fire_threads, __ATOMIC_ACQUIRE);
	uint32_t none = 0;

	for (; self; self = self->next, none = 0)
		if (__atomic_compare_exchange_n(&self->used, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			break;
	if (!self) {
		self = fire_map(sizeof(*self));
		if (!self)
			return NULL;
		self->used = 1;
		self->of = FIRE_FIRST;
		self->timed = FIRE_FIRST - 1;
		self->next = __atomic_load_n(&fire_threads, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&fire_threads, &self->next, self, 0, __ATOMIC_RELEASE,
						    __ATOMIC_RELAXED))
			;
	}
	fire_self = self;
	if (fire_key_usable)
		pthread_setspecific(fire_key, self);
	return self;
}

/* A chunk in the session, or failing that in memory of ours. */
static __attribute__((noinline, cold)) uint64_t *fire_chunk_new(struct fire_thread *self, uint32_t at)
{
	uint64_t *chunk = NULL, *none = NULL;

	if (at < FIRE_CHUNKS && fire_may_ask())
		chunk = ktr__probe_counters(at * FIRE_CHUNK);
	if (!chunk && at != FIRE_NONE)
		chunk = fire_map(FIRE_CHUNK * sizeof(*chunk));
	/* Where a handler of a signal came first, one is not used. */
	if (chunk && !__atomic_compare_exchange_n(&self->chunk[at], &none, chunk, 0, __ATOMIC_RELEASE,
						  __ATOMIC_ACQUIRE))
		return none;
	return chunk;
}

void ktr__probe_place(struct ktr_probe *probe)
{
	uint32_t number = probe->row ? probe->row : probe->index, chunk = number / FIRE_CHUNK;

	if (chunk >= FIRE_CHUNKS)
		chunk = FIRE_NONE;
	else if (!probe->row)
		chunk += FIRE_CHUNKS;
	__atomic_store_n(&probe->place, chunk << FIRE_SHIFT | number % FIRE_CHUNK, __ATOMIC_RELAXED);
}

static inline uint64_t *fire_chunk(const struct fire_thread *self, uint32_t place)
{
	return __atomic_load_n(&self->chunk[place >> FIRE_SHIFT], __ATOMIC_RELAXED);
}

static inline void fire_count(uint64_t *chunk, uint32_t place)
{
	fire_add(&chunk[place & ((1u << FIRE_SHIFT) - 1)], 1);
}

uint64_t ktr__probe_count(const struct ktr_probe *probe)
{
	uint32_t place = __atomic_load_n(&probe->place, __ATOMIC_RELAXED);
	uint64_t sum = 0;

	for (struct fire_thread *t = __atomic_load_n(&fire_threads, __ATOMIC_ACQUIRE); t; t = t->next) {
		uint64_t *chunk = __atomic_load_n(&t->chunk[place >> FIRE_SHIFT], __ATOMIC_ACQUIRE);

		if (chunk)
			sum += __atomic_load_n(&chunk[place & ((1u << FIRE_SHIFT) - 1)], __ATOMIC_RELAXED);
	}
	return sum;
}

/* Our parent's threads go on with the counts that they have. */
void ktr__probe_forked(void)
{
	fire_self = &fire_none;
	__atomic_store_n(&fire_threads, NULL, __ATOMIC_RELEASE);
	if (fire_key_usable)
		pthread_setspecific(fire_key, NULL);
}

void ktr__probe_sum(struct ktr__probe_sums *sums)
{
	*sums = (struct ktr__probe_sums){ 0 };
	for (struct fire_thread *t = __atomic_load_n(&fire_threads, __ATOMIC_ACQUIRE); t; t = t->next) {
		uint64_t filtered = __atomic_load_n(&t->sums.filtered, __ATOMIC_ACQUIRE);

		sums->captured += __atomic_load_n(&t->fires, __ATOMIC_RELAXED) - filtered;
		sums->filtered += filtered;
		sums->sampled_ns += __atomic_load_n(&t->sums.sampled_ns, __ATOMIC_RELAXED);
		sums->n_sampled += __atomic_load_n(&t->sums.n_sampled, __ATOMIC_RELAXED);
	}
}

/* The number of the site of fires by handle, which may have been made elsewhere since. */
static __attribute__((noinline, cold)) bool fire_adopt(struct ktr_probe *probe)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint32_t id = ktr__probe_row_site(probe->row);
	char *byte = own->map + own->header.region[KTR_REGION_site_ctl].offset + (id & ~(FIRE_PAGE - 1));
	int saved = errno, code;

	if (!id || id >= own->header.region[KTR_REGION_site].n_rows || own->sealed)
		return false;
	/* Any number may lie there: the byte that the recorder looks at is made present. */
	code = ktr__populate(byte, FIRE_PAGE);
	errno = saved;
	if (code && code != -ENOSYS)
		return false;
	__atomic_store_n(&probe->site.mask, ktr_class_probe.mask, __ATOMIC_RELAXED);
	__atomic_store_n(&probe->site.ready, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&probe->site.id, id, __ATOMIC_RELEASE);
	return true;
}

static void fire_handler(void *fired, const uint64_t *arg)
{
	struct ktr_probe *probe = fired;
	ktr_probe_fn *handler = __atomic_load_n(&probe->handler, __ATOMIC_SEQ_CST);

	if (handler)
		handler(probe, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* What was timed stands for all fires since the last one that was. */
static void fire_sampled(struct fire_thread *self, struct ktr_probe *probe, uint64_t began)
{
	uint64_t ns = ktr__clock_now(KTR_CLOCK_MONOTONIC) - began;

	__atomic_fetch_add(&probe->total_ns, ns * self->of, __ATOMIC_RELAXED);
	self->of = self->of < FIRE_SAMPLE ? 2 * self->of : FIRE_SAMPLE;
	self->timed = self->fires + self->of - 1;
	fire_add(&self->sums.sampled_ns, ns);
	fire_add(&self->sums.n_sampled, 1);
}

static inline bool fire_gate(void)
{
	return (KTR__GATE() & __atomic_load_n(&ktr_class_probe.mask, __ATOMIC_RELAXED)) != 0;
}

/* All that there may be to do. */
static __attribute__((noinline)) void fire_whole(struct ktr_probe *probe, struct ktr_site *site, uint32_t n_args,
						 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
						 uint64_t a5)
{
	const uint64_t arg[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, a5 };
	const uint32_t *on = __atomic_load_n(&probe->on, __ATOMIC_ACQUIRE);
	uint32_t place = __atomic_load_n(&probe->place, __ATOMIC_RELAXED);
	struct fire_thread *self = fire_self;
	uint64_t began = 0, *chunk;
	bool gate;

	if (!__atomic_load_n(on, __ATOMIC_ACQUIRE))
		return;
	gate = fire_gate();
	if (!site) {
		site = &probe->site;
		if (__atomic_load_n(&probe->n_args, __ATOMIC_RELAXED) < n_args)
			__atomic_store_n(&probe->n_args, n_args, __ATOMIC_RELAXED);
		n_args = KTR_ARGS_MAX;
		if (!__atomic_load_n(&site->id, __ATOMIC_ACQUIRE))
			gate = gate && fire_adopt(probe);
	}
	/* Without memory for its counts a thread's fires are recorded all the same. */
	if (self == &fire_none && !(self = fire_thread_new())) {
		if (gate)
			ktr__record_words(site, n_args, a0, a1, a2, a3, a4, a5);
		return;
	}
	if (self->fires >= self->timed && fire_may_ask())
		began = ktr__clock_now(KTR_CLOCK_MONOTONIC);
	fire_add(&self->fires, 1);
	chunk = fire_chunk(self, place);
	if (chunk || (chunk = fire_chunk_new(self, place >> FIRE_SHIFT)))
		fire_count(chunk, place);
	if (gate)
		ktr__record_words(site, n_args, a0, a1, a2, a3, a4, a5);
	else
		fire_add(&self->sums.filtered, 1);
	if (__atomic_load_n(&probe->handler, __ATOMIC_RELAXED))
		ktr__handler_call(probe, fire_handler, arg);
	if (began)
		fire_sampled(self, probe, began);
}

/*
 * Is there nothing to do but to count and record? Then it has been counted. Whoever fires has just found the probe
 * on, which is not asked again.
 */
static inline bool fire_usual(const struct ktr_probe *probe)
{
	struct fire_thread *self;
	uint64_t *chunk;
	uint32_t place;

	/* One after the other, so that three registers do, which carry no arguments. */
	if (__builtin_expect(!fire_gate() || __atomic_load_n(&probe->handler, __ATOMIC_RELAXED), 0))
		return false;
	self = fire_self;
	if (__builtin_expect(self->fires >= self->timed, 0))
		return false;
	place = __atomic_load_n(&probe->place, __ATOMIC_RELAXED);
	chunk = fire_chunk(self, place);
	if (__builtin_expect(!chunk, 0))
		return false;
	fire_add(&self->fires, 1);
	fire_count(chunk, place);
	return true;
}

/* By handle: there is one site for all, which has as many arguments as any. */
static __attribute__((noinline)) void fire_handle(struct ktr_probe *probe, uint32_t n_args, uint64_t a0,
						  uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	if (__atomic_load_n(&probe->site.id, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&probe->n_args, __ATOMIC_RELAXED) >= n_args && fire_usual(probe))
		ktr__record6(&probe->site, a0, a1, a2, a3, a4, a5);
	else
		fire_whole(probe, NULL, n_args, a0, a1, a2, a3, a4, a5);
}

void ktr__probe_fire(struct ktr_probe *probe, struct ktr_site *site, uint32_t n_args, uint64_t a0, uint64_t a1,
		     uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	if (site)
		fire_whole(probe, site, n_args, a0, a1, a2, a3, a4, a5);
	else
		fire_handle(probe, n_args, a0, a1, a2, a3, a4, a5);
}

/* Fires of points with n arguments: what there is to do may be usual or not, with all in the same places. */
#define FIRE_POINT(n, parameters, same, recorded, whole)                                         \
	static __attribute__((noinline, cold)) void fire_whole##n parameters                     \
	{                                                                                        \
		fire_whole whole;                                                                \
	}                                                                                        \
	void ktr__probe_fire##n parameters                                                       \
	{                                                                                        \
		if (__builtin_expect(fire_usual(probe), 1))                                      \
			recorded;                                                                \
		else                                                                             \
			fire_whole##n same;                                                      \
	}

FIRE_POINT(0, (struct ktr_site *site, struct ktr_probe *probe), (site, probe), ktr__record0(site),
	   (probe, site, 0, 0, 0, 0, 0, 0, 0))
FIRE_POINT(1, (struct ktr_site *site, uint64_t a0, struct ktr_probe *probe), (site, a0, probe),
	   ktr__record1(site, a0), (probe, site, 1, a0, 0, 0, 0, 0, 0))
FIRE_POINT(2, (struct ktr_site *site, uint64_t a0, uint64_t a1, struct ktr_probe *probe), (site, a0, a1, probe),
	   ktr__record2(site, a0, a1), (probe, site, 2, a0, a1, 0, 0, 0, 0))
FIRE_POINT(3, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, struct ktr_probe *probe),
	   (site, a0, a1, a2, probe), ktr__record3(site, a0, a1, a2), (probe, site, 3, a0, a1, a2, 0, 0, 0))
FIRE_POINT(4, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, struct ktr_probe *probe),
	   (site, a0, a1, a2, a3, probe), ktr__record4(site, a0, a1, a2, a3),
	   (probe, site, 4, a0, a1, a2, a3, 0, 0))
FIRE_POINT(5,
	   (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
	    struct ktr_probe *probe),
	   (site, a0, a1, a2, a3, a4, probe), ktr__record5(site, a0, a1, a2, a3, a4),
	   (probe, site, 5, a0, a1, a2, a3, a4, 0))
FIRE_POINT(6,
	   (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
	    struct ktr_probe *probe),
	   (site, a0, a1, a2, a3, a4, a5, probe), KTR__CALL6(site, a0, a1, a2, a3, a4, a5),
	   (probe, site, 6, a0, a1, a2, a3, a4, a5))

/* The least of some runs of fires neither recorded nor handled, and a reading of the clock for the entry. */
uint64_t ktr__probe_calibrate(void)
{
	static const uint32_t on = 1;
	/* Index 0 is nobody's. */
	static struct ktr_probe probe = { .on = &on, .place = FIRE_CHUNKS << FIRE_SHIFT };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < FIRE_CALIBRATE; i++) {
		uint64_t began = ktr__clock_now(KTR_CLOCK_MONOTONIC), took;

		for (int k = 0; k < FIRE_ROUNDS; k++) {
			struct fire_thread *self = fire_self != &fire_none ? fire_self : fire_thread_new();
			uint64_t *chunk = self ? fire_chunk(self, probe.place) : NULL;

			if (self && !chunk)
				chunk = fire_chunk_new(self, probe.place >> FIRE_SHIFT);
			if (KTR__PROBE_ON(probe) && chunk)
				fire_count(chunk, probe.place);
			__asm__ volatile("" : : "r"(ktr__clock_now(KTR_CLOCK_MONOTONIC)));
		}
		took = (ktr__clock_now(KTR_CLOCK_MONOTONIC) - began) / FIRE_ROUNDS;
		if (took < least)
			least = took;
	}
	return least ? least : 1;
}

__attribute__((constructor(101))) static void fire_start(void)
{
	fire_key_usable = pthread_key_create(&fire_key, fire_thread_end) == 0;
}
